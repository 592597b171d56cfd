"""Play whole games over the API against bots, on a running site: `script/run`, then

    .venv/bin/python -m bench.api_games --token "$(.venv/bin/python manage.py create_token program --create | tail -1 \
        | awk '{print $NF}')" [--url http://127.0.0.1:8000] [--games 50] [--preset flip] [--threads 4]

It plays so many games of each preset, or of the one that is named. Each is played to its end with random legal moves,
one in ten at the pace Live, where cards may be played out of turn. Each move is sent twice with one token and must be
made once. Every tenth is also sent with an old version and must be refused as stale. Prints games, moves and times.
Exits with 1 if an answer was not as docs/api.md says. Afterwards `manage.py check_games` must find no fault.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
import threading
import time
from http.client import HTTPConnection, HTTPSConnection
from typing import Any, Final
from urllib.parse import urlsplit

from games.rules import MAX_PLAYERS_OF, PRESETS

PATIENCE = 120.0
"""How many seconds a game may wait for its bots."""


CALLS: Final = ("uno", "catch", "buzz")
"""The moves that need no version (docs/api.md)."""
LIVE: Final = 0.1
"""The share of games at the pace Live."""
TOO_LATE: Final = frozenset({"stale", "over", "nothing_owed", "nobody_to_catch", "no_buzz"})
"""The refusals of a move that was legal when it was chosen: somebody else moved first."""


class Wrong(Exception):
    """An answer is not as docs/api.md says."""


class Program:
    """One connection with a token."""

    def __init__(self, url: str, token: str) -> None:
        self._address = urlsplit(url)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        kind = HTTPSConnection if self._address.scheme == "https" else HTTPConnection
        self._connection = kind(self._address.hostname or "", self._address.port, timeout=30)

    def call(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        data = None if body is None else json.dumps(body)
        self._connection.request(method, f"/api/v1/{path}", data, self._headers)
        response = self._connection.getresponse()
        return response.status, json.loads(response.read())

    def close(self) -> None:
        self._connection.close()


def new_game(preset: str, rng: random.Random) -> dict[str, object]:
    """Return the body of a request for a table against bots."""
    players = rng.randint(2, MAX_PLAYERS_OF[preset])
    body: dict[str, object] = {"preset": preset, "players": players, "bots": players - 1, "bot_pause": 0}
    if rng.random() < LIVE:
        body["pace"] = "live"
        if PRESETS[preset].buzzers == "lottery":
            body["options"] = {"buzzers": "race"}
    return body | {"bot": rng.choice(["random", "careful"])}


def play(program: Program, preset: str, rng: random.Random, times: list[float]) -> int:
    """Play one game to its end. Return the number of moves made here."""
    new = new_game(preset, rng)
    status, view = program.call("POST", "games", new)
    if status != 201:
        raise Wrong(f"a new table answered {status}: {view}")
    moves, until = 0, time.monotonic() + PATIENCE
    while view["status"] == "playing":
        if not view["legal"]:
            if time.monotonic() > until:
                raise Wrong(f"game {view['id']} waited {PATIENCE} s for its bots")
            time.sleep(0.02)
            _, view = program.call("GET", f"games/{view['id']}")
            continue
        view = move(program, view, rng, moves, times)
        moves, until = moves + 1, time.monotonic() + PATIENCE
    return moves


def move(program: Program, view: Any, rng: random.Random, n: int, times: list[float]) -> Any:
    """Send one move twice. Return the view after it, or a fresh one if a bot caught a player first."""
    path, version = f"games/{view['id']}/moves", view["version"]
    body = {"move": rng.choice(view["legal"]), "version": version, "token": f"{n}-{version}"}
    started = time.perf_counter()
    status, answer = program.call("POST", path, body)
    times.append(time.perf_counter() - started)
    if status == 200:
        again, repeated = program.call("POST", path, body)
        if again != 200 or repeated["version"] < answer["version"]:
            raise Wrong(f"the same token again answered {again}: {repeated}")
        told = program.call("GET", f"{path}?after={version}")[1]["moves"]
        made = [n for n, line in enumerate(told) if (line["seat"], line["move"]) == (view["you"], body["move"])]
        # A turn move is made on the version it was chosen on. Others may have moved before a call.
        if len(made) != 1 if body["move"].startswith(CALLS) else made[:1] != [0]:
            raise Wrong(f"the log after {version} does not have {body['move']} in its place: {told[:2]}")
        if n % 10 == 0:
            stale, refused = program.call("POST", path, {"move": "draw", "version": version})
            if (stale, refused["error"]) not in ((409, "stale"), (409, "over")):
                raise Wrong(f"an old version answered {stale}: {refused}")
        return answer
    if answer["error"] not in TOO_LATE:
        raise Wrong(f"{body} answered {status}: {answer}")
    return program.call("GET", f"games/{view['id']}")[1]


def work(
    arguments: argparse.Namespace, todo: list[tuple[str, int]], times: list[float], faults: list[str], played: list[int]
) -> None:
    program = Program(arguments.url, arguments.token)
    while todo:
        preset, seed = todo.pop()
        try:
            played.append(play(program, preset, random.Random(f"{preset} {seed}"), times))
        except (Wrong, OSError, ValueError) as error:
            faults.append(f"{preset}, game {seed}: {error}")
            return


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--token", required=True)
    parser.add_argument("--games", type=int, default=50, help="of each preset")
    parser.add_argument("--preset", choices=PRESETS, help="only this one")
    parser.add_argument("--threads", type=int, default=4)
    arguments = parser.parse_args()
    presets = [arguments.preset] if arguments.preset else list(PRESETS)
    todo = [(preset, seed) for seed in range(arguments.games) for preset in presets]
    games = len(todo)
    times: list[float] = []
    faults: list[str] = []
    played: list[int] = []
    threads = [
        threading.Thread(target=work, args=(arguments, todo, times, faults, played)) for _ in range(arguments.threads)
    ]
    started = time.perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - started
    print(f"{len(played)} games of {', '.join(presets)}, {sum(played)} own moves in {seconds:.0f} s")
    if len(times) > 1:  # a game can end after one move
        p50, p99 = statistics.median(times), statistics.quantiles(times, n=100)[98]
        print(f"a move: p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms")
    for fault in faults:
        print(fault)
    return 1 if faults or len(played) != games else 0


if __name__ == "__main__":
    sys.exit(main())
