"""Measure the clocks: an idle sweep over a million games, and acting on those that are due.

    .venv/bin/python -m bench.timers [--games 1000000] [--due 10000]

Each figure is compared with a baseline of the same run, on a database that is dropped afterwards:

- an idle sweep against the bare query for due deadlines, sent by psycopg (at most 5 ms over it);
- games a second that one sweeper drains, with real default moves through the one `commit`, against the bare set-based
  UPDATE of the same rows' deadlines (at least 150 games/s a sweeper), and what each costs of this process's computing;
- the slowest of the moves that people make meanwhile (under 2 s).

Exits with 1 if a bound is missed, or if a due game was not acted on.
"""

from __future__ import annotations

import argparse
import random
import statistics
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final, NamedTuple

from bench.replica import BENCH, Replica, admin, bench_database, new_replica

PEOPLE = 2
PLAYED = 20
DUE = "SELECT id FROM games_game WHERE deadline <= now() AND status = 'playing' ORDER BY deadline LIMIT 1"


def fill(games: int) -> Any:
    """Create game rows with deadlines in the future. Return a table in play to copy."""
    from django.db import connection
    from django.utils import timezone

    from games import queries
    from games.actions.play import play_move
    from games.models import Game

    replica = new_replica(1_000)
    for _ in range(PLAYED):
        user, move, version = replica.next_move()
        play_move(code=replica.code, viewer=queries.Viewer(user), text=move, version=version, now=timezone.now())
        replica.catch_up()
    own: dict[str | None, str] = {
        "code": "'b' || lpad(n::text, 9, '0')",
        "invite_key": "'b' || lpad(n::text, 19, '0')",
        "round_id": "NULL",
        "deadline": "now() + interval '1 day' + n * interval '1 second'",
    }
    fields = [field.column for field in Game._meta.concrete_fields if not field.primary_key]
    columns = ", ".join(f'"{field}"' for field in fields)
    values = ", ".join(own.get(field, f'g."{field}"') for field in fields)
    with connection.cursor() as cursor:
        cursor.execute("SET statement_timeout = 0")
        cursor.execute(
            f"INSERT INTO games_game ({columns})"  # noqa: S608  # columns of a model
            f" SELECT {values} FROM games_game g, generate_series(1, %s) AS n WHERE g.code = %s",
            [games, replica.code],
        )
        cursor.execute("VACUUM (ANALYZE) games_game")
    return queries.load(Game.objects.get(code=replica.code))


def make_due(table: Any, due: int) -> None:
    """Create whole games, with log and notices, whose deadlines have passed, the last one a second ago."""
    from django.db import connection
    from django.utils import timezone

    from games.models import Move
    from games.models.notices import Notice
    from tests.support.copies import copy_table

    now = timezone.now()
    made = copy_table(table, due, deadline=lambda n: now - timedelta(seconds=due - n), turn=timedelta(days=1))
    with connection.cursor() as cursor:
        own = {"game_id": "g.id", "round_id": "g.round_id"}
        for model in (Move, Notice):
            name = model._meta.db_table
            fields = [str(field.column) for field in model._meta.concrete_fields if not field.primary_key]
            columns = ", ".join(f'"{field}"' for field in fields)
            values = ", ".join(own.get(field, f'm."{field}"') for field in fields)
            cursor.execute(
                f"INSERT INTO {name} ({columns}) SELECT {values} FROM {name} m, games_game g"  # noqa: S608  # a model's
                " WHERE m.game_id = %s AND g.id = ANY(%s)",
                [table.game.pk, made],
            )
        cursor.execute("VACUUM (ANALYZE)")


def median_ms(call: Callable[[], object], times: int = 200) -> float:
    """Return the median milliseconds of a call, after some to warm up."""
    taken = []
    for n in range(times + 5):
        began = time.perf_counter()
        call()
        if n >= 5:
            taken.append(time.perf_counter() - began)
    return statistics.median(taken) * 1000


MOST_OVER_BARE: Final = 5.0
LEAST_RATE: Final = 150.0
SLOWEST_MOVE: Final = 2000.0


