"""What is due and has not happened yet: a read for whoever watches over a site."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Count, Min, Q, QuerySet

from accounts.models import AccountMail
from games.models import Game, Heartbeat, Notice, Outbox


@dataclass(frozen=True, slots=True)
class Overdue:
    """How many of a kind are due, and by how much the first of them."""

    count: int
    longest: timedelta


@dataclass(frozen=True, slots=True)
class Late:
    """Of the games whose turn's time has been over for longer than the grace: how many no clock has tried since, and
    how many it has tried and failed at."""

    untried: int = 0
    failing: int = 0


@dataclass(frozen=True, slots=True)
class Backlog:
    """`sweep` is the time since the last sweep, None if there never was one; `giving_back`: after an outage, it gives
    the games their time back. `held_since`: mail is held. `stopped` are games that a restore has stopped."""

    sweep: timedelta | None
    giving_back: bool
    clocks: Overdue
    late: Late
    bots: Overdue
    notices: Overdue
    account_mails: Overdue
    held_since: datetime | None
    stopped: int


def backlog(now: datetime, *, grace: timedelta) -> Backlog:
    """How things stand. Eight queries, each on the rows that are due alone."""
    beat = Heartbeat.objects.first()
    outbox = Outbox.objects.first()
    playing = Game.objects.filter(status=Game.Status.PLAYING)
    mails = AccountMail.objects.filter(state=AccountMail.State.WAITING)
    return Backlog(
        sweep=now - beat.at if beat and beat.at else None,
        giving_back=bool(beat and beat.given_from),
        clocks=_overdue(playing.filter(deadline__lte=now), "deadline", now),
        late=_late(beat, now, grace),
        bots=_overdue(playing.filter(wake_at__lte=now), "wake_at", now),
        notices=_overdue(Notice.objects.filter(state=Notice.State.WAITING, due_at__lte=now), "due_at", now),
        account_mails=_overdue(mails.filter(due_at__lte=now), "due_at", now),
        held_since=outbox.held_since if outbox else None,
        stopped=playing.filter(paused_reasons__contains=[Game.PAUSED_BY_RESTORE]).count(),
    )


def _overdue(rows: QuerySet[Any], column: str, now: datetime) -> Overdue:
    found = rows.aggregate(count=Count("pk"), first=Min(column))
    return Overdue(found["count"], timedelta() if found["first"] is None else now - found["first"])


def sweep_is_stale(now: datetime, *, grace: timedelta) -> bool:
    """Whether the sweep has been away for longer than its grace, or is still giving back the time it was away."""
    beat = Heartbeat.objects.first()
    return beat is not None and _stale(beat, now, grace)


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong with the sweep, or nothing; and how many games' clocks fail, which is no other game's trouble."""

    sweep: str = ""
    failing: int = 0


def trouble(now: datetime, *, grace: timedelta) -> Trouble:
    """What is wrong by the database's clock. At most two queries.

    The sweep `has never run`, is `away`, or runs and is `late`: a turn's time has been over for longer than the grace,
    and no clock has tried to play it.
    """
    beat = Heartbeat.objects.first()
    if beat is None or beat.at is None:
        return Trouble("has never run")
    if _stale(beat, now, grace):
        return Trouble("away")
    found = _late(beat, now, grace)
    return Trouble("late" if found.untried else "", found.failing)


def _late(beat: Heartbeat | None, now: datetime, grace: timedelta) -> Late:
    late = Game.objects.filter(status=Game.Status.PLAYING, deadline__lt=now - grace)
    if beat is None or beat.tried_through is None:
        return Late(untried=late.count())
    tried = Count("pk", filter=Q(deadline__lte=beat.tried_through))
    return Late(**late.aggregate(untried=Count("pk") - tried, failing=tried))


def _stale(beat: Heartbeat, now: datetime, grace: timedelta) -> bool:
    return beat.given_from is not None or (beat.at is not None and now - beat.at > grace)
