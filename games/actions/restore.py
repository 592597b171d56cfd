"""After a restore: games stand still and mail is held until somebody says that this copy of the site is the one.

A dump brings back yesterday's deadlines and yesterday's unsent mail. Both would go off at once, perhaps beside the
site that the dump was taken from.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final, NamedTuple

from django.db import DataError, Error, IntegrityError, connection, transaction

from games import queries
from games.actions.clocks import stops
from games.actions.clocks.timing import moment_of
from games.actions.locks import lock_game
from games.actions.notices import outbox
from games.actions.steps import Done, for_each_game
from games.models import Game, Heartbeat

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
    return for_each_game(_playing(), lambda pk: _stop(pk, now), failed="a game was not frozen", fatal=_of_the_database)


def _stop(game_id: int, now: datetime) -> bool:
    with transaction.atomic():
        table = queries.load(lock_game(pk=game_id))
        if table.game.status != Game.Status.PLAYING:
            return False
        pulse = table.game.pulse
        since = None if pulse is None else min(pulse, moment_of(table.game, now))
        return stops.pause(table, reason=Game.PAUSED_BY_RESTORE, now=now, since=since)


def release(*, now: datetime) -> Released:
    """Let the stopped games run on with the time they had left, and then mail go, each after another look.

    One that cannot be read keeps neither another game nor the mail.

    :raises Error: as `freeze`; mail is held on then.
    """
    frozen = _playing(paused_reasons__contains=[Game.PAUSED_BY_RESTORE])
    games = for_each_game(frozen, lambda pk: _run_on(pk, now), failed="a game was not released", fatal=_of_the_database)
    return Released(games, mail=outbox.release())


def _run_on(game_id: int, now: datetime) -> bool:
    with transaction.atomic():
        table = queries.load(lock_game(pk=game_id))
        if table.game.status != Game.Status.PLAYING:
            return False
        return stops.resume(table, reason=Game.PAUSED_BY_RESTORE, now=now)


def _of_the_database(error: Exception) -> bool:
    """Whether the next game may fail of it as well, and this one not the next time: it is not the game's own values."""
    return isinstance(error, Error) and not isinstance(error, DataError | IntegrityError)


def _playing(**which: Any) -> Iterator[int]:
    running = Game.objects.filter(status=Game.Status.PLAYING, **which).order_by("pk")
    return running.values_list("pk", flat=True).iterator()
