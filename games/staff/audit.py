"""Check who may perform an act, and write its audit entry. Both run inside the act's transaction."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from accounts.models import User
from games import queries
from games.models import AuditEntry, PersonName
from games.models.moderation import REASON_LENGTH, SAID_LENGTH, SHORTEST_REASON, SHORTEST_SAID
from games.queries import Table, conduct
from games.refusals import Denied
from games.staff.acts import SUSPEND_FOR_GOOD, StaffAct


def check(act: StaffAct[Any], *, by: User, reason: str, now: datetime) -> str:
    """Check that this staff member may perform this act, and return the reason in its stored form.

    :raises Denied: `forbidden`; `malformed` if the reason is too short or too long, or missing although it is required.
    """
    allowed = by.is_staff and not by.suspended(now) and by.has_perm(act.permission)
    if not allowed:
        raise Denied("forbidden", "You don’t have permission to {act}.", act=act.phrase)
    reason = " ".join(reason.split())
    given = reason != "" or act.reason_required
    if given and not SHORTEST_REASON <= len(reason) <= REASON_LENGTH:
        raise Denied(
            "malformed", "Give a reason of {least} to {most} characters.", least=SHORTEST_REASON, most=REASON_LENGTH
        )
    return reason


def clean_said(text: str) -> str:
    """Return what staff say to a table in its stored form, or "" if they say nothing.

    :raises Denied: `malformed` if it is too short or too long.
    """
    text = " ".join(text.split())
    if text and not SHORTEST_SAID <= len(text) <= SAID_LENGTH:
        raise Denied(
            "malformed",
            "Say something of {least} to {most} characters to the players.",
            least=SHORTEST_SAID,
            most=SAID_LENGTH,
        )
    return text


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
        sentence = "You are playing with {name}. Ask another staff member, or come back after the game."
        raise Denied("forbidden", sentence, name=person.name)


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
    other: tuple[int, str] | None = None,
    **details: Any,
) -> AuditEntry:
    """Write the audit entry of an act, with the table's current version. The caller holds the lock of a given table.

    :param other: the number and the name of another person: who had the seat that was given away, or had it before its
        bot, or the colleague to whom a case was handed over.
    """
    game = table.game if table else None
    of_actor, of_person = (by.pk, by.name), (person.pk, person.name) if person else None
    called = _called({name for name in (of_actor, of_person, other) if name})
    if person is not None and by.is_superuser and queries.plays_with(by, [person.pk]):
        details["plays_with"] = True
    return AuditEntry.objects.create(
        at=now,
        act=act.name,
        actor=by,
        actor_called=called[of_actor],
        reason=reason,
        game=game,
        game_code=game.code if game else "",
        version=game.version if game else None,
        seat=seat,
        person=person,
        person_called=called[of_person] if of_person else None,
        before_called=called[other] if other else None,
        details=details,
    )


def stored_name(person: User, name: str) -> int | str:
    """Return what `AuditEntry.details` has for a name of this person: the number of a `PersonName`, or "" for none."""
    return _called({(person.pk, name)})[person.pk, name].pk if name else ""


def _called(wanted: set[tuple[int, str]]) -> dict[tuple[int, str], PersonName]:
    """Return the rows of these names, each with the number of its person. Rows that are missing are written."""
    found = _stored(wanted)
    if missing := sorted(wanted - found.keys()):  # sorted, so that two acts at once do not deadlock
        PersonName.objects.bulk_create(
            (PersonName(person_id=number, name=name) for number, name in missing), ignore_conflicts=True
        )
        found = _stored(wanted)
    return found


def _stored(wanted: set[tuple[int, str]]) -> dict[tuple[int, str], PersonName]:
    people, names = {number for number, _ in wanted}, {name for _, name in wanted}
    rows = PersonName.objects.filter(person__in=people, name__in=names)
    return {(row.person_id, row.name): row for row in rows}
