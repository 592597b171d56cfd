"""Refusals: each code is reached by a move, and they are checked in docs/notation.md's order."""

from __future__ import annotations

import pytest

from games.rules import PRESETS, REFUSALS, RULEBOOK, Move, Position, Refused, Shuffler, apply, why_not
from tests.rules.tables import Case, Json, answer, case, cases, check

NO_MERCY = PRESETS["no-mercy"]
OFF = {"voluntary_draw": False}
OVER: Json = {"phase": "over", "winner": 1, "points": 5, "turn": 1, "out": [2]}
STACK: Json = {"discard_pile": "r+4", "pending": (4, 4)}
ROULETTE: Json = {"discard_pile": "WC", "phase": "choose_color"}
DRAWN: Json = {"phase": "drawn", "drawn": "r5"}
PARTY = {"preset": "house-party"}
RACE = {"preset": "classic", "buzzers": "race"}
OPEN_RACE: Json = {"discard_pile": "BZ", "phase": "buzz", "buzz": {"by": 0, "pressed": [1]}}

ROWS = (
    case("TURN-1", "malformed", "r5 b1 / g2 g3", "0 play zz", refused="malformed"),
    case("TURN-1", "no_such_seat", "r5 b1 / g2 g3", "7 draw", refused="no_such_seat"),
    case("END-1", "over", "r5 b1 / - / -", "0 play r5", refused="over", **OVER),
    case("MERCY-3", "out", "r5 b1 / - / g2 g3", "1 draw", refused="out", out=[1]),
    case("UNO-6", "nothing_owed", "r5 b1 / g2", "1 uno", refused="nothing_owed"),
    case("UNO-6", "nobody_to_catch", "r5 b1 / g2", "0 catch 1", refused="nobody_to_catch"),
    case("BUZZ-2", "no_buzz", "r5 b1 / g2 g3", "0 buzz", refused="no_buzz", options=RACE),
    case(
        "BUZZ-2",
        "already_pressed",
        "r5 b1 / g2 g3 / y1",
        "1 buzz",
        refused="already_pressed",
        options=RACE,
        **OPEN_RACE,
    ),
    case("TURN-1", "not_your_turn", "r5 b1 / g2 g3", "1 draw", refused="not_your_turn"),
    case("BUZZ-2", "buzz_first", "r5 b1 / g2 g3 / y1", "0 draw", refused="buzz_first", options=RACE, **OPEN_RACE),
    case("ROUL-1", "choose_color_first", "r5 b1 / g2 g3", "0 draw", refused="choose_color_first", **ROULETTE),
    case("ROUL-1", "no_roulette", "r5 b1 / g2 g3", "0 color g", refused="no_roulette"),
    case("CLOCK-1", "not_the_clocks_move", "r5 b1 / g2 g3", "0 clock play r5", refused="not_the_clocks_move"),
    case("TURN-4", "must_play_drawn", "r5 b1 / g2 g3", "0 play b1", refused="must_play_drawn", **DRAWN),
    case("STACK-3", "nothing_to_take", "r5 b1 / g2 g3", "0 take", refused="nothing_to_take"),
    case(
        "BLUFF-1",
        "nothing_to_challenge",
        "r5 b1 / g2 g3",
        "0 challenge",
        refused="nothing_to_challenge",
        options={"preset": "classic"},
    ),
    case("STACK-3", "cards_owed", "r5 b1 / g2 g3", "0 draw", refused="cards_owed", **STACK),
    case("TURN-1", "not_in_hand", "r5 b1 / g2 g3", "0 play r6", refused="not_in_hand"),
    case("STACK-1", "too_low", "b+2 b1 / g2 g3", "0 play b+2", refused="too_low", **STACK),
    case("TURN-2", "not_matching", "g5 b1 / g2 g3", "0 play g5", refused="not_matching"),
    case("INT-4", "wrong_card", "r5 b1 / g3 b9", "1 play b9", refused="wrong_card", options=PARTY),
    case("TURN-7", "color_missing", "W6 b1 / g2 g3", "0 play W6", refused="color_missing"),
    case("TURN-7", "color_not_asked", "r5 b1 / g2 g3", "0 play r5 color r", refused="color_not_asked"),
    case("SEVEN-1", "swap_missing", "r7 b1 / g2 g3", "0 play r7", refused="swap_missing"),
    case("SEVEN-1", "swap_not_asked", "r5 b1 / g2 g3", "0 play r5 swap 1", refused="swap_not_asked"),
    case("SEVEN-1", "bad_swap_target", "r7 b1 / g2 g3", "0 play r7 swap 0", refused="bad_swap_target"),
    case("TURN-4", "may_not_draw", "r5 b1 / g2 g3", "0 draw", refused="may_not_draw", options=OFF),
)


@cases(*ROWS)
def test_every_refusal_is_reached_by_a_move(row: Case) -> None:
    check(row)
    told = answer(row.request)["steps"][-1]
    assert told["rule"] == REFUSALS[row.refused]
    assert told["message"].endswith(".")
    assert told["rule"] is None or told["rule"] in {rule.id for rule in RULEBOOK}


def test_every_code_is_tested_in_the_order_of_the_table() -> None:
    assert [row.refused for row in ROWS] == list(REFUSALS)


