"""Section "Owed cards"."""

from __future__ import annotations

import pytest

from games.rules import DECKS, PRESETS, Pending, answers, options_from
from tests.rules.tables import Case, Json, case, cases, check

OWED: Json = {"turn": 0, "discard_pile": "r+4", "pending": (4, 4)}


@cases(
    case(
        "STACK-1",
        "equal or higher, of any colour",
        "g+4 WR4 W6 W10 b+2 b1 / g2 g3 / y1 y2",
        "",
        legal={0: "take; play g+4; " + "; ".join(f"play {w} color {c}" for w in ("WR4", "W6", "W10") for c in "rygb")},
        **OWED,
    ),
    case("STACK-1", "a lower one is refused", "b+2 b1 / g2 g3", "0 play b+2", refused="too_low", **OWED),
    case(
        "STACK-1",
        "the last card's value counts, not the total",
        "b+4 b1 b2 / g2 g3",
        "0 play b+4",
        {"pending": (14, 4), "turn": 1},
        discard_pile="r+2 W6 r+4",
        pending=(10, 4),
    ),
    case(
        "STACK-1",
        "a Draw Four cannot answer a Draw Six",
        "b+4 b1 / g2 g3",
        "0 play b+4",
        refused="too_low",
        discard_pile="W6",
        color="r",
        pending=(6, 6),
    ),
    case(
        "STACK-2",
        "the values add up for the next player",
        "g+4 b1 b2 / g2 g3 / y1 y2",
        "0 play g+4",
        {"pending": (8, 4), "turn": 1},
        **OWED,
    ),
    case(
        "STACK-2 WR4-1",
        "a Wild Reverse sends the total back",
        "WR4 b1 b2 / g2 g3 / y1 y2",
        "0 play WR4 color b",
        {"pending": (8, 4), "turn": 2, "direction": -1},
        **OWED,
    ),
    case(
        "STACK-3",
        "taking is always possible",
        "g+4 b1 / g2 g3",
        "0 take",
        {"hands": "b1 b1 b2 g+4 g4 y3 / g2 g3", "turn": 1},
        **OWED,
    ),
    case(
        "STACK-3", "no other card may be played on a stack", "r5 b1 / g2 g3", "0 play r5", refused="cards_owed", **OWED
    ),
    case("STACK-3", "no wild that is not a draw card", "WC b1 / g2 g3", "0 play WC", refused="cards_owed", **OWED),
    case("STACK-3", "no draw while cards are owed", "r5 b1 / g2 g3", "0 draw", refused="cards_owed", **OWED),
    case(
        "STACK-3 UNO-2",
        "calls and catches are always possible",
        "r5 b1 / g2 / y1",
        "1 uno; 0 catch 2",
        {"declared": [1], "hands": "b1 r5 / g2 / b1 b2 y1", "turn": 0, "pending": (4, 4)},
        exposed=[1, 2],
        **OWED,
    ),
    case("STACK-3", "nothing to take when nothing is owed", "r5 b1 / g2 g3", "0 take", refused="nothing_to_take"),
    case(
        "STACK-4",
        "the taker loses the turn, and the next player follows the last card",
        "b1 b2 / g+4 r2 g3 / y1 y2",
        "0 take",
        {"turn": 1, "pending": None},
        legal={1: "draw; play g+4; play r2"},
        **OWED,
    ),
    case(
        "STACK-4",
        "after a wild the next player follows its colour",
        "b1 b2 / g+4 b9 r3 / y1 y2",
        "0 take",
        {"turn": 1, "color": "b"},
        legal={1: "draw; play b9"},
        discard_pile="r3 W6",
        color="b",
        pending=(6, 6),
    ),
)
def test_stacking_follows_the_rulebook(row: Case) -> None:
    check(row)


@pytest.mark.rule("STACK-1")
def test_equal_or_higher_draw_cards_answer_a_stack() -> None:
    options = PRESETS["no-mercy"]
    deck = DECKS[options.deck].faces.values()
    for by, value in (("+2", 2), ("WR4", 4), ("W6", 6), ("W10", 10)):
        wanted = {face.text for face in deck if face.value >= value}
        for total in (value, value + 2, value + 40):
            assert answers(Pending(total, value, by), options) & set(DECKS[options.deck].faces) == wanted


@pytest.mark.rule("STACK-1")
def test_nothing_answers_a_stack_without_stacking() -> None:
    assert answers(Pending(4, 4, "+4"), options_from("no-mercy", {"stacking": "off"})) == frozenset()
