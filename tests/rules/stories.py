"""Writes `tests/golden/stories.jsonl`: the events of some games and of the examples, and their sentences.

Run it after an intended change: `python -m tests.rules.stories > tests/golden/stories.jsonl`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from games.rules import Event, options_from, sentence
from games.rules.console import replay_line
from tests.rules.strategies import play
from tests.rules.tables import Json, case

NAMES = ("Ann", "Bob", "Cyn", "Dan", "Eve", "Fay", "Gus", "Hal", "Ida", "Jon")
GOLDEN = Path(__file__).parents[1] / "golden"
MOST_MOVES = 60


class Story(NamedTuple):
    """A random game: its preset and options, the number of players, and the seed of its cards and moves."""

    preset: str
    overrides: dict[str, object]
    players: int
    seed: int


CLASSIC_OF_RELEASE_1 = {"bluff": "off", "first_discard": "number"}

# Together they have every kind of event in each of its forms.
STORIES = (
    Story("no-mercy", {"stacking": False, "hand_size": 3}, 2, 5),
    Story("no-mercy", {"stacking": False, "hand_size": 3}, 2, 35),
    Story("no-mercy", {"stacking": False, "hand_size": 3}, 4, 23),
    Story("no-mercy", {"roulette_color": "player", "false_catch_penalty": 1}, 2, 32),
    Story("no-mercy", {"hand_size": 2, "mercy_limit": 10}, 2, 1),
    Story("no-mercy", {"hand_size": 2, "mercy_limit": 10}, 2, 7),
    Story("no-mercy", {"hand_size": 2, "mercy_limit": 10}, 3, 34),
    Story("no-mercy", {"hand_size": 2, "mercy_limit": 10}, 4, 5),
    Story("no-mercy", {"hand_size": 2, "mercy_limit": 10}, 4, 12),
    Story("no-mercy", {"hand_size": 2, "mercy_limit": 10}, 4, 20),
    Story("no-mercy", {"zero_seven": False, "last_draw_card": "win_now"}, 2, 21),
    Story("no-mercy", {"zero_seven": False, "last_draw_card": "win_now"}, 3, 4),
    Story("no-mercy", {"zero_seven": False, "last_draw_card": "win_now"}, 3, 35),
    Story("no-mercy", {"last_draw_card": "draw_then_win", "scoring": "penalty"}, 2, 14),
    Story("no-mercy", {"last_draw_card": "draw_then_win", "scoring": "penalty"}, 4, 32),
    Story("classic", {**CLASSIC_OF_RELEASE_1}, 2, 9),
    Story(
        "classic",
        {**CLASSIC_OF_RELEASE_1, "false_catch_penalty": 2, "stacking": True, "last_draw_card": "contest"},
        2,
        29,
    ),
    Story("classic", {"buzzers": "race"}, 3, 46),
    Story("playroom-no-mercy", {"mercy_limit": 10, "hand_size": 4}, 4, 0),
    Story("flip", {}, 2, 27),
    Story("house-party", {}, 3, 9),
)


DRAWN = {"last_draw_card": "draw_then_win"}
RACE = {"preset": "classic", "buzzers": "race"}

CASES = (
    case("CLOCK-2", "the callout time runs out", "r5 / g2 g3", "0 clock uno", exposed=[0], turn=1),
    case("TURN-6", "no card is left to draw", "g5 g6 / b2 b3", "0 draw", draw_pile="-"),
    case("TURN-6", "one card is left to draw", "g5 g6 / b2 b3", "0 draw", draw_pile="b1"),
    case("END-1", "refused once the round is over", "r5 / g2 g3", "0 play r5; 1 draw"),
    case("MERCY-3", "refused to a seat that is out", "r5 r6 / - / g2 g3", "1 draw", out=[1]),
    case("ROUL-1", "refused before a colour is named", "r5 / g2 g3", "0 draw", discard_pile="WC", phase="choose_color"),
    case("CLOCK-1", "not the clock's move", "r5 r6 / g2 g3", "0 clock take; 1 clock draw; 0 clock leave"),
    case("TURN-2", "no match with a wild", "g5 g6 / b2 b3", "0 play g5", discard_pile="W6", color="r"),
    case("TURN-4", "no draw at will", "r5 r6 / g2 g3", "0 draw", options={"voluntary_draw": False}),
    case("TURN-4", "no pass before a draw", "r5 r6 / g2 g3", "0 pass", options={"drawn_must_play": False}),
    case("TURN-7", "no colour asked", "r5 r6 / g2 g3", "0 play r5 color g; 0 play r5 swap 1"),
    case("STACK-3", "no draw under a stack", "r5 r6 / g2 g3", "0 draw; 0 play r5", discard_pile="r+4", pending=(6, 4)),
    case("LEAVE-1", "leaving under a roulette", "g5 / g2 g3 / y1", "0 leave", discard_pile="WC", phase="choose_color"),
    case("LEAVE-1", "leaving under a stack", "g5 / g2 g3 / y1 y2", "0 leave", discard_pile="r+4", pending=(6, 4)),
    case("LEAVE-1", "leaving out of turn", "g5 / g2 g3 / y1 y2", "1 leave"),
    case("END-2", "the last draw card is drawn", "r+4 / g2 g3", "0 play r+4", options=DRAWN),
    case("SCORE-1", "a round that is worth one point", "r5 / g1", "0 play r5"),
    case("SCORE-1", "a round that is worth nothing", "r5 / g0", "0 play r5"),
    case("SEVEN-1", "no such swap", "r7 r6 / g2 g3", "0 play r7 swap 4", pending=None),
    case("BUZZ-2", "no race", "r5 r6 / g2 g3", "0 buzz", options=RACE),
    case("BUZZ-2", "refused in a race", "BZ r6 / g2 g3 / y1 y2", "0 play BZ; 0 play r6; 2 buzz; 2 buzz", options=RACE),
    case("BLUFF-1", "nothing to challenge", "r5 r6 / g2 g3", "0 challenge", options={"preset": "classic"}),
    case("INT-4", "a miss that is refused", "r5 r6 / g3 b9", "1 play b9", options={"preset": "house-party"}),
    case(
        "BLUFF-5",
        "leaving under a Wild Draw Colour",
        "r1/o1 r2/o2 / r3/o3 r4/o4 / r5/o5 r6/o6",
        "0 leave",
        options={"preset": "flip"},
        side="dark",
        discard_pile="r9/o9 r8/WD",
        draw_pile="r7/p7",
        color="u",
        pending=(0, 0),
    ),
)


def told(line: str, events: Iterable[Event]) -> dict[str, Any]:
    """Return a move with its events, and their sentences for seat 0 and for a spectator."""
    events = list(events)
    return {
        "line": line,
        "events": [event.to_json() for event in events],
        "seat 0 reads": [sentence(event, 0, NAMES) for event in events],
        "spectators read": [sentence(event, None, NAMES) for event in events],
    }


def tell() -> Iterator[dict[str, Any]]:
    """Yield the games, then the examples and the cases."""
    for story in STORIES:
        yield story._asdict()
        options = options_from(story.preset, story.overrides)
        for played in play(options, story.players, story.seed, leaving=0.02, most=MOST_MOVES):
            yield told(f"{played.seat} {played.move}", played.events)
    for name, request in _requests():
        yield {"example": name}
        steps: Any = replay_line(json.dumps(request))["steps"]
        for step in steps:
            if step["ok"]:
                yield told(step["move"], map(Event.from_json, step["events"]))
            else:
                yield {"line": step["move"], "code": step["error"], "refused": step["message"]}


def _requests() -> Iterator[tuple[str, Json]]:
    for name in ("examples.jsonl", "examples-variants.jsonl"):
        for example in map(json.loads, (GOLDEN / name).read_text(encoding="utf-8").splitlines()):
            request = {key: value for key, value in example.items() if key not in ("name", "rules", "expect")}
            yield example["name"], request
    for row in CASES:
        yield row.name, row.request


if __name__ == "__main__":
    for line in tell():
        sys.stdout.write(json.dumps(line) + "\n")
