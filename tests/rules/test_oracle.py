"""The oracle alone: the worked examples, and what holds in every game whatever the rules are.

`ORACLE_STEPS` (tests/rules/test_against_oracle.py) also makes more games here.
"""

from __future__ import annotations

import json
import os
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from games.rules import OPTIONS
from tests.rules import oracle
from tests.rules.oracle import Oracle, dealt
from tests.rules.oracle_cards import unshuffled
from tests.rules.oracle_json import BadInputError
from tests.rules.oracle_lines import random_line
from tests.rules.oracle_moves import parse
from tests.rules.oracle_options import OPTION_NAMES, PRESETS, options_from_json
from tests.rules.oracle_requests import key_of, players_for, random_options, random_request
from tests.rules.oracle_table import Table

pytestmark = pytest.mark.long

Json = dict[str, Any]
GOLDEN = Path(__file__).parents[1] / "golden"
REQUEST_FIELDS = ("options", "seed", "position", "players", "moves")
MOST_LINES = 50_000
MORE = "ORACLE_STEPS" in os.environ


def test_the_oracle_knows_every_option() -> None:
    """Teach it a new one: a row, a field and its values in oracle_options.py, and what it does in the other modules."""
    assert set(OPTION_NAMES) == {spec.name for spec in OPTIONS}


@pytest.mark.parametrize("name", ["examples.jsonl", "examples-variants.jsonl"])
def test_the_oracle_gives_the_expected_answers_to_the_examples(name: str) -> None:
    lines = (GOLDEN / name).read_text(encoding="utf-8").splitlines()
    assert lines
    for example in map(json.loads, lines):
        request = {field: example[field] for field in REQUEST_FIELDS if field in example}
        answer = oracle.replay(request)
        expected = example["expect"]
        assert {field: answer[field] for field in expected} == expected, example["name"]


def cards_on(table: Table) -> Counter[str]:
    piles = [*table.hands, table.draw_pile, table.discard_pile, table.set_aside]
    return Counter(card for pile in piles for card in pile)


def play_to_the_end(rng: random.Random, given: Json, players: int) -> int:
    """Play random lines until the round is over. Return how many were accepted or refused.

    After each, all cards are still there, and somebody has a legal move that is not a call.
    """
    options = options_from_json(given)
    key = key_of(str(rng.random()))
    deck = Counter(unshuffled(options.deck, options.buzzers, key))
    game = Oracle(dealt(players, options, key), options, key)
    for count in range(MOST_LINES):
        assert cards_on(game.table) == deck, given
        if game.table.phase == "over":
            return count
        moves = [text for seat in game.seats() for text in game.legal(seat)]
        assert any(not text.startswith(("uno", "catch")) for text in moves), given
        line = parse(random_line(rng, game), options, game.table.side)
        if line is not None and game.refusal(line) is None:
            game.accept(line)
    raise AssertionError(f"no end after {MOST_LINES} lines: {given}")


@pytest.mark.parametrize("preset", PRESETS)
def test_every_game_of_a_preset_keeps_its_cards_and_ends(preset: str) -> None:
    for players in (2, 4, 6 if preset == "no-mercy" else 10) if MORE else (4,):
        play_to_the_end(random.Random(f"{preset} {players}"), {"preset": preset}, players)


@pytest.mark.parametrize("batch", range(4))
def test_every_game_of_mixed_options_keeps_its_cards_and_ends(batch: int) -> None:
    for number in range(2 if MORE else 1):
        rng = random.Random(f"mixed {batch} {number}")
        given = random_options(rng)
        play_to_the_end(rng, given, players_for(rng, given))


@pytest.mark.parametrize("batch", range(2))
def test_random_positions_are_possible(batch: int) -> None:
    for number in range(100):
        oracle.replay(random_request(random.Random(f"possible {batch} {number}")) | {"moves": []})


def test_stacking_reads_true_and_false() -> None:
    """These are its values in the first release."""
    assert options_from_json({"preset": "classic", "stacking": True}).stacking == "any"
    assert options_from_json({"preset": "no-mercy", "stacking": False}).stacking == "off"


@pytest.mark.parametrize(
    "given",
    [
        {"preset": "classic", "advanced_stacking": True},
        {"preset": "house-party", "last_draw_card": "win_now"},
        {"preset": "no-mercy", "bluff": "official"},
        {"preset": "playroom-no-mercy", "first_discard": "official"},
        {"preset": "flip", "buzzers": "lottery"},
        {"preset": "flip", "roulette_color": "victim"},
        {"preset": "classic", "flip_backs": "seen"},
        {"preset": "no-mercy", "mercy_limit": 10, "hand_size": 10},
        {"preset": "classic", "straights": 1},
        {"preset": "classic", "rounds": 51},
        {"preset": "classic", "buzzers": True},
        {"preset": "mattel"},
        {},
    ],
)
def test_options_that_do_not_go_together_are_bad_input(given: Json) -> None:
    with pytest.raises(BadInputError):
        options_from_json(given)


def test_a_deck_too_small_for_the_players_is_bad_input() -> None:
    with pytest.raises(BadInputError):
        oracle.replay({"options": {"preset": "classic", "hand_size": 9}, "players": 10})
    oracle.replay({"options": {"preset": "classic", "hand_size": 8}, "players": 10})
