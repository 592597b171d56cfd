"""INT-1 to INT-5: interceptions and misses."""

from __future__ import annotations

from functools import partial

import pytest

from games.rules import Shuffler, apply, key_from_seed, options_from, parse_move, position_from_json
from tests.rules.tables import Case, Json, case, cases, check

EXACT = {"preset": "classic", "interceptions": "exact"}
PARTY = {"preset": "house-party"}
party_case = partial(case, options=PARTY)
PLAIN = {"preset": "classic", "interceptions": "super"}
SKIP_DEBT: Json = {"discard_pile": "r+2 rS", "pending": (2, 2, "+2")}


@cases(
    case(
        "INT-1",
        "exact: the same card only",
        "b1 b2 / r3 g5 / g3 y5",
        "",
        options=EXACT,
        legal={0: "draw", 1: "play r3", 2: ""},
    ),
    party_case(
        "INT-1",
        "super: the same symbol in any colour",
        "b1 b2 / r3 g5 / g3 y5",
        "",
        legal={0: "draw", 1: "play r3", 2: "play g3"},
    ),
    case("INT-1", "off: nobody", "b1 b2 / r3 g5", "1 play r3", refused="not_your_turn", options={"preset": "classic"}),
    party_case(
        "INT-1 INT-2",
        "while a card is drawn: it stays in that hand",
        "r9 b1 / g3 g5 / y1 y2",
        "1 play g3",
        {"hands": "b1 r9 / g5 / y1 y2", "drawn": None, "phase": "play", "turn": 1},
        phase="drawn",
        drawn="r9",
    ),
    party_case(
        "INT-1",
        "a wild is not intercepted and does not intercept",
        "b1 b2 / W r3 / y1 W",
        "",
        discard_pile="W",
        color="r",
        legal={0: "draw", 1: "", 2: ""},
    ),
    party_case(
        "INT-1",
        "a buzzer is not intercepted and does not intercept",
        "b1 b2 / BZ r3 / y1 BZ",
        "",
        discard_pile="BZ",
        legal={1: "", 2: ""},
    ),
    party_case(
        "INT-1 INT-3",
        "a card of your own can be intercepted",
        "r5 g5 b1 b2 / g2 g6 / y1 y2",
        "0 play r5; 0 play g5",
        {"turn": 0, "hands": "b1 b2 / g2 g6 / y1 y2", "run": None},
    ),
    case(
        "INT-1 FLIP-2",
        "a card that a Flip brought up can be intercepted",
        "rF/o2 b1/p1 b2/p2 / g1/o9 g2/u3 / g3/t9 y4/u4",
        "0 play rF; 2 play t9",
        {"turn": 2, "side": "dark"},
        options={"preset": "flip", "interceptions": "super"},
        discard_pile="y1/o9 r3/p3",
    ),
    party_case(
        "INT-1 RESP-1",
        "under a debt with a card that answers it",
        "b1 b2 / g5 g6 / g+2 g8 g9 / y1",
        "2 play g+2",
        {"pending": (4, 2), "turn": 3},
        discard_pile="r+2",
        pending=(2, 2),
        legal={3: "take"},
    ),
    party_case(
        "INT-1 RESP-3",
        "under a debt with a card that passes it on",
        "b1 b2 / g5 g6 / gS g8 g9 / y1",
        "2 play gS",
        {"pending": (2, 2, "+2"), "turn": 3, "color": "g"},
        **SKIP_DEBT,
    ),
    case(
        "INT-1",
        "under a debt with no other card",
        "b1 b2 / g5 g6 / g+2 g8 g9 / y1",
        "2 play g+2",
        refused="not_your_turn",
        options={**PLAIN, "bluff": "off", "interception_penalty": 0, "stacking": "off", "last_draw_card": "contest"},
        discard_pile="r+2",
        pending=(2, 2),
    ),
    party_case(
        "INT-2",
        "the player who was on turn is so no more",
        "b1 b2 / g5 g6 / g3 y7 y8 / y1 y2",
        "2 play g3; 0 draw",
        refused="not_your_turn",
    ),
    party_case(
        "INT-2 TERM-1",
        "play goes on from the player who intercepts",
        "b1 b2 / gS g5 g6 / y1 y2 / b4 b5",
        "1 play gS",
        {"turn": 3, "hands": "b1 b2 / g5 g6 / y1 y2 / b4 b5"},
        discard_pile="rS",
    ),
    party_case(
        "INT-3",
        "a number brings a whole turn more",
        "b1 b2 / g3 g5 g6 / y1 y2",
        "1 play g3; 1 play g5",
        {"turn": 2, "hands": "b1 b2 / g6 / y1 y2", "run": {"seat": 1, "card": "g5"}},
    ),
    party_case(
        "INT-3",
        "in which the player may draw",
        "b1 b2 / g3 g5 g6 / y1 y2",
        "1 play g3; 1 draw",
        {"turn": 2, "hands": "b1 b2 / b1 g5 g6 / y1 y2"},
    ),
    party_case(
        "INT-3 SEVEN-1",
        "a 7 swaps first",
        "b1 b2 / g7 g5 g6 / y1 y2",
        "1 play g7 swap 2",
        {"turn": 1, "hands": "b1 b2 / y1 y2 / g5 g6"},
        discard_pile="r7",
    ),
    party_case(
        "INT-3 ZERO-1",
        "a 0 passes hands first",
        "b1 b2 / g0 g5 g6 / y1 y2",
        "1 play g0",
        {"turn": 1, "hands": "y1 y2 / b1 b2 / g5 g6"},
        discard_pile="r0",
    ),
    party_case(
        "INT-3 REV-1",
        "a Reverse turns the direction from the player who intercepts",
        "b1 b2 / g5 g6 / gR y7 y8 / y1 y2",
        "2 play gR",
        {"turn": 1, "direction": -1},
        discard_pile="rR",
    ),
    party_case("INT-3 END-1", "a last number wins", "b1 b2 / g3 / y1 y2", "1 play g3", {"winner": 1}),
    party_case(
        "INT-4",
        "a miss is fined and changes nothing else",
        "b1 b2 / b9 g5 / y1 y2",
        "1 play b9; 1 play g5 uno",
        {"fines": [0, 6, 0], "turn": 0, "hands": "b1 b2 / b9 g5 / y1 y2", "discard_pile": "r3", "declared": []},
    ),
    party_case(
        "INT-4",
        "a miss keeps a straight open",
        "r4 b2 / b9 g5 / y1 y2 y4",
        "2 play y4",
        {"fines": [0, 0, 3], "run": {"seat": 0, "card": "r3"}, "turn": 1},
        turn=1,
        run={"seat": 0, "card": "r3"},
    ),
    party_case(
        "INT-4",
        "the colour and the target of a miss are not looked at",
        "b1 b2 / W b7 / y1 y2",
        "1 play W; 1 play W color b; 1 play b7 swap 9",
        {"fines": [0, 9, 0]},
    ),
    party_case(
        "INT-4",
        "no miss for a seat with a card that fits",
        "b1 b2 / b9 g3 / y1 y2",
        "1 play b9",
        {"fines": None},
        refused="wrong_card",
    ),
    party_case(
        "INT-4 RUN-2",
        "no miss for a seat that could go on with its straight",
        "r4 b2 / b9 g5 / y1 y2",
        "0 play b2",
        refused="wrong_card",
        turn=1,
        run={"seat": 0, "card": "r3"},
    ),
    party_case("INT-4", "a card that is not held", "b1 b2 / b9 g5", "1 play b8", refused="not_in_hand"),
    case(
        "INT-4",
        "the penalty 0: refused",
        "b1 b2 / b9 g5",
        "1 play b9",
        refused="not_your_turn",
        options={**PARTY, "interception_penalty": 0},
    ),
    party_case(
        "INT-4",
        "no miss under a wild",
        "b1 b2 / b9 g5",
        "1 play b9",
        refused="not_your_turn",
        discard_pile="W",
        color="r",
    ),
    party_case("INT-4", "nor under a buzzer", "b1 b2 / b9 g5", "1 play b8", refused="not_your_turn", discard_pile="BZ"),
    party_case("INT-4", "a draw out of turn is none", "b1 b2 / b9 g5", "1 draw", refused="not_your_turn"),
    party_case(
        "INT-4", "the clock never intercepts", "b1 b2 / g3 g5", "1 clock play g3", refused="not_the_clocks_move"
    ),
)
def test_interceptions(row: Case) -> None:
    check(row)


@pytest.mark.rule("INT-5")
def test_a_play_that_comes_too_late_would_be_a_miss_so_doors_have_to_check_the_version() -> None:
    options, shuffle = options_from("house-party", {}), Shuffler(key_from_seed("")).shuffle
    hands = [["b1", "r8", "b2"], ["g3", "g5", "g6"], ["y3", "y2"]]
    start = position_from_json({"hands": hands, "turn": 0, "discard_pile": ["r3"]}, options)
    late = parse_move("play y3")
    assert not apply(start, 2, late, options, shuffle)[0].extra.fines
    moved, _ = apply(start, 0, parse_move("play r8"), options, shuffle)
    assert apply(moved, 2, late, options, shuffle)[0].extra.fines == (0, 0, 3)