def missed(*, idle_ms: float, due: int, acted: int, rate: float, slowest_ms: float) -> list[str]:
    """Return the bounds that these figures miss, as sentences."""
    bounds = {
        f"the idle sweep took {idle_ms:.2f} ms over the bare query": idle_ms <= MOST_OVER_BARE,
        f"{due - acted} due games were not acted on": acted >= due,
        f"one sweeper drained {rate:.0f} games/s": rate >= LEAST_RATE,
        f"a move took {slowest_ms:.0f} ms": slowest_ms < SLOWEST_MOVE,
    }
    return [sentence for sentence, held in bounds.items() if not held]


def idle() -> float:
    """Return how many milliseconds longer an idle sweep takes than the bare query."""
    from django.utils import timezone

    from games.actions.sweep import sweep

    with admin(BENCH) as bare:
        query = median_ms(lambda: bare.execute(DUE).fetchall())
    ours = median_ms(lambda: sweep(clock=timezone.now))
    print(f"idle sweep {ours:.2f} ms, bare query {query:.2f} ms: {ours - query:.2f} ms over it (at most 5)")
    return ours - query


def set_based(due: int) -> float:
    """Return the rows a second of the least work of any sweep: one UPDATE of the due deadlines. Rolled back."""
    with admin(BENCH) as bare:
        bare.execute("BEGIN")
        began = time.perf_counter()
        bare.execute("UPDATE games_game SET deadline = now() + interval '1 day' WHERE deadline <= now()")
        taken = time.perf_counter() - began
        bare.execute("ROLLBACK")
    return due / taken


class Drained(NamedTuple):
    """The number of games, the seconds and CPU seconds of the sweep, and the times of people's moves meanwhile."""

    games: int
    taken: float
    computed: float
    waits: list[float]


def drain(replicas: list[Replica]) -> Drained:
    from django.utils import timezone

    from games.actions.sweep import sweep

    done, waits, total = threading.Event(), list[float](), 0
    people = [threading.Thread(target=play, args=(replica, done, waits)) for replica in replicas]
    for thread in people:
        thread.start()
    began, computing = time.perf_counter(), time.thread_time()
    while acted := sweep(clock=timezone.now).acted:
        total += acted
    taken, computed = time.perf_counter() - began, time.thread_time() - computing
    done.set()
    for thread in people:
        thread.join()
    return Drained(total, taken, computed, waits)


def play(replica: Replica, done: threading.Event, waits: list[float]) -> None:
    """Move in one game, ten times a second, until the sweep is done."""
    from django.db import connection
    from django.utils import timezone

    from games.actions.play import play_move
    from games.queries import Viewer

    while not done.wait(0.1):
        user, move, version = replica.next_move()
        began = time.perf_counter()
        play_move(code=replica.code, viewer=Viewer(user), text=move, version=version, now=timezone.now())
        waits.append(time.perf_counter() - began)
        if not replica.catch_up():
            break
    connection.close()


def report(games: int, due: int) -> list[str]:
    """Print the figures. Return the missed bounds."""
    from django.db import connection

    replicas = [new_replica(n) for n in range(PEOPLE)]
    table = fill(games)
    idle_ms = idle()
    make_due(table, due)
    baseline = set_based(due)
    acted, taken, computed, waits = drain(replicas)
    rate, slowest_ms = acted / taken, max(waits, default=0) * 1000
    print(f"{acted} of {due} due games, among {games}, drained in {taken:.1f} s: {rate:.0f} games/s (at least 150);")
    print(f"bare set-based update {baseline:.0f} rows/s, ratio {rate / baseline:.4f}")
    print(f"this process computed {computed / max(acted, 1) * 1000:.2f} ms a game, {computed / taken:.0%} of the time")
    print(f"{len(waits)} moves of people meanwhile, the slowest {slowest_ms:.0f} ms (under 2000)")
    connection.close()
    return missed(idle_ms=idle_ms, due=due, acted=acted, rate=rate, slowest_ms=slowest_ms)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=1_000_000)
    parser.add_argument("--due", type=int, default=10_000)
    arguments = parser.parse_args()
    with bench_database(LOG_LEVEL="ERROR"):
        from games import randomness

        randomness.source = random.Random(1)  # the same games every time
        wrong = report(arguments.games, arguments.due)
    if wrong:
        raise SystemExit("MISSED: " + "; ".join(wrong))


if __name__ == "__main__":
    main()
