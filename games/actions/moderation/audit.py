"""Who may act, and the entry that every act leaves. All of it runs inside the act's own transaction."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final

from accounts.models import User
from games import queries
from games.models import AuditEntry
from games.models.moderation import REASON_LENGTH
from games.queries import Table, conduct
from games.refusals import Denied

SHORTEST_REASON: Final = 10
Act = AuditEntry.Act


def check(act: AuditEntry.Act, *, by: User, reason: str, now: datetime, optional: bool = False) -> str:
    """The reason as stored, if this member of staff may do this; empty only if it is `optional`.

    :raises Denied: `forbidden`; `malformed` without a reason that says something.
    """
    allowed = by.is_staff and not by.suspended(now) and by.has_perm(f"games.do_{act.value}")
    if not allowed:
        raise Denied("forbidden", f"Your role does not let you do this: {act.label.lower()}.")
    reason = " ".join(reason.split())
    if not SHORTEST_REASON <= len(reason) <= REASON_LENGTH and not (optional and reason == ""):
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
    if person.is_staff and not by.has_perm("games.do_suspend_for_good"):
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
    act: AuditEntry.Act,
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
        act=act,
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
