"""Count what waits for staff: cases, appeals, and games with a problem."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from games.models import Appeal, Case, Game, Report
from games.queries import conduct
from games.refusals import permits
from games.staff import appeals, cases

if TYPE_CHECKING:
    from accounts.models import User

HELD_TOO_LONG: Final = timedelta(days=3)
"""After how long an open case that somebody works on counts as held too long."""
MOST_TRIED: Final = 60
"""How many cases `cases_to_close` looks at."""
MOST_COUNTED: Final = 10
"""How many waiting appeals `appeals_count` looks at."""
LATE: Final = timedelta(minutes=2)
"""How late a clock or a bot may be before the game counts as overdue or stuck. The sweep runs every few seconds."""


def with_problem(games: QuerySet[Game], problem: str | None, *, reader: int | None, now: datetime) -> QuerySet[Game]:
    """Return the games with this problem: "overdue", "stuck", "reported" or "paused". With None, return all.

    Leaves out games whose reports are all about `reader`.
    """
    late, playing = now - LATE, Q(status=Game.Status.PLAYING)
    match problem:
        case "overdue":
            return games.filter(playing, paused_at=None, deadline__lt=late)
        case "stuck":
            return games.filter(playing & (Q(deadline=None, wake_at=None) | Q(wake_at__lt=late)), paused_at=None)
        case "reported":
            reports = Report.objects.filter(game=OuterRef("pk"), case__closed_at=None)
            return games.filter(Exists(reports if reader is None else reports.exclude(case__person_id=reader)))
        case "paused":
            return games.filter(playing, paused_at__isnull=False)
    return games


def held_too_long(now: datetime) -> Q:
    """Return the condition for open cases that somebody has had for too long."""
    return Q(closed_at=None, held_at__lt=now - HELD_TOO_LONG)


def cases_to_close(reader: User, *, now: datetime) -> list[Case]:
    """Return the open cases that the reader may close and no colleague works on, the oldest first."""
    found = _free_for(reader, now).select_related("person", "holder").order_by("opened_at", "pk")
    return [case for case in found[:MOST_TRIED] if permits(cases.check_case, case, by=reader)]


def _free_for(reader: User, now: datetime) -> QuerySet[Case]:
    """Return the open cases that no colleague of the reader works on.

    Leaves out cases about the reader and those that they reported.
    """
    others = Case.objects.filter(conduct.has_worker(now)).exclude(holder=reader)
    reported = Report.objects.filter(reporter=reader).values("case")
    found = Case.objects.filter(closed_at=None).exclude(person=reader)
    return found.exclude(pk__in=others.values("pk")).exclude(pk__in=reported)


def unheld_count(reader: User, *, now: datetime) -> int:
    """Count the open cases that nobody works on and the reader may take. Runs one query."""
    taken = Case.objects.filter(conduct.has_worker(now))
    return _free_for(reader, now).exclude(pk__in=taken.values("pk")).count()


def appeals_count(reader: User, *, now: datetime) -> int:
    """Count which of the `MOST_COUNTED` oldest appeals that wait the reader may decide."""
    waiting = Appeal.objects.filter(decided_at=None).select_related("suspension__person").order_by("at", "pk")
    return sum(permits(appeals.check_appeal, appeal, by=reader, now=now) for appeal in waiting[:MOST_COUNTED])


def next_case(reader: User, *, after: Case, now: datetime) -> Case | None:
    """Return the case to work on after this one: the next in the order of the list that no colleague works on.

    After the last one comes the first.
    """
    waiting = _free_for(reader, now).exclude(pk=after.pk).order_by("opened_at", "pk")
    later = Q(opened_at__gt=after.opened_at) | Q(opened_at=after.opened_at, pk__gt=after.pk)
    return waiting.filter(later).first() or waiting.first()


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How much waits for a staff member, without cases about them."""

    cases: int
    held: int  # cases that somebody works on
    mine: int
    held_long: int  # by anybody, for too long
    oldest_case: datetime | None
    appeals: int
    oldest_appeal: datetime | None
    overdue: int
    stuck: int
    paused: int

    @property
    def unheld(self) -> int:
        """How many cases nobody works on."""
        return self.cases - self.held


def queue_counts(reader: User, *, now: datetime) -> QueueCounts:
    """Count what waits for this staff member. Runs five queries."""
    open_cases = Case.objects.filter(closed_at=None).exclude(person=reader)
    cases = open_cases.aggregate(
        cases=Count("pk"),
        held=Count("pk", filter=conduct.has_worker(now)),
        mine=Count("pk", filter=Q(holder=reader)),
        held_long=Count("pk", filter=held_too_long(now) & conduct.has_worker(now)),
        oldest_case=Min("opened_at"),
    )
    undecided = Appeal.objects.filter(decided_at=None).aggregate(appeals=Count("pk"), oldest_appeal=Min("at"))
    overdue, stuck, paused = (
        with_problem(Game.objects.all(), problem, reader=reader.pk, now=now).count()
        for problem in ("overdue", "stuck", "paused")
    )
    return QueueCounts(**cases, **undecided, overdue=overdue, stuck=stuck, paused=paused)
