"""`games.rules` and the oracle, two independent implementations of the rules, give the same answers."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from games.rules.console import replay_line
from games.rules.errors import BadInput
from tests.rules import oracle
from tests.rules.oracle_changes import random_changed_request
from tests.rules.oracle_json import BadInputError
from tests.rules.oracle_options import PRESETS
from tests.rules.oracle_requests import game_of, random_game, random_request

if TYPE_CHECKING:
    from tests.conftest import Figure

Json = dict[str, Any]
BAD = {"bad input": True}
# Not significant once a round is over (docs/notation.md, "Position").
INSIGNIFICANT = ("color", "direction", "declared", "passes")
STEPS = int(os.environ.get("ORACLE_STEPS", "2000"))


def significant(answer: Json) -> Json:
    """Return an answer without the parts that docs/notation.md leaves open."""
    for step in answer["steps"]:
        step.pop("events", None)
        step.pop("message", None)
    for position in [answer["position"], *(step["position"] for step in answer["steps"] if step["ok"])]:
        if position["phase"] == "over":
            for name in INSIGNIFICANT:
                position.pop(name, None)
    return answer


def answer_of_rules(request: object) -> Json:
    try:
        return significant(json.loads(json.dumps(replay_line(json.dumps(request)))))
    except BadInput:
        return BAD


def answer_of_oracle(request: object) -> Json:
    try:
        return significant(json.loads(json.dumps(oracle.replay(json.loads(json.dumps(request))))))
    except BadInputError:
        return BAD


def assert_same_answer(request: object) -> int:
    """Compare both answers. Return the number of steps."""
    expected = answer_of_oracle(request)
    assert answer_of_rules(request) == expected, json.dumps(request)
    return len(expected.get("steps", []))


@pytest.mark.long
@pytest.mark.parametrize("batch", range(5))
def test_rules_and_oracle_agree_on_random_positions(batch: int) -> None:
    for number in range(100):
        assert_same_answer(random_request(random.Random(f"position {batch} {number}")))


@pytest.mark.parametrize("preset", PRESETS)
def test_rules_and_oracle_agree_on_dealt_games_of_a_preset(preset: str) -> None:
    for players in (2, 5):
        assert_same_answer(game_of(random.Random(f"{preset} {players}"), {"preset": preset}, players, 150))


@pytest.mark.parametrize("batch", range(4))
def test_rules_and_oracle_agree_on_dealt_games(batch: int) -> None:
    for number in range(4):
        assert_same_answer(random_game(random.Random(f"game {batch} {number}"), 150))


@pytest.mark.long
@pytest.mark.parametrize("batch", range(3))
def test_rules_and_oracle_agree_on_bad_input(batch: int) -> None:
    for number in range(200):
        assert_same_answer(random_changed_request(random.Random(f"suspect {batch} {number}")))


@pytest.mark.long
def test_rules_and_oracle_agree_for_many_steps(figure: Figure) -> None:
    """Compare at least `ORACLE_STEPS` steps: games, positions and changed requests in turn, all of mixed options."""
    kinds: list[Callable[[random.Random], object]] = [
        random_game,
        *[random_request] * 20,
        *[random_changed_request] * 5,
    ]
    steps = number = 0
    while steps < STEPS:
        request = kinds[number % len(kinds)](random.Random(f"long {number}"))
        steps += assert_same_answer(request)
        number += 1
    figure(f"rules and oracle agree on {steps} steps of {number} requests")
