"""The kinds of moves, and when a turn ends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from games.rules import (
    KINDS,
    PRESETS,
    TURN_MOVES,
    Move,
    Pending,
    Position,
    Refused,
    Shuffler,
    apply,
    ends_turn,
    key_from_seed,
    legal_moves,
    options_from,
    parse_line,
    parse_move,
)
from games.rules.apply import MOVES
from games.rules.position import Buzz, Challenge, Extra, Run
from tests.rules.strategies import play

NO_MERCY = PRESETS["no-mercy"]

EXAMPLES = {
    "play": [
        "play r5",
        "play r5 uno",
        "play W6 color g",
        "play W6 color g uno",
        "play r7 swap 2",
        "play r7 swap 2 uno",
    ],
    "draw": ["draw"],
    "take": ["take"],
    "color": ["color b"],
    "pass": ["pass"],
    "challenge": ["challenge"],
    "buzz": ["buzz"],
    "uno": ["uno"],
    "catch": ["catch 0", "catch 12"],
    "leave": ["leave"],
}


def test_every_kind_of_move_has_an_example_and_a_function() -> None:
    assert set(EXAMPLES) == set(MOVES) == set(KINDS)
    assert [name for name, kind in KINDS.items() if kind.name != name] == []


def test_docs_notation_md_lists_every_kind_of_move() -> None:
    notation = (Path(__file__).parents[2] / "docs" / "notation.md").read_text()
    assert [kind for kind in KINDS if f"\n| `{kind}" not in notation] == []


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in EXAMPLES.items() for text in texts])
def test_a_move_is_written_as_it_is_read(kind: str, text: str) -> None:
    move = parse_move(text)
    assert move.kind == kind
    assert str(move) == text
    assert str(replace(move, clock=True)) == f"clock {text}"
    assert parse_move(f"clock {text}") == replace(move, clock=True)


@pytest.mark.parametrize(
    "text",
    [
        "play", "play r5 ", "play  r5", "play W6 color g swap 1", "play r7 swap 1 color g", "play W6 g", "play r7 2",
        "play r5 uno uno", "draw uno", "take 2", "color", "color w", "catch", "catch 01", "catch -1", "uno 1",
        "leave now", "clock", "clock clock draw", "Draw", "draw\n", "", "jump r5",
        "challenge 1", "buzz 1", "play BZ BZ", "play WD color w", "play r5/o2",
    ],
)  # fmt: skip
def test_any_other_text_is_malformed(text: str) -> None:
    with pytest.raises(Refused) as refused:
        parse_move(text)
    assert refused.value.code == "malformed"


def test_turn_moves_are_listed_only_for_the_player_on_turn() -> None:
    seen = {True: set[str](), False: set[str]()}
    for played in (one for seed in range(20) for one in play(PRESETS["classic"], 3, seed, most=200)):
        for seat in played.before.still_in():
            listed = {move.kind for move in legal_moves(played.before, seat, PRESETS["classic"])}
            seen[seat == played.before.turn] |= listed
    assert seen[False] <= set(KINDS) - TURN_MOVES
    assert seen[True] >= {"play", "draw", "pass"}


TABLE: dict[str, Any] = {"discard_pile": ["r3"], "color": "r", "draw_pile": ["b1", "r9", "g2", "g3", "y1", "y2"]}
THREE = (("r5", "b1", "b2"), ("g5", "g6"), ("y5", "y6"))


@pytest.mark.parametrize(
    ("line", "ends", "position"),
    [
        ("0 play r5", True, {}),
        ("0 play rE", True, {"hands": (("rE", "b1", "b2"), *THREE[1:])}),  # another turn of the same player
        ("0 play rR", True, {"hands": (("rR", "b1", "b2"), THREE[1], ()), "out": (2,)}),
        ("0 play WC", True, {"hands": (("WC", "b1", "b2"), *THREE[1:])}),
        ("0 color r", True, {"discard_pile": ["WC"], "color": None, "phase": "choose_color"}),
        ("0 draw", False, {"draw_pile": ["b1", "r9"]}),  # a playable card is drawn
        ("0 draw", True, {"draw_pile": ["b1"], "discard_pile": ["r3"]}),  # no playable card is drawn
        ("0 play r9", True, {"phase": "drawn", "drawn": "r9", "hands": (("r9", "b1"), *THREE[1:])}),
        ("0 take", True, {"phase": "play", "pending": (2, 2, "+2"), "discard_pile": ["r+2"]}),
        ("1 uno", False, {"hands": (THREE[0], ("g5",), THREE[2]), "exposed": (1,)}),
        ("0 catch 1", False, {"hands": (THREE[0], ("g5",), THREE[2]), "exposed": (1,)}),
        ("2 catch 0", False, {"hands": (("r5",), *THREE[1:]), "exposed": (0,)}),
        ("1 leave", False, {}),
        ("0 leave", True, {}),
        ("1 leave", True, {"hands": (*THREE[:2], ()), "out": (2,)}),  # the round is over
        ("0 play r5", True, {"hands": (("r5",), *THREE[1:])}),  # so is it after a last card
    ],
)
def test_ends_turn_tells_if_a_move_ended_the_turn(line: str, ends: bool, position: dict[str, Any]) -> None:
    fields = {**TABLE, "hands": THREE, **position}
    if "pending" in fields:
        fields["pending"] = Pending(*fields["pending"])
    before = Position(turn=0, **fields)
    seat, move = parse_line(line)
    after, _ = apply(before, seat, move, NO_MERCY, Shuffler(key_from_seed("")).shuffle)
    assert ends_turn(before, seat, move, after, NO_MERCY) is ends


@pytest.mark.rule("MERCY-1")
def test_a_catch_that_knocks_out_the_player_on_turn_ends_the_turn() -> None:
    options = options_from("no-mercy", {"mercy_limit": 10, "callout_penalty": 9})
    before = Position(hands=(("r5",), *THREE[1:]), turn=0, exposed=(0,), **{**TABLE, "draw_pile": ["b1"] * 20})
    move = Move("catch", target=0)
    after, _ = apply(before, 1, move, options, Shuffler(key_from_seed("")).shuffle)
    assert after.out == (0,)
    assert ends_turn(before, 1, move, after, options)


PARTY = options_from("house-party", {"buzzers": "race", "skip_after_draw": True})
RACE: dict[str, Any] = {"phase": "buzz", "discard_pile": ["BZ"], "extra": Extra(buzz=Buzz(0))}


@pytest.mark.parametrize(
    ("line", "ends", "hands", "fields"),
    [
        ("2 play r4", False, "g5 g6 / y5 y6 / r4 b1 b2", {"extra": Extra(run=Run(2, "r3"))}),  # a step of a straight
        ("2 play r2", True, "g5 g6 / y5 y6 / r2", {"extra": Extra(run=Run(2, "r3"))}),  # and the last card
        ("2 play b1", False, "g5 g6 / y5 y6 / r4 b1 b2", {}),  # a miss
        ("2 play g3", True, "g5 g6 / y5 y6 / g3 b1 b2", {}),  # an interception, and a whole turn more
        ("2 play gS", True, "g5 g6 / - / gS b1 b2", {"discard_pile": ["rS"], "out": (1,)}),
        ("2 play g+2", True, "g5 g6 / y5 y6 / g+2 b1 b2", {"discard_pile": ["r+2"]}),  # seat 0 is on turn again
        ("0 play BZ", True, "BZ g6 / y5 y6 / b1 b2", {}),
        ("2 buzz", False, "g5 g6 / y5 y6 / b1 b2", RACE),
        ("0 buzz", False, "g5 g6 / y5 y6 / b1 b2", RACE),
        ("2 buzz", True, "g5 g6 / y5 y6 / b1 b2",
         {**RACE, "extra": Extra(buzz=Buzz(0, (1,)))}),
        ("0 challenge", True, "g5 g6 / y5 y6 / b1 b2",
         {"discard_pile": ["r1", "W4"], "pending": Pending(4, 4, "W4"), "extra": Extra(challenge=Challenge(2, False))}),
    ],
)  # fmt: skip
def test_ends_turn_knows_plays_out_of_turn_races_and_challenges(
    line: str, ends: bool, hands: str, fields: dict[str, Any]
) -> None:
    color = None if "phase" in fields else "r"
    held = [[] if hand == "-" else hand.split() for hand in hands.split(" / ")]
    before = Position(turn=0, **{**TABLE, "color": color, "hands": held, **fields})
    seat, move = parse_line(line)
    after, _ = apply(before, seat, move, PARTY, Shuffler(key_from_seed("")).shuffle)
    assert ends_turn(before, seat, move, after, PARTY) is ends
