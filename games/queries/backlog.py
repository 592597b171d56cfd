"""What is due and has not happened yet, for monitoring."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db.models import Count, Max, Min, Q, QuerySet

from accounts.models import AccountMail
from games.models import Game, Heartbeat, Move, Notice
from games.queries import due_bots
from mail.models import EMAIL, SITE, Outbox

LATE: Final = timedelta(minutes=10)
"""How late a notice or a mail may be before the worker or the mail server counts as failing."""


@dataclass(frozen=True, slots=True)
class Overdue:
    """How many rows are due, and for how long the first of them has been."""

    count: int
    longest: timedelta


@dataclass(frozen=True, slots=True)
class Late:
    """The games whose deadline passed longer ago than the grace.

    `untried` have not been tried by the clock since. `failing` were tried without success.
    """

    untried: int = 0
    failing: int = 0


@dataclass(frozen=True, slots=True)
class Backlog:
    """What is due at one moment.

    `sweep` is the time since the last sweep, None if there was none. `giving_back` is True while the time of an outage
    is given back to games. `bots` counts the games in which a person plays; others may wait long. `held_since` is when
    mail was held, None if it is not. `stopped` is the number of games that a restore has stopped.
    """

    sweep: timedelta | None
    giving_back: bool
    clocks: Overdue
    late: Late
    bots: Overdue
    notices: Overdue
    account_mails: Overdue
    held_since: datetime | None
    stopped: int

    @property
    def is_frozen(self) -> bool:
        """Return True if all mail is held and the games are stopped, after a restore or `manage.py freeze`."""
        return self.held_since is not None


def backlog(now: datetime, *, grace: timedelta) -> Backlog:
    """Return what is due. Runs eight queries, which read due rows only."""
    heartbeat = Heartbeat.objects.first()
    outbox = Outbox.objects.first()
    playing = Game.objects.filter(status=Game.Status.PLAYING)
    mails = AccountMail.objects.filter(state=AccountMail.State.WAITING)
    return Backlog(
        sweep=now - heartbeat.at if heartbeat and heartbeat.at else None,
        giving_back=bool(heartbeat and heartbeat.given_from),
        clocks=_overdue(playing.filter(deadline__lte=now), "deadline", now),
        late=_late(heartbeat, now, grace),
        bots=_overdue(due_bots.attended(now), "wake_at", now),
        notices=_overdue(_waiting_notices().filter(due_at__lte=now), "due_at", now),
        account_mails=_overdue(mails.filter(due_at__lte=now), "due_at", now),
        held_since=outbox.held_since if outbox else None,
        stopped=playing.filter(paused_reasons__contains=[Game.PAUSED_BY_RESTORE]).count(),
    )


def _waiting_notices() -> QuerySet[Notice]:
    # Others go to servers that people choose: that one of those is away is no fault of this site.
    return Notice.objects.filter(state=Notice.State.WAITING, channel__in=(SITE, EMAIL))


def _overdue(rows: QuerySet[Any], column: str, now: datetime) -> Overdue:
    found = rows.aggregate(count=Count("pk"), first=Min(column))
    return Overdue(found["count"], timedelta() if found["first"] is None else now - found["first"])


def moves_so_far() -> int:
    """Return the highest number of a move. It rises with each move, and sometimes by one that was rolled back."""
    highest: int | None = Move.objects.aggregate(highest=Max("pk"))["highest"]
    return highest or 0


def is_frozen() -> bool:
    """Return `Backlog.is_frozen` by one query."""
    return Outbox.objects.filter(held_since__isnull=False).exists()


def bots_are_late(now: datetime, *, grace: timedelta) -> bool:
    """Return True if bots at a table with people have been due for longer than `grace`. Runs one query."""
    return due_bots.attended(now - grace).exists()


def mail_is_late(now: datetime) -> bool:
    """Return True if a notice or a mail has been due for longer than `LATE`. Runs at most two queries."""
    late = AccountMail.objects.filter(state=AccountMail.State.WAITING, due_at__lt=now - LATE)
    return _waiting_notices().filter(due_at__lt=now - LATE).exists() or late.exists()


def sweep_is_stale(now: datetime, *, grace: timedelta) -> bool:
    """Return True if the last sweep is longer ago than `grace`, or the time of an outage is being given back."""
    heartbeat = Heartbeat.objects.first()
    return heartbeat is not None and _is_stale(heartbeat, now, grace)


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with the sweep, empty if nothing is, and the number of games whose clock fails."""

    sweep: str = ""
    failing: int = 0


def trouble(now: datetime, *, grace: timedelta) -> Trouble:
    """Return what is wrong with the sweep. Runs at most two queries.

    `now` must be the database's time. The sweep `has never run`, is `away`, or is `late`: it runs, but a deadline
    passed longer than `grace` ago and the clock has not tried to act.
    """
    heartbeat = Heartbeat.objects.first()
    if heartbeat is None or heartbeat.at is None:
        return Trouble("has never run")
    if _is_stale(heartbeat, now, grace):
        return Trouble("away")
    found = _late(heartbeat, now, grace)
    return Trouble("late" if found.untried else "", found.failing)


def _late(heartbeat: Heartbeat | None, now: datetime, grace: timedelta) -> Late:
    late = Game.objects.filter(status=Game.Status.PLAYING, deadline__lt=now - grace)
    if heartbeat is None or heartbeat.tried_through is None:
        return Late(untried=late.count())
    tried = Count("pk", filter=Q(deadline__lte=heartbeat.tried_through))
    return Late(**late.aggregate(untried=Count("pk") - tried, failing=tried))


def _is_stale(heartbeat: Heartbeat, now: datetime, grace: timedelta) -> bool:
    return heartbeat.given_from is not None or (heartbeat.at is not None and now - heartbeat.at > grace)
