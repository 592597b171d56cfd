"""After a restore: games stand still and mail is held until somebody says that this copy of the site is the one.

A dump brings back yesterday's deadlines and yesterday's unsent mail. Both would go off at once, perhaps beside the
site that the dump was taken from.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db import DataError, Error, IntegrityError, connection, transaction

from games import queries
from games.batch import Done, for_each_game
from games.clocks import pausing
from games.clocks.turn_clock import moment_of
from games.locks import lock_game
from games.models import Game, Heartbeat
from games.notices import outbox
from games.queries import Table

_HERE: Final = "SELECT system_identifier || '/' || 'games_heartbeat'::regclass::oid FROM pg_control_system()"
"""What no two restored copies share: the number of the database server, and that of a table in it."""

WHY: Final = "The site was restored from a backup."


class Released(NamedTuple):
    """The games that run on, and those that could not be read; and whether mail was held."""

    games: Done
    mail: bool


def freeze_if_restored(*, now: datetime) -> Done | None:
    """Freeze a database that came out of a dump since it last ran; what `freeze` gives, or None if it did not.

    To be called before any process of the site starts.

    :raises Error: as `freeze`; the next call freezes then.
    """
    with connection.cursor() as cursor:
        cursor.execute(_HERE)
        (here,) = cursor.fetchone()
    known = Heartbeat.objects.filter(pk=1).values_list("home", flat=True).first()
    stopped = freeze(now=now) if known and known != here else None
    if known != here:  # last, so that what is interrupted is done again
        Heartbeat.objects.update_or_create(pk=1, defaults={"home": here})
    return stopped


def freeze(*, now: datetime) -> Done:
    """Hold all mail and stop every game as of the last sign of life before now; gives the games stopped.

    One that cannot be read keeps no other: its clock cannot act either, but it is to be mended and frozen again.

    :raises Error: what the database says that is not of one game, as when a lock is not to be had: not every game is
        stopped then, and `freeze` is to be called again.
    """
    outbox.hold(why=WHY, now=now)

    def stop(table: Table) -> bool:
        pulse = table.game.pulse
        since = None if pulse is None else min(pulse, moment_of(table.game, now))
        return pausing.pause(table, reason=Game.PAUSED_BY_RESTORE, now=now, since=since)

    return _at_each(_playing(), stop, failed="a game was not frozen")


def release(*, now: datetime) -> Released:
    """Let the stopped games run on with the time they had left, and then mail go, each after another look.

    One that cannot be read keeps neither another game nor the mail.

    :raises Error: as `freeze`; mail is held on then.
    """
    frozen = _playing(paused_reasons__contains=[Game.PAUSED_BY_RESTORE])

    def run_on(table: Table) -> bool:
        return pausing.resume(table, reason=Game.PAUSED_BY_RESTORE, now=now)

    games = _at_each(frozen, run_on, failed="a game was not released")
    return Released(games, mail=outbox.release())


def _at_each(games: Iterable[int], act: Callable[[Table], bool], *, failed: str) -> Done:
    """Do this at each of these tables that is still played, each in a transaction of its own, under its lock."""

    def at_one(game_id: int) -> bool:
        with transaction.atomic():
            table = queries.load(lock_game(pk=game_id))
            return table.game.status == Game.Status.PLAYING and act(table)

    return for_each_game(games, at_one, failed=failed, fatal=_of_the_database)


def _of_the_database(error: Exception) -> bool:
    """Whether the next game may fail of it as well, and this one not the next time: it is not the game's own values."""
    return isinstance(error, Error) and not isinstance(error, DataError | IntegrityError)


def _playing(**which: Any) -> list[int]:
    running = Game.objects.filter(status=Game.Status.PLAYING, **which).order_by("pk")
    # A list: an iterator that a fault leaves unfinished is closed by the garbage collector, maybe in the middle of the
    # next statement, which then waits for the connection that it holds itself.
    return list(running.values_list("pk", flat=True))
