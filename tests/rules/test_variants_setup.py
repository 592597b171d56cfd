"""FIRST-1, TURN-8: the first discard, and no colour in force."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from games.rules import Options, Position, options_from
from games.rules.deal import deal_cards
from games.rules.position import Pending
from tests.rules.tables import Case, case, cases, check

REST = ["b1", "b2", "y3", "g4", "y5", "y6"]


def list_as_it_is(cards: Sequence[str], stream: str) -> list[str]:
    """Return the cards in their order, in place of a shuffle."""
    return list(cards)


def dealt(options: Options, *first: str, players: int = 3, **more: Any) -> Position:
    hands = ["r1"] * (7 * players)
    return deal_cards(options, players, [*hands, *first, *REST], list_as_it_is, **more)


CLASSIC = options_from("classic", {})


@pytest.mark.rule("FIRST-1")
@pytest.mark.parametrize(
    ("first", "turn", "direction", "color"),
    [
        ("g5", 0, 1, "g"),
        ("g0", 0, 1, "g"),
        ("g7", 0, 1, "g"),
        ("W", 0, 1, None),
        ("gS", 1, 1, "g"),
        ("gR", 2, -1, "g"),
    ],
)
def test_the_first_card_acts(first: str, turn: int, direction: int, color: str | None) -> None:
    position = dealt(CLASSIC, first)
    assert (position.turn, position.direction, position.color) == (turn, direction, color)
    assert (position.discard_pile, position.draw_pile, position.pending) == ((first,), tuple(REST), None)
    assert position.hands == (("r1",) * 7,) * 3


@pytest.mark.rule("FIRST-1 PAY-1")
@pytest.mark.parametrize(("skips", "turn"), [(True, 1), (False, 0)])
def test_a_first_draw_two_is_paid_at_once_without_stacking(skips: bool, turn: int) -> None:
    position = dealt(options_from("classic", {"skip_after_draw": skips}), "g+2")
    assert (position.hands[0], position.turn, position.pending) == (("r1",) * 7 + ("b1", "b2"), turn, None)
    assert position.draw_pile == tuple(REST[2:])


@pytest.mark.rule("FIRST-1 RESP-1")
def test_a_first_draw_two_is_owed_with_stacking() -> None:
    position = dealt(options_from("classic", {"stacking": "same"}), "g+2")
    assert (position.turn, position.pending, position.hands[0]) == (0, Pending(2, 2, "+2"), ("r1",) * 7)


@pytest.mark.rule("FIRST-1")
def test_cards_that_may_not_start_go_to_the_bottom_of_the_draw_pile() -> None:
    options = options_from("classic", {"buzzers": "race"})
    position = dealt(options, "W4", "BZ", "g5")
    assert (position.discard_pile, position.draw_pile) == (("g5",), (*REST, "W4", "BZ"))
    assert (position.phase, position.turn) == ("play", 0)


@pytest.mark.rule("FIRST-1 FLIP-1")
def test_a_flip_and_a_wild_draw_two_do_not_start_the_flip_deck_but_a_draw_one_does() -> None:
    options = options_from("flip", {"hand_size": 1})
    cards = ["r1/o1", "r2/o2", "rF/p1", "W2/p2", "g+1/p3", "b1/p4", "b2/p5"]
    position = deal_cards(options, 2, cards, list_as_it_is)
    assert (position.discard_pile, position.draw_pile) == (("g+1/p3",), ("b2/p5", "rF/p1", "W2/p2"))
    assert (position.hands, position.turn) == ((("r1/o1", "b1/p4"), ("r2/o2",)), 1)
    assert position.extra.side == "light"


@pytest.mark.rule("FIRST-1")
def test_with_number_other_cards_stay_beneath() -> None:
    position = dealt(options_from("classic", {"first_discard": "number"}), "W4", "gS", "g5")
    assert (position.discard_pile, position.draw_pile, position.turn) == (("W4", "gS", "g5"), tuple(REST), 0)


@pytest.mark.rule("FIRST-1 LEAVE-1")
@pytest.mark.parametrize(("absent", "dealer", "turn"), [((), 2, 2), ((), 0, 0), ((1,), 2, 2), ((2,), 2, 1)])
def test_after_a_first_reverse_the_dealer_begins_or_the_seat_before_if_the_dealer_has_left(
    absent: tuple[int, ...], dealer: int, turn: int
) -> None:
    cards = ["r1"] * (7 * (3 - len(absent)))
    position = deal_cards(CLASSIC, 3, [*cards, "gR", *REST], list_as_it_is, dealer=dealer, absent=absent)
    assert (position.turn, position.direction) == (turn, -1)


@pytest.mark.rule("FIRST-1 ELIM-1")
def test_a_first_draw_two_may_knock_out() -> None:
    options = options_from("classic", {"mercy_limit": 10, "hand_size": 9, "mercy_cards": "draw_pile"})
    position = deal_cards(options, 3, [*["r1"] * 27, "g+2", *REST], list_as_it_is)
    assert (position.out, position.turn, position.reshuffles) == ((0,), 1, 1)
    assert len(position.draw_pile) == len(REST) - 1 + 10


@cases(
    case(
        "TURN-8",
        "with no colour in force every card may be played",
        "g5 b9 rS W / g2 g3",
        "",
        {"color": None},
        options={"preset": "playroom"},
        discard_pile="W",
        legal={
            0: "draw; play W color b; play W color g; play W color r; play W color y; play b9; play g5; play rS",
        },
    ),
    case(
        "TURN-8",
        "the card played sets the colour",
        "g5 b9 b8 / g2 r3",
        "0 play g5",
        {"color": "g"},
        options={"preset": "playroom"},
        discard_pile="W",
        legal={1: "draw; play g2"},
    ),
    case(
        "TURN-8",
        "a drawn card can always be played",
        "g5 b9 / g2 g3",
        "0 draw",
        {"phase": "drawn", "drawn": "b1", "color": None},
        options={"preset": "playroom"},
        discard_pile="W",
    ),
)
def test_no_colour_in_force(row: Case) -> None:
    check(row)
