"""Freeze games and hold mail after a restore, until an operator releases them.

A dump brings back old deadlines and unsent mail. Both would become due immediately, perhaps while the original site
is still running.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db import DataError, Error, IntegrityError, connection, transaction

from games import queries
from games.batch import BatchResult, for_each_game
from games.clocks import pausing
from games.clocks.turn_clock import moment_of
from games.locks import lock_game
from games.models import Game, Heartbeat
from games.notices import outbox
from games.queries import Table

_HERE: Final = "SELECT system_identifier || '/' || 'games_heartbeat'::regclass::oid FROM pg_control_system()"
"""Identifies this copy of the database by its server and the oid of a table. A restore always changes it."""

HOLD_REASON: Final = "The site was restored from a backup."


class Released(NamedTuple):
    """The result of `release`."""

    games: BatchResult  # how many run again, and which could not be read
    mail: bool  # whether mail was held before


def freeze_if_restored(*, now: datetime) -> BatchResult | None:
    """Call `freeze` if the database was restored from a dump since it last ran; return its result, or None.

    Call it before any process of the site starts.

    :raises Error: as `freeze`. The next call tries again.
    """
    here = _here()
    known = Heartbeat.objects.filter(pk=1).values_list("home", flat=True).first()
    stopped = freeze(now=now) if known and known != here else None
    if known != here:  # last, so that an interrupted freeze is repeated
        Heartbeat.objects.update_or_create(pk=1, defaults={"home": here})
    return stopped


def freeze_restored(*, now: datetime) -> BatchResult:
    """Call `freeze` in a database that was just restored, which the next start then finds frozen; return its result.

    :raises Error: as `freeze`.
    """
    stopped = freeze(now=now)
    Heartbeat.objects.update_or_create(pk=1, defaults={"home": _here()})
    return stopped


def _here() -> str:
    """Return what identifies this copy of the database."""
    with connection.cursor() as cursor:
        cursor.execute(_HERE)
        (here,) = cursor.fetchone()
    return str(here)


def freeze(*, now: datetime) -> BatchResult:
    """Hold all mail and pause every running game as of the sweep's last heartbeat; return how many, and which failed.

    A game that cannot be read is skipped. Its clock cannot act either; repair it and call `freeze` again.

    :raises Error: a database error that is not about one game, such as a lock timeout. Some games may not be paused
        then; call `freeze` again.
    """
    outbox.hold(why=HOLD_REASON, now=now)

    def stop(table: Table) -> bool:
        swept_at = table.game.swept_at
        since = None if swept_at is None else min(swept_at, moment_of(table.game, now))
        return pausing.pause(table, reason=Game.PAUSED_BY_RESTORE, now=now, since=since)

    return _at_each(_playing(), stop, failed="a game was not frozen")


def release(*, now: datetime) -> Released:
    """Resume the frozen games with the time they had left, then let mail go out, each after another check.

    A game that cannot be read is skipped.

    :raises Error: as `freeze`. Mail stays held then.
    """
    frozen = _playing(paused_reasons__contains=[Game.PAUSED_BY_RESTORE])

    def run_on(table: Table) -> bool:
        return pausing.resume(table, reason=Game.PAUSED_BY_RESTORE, now=now)

    games = _at_each(frozen, run_on, failed="a game was not released")
    return Released(games, mail=outbox.release())


def _at_each(games: Iterable[int], act: Callable[[Table], bool], *, failed: str) -> BatchResult:
    """Call `act` for each of these tables that is still being played, each under its lock in its own transaction."""

    def at_one(game_id: int) -> bool:
        with transaction.atomic():
            table = queries.load(lock_game(pk=game_id))
            return table.game.status == Game.Status.PLAYING and act(table)

    return for_each_game(games, at_one, failed=failed, fatal=_is_database_trouble)


def _is_database_trouble(error: Exception) -> bool:
    """Return True for an error of the database itself, False for one that the values of a single game cause."""
    return isinstance(error, Error) and not isinstance(error, DataError | IntegrityError)


def _playing(**which: Any) -> list[int]:
    running = Game.objects.filter(status=Game.Status.PLAYING, **which).order_by("pk")
    # A list, because the garbage collector may close an unfinished iterator during the next statement. That statement
    # then waits for the connection that it holds itself.
    return list(running.values_list("pk", flat=True))
