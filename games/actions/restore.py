"""Freeze games and hold mail after a restore, until an operator releases them.

A dump brings back old deadlines and unsent mail. Both would become due immediately, perhaps while the original site
is still running.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from django.db import DataError, Error, IntegrityError, connection, transaction
from django.db.models import Q

from games import queries
from games.actions import next_round
from games.batch import BatchResult, for_each_game
from games.clocks import pausing
from games.clocks.turn_clock import moment_of
from games.locks import lock_game
from games.models import Game, Heartbeat
from games.queries import Table
from games.refusals import waited_too_long
from mail import outbox

_HERE: Final = "SELECT system_identifier || '/' || 'games_heartbeat'::regclass::oid FROM pg_control_system()"
"""Identifies this copy of the database by its server and the oid of a table. A restore always changes it."""

HOLD_REASON: Final = "Until manage.py release."

TRIES: Final = 5
"""How often a game is tried while others hold its lock. Each try waits as long as a statement may take."""
MOST_WAITS: Final = 30
"""The most waits for a lock in all, so that many locked games do not hold up the rest for long."""
_FROZEN: Final = Q(paused_reasons__contains=[Game.PAUSED_BY_RESTORE])


class StillLocked(Exception):
    """Some games were not reached, because others held their locks. `unreadable` are those that cannot be read."""

    def __init__(self, games: Sequence[int], unreadable: Sequence[int]) -> None:
        super().__init__(f"{len(games)} games are still locked")
        self.games = games
        self.unreadable = unreadable


class Released(NamedTuple):
    """The result of `release`."""

    games: BatchResult  # how many run again, and which could not be read
    mail: bool  # whether mail was held before


def freeze_if_restored(*, now: datetime) -> BatchResult | None:
    """Call `freeze` if the database was restored from a dump since it last ran; return its result, or None.

    Call it before any process of the site starts.

    :raises Error: as `freeze`, and so is `StillLocked`. The next call tries again.
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

    From the hold on, nobody can make or start a table. A game that cannot be read is skipped. Its clock cannot act
    either; repair it and call `freeze` again.

    :raises StillLocked: others hold the locks of some games, which are not paused; call `freeze` again.
    :raises Error: a database error that is not about one game. Some games may not be paused then; call `freeze` again.
    """
    outbox.hold(why=HOLD_REASON, now=now)

    def stop(table: Table) -> bool:
        swept_at = table.game.swept_at
        since = None if swept_at is None else min(swept_at, moment_of(table.game, now))
        return pausing.pause(table, reason=Game.PAUSED_BY_RESTORE, now=now, since=since)

    return _at_each(~_FROZEN, stop, failed="a game was not frozen")


def unreadable_open_tables() -> list[int]:
    """Return the numbers of the tables that wait for players and cannot be read. Lists leave them out."""

    def read(game_id: int) -> bool:
        return queries.find(game_id) is not None

    waiting = list(Game.objects.filter(status=Game.Status.OPEN).order_by("pk").values_list("pk", flat=True))
    return for_each_game(waiting, read, failed="an open table cannot be read", fatal=_is_database_trouble).failed


def release(*, now: datetime, deal_again: bool = False) -> Released:
    """Resume the frozen games with the time they had left, then let mail go out, each after another check.

    A game that cannot be read is skipped.

    :param deal_again: also void the round in play of each game and deal it again. People who played on after the
        backup have seen cards that are hidden again.
    :raises StillLocked: as `freeze`. Mail stays held then.
    :raises Error: as `freeze`. Mail stays held then.
    """

    def run_on(table: Table) -> bool:
        if not deal_again or table.started.over:
            return pausing.resume(table, reason=Game.PAUSED_BY_RESTORE, now=now)
        reasons = list(table.game.paused_reasons)
        for reason in reasons:  # a round is not dealt during a pause
            pausing.resume(table, reason=reason, now=now)
        next_round.deal_again(table, now=now)
        for reason in set(reasons) - {Game.PAUSED_BY_RESTORE}:
            pausing.pause(table, reason=reason, now=now)
        return True

    games = _at_each(_FROZEN, run_on, failed="a game was not released")
    return Released(games, mail=outbox.release())


def _at_each(which: Q, act: Callable[[Table], bool], *, failed: str) -> BatchResult:
    """Call `act` for each running table of which `which` is true, each under its lock in its own transaction.

    `act` makes `which` false. Then looks again, for games whose locks others held or that started meanwhile.

    :raises StillLocked: `which` is still true of some games.
    """
    waits = 0

    def at_one(game_id: int) -> bool:
        nonlocal waits
        try:
            with transaction.atomic():
                table = queries.load(lock_game(pk=game_id))
                return table.game.status == Game.Status.PLAYING and act(table)
        except Error as error:
            if not waited_too_long(error) or waits == MOST_WAITS:
                raise
            waits += 1
            return False

    count, broken = 0, list[int]()
    for _ in range(TRIES):
        if not (games := _playing(which, broken)):
            return BatchResult(count, broken)
        try:
            found = for_each_game(games, at_one, failed=failed, fatal=_is_database_trouble)
        except Error as error:
            if not waited_too_long(error):
                raise
            break
        count += found.count
        broken += found.failed
    if games := _playing(which, broken):
        raise StillLocked(games, broken)
    return BatchResult(count, broken)


def _is_database_trouble(error: Exception) -> bool:
    """Return True for an error of the database itself, False for one that the values of a single game cause."""
    return isinstance(error, Error) and not isinstance(error, DataError | IntegrityError)


def _playing(which: Q, but: Collection[int]) -> list[int]:
    running = Game.objects.filter(which, status=Game.Status.PLAYING).exclude(pk__in=but).order_by("pk")
    # A list, because the garbage collector may close an unfinished iterator during the next statement. That statement
    # then waits for the connection that it holds itself.
    return list(running.values_list("pk", flat=True))
