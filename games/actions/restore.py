"""After a restore: games stand still and mail is held until somebody says that this copy of the site is the one.

A dump brings back yesterday's deadlines and yesterday's unsent mail. Both would go off at once, perhaps beside the
site that the dump was taken from.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import connection, transaction
from django.db.models import QuerySet

from games import queries
from games.actions.clocks import stops
from games.actions.clocks.timing import moment_of
from games.actions.locks import lock_game
from games.actions.notices import outbox
from games.models import Game, Heartbeat

_HERE: Final = "SELECT system_identifier || '/' || 'games_heartbeat'::regclass::oid FROM pg_control_system()"
"""What no two restored copies share: the number of the database server, and that of a table in it."""

WHY: Final = "The site was restored from a backup."


@dataclass(frozen=True, slots=True)
class Released:
    """How many games run on, and whether mail was held."""

    games: int
    mail: bool


def freeze_if_restored(*, now: datetime) -> int | None:
    """Freeze a database that came out of a dump since it last ran; the number of games stopped, or None if it did not.

    To be called before any process of the site starts.
    """
    with connection.cursor() as cursor:
        cursor.execute(_HERE)
        (here,) = cursor.fetchone()
    known = Heartbeat.objects.filter(pk=1).values_list("home", flat=True).first()
    stopped = freeze(now=now) if known and known != here else None
    if known != here:  # last, so that what is interrupted is done again
        Heartbeat.objects.update_or_create(pk=1, defaults={"home": here})
    return stopped


def freeze(*, now: datetime) -> int:
    """Hold all mail and stop every game as of the last sign of life before now; gives the number of games stopped."""
    outbox.hold(why=WHY, now=now)
    stopped = 0
    for game_id in _playing().values_list("pk", flat=True).iterator():
        with transaction.atomic():
            table = queries.load(lock_game(pk=game_id))
            if table.game.status == Game.Status.PLAYING:
                pulse = table.game.pulse
                since = None if pulse is None else min(pulse, moment_of(table.game, now))
                stopped += stops.pause(table, reason=Game.PAUSED_BY_RESTORE, now=now, since=since)
    return stopped


def release(*, now: datetime) -> Released:
    """Let the stopped games run on with the time they had left, and then mail go, each after another look."""
    games = 0
    for game_id in (
        _playing().filter(paused_reasons__contains=[Game.PAUSED_BY_RESTORE]).values_list("pk", flat=True).iterator()
    ):
        with transaction.atomic():
            table = queries.load(lock_game(pk=game_id))
            if table.game.status == Game.Status.PLAYING:
                games += stops.resume(table, reason=Game.PAUSED_BY_RESTORE, now=now)
    return Released(games, mail=outbox.release())


def _playing() -> QuerySet[Game]:
    return Game.objects.filter(status=Game.Status.PLAYING).order_by("pk")
