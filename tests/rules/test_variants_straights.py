"""CALL-1 to CALL-4, RUN-1 to RUN-6: UNO calls where windows stay open, and straights."""

from __future__ import annotations

from functools import partial

import pytest

from games.rules import Refused, Shuffler, key_from_seed, options_from, parse_move, position_from_json, replay
from tests.rules.tables import Case, Json, case, cases, check

PLAYROOM = {"preset": "playroom"}
playroom_case = partial(case, options=PLAYROOM)
CLASSIC = {"preset": "classic"}
RACE = {"preset": "classic", "buzzers": "race"}
OPEN_RACE: Json = {"options": RACE, "discard_pile": "BZ", "phase": "buzz"}
RUNS = {"preset": "classic", "straights": True}
runs_case = partial(case, options=RUNS)
RUNS_07 = {**RUNS, "zero_seven": True}
runs_07_case = partial(case, options=RUNS_07)


@cases(
    playroom_case(
        "CALL-1",
        "an open window stays open for turns of others",
        "r5 b1 / r6 b2 b4 / g1 g2",
        "0 play r5; 1 play r6; 2 catch 0",
        {"hands": "b1 b1 b2 g4 y3 / b2 b4 / g1 g2", "exposed": []},
    ),
    case(
        "CALL-1 UNO-3",
        "uno_window turn: it does not",
        "r5 b1 / r6 b2 b4 / g1 g2",
        "0 play r5; 1 play r6; 2 catch 0",
        refused="nobody_to_catch",
        options={**PLAYROOM, "uno_window": "turn"},
    ),
    playroom_case(
        "CALL-1",
        "it closes when its player holds another number of cards",
        "r5 b1 / r6 b2 b4 / g1 g2",
        "0 play r5; 1 play r6; 2 draw; 0 draw; 1 catch 0",
        refused="nobody_to_catch",
    ),
    case(
        "CALL-1",
        "it closes when its player holds another hand",
        "r5 b1 / r7 g4 / y1 y2",
        "0 play r5; 1 play r7 swap 0",
        {"hands": "g4 / b1 / y1 y2", "exposed": []},
        options={**PLAYROOM, "zero_seven": True, "uno_on_received_hand": False},
    ),
    playroom_case(
        "CALL-1",
        "its player may call turns later",
        "r5 b1 / r6 b2 b4 / g1 g2",
        "0 play r5; 1 play r6; 0 uno",
        {"declared": [0], "exposed": []},
    ),
    runs_case(
        "CALL-2 RUN-2",
        "a step that leaves one card owes a call",
        "r5 r6 b1 / g2 g3 / y1 y2",
        "0 play r5; 0 play r6",
        {"hands": "b1 / g2 g3 / y1 y2", "exposed": [0], "turn": 1},
    ),
    runs_case(
        "CALL-2",
        "a step may call UNO",
        "r5 r6 b1 / g2 g3 / y1 y2",
        "0 play r5; 0 play r6 uno",
        {"declared": [0], "exposed": []},
    ),
    case(
        "CALL-2 INT-1",
        "so does an interception that leaves one card",
        "b4 b5 / r3 g2 / y5 y6",
        "1 play r3",
        {"exposed": [1], "turn": 1},
        options={"preset": "house-party"},
    ),
    case(
        "CALL-2 PAY-1",
        "a player who only drew owes none",
        "r+2 b4 b5 / g2 g3 / y1 y2",
        "0 play r+2",
        {"exposed": []},
        options=CLASSIC,
    ),
    case(
        "CALL-3",
        "a pass closes windows",
        "r9 b1 / g2 g3 / y1",
        "0 pass",
        {"exposed": [], "turn": 1},
        options=CLASSIC,
        phase="drawn",
        drawn="r9",
        exposed=[2],
    ),
    case(
        "CALL-3 BLUFF-3",
        "a challenge closes windows",
        "r1 b2 b4 / g2 g3 / y1",
        "1 challenge",
        {"exposed": [], "turn": 1},
        options=CLASSIC,
        turn=1,
        discard_pile="r3 W4",
        color="g",
        pending=(4, 4),
        challenge={"seat": 0, "bluff": True},
        exposed=[2],
    ),
    case(
        "CALL-3",
        "a press closes none",
        "b1 b2 / g2 g3 / y1",
        "1 buzz",
        {"exposed": [2], "phase": "buzz"},
        buzz={"by": 0, "pressed": []},
        exposed=[2],
        **OPEN_RACE,
    ),
    case(
        "CALL-3",
        "the end of a race closes none",
        "b1 / g2 g3 / y1 y2",
        "0 clock buzz",
        {"exposed": [0], "phase": "play", "turn": 1},
        buzz={"by": 0, "pressed": []},
        exposed=[0],
        **OPEN_RACE,
    ),
    case(
        "CALL-4 UNO-4",
        "uno_on_received_hand off: a call said with the play counts",
        "r7 b1 b2 / g2 / y1 y2",
        "0 play r7 swap 1 uno",
        {"declared": [0], "exposed": []},
        options={"uno_on_received_hand": False},
    ),
    case(
        "CALL-4 UNO-6",
        "a false catch may name any other seat still in",
        "r5 b1 / g2 g3 / y1 y2",
        "1 catch 2",
        {"hands": "r5 b1 / b1 g2 g3 / y1 y2"},
        options={"false_catch_penalty": 1},
        legal={2: "catch 0; catch 1"},
    ),
)
def test_calls(row: Case) -> None:
    check(row)


