"""Who may act, and the entry that every act leaves. All of it runs inside the act's own transaction."""

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
    """Return the reason as it is stored, if this member of staff may do this.

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
    """Nobody judges themselves or somebody they play with, and staff are judged by admins.

    Superusers may judge whom they play with, for a site may have nobody else; the entry of the act says that they do.

    :raises Denied: `forbidden`.
    """
    if person.pk == by.pk:
        raise Denied("forbidden", "You cannot do this to yourself: ask another member of staff.")
    if person.is_superuser and not by.is_superuser:
        raise Denied("forbidden", "Only a superuser acts on a superuser.")
    if person.is_staff and not by.has_perm(SUSPEND_FOR_GOOD.permission):
        raise Denied("forbidden", "Only an admin acts on members of staff.")
    if not by.is_superuser and queries.plays_with(by, [person.pk]):
        message = f"You play with {person.name} at a table: ask another member of staff, or come back after the game."
        raise Denied("forbidden", message)


def check_outside(table: Table, *, by: User) -> None:
    """At a table where a member of staff sits or sat, that member is a player like any other.

    :raises Denied: `forbidden`.
    """
    if table.seat_of(by) is not None or conduct.lost_seat(table.game.code, by):
        message = "You sit or sat at this table, where you are a player like any other: ask another member of staff."
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
    """Write the entry of an act; with a table the caller holds its lock, and the version is the one it has now."""
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
