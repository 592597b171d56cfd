"""The fields of positions that only some options have, and impossible positions (docs/notation.md, "Position")."""

from __future__ import annotations

from typing import Any

import pytest

from games.rules import BadInput, Position, options_from, position_from_json, position_to_json

Json = dict[str, Any]

PARTY: Json = {"preset": "house-party"}
RACE: Json = {"preset": "classic", "buzzers": "race"}
FLIP: Json = {"preset": "flip"}
OPEN: Json = {"discard_pile": ["BZ"], "phase": "buzz", "buzz": {"by": 0, "pressed": []}}
OWED: Json = {"discard_pile": ["r3", "W4"], "color": "y", "pending": {"total": 4, "value": 4}}
DARK: Json = {"hands": [["r1/o1"], ["b1/p1"]], "discard_pile": ["r3/o3"]}


def read(options: Json, fields: Json, most: int = 10) -> Json:
    preset = options["preset"]
    table = options_from(preset, {name: value for name, value in options.items() if name != "preset"})
    start = {"hands": [["r5", "b1"], ["g2", "g3"], ["y1"]], "turn": 0, "discard_pile": ["r3"], **fields}
    return position_to_json(position_from_json(start, table, most), table)


@pytest.mark.parametrize(
    ("options", "fields"),
    [
        (PARTY, {"run": {"seat": 1, "card": "r3"}}),
        (PARTY, {"fines": [0, 3, 0]}),
        (PARTY, {"buzzes": 2}),
        (PARTY, {"passes": 2}),
        (PARTY, {**OWED, "challenge": {"seat": 1, "bluff": True}}),
        (PARTY, {"discard_pile": ["rS"], "pending": {"total": 4, "value": 2, "by": "+2"}}),
        (RACE, OPEN),
        (RACE, {**OPEN, "buzz": {"by": 0, "pressed": [2]}}),
        (RACE, {**OPEN, "hands": [[], ["g2", "g3"], ["y1"]]}),
        (FLIP, {**DARK, "side": "dark", "color": "o"}),
        (FLIP, {**DARK, "discard_pile": ["r3/W"], "side": "dark", "color": None}),
        (FLIP, {**DARK, "hands": [["r1/o1"], ["b1/p1"]], "phase": "drawn", "drawn": "r1/o1", "side": "light"}),
    ],
)
def test_a_position_keeps_the_fields_of_a_variant(options: Json, fields: Json) -> None:
    written = read(options, fields)
    assert {name: written[name] for name in fields} == fields


def test_fields_that_say_nothing_are_left_out() -> None:
    nothing = {
        "side": None, "run": None, "challenge": None, "buzz": None, "buzzes": 0, "passes": 0, "fines": [0, 0, 0],
    }  # fmt: skip
    assert read(PARTY, nothing) == read(PARTY, {})
    assert set(read(PARTY, nothing)) & set(nothing) == set()
    assert read(FLIP, DARK)["side"] == "light"
    assert read(PARTY, {**OWED, "pending": {"total": 4, "value": 4, "by": "W4"}})["pending"] == OWED["pending"]


def test_a_debt_may_name_the_symbol_on_top_or_null() -> None:
    for by in ("W4", None):
        assert read(PARTY, {**OWED, "pending": {**OWED["pending"], "by": by}})["pending"] == OWED["pending"]
    owed = {"discard_pile": ["WR4"], "color": "b", "pending": {"total": 8, "value": 4, "by": "WR4"}}
    assert read({"preset": "playroom-no-mercy"}, owed)["pending"] == {"total": 8, "value": 4}


def test_a_debt_without_a_symbol_has_that_of_the_top_card() -> None:
    fields = {"hands": [["r5"], ["g2"]], "turn": 0, "discard_pile": ["r3", "b+2"], "pending": {"total": 2, "value": 2}}
    owed = Position.from_json(fields).pending
    assert owed is not None
    assert owed.by == "+2"


def test_pending_may_be_null() -> None:
    assert read(PARTY, {"pending": None})["pending"] is None


def test_null_under_a_coloured_top_is_the_colour_of_the_top() -> None:
    assert read(PARTY, {"color": None})["color"] == "r"
    assert read(PARTY, {"discard_pile": ["W"], "color": None})["color"] is None


