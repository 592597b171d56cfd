"""Staff acts on people: warn, mute, suspend, and undo that."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.db import transaction

from accounts.actions import free_neutral_name, lock_person, save_names_from_staff
from accounts.models import FOR_GOOD, User
from games import announce
from games.actions.names import erase_old_name
from games.models import Appeal, AuditEntry, Suspension, Warned
from games.models.moderation import LONGEST_DAYS
from games.notices import staff_notices
from games.queries import conduct
from games.refusals import Denied
from games.staff import acts
from games.staff.acts import StaffAct
from games.staff.audit import check, check_person, record, stored_name
from mail import hooks


def lock_or_deny(person_id: int) -> User:
    """Lock this person until the transaction ends, and return them.

    :raises Denied: `not_found`.
    """
    try:
        return lock_person(person_id)
    except User.DoesNotExist:
        raise Denied("not_found", "There is no such person.") from None


@contextmanager
def locked_person(
    act: StaffAct[User], *, person_id: int, by: User, reason: str, now: datetime
) -> Iterator[tuple[User, str]]:
    """Check an act on a person, lock the person, and yield them with the stored reason, in one transaction.

    :raises Denied: `forbidden`, `malformed`, `not_found`.
    """
    with transaction.atomic():
        reason = check(act, by=by, reason=reason, now=now)
        person = lock_or_deny(person_id)
        check_person(person, by=by)
        yield person, reason


def _check_days(days: int) -> None:
    if not 1 <= days <= LONGEST_DAYS:
        raise Denied("malformed", "Choose 1 to {most} days.", most=LONGEST_DAYS)


def warn(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Warn this person, and notify them: every page links to the reason until they acknowledge it.

    :raises Denied: `forbidden`, `malformed`, `not_found`.
    """
    with locked_person(acts.WARN, person_id=person_id, by=by, reason=reason, now=now) as (person, reason):
        Warned.objects.create(person=person, at=now, text=reason)
        person.warned = True
        person.save(update_fields=["warned"])
        entry = record(acts.WARN, by=by, reason=reason, now=now, person=person)
        staff_notices.warned(person, reason, entry_id=entry.pk, now=now)
        announce.person_news(person.pk)
        return entry


