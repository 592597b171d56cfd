"""The lookup tables that `games.rules.ruleset` makes from the options."""

from __future__ import annotations

import pytest

from games.rules import KINDS, PRESETS, TURN_MOVES, options_from
from games.rules.effects import EFFECTS
from games.rules.out_of_turn import OUT_OF_TURN_MOVES
from games.rules.phases import PHASES
from games.rules.ruleset import SideRules

NO_MERCY = PRESETS["no-mercy"].rules.first
CLASSIC = PRESETS["classic"].rules.first
PLAIN = options_from("no-mercy", {"zero_seven": False}).rules.first
NAMED = options_from("no-mercy", {"roulette_color": "player"}).rules.first
UNSTACKED = options_from("no-mercy", {"stacking": "off"}).rules.first
SAME = options_from("no-mercy", {"stacking": "same"}).rules.first
FAMILY = options_from("no-mercy", {"stacking": "family"}).rules.first


@pytest.mark.parametrize(
    ("side", "card", "asks", "last"),
    [
        (NO_MERCY, "r5", "", ""),
        (NO_MERCY, "r0", "", ""),
        (NO_MERCY, "r7", "target", ""),
        (PLAIN, "r7", "", ""),
        (CLASSIC, "r7", "", ""),
        (NO_MERCY, "WC", "", ""),
        (NAMED, "WC", "color", ""),
        (NO_MERCY, "W6", "color", "color"),
        (CLASSIC, "W", "color", "color"),
    ],
)
def test_a_play_asks_for_a_choice_according_to_card_and_options(
    side: SideRules, card: str, asks: str, last: str
) -> None:
    assert (side.plays.asks[card], side.last_plays.asks[card]) == (asks, last)
    assert (card in side.plays.swaps, card in side.last_plays.swaps) == (asks == "target", False)


@pytest.mark.parametrize(
    ("side", "card", "moves"),
    [
        (NO_MERCY, "r5", ["play r5"]),
        (NO_MERCY, "W6", ["play W6 color r", "play W6 color y", "play W6 color g", "play W6 color b"]),
        (NO_MERCY, "r7", [f"play r7 swap {seat}" for seat in range(10)]),
        (PLAIN, "r7", ["play r7"]),
        (NO_MERCY, "WC", ["play WC"]),
    ],
)
def test_the_plays_of_a_card_name_every_choice(side: SideRules, card: str, moves: list[str]) -> None:
    assert list(map(str, side.plays.moves[card])) == moves


@pytest.mark.parametrize(
    ("side", "card", "effects"),
    [
        (NO_MERCY, "r5", ()),
        (NO_MERCY, "r0", ("pass_hands",)),
        (NO_MERCY, "r7", ("swap_hands",)),
        (PLAIN, "r0", ()),
        (PLAIN, "r7", ()),
        (NO_MERCY, "rR", ("reverse_direction", "skip_if_two_left")),
        (NO_MERCY, "rD", ()),
        (NO_MERCY, "WR4", ("reverse_direction", "next_owes_after_reverse")),
        (NO_MERCY, "WC", ("roulette",)),
        (NAMED, "WC", ("roulette_at_once",)),
    ],
)
def test_options_switch_off_effects_of_cards(side: SideRules, card: str, effects: tuple[str, ...]) -> None:
    assert side.effects[card] == effects
    assert set(effects) <= set(EFFECTS)


@pytest.mark.parametrize(
    ("side", "by_and_value", "answers"),
    [
        (NO_MERCY, ("W10", 10), "W10"),
        (NO_MERCY, ("W6", 6), "W10 W6"),
        (NO_MERCY, ("+4", 4), "W10 W6 WR4 b+4 g+4 r+4 y+4"),
        (NO_MERCY, ("+2", 2), "W10 W6 WR4 b+2 b+4 g+2 g+4 r+2 r+4 y+2 y+4"),
        (SAME, ("+2", 2), "b+2 g+2 r+2 y+2"),
        (SAME, ("WR4", 4), "WR4"),
        (FAMILY, ("+2", 2), "b+2 b+4 g+2 g+4 r+2 r+4 y+2 y+4"),
        (FAMILY, ("WR4", 4), "W10 W6 WR4"),
        (UNSTACKED, ("+4", 4), ""),
        (CLASSIC, ("+2", 2), ""),
    ],
)
def test_stacking_follows_the_options(side: SideRules, by_and_value: tuple[str, int], answers: str) -> None:
    assert sorted(side.answers[by_and_value]) == answers.split()


@pytest.mark.parametrize(
    ("top", "color", "fits", "does_not"),
    [
        ("r3", "r", "r9 g3 rS r+4 W6 WC", "g4 gS"),
        ("r+4", "r", "g+4 r1", "g+2 b3"),
        ("WR4", "g", "g1 WR4 g+4", "r+4 r1"),
        ("WC", None, "WC W6 r1 g+4", ""),
    ],
)
def test_cards_match_by_color_by_symbol_or_as_wilds(top: str, color: str | None, fits: str, does_not: str) -> None:
    assert set(fits.split()) <= NO_MERCY.matching[top, color]
    assert NO_MERCY.matching[top, color].isdisjoint(does_not.split())


def test_only_discard_all_sheds_cards() -> None:
    assert {card: len(shed) for card, shed in NO_MERCY.sheds.items()} == {"rD": 16, "yD": 16, "gD": 16, "bD": 16}
    assert all(card[0] == shed[0] for card, cards in NO_MERCY.sheds.items() for shed in cards)


def test_equal_options_share_a_ruleset() -> None:
    assert options_from("no-mercy", {"target": 500}).rules is PRESETS["no-mercy"].rules
    assert PRESETS["classic"].rules.deck.name == "classic108"
    assert PRESETS["classic"].rules.first is PRESETS["classic"].rules.sides[None]


def test_every_kind_of_move_is_a_turn_move_or_an_out_of_turn_move() -> None:
    of_phases = frozenset().union(*(phase.kinds for phase in PHASES.values()))
    assert of_phases == TURN_MOVES
    assert set(OUT_OF_TURN_MOVES) == set(KINDS) - TURN_MOVES
