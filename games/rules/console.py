"""The answers of the command line, without its streams (docs/notation.md, "Console")."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from games.rules.apply import apply, push
from games.rules.deal import deal
from games.rules.errors import BadInput, Refused
from games.rules.events import Event
from games.rules.legal import legal_moves
from games.rules.moves import MIN_PLAYERS, Move
from games.rules.notation import parse_line
from games.rules.option_checks import check_players
from games.rules.options import Options
from games.rules.position import OVER, Position
from games.rules.position_json import position_from_json, position_to_json
from games.rules.presets import MAX_PLAYERS_OF, PRESETS, options_from
from games.rules.record import ReplayedRound
from games.rules.shuffle import Shuffle, Shuffler, key_from_seed

_FIELDS = frozenset({"options", "seed", "position", "players", "moves"})


class Request(NamedTuple):
    """A request to replay moves: a line of input, checked."""

    position: Position
    options: Options
    shuffle: Shuffle
    moves: tuple[str, ...]


def parse_request(line: str) -> Request:
    """Return the request that a line of JSON describes.

    :raises BadInput: if the line is no valid request.
    """
    try:
        obj = json.loads(line)
    except (ValueError, RecursionError):
        raise BadInput("The line is not JSON.") from None
    if not isinstance(obj, dict):
        raise BadInput("The line must be a JSON object.")
    for name in obj:
        if name not in _FIELDS:
            raise BadInput(f"There is no field {name!r}.")
    preset, options = _options(obj.get("options"))
    shuffle = Shuffler(key_from_seed(_seed(obj.get("seed", "")))).shuffle
    moves = obj.get("moves", [])
    if not isinstance(moves, list) or not all(isinstance(move, str) for move in moves):
        raise BadInput("moves must be a list of texts.")
    return Request(_position(obj, options, MAX_PLAYERS_OF[preset], shuffle), options, shuffle, tuple(moves))


def _options(obj: object) -> tuple[str, Options]:
    if not isinstance(obj, Mapping):
        raise BadInput("options must be an object.")
    preset = obj.get("preset")
    if not isinstance(preset, str):
        raise BadInput("options must name a preset.")
    return preset, options_from(preset, {name: value for name, value in obj.items() if name != "preset"})


def _seed(value: object) -> str:
    if not isinstance(value, str):
        raise BadInput("seed must be a text.")
    try:
        value.encode("utf-8")
    except UnicodeEncodeError:
        raise BadInput("seed must be text that UTF-8 can encode.") from None
    return value


def _position(obj: Mapping[str, object], options: Options, most_players: int, shuffle: Shuffle) -> Position:
    if ("position" in obj) == ("players" in obj):
        raise BadInput("Give either a position or players.")
    if "position" in obj:
        return position_from_json(obj["position"], options, most_players)
    return deal(options, _checked_players(obj["players"], options, most_players), shuffle)


def _checked_players(players: object, options: Options, most_players: int) -> int:
    if type(players) is not int or not MIN_PLAYERS <= players <= most_players:
        raise BadInput(f"players must be {MIN_PLAYERS} to {most_players}.")
    check_players(options, players)
    return players


def replay_line(line: str) -> dict[str, object]:
    """Return the answer to one line of ``replay``.

    :raises BadInput: if the line is no valid request.
    """
    return replay(parse_request(line))


def replay(request: Request) -> dict[str, object]:
    """Return the answer to a request. A refused move changes nothing, and the next one is tried."""
    position, steps, options = request.position, [], request.options
    for text in request.moves:
        try:
            seat, move = parse_line(text)
            position, events = apply(position, seat, move, request.options, request.shuffle)
        except Refused as refused:
            steps.append(
                {
                    "move": text,
                    "ok": False,
                    "error": refused.code,
                    "rule": refused.rule,
                    "message": refused.message,
                }
            )
        else:
            steps.append(_accepted(text, position, events, options))
    return {
        "steps": steps,
        "legal": legal_lines(position, request.options),
        "position": position_to_json(position, options),
    }


def _accepted(text: str, position: Position, events: Iterable[Event], options: Options) -> dict[str, object]:
    return {
        "move": text,
        "ok": True,
        "position": position_to_json(position, options),
        "events": [event.to_json() for event in events],
    }


def replayed_json(replayed: ReplayedRound, options: Options) -> dict[str, object]:
    """Return the answer for one round of a record."""
    return {
        "round": replayed.number,
        "steps": [
            {"at": line.at, **_accepted(line.text, after, events, options)} for line, after, events in replayed.steps
        ],
        "position": position_to_json(replayed.position, options),
    }


def legal_lines(position: Position, options: Options) -> dict[str, list[str]]:
    """Return the legal moves of every seat, by the seat's number as text. The moves are sorted as strings."""
    return {
        str(seat): sorted(str(move) for move in legal_moves(position, seat, options))
        for seat in range(len(position.hands))
    }


def random_round(options: Options, players: int, shuffle: Shuffle, rng: random.Random) -> int:
    """Play one random round and return the number of moves made.

    While seats that are not on turn may have moves, the move is picked among those of all seats, otherwise among those
    of the seat on turn.
    """
    position = deal(options, players, shuffle)
    random_number, count = rng.random, 0
    others_may_move = options.plays_out_of_turn or options.buzzers == "race"
    while position.phase != OVER:
        seat = position.turn
        listed = legal_moves(position, seat, options)
        if position.exposed or others_may_move:
            choices = [(seat, move) for move in listed] + _moves_out_of_turn(position, options)
            seat, move = choices[int(random_number() * len(choices))]
        else:
            move = listed[int(random_number() * len(listed))]
        # The move comes from the list just made, so `apply` would only check it a second time.
        position, _ = push(position, seat, move, options, shuffle)
        count += 1
    return count


def _moves_out_of_turn(position: Position, options: Options) -> list[tuple[int, Move]]:
    others = (seat for seat in range(len(position.hands)) if seat != position.turn)
    return [(seat, move) for seat in others for move in legal_moves(position, seat, options)]


class Tally(NamedTuple):
    """The number of games and moves that were played, and the seconds they took."""

    games: int
    moves: int
    seconds: float


def random_games(preset: str, games: int, players: int, seed: str) -> Tally:
    """Play random games with the rules of a preset. The time includes dealing.

    :raises BadInput: if a table of the preset cannot have so many players.
    """
    options = PRESETS[preset]
    _checked_players(players, options, MAX_PLAYERS_OF[preset])
    rng = random.Random(seed)  # noqa: S311  # picks moves only; the cards come from the shuffler
    moves = 0
    start = time.perf_counter()
    for game in range(games):
        shuffle = Shuffler(key_from_seed(f"{seed}:{game}")).shuffle
        moves += random_round(options, players, shuffle, rng)
    return Tally(games, moves, time.perf_counter() - start)
