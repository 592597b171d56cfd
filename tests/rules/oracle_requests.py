"""Random requests for the console: options, positions or deals, and lines of moves.

All is drawn from one seeded `random.Random`. The oracle follows the moves, so that a line of them stays interesting.
"""

from __future__ import annotations

import copy
import hashlib
import random
from typing import Any

from tests.rules.oracle import Oracle, dealt
from tests.rules.oracle_cards import deck_size
from tests.rules.oracle_json import BadInputError
from tests.rules.oracle_lines import random_line
from tests.rules.oracle_moves import parse
from tests.rules.oracle_options import (
    CHOICES,
    OPTION_NAMES,
    PRESETS,
    RANGES,
    options_from_json,
)
from tests.rules.oracle_positions import random_position
from tests.rules.oracle_table import table_from_json

Json = dict[str, Any]
# Numbers that matter more often than any of their range.
USUAL = {
    "interception_penalty": [0, 3],
    "mercy_points": [0, 250],
    "callout_penalty": [0, 1, 4, 10],
    "false_catch_penalty": [0, 1, 10],
    "mercy_limit": [0, 10, 12, 25],
    "hand_size": [1, 2, 5, 7],
    "target": [0, 500],
    "rounds": [0, 1, 3],
}
# What rarely comes together by chance.
MIXES: list[Json] = [
    {"buzzers": "race"},
    {"buzzers": "lottery"},
    {"straights": True, "interceptions": "super"},
    {"straights": True, "interceptions": "exact", "interception_penalty": 0},
    {"stacking": "same", "advanced_stacking": True, "last_draw_card": "contest"},
    {"stacking": "any", "advanced_stacking": True, "last_draw_card": "contest"},
    {"stacking": "any", "bluff": "official", "last_draw_card": "contest"},
    {"stacking": "family", "bluff": "playroom"},
    {"zero_seven": True, "straights": True, "uno_window": "open"},
    {"mercy_limit": 10, "mercy_card_points": True, "mercy_cards": "draw_pile"},
    {"false_catch_penalty": 10, "mercy_limit": 10},
]
NOT_PLAYED = {"flip_backs", "target", "rounds"}  # they change nothing that the console answers


def random_value(rng: random.Random, name: str) -> object:
    if name in CHOICES:
        return rng.choice(CHOICES[name])
    if name in RANGES:
        return rng.choice([*USUAL.get(name, []), rng.randint(*RANGES[name])])
    return rng.random() < 0.5


def random_options(rng: random.Random) -> Json:
    """Return a preset, or a preset with some options changed. The result is one that OPT-1 allows."""
    options: Json = {"preset": rng.choice(PRESETS)}
    if rng.random() < 0.3:
        return options
    for mix in rng.sample(MIXES, rng.choice([0, 1, 2, 3])):
        options = options | mix if is_allowed(options | mix) else options
    names = [name for name in OPTION_NAMES if name not in NOT_PLAYED or rng.random() < 0.1]
    for name in rng.sample(names, rng.choice([0, 0, 1, 2, 3, 5, 8, 12, len(names)])):
        changed = options | {name: random_value(rng, name)}
        if name == "deck":
            changed |= options_of_deck(str(changed[name]))
        if rng.random() < 0.5 and changed.get("advanced_stacking"):
            changed |= {"stacking": rng.choice(["same", "family", "any"]), "last_draw_card": "contest"}
        if is_allowed(changed):
            options = changed
    return options


def options_of_deck(deck: str) -> Json:
    """Return values that go together with a deck (OPT-1)."""
    if deck == "flip112":
        return {"buzzers": "off", "roulette_color": "player"}
    if deck == "classic108":
        return {"flip_backs": "hidden"}
    return {"bluff": "off", "first_discard": "number", "flip_backs": "hidden"}


def is_allowed(options: Json) -> bool:
    try:
        options_from_json(options)
    except BadInputError:
        return False
    return True


def key_of(seed: str) -> bytes:
    return hashlib.sha256(seed.encode()).digest()


def random_request(rng: random.Random, most_moves: int = 10) -> Json:
    """Return a request with a random position and up to `most_moves` moves."""
    given = random_options(rng)
    options = options_from_json(given)
    position = random_position(rng, options)
    seed = rng.choice(["", "x", "☂"])
    oracle = Oracle(table_from_json(copy.deepcopy(position), options), options, key_of(seed))
    moves = random_moves(rng, oracle, rng.randint(1, most_moves))
    return {"options": given, "seed": seed, "position": position, "moves": moves}


def players_for(rng: random.Random, given: Json) -> int:
    """Return a random number of players that the deck is large enough for (OPT-1)."""
    options = options_from_json(given)
    most = (deck_size(options.deck, options.buzzers) - 20) // options.hand_size
    return rng.randint(2, min(options.most_players, most))


def random_game(rng: random.Random, most_moves: int = 400) -> Json:
    """Return a request that deals a game, with up to `most_moves` moves."""
    given = random_options(rng)
    return game_of(rng, given, players_for(rng, given), most_moves)


def game_of(rng: random.Random, given: Json, players: int, most_moves: int) -> Json:
    options = options_from_json(given)
    seed = str(rng.random())
    oracle = Oracle(dealt(players, options, key_of(seed)), options, key_of(seed))
    moves = random_moves(rng, oracle, most_moves)
    return {"options": given, "seed": seed, "players": players, "moves": moves}


def random_moves(rng: random.Random, oracle: Oracle, count: int) -> list[str]:
    moves: list[str] = []
    while len(moves) < count and (oracle.table.phase != "over" or rng.random() < 0.3):
        text = random_line(rng, oracle)
        moves.append(text)
        line = parse(text, oracle.options, oracle.table.side)
        if line is not None and oracle.refusal(line) is None:
            oracle.accept(line)
    return moves
