"""Test that every deadline acts exactly once while real Celery workers and beats are killed.

`TIMERS=10000 KILLS=200 script/test --all -n 0 -s tests/faults/test_timers.py` is the long form.
"""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import connection
from django.utils import timezone

from accounts.models import User
from games.models import Game, Heartbeat, Move, Seat
from tests.conftest import Figure
from tests.support.copies import copy_table
from tests.support.forks import Fork, LoadedSite, loaded_site
from tests.support.ports import free_port
from tests.support.programs import program
from tests.support.stack import database_url
from tests.support.tables import TWO_HANDS, table_at

TIMERS = int(os.environ.get("TIMERS", "100"))
KILLS = int(os.environ.get("KILLS", "3"))
SEED = int(os.environ.get("SEED", "4"))
SWEEPERS, BEATS = 4, 2
PATIENCE = 60 + TIMERS / 20 + KILLS * 6
HOUR = timedelta(hours=1)
LEFT = timedelta(minutes=20)
"""The least time that each turn has left when the outage begins, so that none runs out before the crew is checked."""

pytestmark = [pytest.mark.redis, pytest.mark.django_db(transaction=True), pytest.mark.long]


class Crew:
    """Four workers and two beats."""

    def __init__(self, site: LoadedSite) -> None:
        self._site = site
        worker = ["worker", "--pool", "solo", "--without-mingle", "--without-gossip", "--without-heartbeat"]
        self._kinds = [worker] * SWEEPERS + [["beat"]] * BEATS
        self._processes = [self._start(kind, n) for n, kind in enumerate(self._kinds)]

    def _start(self, kind: list[str], number: int) -> Fork:
        name = ["--hostname", f"sweeper-{number}@localhost"] if kind[0] == "worker" else []
        return self._site.start(*kind, *name, "--loglevel", "ERROR")

    def kill_one(self, rng: random.Random) -> None:
        """Kill one of them with `kill -9` and start another in its place."""
        number = rng.randrange(len(self._processes))
        self._processes[number].kill()
        self._processes[number] = self._start(self._kinds[number], number)

    def end(self) -> None:
        for process in self._processes:
            process.kill()


@contextmanager
def site_with_redis_at(port: int) -> Iterator[LoadedSite]:
    """Load the site for this test's database and a Redis at this port."""
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "REDIS_URL": f"redis://127.0.0.1:{port}/0",
        "SECRET_KEY": settings.SECRET_KEY,
        "DJANGO_SETTINGS_MODULE": "nomercy.settings",
        "SWEEP_SECONDS": "1",
        "SWEEP_GRACE_SECONDS": "300",  # the kills must not count as an outage
        "LOG_LEVEL": "ERROR",
    }
    with loaded_site(environment) as site:
        yield site


@contextmanager
def crew(site: LoadedSite, port: int) -> Iterator[Crew]:
    """Run Redis at this port, and a crew that uses it."""
    redis = program(("redis-server",))
    assert redis is not None
    command = [redis, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        all_of_them = Crew(site)
        try:
            yield all_of_them
        finally:
            all_of_them.end()
    finally:
        server.kill()
        server.wait()
        wait_for_the_dead()


def wait(seconds: float) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_sleep(%s)", [seconds])


def wait_for_the_dead() -> None:
    """Wait until PostgreSQL has rolled back the transactions of killed processes."""
    until = time.monotonic() + PATIENCE
    with connection.cursor() as cursor:
        while True:
            cursor.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
            if cursor.fetchone()[0] == 0:
                return
            assert time.monotonic() < until
            cursor.execute("SELECT pg_sleep(0.05)")


def test_each_timer_fires_once_and_an_hour_of_outage_is_given_back(alice: User, bob: User, figure: Figure) -> None:
    rng = random.Random(SEED)
    table = table_at(TWO_HANDS, [alice, bob])
    now, spread = timezone.now(), KILLS * 0.6 + 2
    games = copy_table(table, TIMERS, deadline=lambda n: now + timedelta(seconds=spread * n / TIMERS), turn=HOUR)
    port = free_port()
    with site_with_redis_at(port) as site:
        with crew(site, port) as sweepers:
            wait_until(Heartbeat.objects.exists)
            for _ in range(KILLS):
                wait(rng.uniform(0.1, 0.8))
                sweepers.kill_one(rng)
            wait_until(lambda: not Game.objects.filter(deadline__lte=now + timedelta(seconds=spread)).exists())
        fired = acts(games)
        assert fired == {1: TIMERS}, f"seed {SEED}: games by how often their clock acted: {fired}"
        assert Seat.objects.filter(game__in=games, misses=1).count() == TIMERS
        outage(games, rng, lambda: crew(site, port))
    figure(f"seed {SEED}: {TIMERS} timers, {SWEEPERS} sweepers, {BEATS} beats, {KILLS} kills: each fired once;")
    figure("after an hour of outage every deadline had its hour back, and no clock had acted")


def outage(games: list[int], rng: random.Random, crew: Callable[[], AbstractContextManager[Crew]]) -> None:
    """Stop the crew for an hour in which all these deadlines pass, and start it again."""
    now = timezone.now()
    deadlines = {pk: now - (HOUR - LEFT) * rng.random() for pk in games}
    rows = [Game(pk=pk, deadline=deadline, turn_since=now - 3 * HOUR) for pk, deadline in deadlines.items()]
    Game.objects.bulk_update(rows, ["deadline", "turn_since"], batch_size=1000)
    Heartbeat.objects.update(at=now - HOUR)
    before = Move.objects.count()
    with crew():
        wait_until(lambda: Heartbeat.objects.filter(at__gt=now, given_from=None).exists())
    assert Move.objects.count() == before
    after = Game.objects.filter(pk__in=games).values_list("pk", "deadline")
    given = {pk: deadline - deadlines[pk] for pk, deadline in after if deadline is not None}
    short = {pk: str(time) for pk, time in given.items() if time < HOUR}
    assert (len(given), short) == (len(games), {})


def wait_until(done: object) -> None:
    until = time.monotonic() + PATIENCE
    assert callable(done)
    while not done():
        assert time.monotonic() < until, "the sweepers do not get it done"
        wait(0.1)


def acts(games: list[int]) -> dict[int, int]:
    """Count the games by how often their clock acted. Lines of one act have the same time."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT acts, count(*) FROM (SELECT g.id, count(DISTINCT m.at) AS acts FROM games_game g"
            " LEFT JOIN games_move m ON m.game_id = g.id WHERE g.id = ANY(%s) GROUP BY g.id) AS found GROUP BY acts",
            [games],
        )
        return dict(cursor.fetchall())


def test_the_count_finds_lost_and_doubled_timers(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    now = timezone.now()
    games = copy_table(table, 3, deadline=lambda n: now, turn=HOUR)
    for pk, times in zip(games, (0, 1, 2), strict=True):
        round_ = Game.objects.get(pk=pk).round
        assert round_ is not None
        for n in range(times):
            Move.objects.create(game_id=pk, round=round_, n=n + 1, seat=0, text="draw", at=now + n * HOUR)
    assert acts(games) == {0: 1, 1: 1, 2: 1}
