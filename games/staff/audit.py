"""Check who may perform an act, and write its audit entry. Both run inside the act's transaction."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from accounts.models import User
from games import queries
from games.models import AuditEntry
from games.models.moderation import REASON_LENGTH, SHORTEST_REASON
from games.queries import Table, conduct
from games.refusals import Denied
from games.staff.acts import SUSPEND_FOR_GOOD, StaffAct


def check(act: StaffAct[Any], *, by: User, reason: str, now: datetime) -> str:
    """Check that this staff member may perform this act, and return the reason in its stored form.

    :raises Denied: `forbidden`; `malformed` if the reason is too short or too long, or missing although it is required.
    """
    allowed = by.is_staff and not by.suspended(now) and by.has_perm(act.permission)
    if not allowed:
        raise Denied("forbidden", f"You don’t have permission to {act.phrase}.")
    reason = " ".join(reason.split())
    given = reason != "" or act.reason_required
    if given and not SHORTEST_REASON <= len(reason) <= REASON_LENGTH:
        raise Denied("malformed", f"Give a reason of {SHORTEST_REASON} to {REASON_LENGTH} characters.")
    return reason


def check_person(person: User, *, by: User) -> None:
    """Check that `by` may act on this person.

    Nobody may act on themselves. Only superusers may act on superusers, and only admins and superusers on other staff.
    Only superusers may act on people they play with, because a small site may have no other staff. `record` then notes
    `plays_with` in the audit entry.

    :raises Denied: `forbidden`.
    """
    if person.pk == by.pk:
        raise Denied("forbidden", "You can’t do this to yourself. Ask another staff member.")
    if person.is_superuser and not by.is_superuser:
        raise Denied("forbidden", "Only a superuser can do this to a superuser.")
    # Of the roles, only admins have this permission. Superusers have all.
    if person.is_staff and not by.has_perm(SUSPEND_FOR_GOOD.permission):
        raise Denied("forbidden", "Only an admin can do this to a staff member.")
    if not by.is_superuser and queries.plays_with(by, [person.pk]):
        message = f"You are playing with {person.name}. Ask another staff member, or come back after the game."
        raise Denied("forbidden", message)


def check_outside(table: Table, *, by: User) -> None:
    """Check that `by` is not and was not a player at this table.

    :raises Denied: `forbidden`.
    """
    if table.seat_of(by) is not None or conduct.lost_seat_to_staff(table.game.code, by):
        message = "You are or were a player at this table. Ask another staff member."
        raise Denied("forbidden", message, version=table.game.version)


def record(
    act: StaffAct[Any],
    *,
    by: User,
    reason: str,
    now: datetime,
    table: Table | None = None,
    seat: int | None = None,
    person: User | None = None,
    **details: Any,
) -> AuditEntry:
    """Write the audit entry of an act, with the table's current version. The caller holds the lock of a given table."""
    game = table.game if table else None
    if person is not None and by.is_superuser and queries.plays_with(by, [person.pk]):
        details["plays_with"] = True
    return AuditEntry.objects.create(
        at=now,
        act=act.name,
        actor=by,
        actor_name=by.name,
        reason=reason,
        game=game,
        game_code=game.code if game else "",
        version=game.version if game else None,
        seat=seat,
        person=person,
        person_name=person.name if person else "",
        details=details,
    )
