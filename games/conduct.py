"""Reads about conduct: warnings, suspensions, cases, and what staff did at a table."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from accounts.models import User
from games.models import Appeal, AuditEntry, Case, Game, Report, Suspension, Warned


def suspension_of(user: User, now: datetime) -> Suspension | None:
    """The suspension in force, with its appeal if there is one."""
    if not user.suspended(now):
        return None
    in_force = Suspension.objects.filter(person=user, lifted_at=None).exclude(until__lte=now)
    return in_force.select_related("appeal").order_by("-at").first()


def appeal_of(suspension: Suspension) -> Appeal | None:
    """What the person said against it, and what was answered."""
    return getattr(suspension, "appeal", None)


def warnings_of(user: User) -> QuerySet[Warned]:
    """Every warning to this person, newest first."""
    return Warned.objects.filter(person=user).order_by("-at", "-pk")


def audit_of_game(game: Game) -> QuerySet[AuditEntry]:
    """What staff did at this table, newest first."""
    return AuditEntry.objects.filter(game_id=game.pk).order_by("-pk")


def told_of_game(game: Game) -> QuerySet[AuditEntry]:
    """What people are told that staff did at this table, newest first: that hands were looked at once it is over."""
    over = game.status in (Game.Status.OVER, Game.Status.VOID)
    entries = AuditEntry.objects.filter(game_id=game.pk).order_by("-pk")
    return entries if over else entries.exclude(act=AuditEntry.Act.LOOK)


def reports_of_game(game: Game) -> QuerySet[Report]:
    """What was said about this game, newest first."""
    return Report.objects.filter(game=game).select_related("case__person", "reporter").order_by("-pk")


@dataclass(frozen=True, slots=True)
class ConductRecord:
    """What staff know of one person."""

    suspension: Suspension | None
    suspensions: list[Suspension]
    warnings: list[Warned]
    cases: list[Case]
    audit: list[AuditEntry]


def record_of(person: User, now: datetime) -> ConductRecord:
    """Everything about this person's conduct, newest first."""
    return ConductRecord(
        suspension=suspension_of(person, now),
        suspensions=list(Suspension.objects.filter(person=person).order_by("-pk")),
        warnings=list(warnings_of(person)),
        cases=list(Case.objects.filter(person=person).order_by("-pk")),
        audit=list(AuditEntry.objects.filter(person_id=person.pk).order_by("-pk")[:100]),
    )
