"""BUZZ-1 to BUZZ-4: buzzers."""

from __future__ import annotations

from functools import partial

import pytest

from games.rules import Shuffler, key_from_seed
from tests.rules.tables import Case, Json, answer, case, cases, check

RACE = {"preset": "classic", "buzzers": "race"}
race_case = partial(case, options=RACE)
LOTTERY = {"preset": "classic", "buzzers": "lottery"}
OPEN: Json = {"options": RACE, "discard_pile": "r3 BZ", "phase": "buzz"}
BY_0: Json = {"buzz": {"by": 0, "pressed": []}}


@cases(
    race_case(
        "BUZZ-1 BUZZ-2",
        "a buzzer may be played on anything and opens a race",
        "BZ b1 b2 / g2 g3 / y1 y2",
        "0 play BZ",
        {"color": None, "phase": "buzz", "buzz": {"by": 0, "pressed": []}, "turn": 0},
        legal={0: "buzz", 1: "buzz", 2: "buzz"},
    ),
    case(
        "BUZZ-1", "it asks for no colour", "BZ b1 / g2 g3", "0 play BZ color r", refused="color_not_asked", options=RACE
    ),
    race_case(
        "BUZZ-1 TURN-8",
        "it leaves no colour in force",
        "b1 b2 / g2 g3 BZ / y1 y2",
        "",
        {"color": None},
        turn=1,
        discard_pile="BZ",
        legal={1: "draw; play BZ; play g2; play g3"},
    ),
    case(
        "BUZZ-1",
        "a deck without buzzers has none",
        "r1 b1 / g2 g3",
        "0 play BZ",
        refused="malformed",
        options={"preset": "classic"},
    ),
    case("BUZZ-1", "a lottery has no pressing", "r1 b1 / g2 g3", "0 buzz", refused="malformed", options=LOTTERY),
    race_case(
        "BUZZ-2 BUZZ-4",
        "the last to press is the slowest",
        "BZ b1 b2 / g2 g3 / y1 y2",
        "0 play BZ; 2 buzz; 0 buzz",
        {"hands": "b1 b2 / b1 b2 g2 g3 / y1 y2", "phase": "play", "turn": 1, "buzz": None},
    ),
    race_case(
        "BUZZ-2",
        "the buzzer's player may be the slowest",
        "BZ b4 b5 / g2 g3 / y1 y2",
        "0 play BZ; 2 buzz; 1 buzz",
        {"hands": "b1 b2 b4 b5 / g2 g3 / y1 y2", "phase": "play", "turn": 1},
    ),
    case(
        "BUZZ-2",
        "everybody presses once",
        "b1 b2 / g2 g3 / y1",
        "1 buzz; 1 buzz",
        refused="already_pressed",
        **OPEN,
        **BY_0,
    ),
    case("BUZZ-2", "nothing else is played", "b1 b2 / g2 g3 / y1", "0 draw", refused="buzz_first", **OPEN, **BY_0),
    case("BUZZ-2", "nor by others", "b1 b2 / g2 g3 / y1", "1 draw", refused="not_your_turn", **OPEN, **BY_0),
    case(
        "BUZZ-2",
        "calls and catches are accepted",
        "b1 / g2 / y1 y2 y3",
        "2 catch 1; 0 uno",
        {"hands": "b1 / b1 b2 g2 / y1 y2 y3", "declared": [0], "phase": "buzz"},
        exposed=[0, 1],
        **OPEN,
        **BY_0,
    ),
    case(
        "BUZZ-2",
        "the clock ends it: the last in the order of play",
        "b1 b2 / g2 g3 / y1 y2",
        "0 clock buzz",
        {"hands": "b1 b2 / g2 g3 / b1 b2 y1 y2", "turn": 1},
        **OPEN,
        **BY_0,
    ),
    case(
        "BUZZ-2",
        "of those that have not pressed",
        "b1 b2 / g2 g3 / y1 y2",
        "2 buzz; 0 clock buzz",
        {"hands": "b1 b2 / b1 b2 g2 g3 / y1 y2"},
        **OPEN,
        **BY_0,
    ),
    case(
        "BUZZ-2",
        "in the direction of play",
        "b1 b2 / g2 g3 / y1 y2",
        "0 clock buzz",
        {"hands": "b1 b2 / b1 b2 g2 g3 / y1 y2", "turn": 2},
        direction=-1,
        **OPEN,
        **BY_0,
    ),
    case(
        "BUZZ-2",
        "the line is that of the seat on turn",
        "b1 b2 / g2 g3 / y1",
        "1 clock buzz",
        refused="not_the_clocks_move",
        **OPEN,
        **BY_0,
    ),
    race_case("BUZZ-2", "no race, no press", "b1 b2 / g2 g3 / y1", "0 clock buzz", refused="no_buzz"),
    case(
        "BUZZ-2 LEAVE-1",
        "a seat that leaves no longer counts",
        "b1 b2 / g2 g3 / y1 y2 / r1 r2",
        "1 leave",
        {"buzz": {"by": 0, "pressed": [2]}, "phase": "buzz"},
        buzz={"by": 0, "pressed": [1, 2]},
        **OPEN,
    ),
    case(
        "BUZZ-2 LEAVE-1",
        "which may leave one that has not pressed",
        "b4 b5 / g2 g3 / y1 y2",
        "1 leave",
        {"buzz": None, "phase": "play", "turn": 2, "hands": "b1 b2 b4 b5 / - / y1 y2"},
        buzz={"by": 0, "pressed": [2]},
        **OPEN,
    ),
    case(
        "BUZZ-2 MERCY-1",
        "a seat that a catch knocks out no longer counts",
        "b4 b5 / g2 / y1 y2",
        "2 catch 1",
        {"buzz": None, "phase": "play", "turn": 2, "out": [1]},
        buzz={"by": 0, "pressed": [2]},
        exposed=[1],
        draw_pile="r1 r2 r5 r6 y3 y4 y5 y6 y8 g4 g5 g6",
        **{**OPEN, "options": {**RACE, "mercy_limit": 10, "callout_penalty": 9}},
    ),
    case(
        "BUZZ-2 LEAVE-1",
        "without the buzzer's player the race is off",
        "b1 b2 / g2 g3 / y1 y2",
        "0 leave",
        {"hands": "- / g2 g3 / y1 y2", "phase": "play", "turn": 1, "buzz": None},
        buzz={"by": 0, "pressed": [2]},
        **OPEN,
    ),
    race_case(
        "BUZZ-4 END-1",
        "a last buzzer wins once the slowest has drawn",
        "BZ / g2 g3 / y1 y2",
        "0 play BZ; 0 buzz; 1 buzz",
        {"hands": "- / g2 g3 / b1 b2 y1 y2", "winner": 0, "points": 11},
    ),
    race_case(
        "BUZZ-4",
        "but not if its player is the slowest",
        "BZ / g2 g3 / y1 y2",
        "0 play BZ; 2 buzz; 1 buzz",
        {"hands": "b1 b2 / g2 g3 / y1 y2", "winner": None, "turn": 1},
    ),
    case(
        "BUZZ-4 MERCY-1",
        "the slowest may be knocked out",
        "BZ b4 b5 / b1 b2 b3 b4 b5 b6 b8 b9 / y1 y2",
        "0 play BZ; 0 buzz; 2 buzz",
        {"out": [1], "turn": 2, "phase": "play"},
        options={**RACE, "mercy_limit": 10},
    ),
    case(
        "BUZZ-4 END-4",
        "which may end the round",
        "BZ b4 b5 / b1 b2 b3 b4 b5 b6 b8 b9",
        "0 play BZ; 0 buzz",
        {"out": [1], "winner": 0, "points": 250},
        options={**RACE, "mercy_limit": 10},
    ),
    race_case(
        "BUZZ-4 UNO-1",
        "its player owes a call while the race runs",
        "BZ b4 / g2 g3 / y1 y2",
        "0 play BZ; 1 catch 0",
        {"hands": "b1 b2 b4 / g2 g3 / y1 y2", "phase": "buzz"},
    ),
)
def test_races(row: Case) -> None:
    check(row)


@pytest.mark.rule("BUZZ-3 BUZZ-4")
@pytest.mark.parametrize("seed", ["", "x", "y", "z"])
def test_a_lottery_finds_the_slowest_with_the_streams_of_the_seed(seed: str) -> None:
    row = case(
        "BUZZ-3", "", "BZ b4 b5 / BZ g3 g5 / - / y1 y2", "0 play BZ; 1 play BZ", options=LOTTERY, seed=seed, out=[2]
    )
    shuffle = Shuffler(key_from_seed(seed)).shuffle
    counts = [3, 3, 0, 2]
    for number, step in enumerate(answer(row.request)["steps"], 1):
        counts[number - 1] -= 1
        counts[int(shuffle(["0", "1", "3"], f"b{number}")[0])] += 2
        position = step["position"]
        assert [len(hand) for hand in position["hands"]] == counts
        assert (position["buzzes"], position["turn"], position["phase"]) == (number, (1, 3)[number - 1], "play")
