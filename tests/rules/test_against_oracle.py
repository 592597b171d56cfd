"""`games.rules` and the oracle, two independent implementations of the rulebook, give the same answers."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

from games.rules.console import replay_line
from games.rules.errors import BadInput
from tests.rules import oracle
from tests.rules.oracle_input import BadInputError
from tests.rules.oracle_positions import random_changed_request, random_game, random_request

Json = dict[str, Any]
BAD = {"bad input": True}
REQUEST_FIELDS = ("options", "seed", "position", "players", "moves")
# Not significant once a round is over (NOTATION, "Position").
INSIGNIFICANT = ("color", "direction", "declared")


def significant(answer: Json) -> Json:
    """Return an answer without the parts that NOTATION leaves open."""
    for step in answer["steps"]:
        step.pop("events", None)
        step.pop("message", None)
    for position in [answer["position"], *(step["position"] for step in answer["steps"] if step["ok"])]:
        if position["phase"] == "over":
            for name in INSIGNIFICANT:
                del position[name]
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


def assert_same_answer(request: object) -> None:
    assert answer_of_rules(request) == answer_of_oracle(request), json.dumps(request)


def test_the_oracle_gives_the_expected_answers_to_the_examples() -> None:
    lines = (Path(__file__).parents[1] / "golden" / "examples.jsonl").read_text(encoding="utf-8").splitlines()
    assert lines
    for example in map(json.loads, lines):
        request = {name: example[name] for name in REQUEST_FIELDS if name in example}
        answer = oracle.replay(request)
        expected = example["expect"]
        assert {name: answer[name] for name in expected} == expected, example["name"]


@pytest.mark.parametrize("batch", range(8))
def test_rules_and_oracle_agree_on_random_positions(batch: int) -> None:
    for number in range(150):
        assert_same_answer(random_request(random.Random(f"position {batch} {number}")))


@pytest.mark.parametrize("batch", range(4))
def test_rules_and_oracle_agree_on_dealt_games(batch: int) -> None:
    for number in range(3):
        assert_same_answer(random_game(random.Random(f"game {batch} {number}")))


@pytest.mark.parametrize("batch", range(4))
def test_rules_and_oracle_agree_on_bad_input(batch: int) -> None:
    for number in range(250):
        assert_same_answer(random_changed_request(random.Random(f"suspect {batch} {number}")))