IMPOSSIBLE: dict[str, tuple[Json, Json]] = {
    "side without flip": (PARTY, {"side": "light"}),
    "a side that is none": (FLIP, {**DARK, "side": "up"}),
    "run without straights": ({"preset": "classic"}, {"run": {"seat": 1, "card": "r3"}}),
    "run on a 7 that acts": (PARTY, {"discard_pile": ["r7"], "run": {"seat": 1, "card": "r7"}}),
    "run on an action card": (PARTY, {"discard_pile": ["rS"], "run": {"seat": 1, "card": "rS"}}),
    "run with a card that is not on top": (PARTY, {"run": {"seat": 1, "card": "r4"}}),
    "run of the seat on turn": (PARTY, {"run": {"seat": 0, "card": "r3"}}),
    "run of a seat without cards": (
        PARTY,
        {"hands": [["r5"], [], ["y1"]], "out": [1], "run": {"seat": 1, "card": "r3"}},
    ),
    "run of no seat": (PARTY, {"run": {"seat": 3, "card": "r3"}}),
    "run with something more": (PARTY, {"run": {"seat": 1, "card": "r3", "by": 1}}),
    "challenge without bluff": (
        {"preset": "playroom", "stacking": "any"},
        {**OWED, "challenge": {"seat": 1, "bluff": True}},
    ),
    "challenge without pending": (PARTY, {"challenge": {"seat": 1, "bluff": True}}),
    "challenge of a Draw Two": (
        PARTY,
        {"discard_pile": ["r+2"], "pending": {"total": 2, "value": 2}, "challenge": {"seat": 1, "bluff": True}},
    ),
    "challenge under a card that passed the debt on": (
        PARTY,
        {
            "discard_pile": ["W4", "rS"],
            "pending": {"total": 4, "value": 4, "by": "W4"},
            "challenge": {"seat": 1, "bluff": True},
        },
    ),
    "challenge of the seat on turn": (PARTY, {**OWED, "challenge": {"seat": 0, "bluff": True}}),
    "challenge of a seat that went out": (
        PARTY,
        {**OWED, "hands": [["r5"], [], ["y1"]], "going_out": [1], "challenge": {"seat": 1, "bluff": True}},
    ),
    "challenge with a bluff that is no truth value": (PARTY, {**OWED, "challenge": {"seat": 1, "bluff": 1}}),
    "buzz at a table without races": (PARTY, OPEN),
    "buzz without the phase": (RACE, {"discard_pile": ["BZ"], "buzz": {"by": 0, "pressed": []}}),
    "the phase without buzz": (RACE, {"discard_pile": ["BZ"], "phase": "buzz"}),
    "buzz by a seat that is not on turn": (RACE, {**OPEN, "buzz": {"by": 1, "pressed": []}}),
    "pressed twice": (RACE, {**OPEN, "buzz": {"by": 0, "pressed": [1, 1]}}),
    "a race under another card": (RACE, {**OPEN, "discard_pile": ["r3"]}),
    "a race with a colour": (RACE, {**OPEN, "color": "r"}),
    "no card of another seat in a race": (RACE, {**OPEN, "hands": [["r1"], [], ["y1"]]}),
    "buzzes without a lottery": (RACE, {"buzzes": 1}),
    "buzzes below zero": (PARTY, {"buzzes": -1}),
    "passes where hands cannot hold the deck": ({"preset": "no-mercy"}, {"passes": 1}),
    "fines where nobody is fined": ({"preset": "classic"}, {"fines": [0, 1, 0]}),
    "passes 0 where hands cannot hold the deck": ({"preset": "no-mercy"}, {"passes": 0}),
    "buzzes 0 without a lottery": (RACE, {"buzzes": 0}),
    "fines of 0 where nobody is fined": ({"preset": "classic"}, {"fines": [0, 0, 0]}),
    "fines of the wrong count": (PARTY, {"fines": [0, 1]}),
    "fines below zero": (PARTY, {"fines": [0, -1, 0]}),
    "a debt of another symbol where nothing passes it on": (
        {"preset": "no-mercy"},
        {"discard_pile": ["rS"], "pending": {"total": 2, "value": 2, "by": "+2"}},
    ),
    "a debt by no draw card": (PARTY, {"discard_pile": ["rS"], "pending": {"total": 2, "value": 2, "by": "R"}}),
    "a debt of another value": (PARTY, {"discard_pile": ["rS"], "pending": {"total": 4, "value": 4, "by": "+2"}}),
    "a debt by a list": (PARTY, {**OWED, "pending": {"total": 4, "value": 4, "by": ["W4"]}}),
    "a Wild Draw Colour with a number": (
        FLIP,
        {**DARK, "discard_pile": ["r3/WD"], "side": "dark", "color": "o", "pending": {"total": 4, "value": 0}},
    ),
    "a Wild Draw Colour that was passed on": (
        {**FLIP, "stacking": "any", "last_draw_card": "contest", "advanced_stacking": True},
        {**DARK, "side": "dark", "pending": {"total": 0, "value": 0, "by": "WD"}},
    ),
    "a debt of no cards": (PARTY, {**OWED, "pending": {"total": 0, "value": 0}}),
    "cards owed with no colour in force": (PARTY, {**OWED, "color": None}),
    "going out where the last draw card wins": (
        {"preset": "no-mercy", "last_draw_card": "win_now"},
        {
            "hands": [["r5"], [], ["y1"]],
            "discard_pile": ["r+2"],
            "pending": {"total": 2, "value": 2},
            "going_out": [1],
        },
    ),
    "a wild draw card without a colour": (PARTY, {"discard_pile": ["W4"]}),
    "a colour under a buzzer": (PARTY, {"discard_pile": ["BZ"], "color": "r"}),
    "a pair that is wild on both sides": (FLIP, {**DARK, "draw_pile": ["W/W"]}),
    "a pair that is a Flip on both sides": (FLIP, {**DARK, "draw_pile": ["rF/oF"]}),
    "a pair the wrong way round": (FLIP, {**DARK, "draw_pile": ["o1/r1"]}),
    "one face of a pair": (FLIP, {**DARK, "draw_pile": ["r1"]}),
    "a drawn face": (FLIP, {**DARK, "phase": "drawn", "drawn": "r1"}),
    "a colour of the other side": (FLIP, {**DARK, "side": "dark", "color": "r"}),
    "a buzzer in a deck without": ({"preset": "classic"}, {"draw_pile": ["BZ"]}),
    "eleven hands": (PARTY, {"hands": [["r1"]] * 11}),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_an_impossible_position_is_refused_with_one_sentence(name: str) -> None:
    options, fields = IMPOSSIBLE[name]
    with pytest.raises(BadInput) as refused:
        read(options, fields)
    assert str(refused.value).endswith(".")
    assert "\n" not in str(refused.value)
