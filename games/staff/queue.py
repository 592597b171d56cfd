"""Count what waits for staff: cases, appeals, and games with a problem."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from django.db.models import Count, Exists, Min, OuterRef, Q, QuerySet

from games.models import Appeal, Case, Game, Report
from games.queries import conduct

if TYPE_CHECKING:
    from accounts.models import User

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


@dataclass(frozen=True, slots=True)
class QueueCounts:
    """How much waits for a staff member, without cases about them."""

    cases: int
    held: int  # cases that somebody works on
    mine: int
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
        oldest_case=Min("opened_at"),
    )
    appeals = Appeal.objects.filter(decided_at=None).aggregate(appeals=Count("pk"), oldest_appeal=Min("at"))
    overdue, stuck, paused = (
        with_problem(Game.objects.all(), problem, reader=reader.pk, now=now).count()
        for problem in ("overdue", "stuck", "paused")
    )
    return QueueCounts(**cases, **appeals, overdue=overdue, stuck=stuck, paused=paused)