@cases(
    case("TURN-1", "malformed before the seat", "r5 b1 / g2 g3", "7 play zz", refused="malformed"),
    case("TURN-1", "the seat before the end", "r5 b1 / - / -", "7 draw", refused="no_such_seat", **OVER),
    case("END-1", "the end before being out", "r5 b1 / - / -", "2 draw", refused="over", **OVER),
    case("MERCY-3", "being out before a call", "r5 b1 / - / g2 g3", "1 uno", refused="out", out=[1]),
    case("MERCY-3", "being out before a catch", "r5 b1 / - / g2 g3", "1 catch 0", refused="out", out=[1]),
    case("MERCY-3", "being out before the turn", "r5 b1 / - / g2 g3", "1 take", refused="out", out=[1]),
    case("TURN-1", "the turn before the colour", "r5 b1 / g2 g3", "1 color g", refused="not_your_turn", **ROULETTE),
    case("TURN-1", "the turn before the clock", "r5 b1 / g2 g3", "1 clock play zz", refused="malformed"),
    case(
        "ROUL-1",
        "the colour before the clock",
        "r5 b1 / g2 g3",
        "0 clock draw",
        refused="choose_color_first",
        **ROULETTE,
    ),
    case(
        "CLOCK-1",
        "the clock before the card drawn",
        "r5 b1 / g2 g3",
        "0 clock play b1",
        refused="not_the_clocks_move",
        **DRAWN,
    ),
    case(
        "TURN-4",
        "the card drawn before what is not owed",
        "r5 b1 / g2 g3",
        "0 take",
        refused="must_play_drawn",
        **DRAWN,
    ),
    case(
        "TURN-4",
        "the card drawn before what is not held",
        "r5 b1 / g2 g3",
        "0 play r6",
        refused="must_play_drawn",
        **DRAWN,
    ),
    case(
        "STACK-3", "what is owed before what is not held", "r5 b1 / g2 g3", "0 play r6", refused="cards_owed", **STACK
    ),
    case(
        "TURN-1",
        "what is not held before what is too low",
        "r5 b1 / g2 g3",
        "0 play b+2",
        refused="not_in_hand",
        **STACK,
    ),
    case("TURN-2", "the match before the colour", "g5 b1 / g2 g3", "0 play g5 color r", refused="not_matching"),
    case("TURN-2", "the match before the swap", "g7 b1 / g2 g3", "0 play g7", refused="not_matching"),
    case("TURN-7", "the colour before the swap", "r7 b1 / g2 g3", "0 play r7 color r", refused="color_not_asked"),
    case(
        "SEVEN-1", "a swap not asked before a bad target", "r5 b1 / g2 g3", "0 play r5 swap 9", refused="swap_not_asked"
    ),
    case("TURN-1", "a seat to catch that is not there", "r5 b1 / g2 g3", "0 catch 6", refused="no_such_seat"),
)
def test_refusals_are_checked_in_the_order_of_the_notation(row: Case) -> None:
    check(row)


NO_MOVES = """
draw|0|0 |0  draw| 0 draw|0 draw |0 Draw|00 draw|-1 draw|+1 draw|٣ draw|0\tdraw|0 draw uno|0 take uno|0 uno uno
0 play|0 play r5 uno uno|0 play R5|0 play r10|0 play +2|0 play r5 swap|0 play r5 swap -1|0 play r5 swap 01
0 play W6 color|0 play W6 color x|0 play W6 color red|0 play r7 swap 1 color r
0 play W6 uno color r|0 color|0 color w|0 catch|0 catch x
0 clock|0 clock clock draw|clock 0 draw|0 draw 1|0 leave now|0 fold|\ud800|0 play r5\u2028|0 play r5 |0 play  r5
"""
TEXTS = [text for row in NO_MOVES.strip("\n").split("\n") for text in row.split("|")]


@pytest.mark.parametrize("text", ["", " ", "0 draw\n", *TEXTS], ids=ascii)
def test_text_that_is_no_move_is_malformed(text: str) -> None:
    row = case("TURN-1", "", "r5 r7 W6 / g2 g3", text, refused="malformed")
    row.request["moves"] = [text]
    check(row)


LONG = "9" * 5000


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (f"{LONG} draw", "no_such_seat"),
        (f"0 catch {LONG}", "no_such_seat"),
        (f"0 play r7 swap {LONG}", "bad_swap_target"),
    ],
    ids=["mover", "caught", "swapped"],
)
def test_a_very_long_seat_number_is_no_seat(line: str, code: str) -> None:
    check(case("TURN-1", "", "r5 r7 W6 / g2 g3", line, refused=code))


def test_a_refused_move_changes_nothing_and_the_replay_goes_on() -> None:
    row = case("TURN-2", "", "r5 g5 b1 / g2 g3", "0 play g5; 0 play r5")
    told = answer(row.request)["steps"]
    assert [step["ok"] for step in told] == [False, True]
    assert set(told[0]) == {"move", "ok", "error", "rule", "message"}
    assert told[0]["message"] == "Green 5 does not match Red 3."


@pytest.mark.parametrize(
    "move", [Move("dance"), Move("play"), Move("play", "zz"), Move("pass"), Move("play", "W4", "r"), Move("")]
)
def test_a_move_object_is_checked_like_text(move: Move) -> None:
    position = Position(hands=[["r5", "b1"], ["g2", "g3"]], turn=0, discard_pile=["r3"], color="r")
    with pytest.raises(Refused, match="malformed") as refused:
        apply(position, 0, move, NO_MERCY, Shuffler(b"").shuffle)
    assert (refused.value.code, refused.value.rule) == ("malformed", None)


@pytest.mark.parametrize(
    ("seat", "card", "code"),
    [(0, "r7", None), (0, "W6", None), (0, "g5", "not_matching"), (1, "g2", "not_your_turn"), (0, "r1", "not_in_hand")],
)
def test_why_not_says_why_a_card_cannot_be_played(seat: int, card: str, code: str | None) -> None:
    position = Position(hands=[["r7", "W6", "g5"], ["g2", "g3"]], turn=0, discard_pile=["r3"], color="r")
    refused = why_not(position, seat, card, NO_MERCY)
    assert (refused and refused.code) == code