@cases(
    runs_case(
        "RUN-1",
        "a number opens a straight",
        "r5 b1 b2 / g2 g3",
        "0 play r5",
        {"run": {"seat": 0, "card": "r5"}, "turn": 1},
    ),
    runs_case("RUN-1", "an action card opens none", "rR b1 b2 / g2 g3 / y1", "0 play rR", {"run": None}),
    runs_case("RUN-1", "a plain 7 opens one", "r7 b1 b2 / g2 g3", "0 play r7", {"run": {"seat": 0, "card": "r7"}}),
    runs_07_case("RUN-1", "a 7 that swaps opens none", "r7 b1 b2 / g2 g3", "0 play r7 swap 1", {"run": None}),
    runs_case("RUN-1", "a last card opens none", "r5 / g2 g3", "0 play r5", {"run": None, "winner": 0}),
    case("RUN-1", "no straights, no run", "r5 b1 b2 / g2 g3", "0 play r5", {"run": None}, options=CLASSIC),
    runs_case(
        "RUN-2",
        "steps are the numbers next to it, of the same colour",
        "r5 r4 r6 b6 r8 / g2 g3",
        "0 play r5",
        legal={0: "play r4; play r6", 1: "draw"},
    ),
    runs_case(
        "RUN-2",
        "the way may turn round, and the turn does not move",
        "r5 r6 r5 r4 b1 b2 / g2 g3",
        "0 play r5; 0 play r6; 0 play r5; 0 play r4",
        {"hands": "b1 b2 / g2 g3", "turn": 1, "run": {"seat": 0, "card": "r4"}, "discard_pile": "r3 r5 r6 r5 r4"},
    ),
    runs_case(
        "RUN-2",
        "9 and 0 are neighbours",
        "r9 r0 r9 b1 b2 / g2 g3",
        "0 play r9; 0 play r0; 0 play r9",
        {"hands": "b1 b2 / g2 g3", "run": {"seat": 0, "card": "r9"}},
    ),
    runs_case("RUN-2", "no step of two", "r5 r7 b1 / g2 g3", "0 play r5; 0 play r7", refused="not_your_turn"),
    runs_case("RUN-2", "no other colour", "r5 g6 b1 / g2 g3", "0 play r5; 0 play g6", refused="not_your_turn"),
    runs_case(
        "RUN-2", "no step for another seat", "r5 b1 b2 / g2 g3 / r6 y1", "0 play r5; 2 play r6", refused="not_your_turn"
    ),
    runs_case(
        "RUN-2 TURN-2",
        "the next player plays on the last card of the straight",
        "r5 r6 b1 b2 / g6 g3",
        "0 play r5; 0 play r6; 1 play g6",
        {"turn": 0, "run": {"seat": 1, "card": "g6"}},
    ),
    runs_07_case(
        "RUN-3 SEVEN-1",
        "a 7 swaps at once and closes the straight",
        "r6 r7 b1 b2 / g2 g3 / y1 y2",
        "0 play r6; 0 play r7 swap 2",
        {"hands": "y1 y2 / g2 g3 / b1 b2", "run": None, "turn": 1},
    ),
    runs_07_case(
        "RUN-3", "a 7 names its target", "r6 r7 b1 b2 / g2 g3 / y1 y2", "0 play r6; 0 play r7", refused="swap_missing"
    ),
    runs_07_case(
        "RUN-3 ZERO-1",
        "a 0 passes all hands at once",
        "r1 r0 b1 b2 / g2 g3 / y1 y2",
        "0 play r1; 0 play r0",
        {"hands": "y1 y2 / b1 b2 / g2 g3", "run": None, "turn": 1},
    ),
    runs_07_case(
        "RUN-3 RUN-5", "a last 7 names no target", "r6 r7 / g2 g3", "0 play r6; 0 play r7", {"winner": 0, "points": 5}
    ),
    runs_case(
        "RUN-4",
        "a draw of the next player closes it, and a card played in turn opens another",
        "r5 r6 b1 / g2 g3",
        "0 play r5; 1 draw; 0 play r6",
        {"run": {"seat": 0, "card": "r6"}, "turn": 1, "hands": "b1 / b9 g2 g3"},
        draw_pile="b9 b8",
    ),
    runs_case(
        "RUN-4",
        "a straight does not outlive a draw of the player on turn",
        "r5 r6 b1 / g2 g3 / y1 y2",
        "0 play r5; 1 draw; 0 play r6",
        refused="not_your_turn",
    ),
    runs_case(
        "RUN-4", "it closes when its seat leaves", "r5 r6 b1 / g2 g3 / y1 y2", "0 play r5; 0 leave", {"run": None}
    ),
    case(
        "RUN-4 INT-2",
        "an interception closes it",
        "r5 r6 b1 / g2 g3 / g5 y2 y4",
        "0 play r5; 2 play g5",
        {"run": None, "turn": 2},
        options={"preset": "house-party"},
    ),
    runs_case("RUN-5", "a last card wins at once", "r5 r6 / g2 g3", "0 play r5; 0 play r6", {"winner": 0, "points": 5}),
    runs_case(
        "RUN-5 UNO-3",
        "a step closes windows of others",
        "r6 b1 b2 / g2 g3 / y1",
        "0 play r6",
        {"exposed": [], "turn": 1},
        turn=1,
        discard_pile="r5",
        run={"seat": 0, "card": "r5"},
        exposed=[2],
    ),
)
def test_straights(row: Case) -> None:
    check(row)


@pytest.mark.rule("RUN-6")
def test_several_lines_of_one_seat_are_accepted_together_or_not_at_all() -> None:
    options = options_from("classic", {"straights": True})
    start = position_from_json(
        {"hands": [["r5", "r6", "r7", "b1"], ["g2", "g3"]], "turn": 0, "discard_pile": ["r3"]}, options
    )
    shuffle = Shuffler(key_from_seed("")).shuffle
    lines = [(0, parse_move(text)) for text in ("play r5", "play r6", "play r7")]
    steps = list(replay(start, lines, options, shuffle))
    assert len(steps) == 3
    with pytest.raises(Refused, match="not_your_turn"):
        list(replay(start, [*lines[:2], (0, parse_move("play b1"))], options, shuffle))
    assert start.hands[0] == ("r5", "r6", "r7", "b1")
