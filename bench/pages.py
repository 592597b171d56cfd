"""Measure the front page and the list of finished games against a game page: CPU time, in turn, in one run.

    .venv/bin/python -m bench.pages [--rounds 200] [--games 10] [--finished 30] [--open 6]

Each page is fetched whole by a logged-in person with this many games, through the real middleware. CPU time is that of
this process and of PostgreSQL's. Exits with 1 if the front page costs more than 1.5 game pages.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from typing import Final

from bench.replica import Replica, bench_database, cookies_of, new_replica
from bench.request import cpu, cpu_of, environ_of

MOST: Final = 1.5
"""The most game pages that the front page may cost."""
WARM_UP: Final = 20
DEPTHS: Final = (0, 4, 8, 12)
"""Each page is fetched from these numbers of calls further down, in turn, and its least costly depth counts.

Where a call meets the end of a piece of its stack, CPython 3.11 maps a new piece for each call and unmaps it after.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--games", type=int, default=10, help="the person's games in progress")
    parser.add_argument("--finished", type=int, default=30, help="their finished games")
    parser.add_argument("--open", type=int, default=6, help="open tables of others")
    arguments = parser.parse_args()
    with bench_database(RATE_LIMITS="1000000"):
        from games import randomness

        randomness.source = random.Random(1)  # the same games every time
        code, cookies = tables_of_a_person(arguments.games, arguments.finished, arguments.open)
        pages = {"game page": f"/games/{code}/", "front page": "/", "finished games": "/?finished=1"}
        for path in pages.values():
            for _ in range(WARM_UP):
                cost_of(path, cookies)
        taken: dict[str, list[list[float]]] = {name: [[] for _ in DEPTHS] for name in pages}
        for number in range(arguments.rounds):
            at = number % len(DEPTHS)
            for name, path in pages.items():
                taken[name][at].append(further_down(DEPTHS[at], path, cookies))
    medians = {name: min(statistics.median(costs) for costs in depths if costs) for name, depths in taken.items()}
    for name, median in medians.items():
        print(f"{name}: {1000 * median:.2f} ms of CPU time, {median / medians['game page']:.2f} game pages")
    return 1 if medians["front page"] > MOST * medians["game page"] else 0


def tables_of_a_person(games: int, finished: int, open_tables: int) -> tuple[str, str]:
    """Seat one person at this many tables, and open some of others. Return a game's code and the person's cookies."""
    from django.contrib.auth import get_user_model
    from django.utils import timezone

    from games.actions import lobby
    from games.actions.play import play_move
    from games.queries import Viewer

    replica = new_replica(0)
    person, other = replica.users
    play(replica, 40)
    for number in range(1, games + finished):
        choices = lobby.TableChoices(players=2, target=0)
        code = lobby.create_table(user=person, choices=choices, now=timezone.now()).game.code
        table = lobby.join(code=code, viewer=Viewer(other), now=timezone.now())
        if number < games:
            play(Replica(table, [person, other], number), 12)
        else:
            play_move(code=code, viewer=Viewer(person), text="leave", version=None, now=timezone.now())
    for number in range(open_tables):
        host = get_user_model().objects.create_user(username=f"host-{number}")
        lobby.create_table(user=host, choices=lobby.TableChoices(players=4), now=timezone.now())
    return replica.code, cookies_of(person)


def play(replica: Replica, moves: int) -> None:
    """Make this many moves, or as many as the round has."""
    from django.utils import timezone

    from games.actions.play import play_move
    from games.queries import Viewer

    for _ in range(moves):
        user, move, version = replica.next_move()
        play_move(code=replica.code, viewer=Viewer(user), text=move, version=version, now=timezone.now())
        if replica.position.phase == "over":
            return


def further_down(calls: int, path: str, cookies: str) -> float:
    """Return `cost_of` from this many calls further down."""
    return further_down(calls - 1, path, cookies) if calls else cost_of(path, cookies)


def cost_of(path: str, cookies: str) -> float:
    """Return the CPU seconds of a GET, here and in PostgreSQL."""
    from django.db import connection

    from nomercy.wsgi import application

    path, _, query = path.partition("?")
    environ = environ_of(path, b"", cookies) | {"REQUEST_METHOD": "GET", "QUERY_STRING": query}
    del environ["HTTP_HX_REQUEST"]
    statuses: list[str] = []

    connection.ensure_connection()
    backend = connection.connection.info.backend_pid
    before = cpu() + cpu_of(backend)
    response = application(environ, lambda status, headers, into=statuses: into.append(status))
    body = b"".join(response)
    response.close()
    cost = cpu() + cpu_of(backend) - before
    assert statuses == ["200 OK"], body
    return cost


if __name__ == "__main__":
    sys.exit(main())