def note(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Write a note about this person, which is the reason of the audit entry. Only staff read it.

    :raises Denied: `forbidden`, `malformed`, `not_found`.
    """
    with locked_person(acts.NOTE_PERSON, person_id=person_id, by=by, reason=reason, now=now) as (person, reason):
        return record(acts.NOTE_PERSON, by=by, reason=reason, now=now, person=person)


def acknowledge(*, person_id: int, newest: int, now: datetime) -> bool:
    """Store that this person has read their warnings up to the one with the id `newest`, which the page showed.

    Returns True if there is no newer one.
    """
    with transaction.atomic():
        person = lock_or_deny(person_id)
        # Warnings are written under the lock of the person, so their ids are in the order of time.
        unread = Warned.objects.filter(person=person, acknowledged_at=None)
        unread.filter(pk__lte=newest).update(acknowledged_at=now)
        person.warned = unread.exists()
        person.save(update_fields=["warned"])
        return not person.warned


def mute(*, person_id: int, by: User, days: int, reason: str, now: datetime) -> AuditEntry:
    """Remove this person's name at the table, let them choose no other until the mute ends, and notify them.

    The mute replaces one in force.

    :raises Denied: `malformed`, `not_found`; `forbidden` also if it ends sooner than the one in force.
    """
    with locked_person(acts.MUTE, person_id=person_id, by=by, reason=reason, now=now) as (person, reason):
        _check_days(days)
        until, in_force = now + timedelta(days=days), person.muted_until
        if in_force is not None and until < in_force:
            sentence = "{name} is already muted for longer. To shorten that, end the mute first."
            raise Denied("forbidden", sentence, name=person.name)
        entry = record(acts.MUTE, by=by, reason=reason, now=now, person=person, days=days)
        person.muted_until = until
        person.save(update_fields=["muted_until"])
        person.display_name = ""
        _save_names(person, now)
        staff_notices.muted(person, entry_id=entry.pk, now=now)
        return entry


def replace_username(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Show this person by a neutral name instead of the username, remove their name at the table, and notify them.

    :raises Denied: `malformed`, `not_found`; `forbidden` also if the username is replaced already.
    """
    with locked_person(acts.NEUTRAL_NAME, person_id=person_id, by=by, reason=reason, now=now) as (person, reason):
        if person.neutral_name:
            raise Denied("forbidden", "Their username is already replaced by “{name}”.", name=person.neutral_name)
        name = free_neutral_name(person)
        given = stored_name(person, name)
        entry = record(acts.NEUTRAL_NAME, by=by, reason=reason, now=now, person=person, name=given)
        person.display_name, person.neutral_name = "", name
        _save_names(person, now)
        staff_notices.username_replaced(person, reason, entry_id=entry.pk, now=now)
        return entry


def restore_username(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Show this person by the username again, or by their name at the table, and notify them.

    :raises Denied: `malformed`, `not_found`; `forbidden` also if the username is not replaced.
    """
    with locked_person(acts.END_NEUTRAL_NAME, person_id=person_id, by=by, reason=reason, now=now) as (person, reason):
        if not person.neutral_name:
            raise Denied("forbidden", "Their username is not replaced.")
        name = stored_name(person, person.neutral_name)
        entry = record(acts.END_NEUTRAL_NAME, by=by, reason=reason, now=now, person=person, name=name)
        person.neutral_name = ""
        _save_names(person, now)
        staff_notices.username_restored(person, entry_id=entry.pk, now=now)
        return entry


def _save_names(person: User, now: datetime) -> None:
    erase_old_name(person)
    save_names_from_staff(person=person, now=now)


def unmute(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """End the mute: let this person choose a name at the table again, and notify them.

    :raises Denied: `forbidden`, `malformed`; `not_found` also if the person is not muted.
    """
    with locked_person(acts.UNMUTE, person_id=person_id, by=by, reason=reason, now=now) as (person, reason):
        if not person.muted(now):
            raise Denied("not_found", "{name} is not muted.", name=person.name)
        person.muted_until = None
        person.save(update_fields=["muted_until"])
        entry = record(acts.UNMUTE, by=by, reason=reason, now=now, person=person)
        staff_notices.unmuted(person, entry_id=entry.pk, now=now)
        return entry


def suspend(*, person_id: int, by: User, days: int | None, reason: str, now: datetime) -> AuditEntry:
    """Suspend this person for some days, or for good if `days` is None, and notify them.

    They can only read why, and appeal, on one page; the API and sockets are closed to them. The clocks of their games
    keep running. The suspension replaces one in force, and closes the appeal against that.

    :raises Denied: `malformed`, `not_found`; `forbidden` also if it ends sooner than the one in force and `by` may not
        lift that, or if an appeal waits that `by` may not decide.
    """
    act = acts.SUSPEND_FOR_GOOD if days is None else acts.SUSPEND
    with locked_person(act, person_id=person_id, by=by, reason=reason, now=now) as (person, reason):
        if days is not None:
            _check_days(days)
        until = None if days is None else now + timedelta(days=days)
        in_force = person.suspended_until
        if (
            in_force is not None
            and now < in_force
            and (until or FOR_GOOD) < in_force
            and not by.has_perm(acts.LIFT.permission)
        ):
            raise Denied(
                "forbidden", "{name} is already suspended for longer. Only an admin can shorten that.", name=person.name
            )
        _check_no_appeal(person, by=by, now=now)
        closed = _close_suspensions(person, Appeal.Answer.REPLACED, now)
        suspension = Suspension.objects.create(person=person, at=now, until=until, reason=reason)
        person.suspended_until = until or FOR_GOOD
        person.save(update_fields=["suspended_until"])
        announce.close_sockets_of_suspended(person.pk)
        entry = record(act, by=by, reason=reason, now=now, person=person, days=days, **closed)
        staff_notices.suspended(suspension, person, entry_id=entry.pk, now=now)
        return entry


def lift(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """End the suspension in force, close the appeal against it, and notify the person.

    :raises Denied: `malformed`; `forbidden` also if an appeal waits that `by` may not decide; `not_found` also if the
        person is not suspended.
    """
    with locked_person(acts.LIFT, person_id=person_id, by=by, reason=reason, now=now) as (person, reason):
        if not person.suspended(now):
            raise Denied("not_found", "{name} is not suspended.", name=person.name)
        _check_no_appeal(person, by=by, now=now)
        closed = _close_suspensions(person, Appeal.Answer.LIFTED, now)
        entry = record(acts.LIFT, by=by, reason=reason, now=now, person=person, **closed)
        if not closed:  # else the notice about the appeal says it
            staff_notices.suspension_lifted(person, entry_id=entry.pk, now=now)
        return entry


def end_suspensions(person: User, now: datetime) -> None:
    """End all suspensions in force of this person. The caller has locked the person."""
    conduct.suspensions_in_force(person, now).update(lifted_at=now)
    person.suspended_until = None
    person.save(update_fields=["suspended_until"])


def _waiting_appeal(person: User, now: datetime) -> Appeal | None:
    """Return the appeal that waits against a suspension in force, or None."""
    in_force = conduct.suspensions_in_force(person, now)
    return Appeal.objects.filter(suspension__in=in_force, decided_at=None).select_related("suspension").first()


def _check_no_appeal(person: User, *, by: User, now: datetime) -> None:
    """Check that a new suspension, or lifting the one in force, closes no appeal which somebody else must decide.

    :raises Denied: `forbidden`.
    """
    appeal = _waiting_appeal(person, now)
    if appeal is None:
        return
    if conduct.suspended_by(appeal.suspension) == by.pk or not by.has_perm(acts.DECIDE_APPEAL.permission):
        sentence = "{name} has appealed, and this would close the appeal. Have it decided first."
        raise Denied("forbidden", sentence, name=person.name)


def _close_suspensions(person: User, decision: Appeal.Answer, now: datetime) -> dict[str, Any]:
    """End all suspensions in force, close the appeal that waits against one of them, and notify the person.

    Returns the details of the audit entry: the number of the appeal, if there is one.
    """
    appeal = _waiting_appeal(person, now)
    end_suspensions(person, now)
    if appeal is None:
        return {}
    appeal.decided_at, appeal.decision = now, decision
    appeal.save(update_fields=["decided_at", "decision"])
    staff_notices.appeal_decided(appeal, person, now=now)
    return {"appeal": appeal.pk}


def drop_hook(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Remove this person's hook.

    :raises Denied: `forbidden`, `malformed`; `not_found` also if there is none.
    """
    with locked_person(acts.DROP_HOOK, person_id=person_id, by=by, reason=reason, now=now) as (person, reason):
        host = hooks.remove(user_id=person.pk)
        if not host:
            raise Denied("not_found", "{name} has no webhook.", name=person.name)
        return record(acts.DROP_HOOK, by=by, reason=reason, now=now, person=person, host=host)


PERFORM: Final[Mapping[StaffAct[User], Callable[..., object]]] = {
    acts.WARN: warn,
    acts.MUTE: mute,
    acts.UNMUTE: unmute,
    acts.NEUTRAL_NAME: replace_username,
    acts.END_NEUTRAL_NAME: restore_username,
    acts.SUSPEND: suspend,
    acts.SUSPEND_FOR_GOOD: partial(suspend, days=None),
    acts.LIFT: lift,
    acts.NOTE_PERSON: note,
    acts.DROP_HOOK: drop_hook,
}
"""The function of each act. It takes what the act's form asks for."""
