"""Reads about conduct: warnings, suspensions, cases, and what staff did at a table."""

from __future__ import annotations

from datetime import datetime

from django.db.models import QuerySet

from accounts.models import User
from games.models import Appeal, Suspension, Warned


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
