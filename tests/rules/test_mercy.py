"""Section "Players who are out": a player with 25 cards is out."""

from __future__ import annotations

from functools import partial

from tests.rules.tables import Case, Json, case, cases, check

FULL = "y1 y3 y4 y5 y6 y8 y9 b5 b6 b8 b9 g3 g5 g6 g8 g9 b1 b2 b3 b4 g4 yS"
"""22 cards, none of which matches a red card or answers a Draw Four."""
TEN: Json = {"mercy_limit": 10, "callout_penalty": 10}
ten_case = partial(case, options=TEN)
NINE = "b1 b2 b3 b4 b5 b6 b8 b9 yS"


@cases(
    case(
        "MERCY-1 MERCY-2",
        "the 25th card of a stack; the rest is not drawn",
        f"{FULL} / g1 g2 / y1 y2",
        "0 take",
        {
            "hands": "- / g1 g2 / y1 y2",
            "out": [0],
            "turn": 1,
            "draw_pile": "W6 r2 y1",
            "pending": None,
            "set_aside": " ".join(sorted(f"{FULL} r1 r2 r5".split())),
        },
        draw_pile="r1 r2 r5 W6 r2 y1",
        discard_pile="r+4",
        pending=(4, 4),
    ),
    case(
        "MERCY-1",
        "24 cards are not 25",
        f"{FULL} / g1 g2 / y1 y2",
        "0 take",
        {"out": [], "turn": 1},
        discard_pile="r+2",
        pending=(2, 2),
    ),
    case(
        "MERCY-1",
        "in a draw, even if the 25th card could be played",
        f"{FULL} b1 b2 / g1 g2 / y1 y2",
        "0 draw",
        {"out": [0], "turn": 1, "phase": "play", "drawn": None, "draw_pile": "g1"},
        draw_pile="r5 g1",
    ),
    ten_case(
        "MERCY-1",
        "knocked out by a catch: the turn stays",
        "b1 b2 / g1 / y1 y2",
        "0 catch 1",
        {"hands": "b1 b2 / - / y1 y2", "out": [1], "turn": 0, "draw_pile": "-", "exposed": []},
        exposed=[1],
        draw_pile="b1 b2 b3 b4 b5 b6 b8 b9 yS",
    ),
    ten_case(
        "MERCY-1",
        "knocked out on turn by a catch: the turn passes",
        "b1 / g1 g2 / y1 y2",
        "1 catch 0",
        {"out": [0], "turn": 1},
        exposed=[0],
        draw_pile=NINE,
    ),
    ten_case(
        "MERCY-1 END-3",
        "a player who went out on a stack owed by a player knocked out wins",
        "b1 / - / y1 y2",
        "1 catch 0",
        {"out": [0], "winner": 1, "points": 253, "pending": None, "going_out": []},
        exposed=[0],
        draw_pile=NINE,
        discard_pile="r+4",
        pending=(4, 4),
        going_out=[1],
    ),
    ten_case(
        "MERCY-1",
        "a stack owed by a player knocked out is cancelled",
        "b1 / g1 g2 / y1 y2",
        "1 catch 0",
        {"out": [0], "turn": 1, "pending": None},
        exposed=[0],
        draw_pile=NINE,
        discard_pile="r+4",
        pending=(4, 4),
    ),
    ten_case(
        "MERCY-1 ROUL-2",
        "a colour owed is named as the clock would",
        "b1 / g1 g2 / y1 y2",
        "1 catch 0",
        {"out": [0], "turn": 1, "phase": "play", "color": "b"},
        exposed=[0],
        draw_pile=NINE,
        discard_pile="WC",
        phase="choose_color",
    ),
    case(
        "MERCY-1 UNO-6",
        "knocked out by a false catch after drawing a card",
        "b1 b2 b3 b4 b5 b6 b8 b9 r5 / g1 g2 / y1 y2",
        "0 catch 1",
        {"out": [0], "turn": 1, "phase": "play", "drawn": None},
        options={"mercy_limit": 10, "false_catch_penalty": 1},
        phase="drawn",
        drawn="r5",
    ),
    case(
        "MERCY-1 END-4",
        "the last one in wins",
        f"{FULL} b1 / g1 g2",
        "0 take",
        {"winner": 1, "points": 250, "turn": 1},
        discard_pile="r+2",
        pending=(2, 2),
    ),
    ten_case(
        "MERCY-2 TURN-5",
        "the hand set aside comes back within the same draw",
        "b1 / g1 g2 / y1 y2",
        "1 catch 0; 1 draw",
        {"reshuffles": 1, "set_aside": "-", "out": [0]},
        exposed=[0],
        draw_pile=NINE,
    ),
    case("MERCY-3", "no turn", "r5 b1 / - / g2 g3", "0 play r5", {"turn": 2}, out=[1]),
    case("MERCY-3", "no move", "r5 b1 / - / g2 g3", "1 draw", refused="out", out=[1]),
    case("MERCY-3", "no swap target", "r7 b1 / - / g2 g3", "", legal={0: "draw; play r7 swap 2", 1: ""}, out=[1]),
)
def test_mercy_follows_the_rulebook(row: Case) -> None:
    check(row)


@cases(
    case(
        "MERCY-1",
        "the limit is an option",
        "b1 b2 b3 b4 b5 b6 b8 b9 / g1 g2",
        "0 take",
        {"winner": 1, "points": 250},
        options={"mercy_limit": 10},
        discard_pile="r+2",
        pending=(2, 2),
    ),
    case(
        "MERCY-1",
        "the limit may be off",
        f"{FULL} b1 b2 / g1 g2",
        "0 take",
        {"out": [], "winner": None, "turn": 1},
        options={"mercy_limit": 0},
        discard_pile="r+2",
        pending=(2, 2),
    ),
)
def test_the_mercy_limit_is_an_option(row: Case) -> None:
    check(row)


HUNDRED = " ".join(["g1"] * 100)


@cases(
    case(
        "MERCY-1 TURN-4",
        "without a limit a draw goes on until a card can be played",
        f"b1 {HUNDRED} / g1 g2",
        "0 draw",
        {"hands": f"b1 {HUNDRED} {HUNDRED} r5 / g1 g2", "draw_pile": "y1", "phase": "drawn", "drawn": "r5"},
        options={"mercy_limit": 0},
        draw_pile=f"{HUNDRED} r5 y1",
    ),
    case(
        "MERCY-1 ROUL-1",
        "without a limit a roulette goes on until the colour shows",
        f"b1 {HUNDRED} / g1 g2",
        "0 color r",
        {"hands": f"b1 {HUNDRED} {HUNDRED} r5 / g1 g2", "draw_pile": "y1", "turn": 1},
        options={"mercy_limit": 0},
        draw_pile=f"{HUNDRED} r5 y1",
        discard_pile="WC",
        phase="choose_color",
    ),
)
def test_without_a_mercy_limit_hands_grow_without_end(row: Case) -> None:
    check(row)
