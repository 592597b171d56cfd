"""What staff do to a person: warn, mute, suspend, and take it back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import OuterRef, Subquery

from accounts.actions import lock_person
from accounts.models import FOR_GOOD, User
from games import announce
from games.models import AuditEntry, Seat, Suspension, Warned
from games.models.moderation import LONGEST_DAYS, REMOVE
from games.queries import lists
from games.refusals import Denied
from games.staff import acts
from games.staff.acts import StaffAct
from games.staff.audit import check, check_person, record


def locked(person_id: int) -> User:
    """This person, locked until the transaction ends.

    :raises Denied: `not_found`.
    """
    try:
        return lock_person(person_id)
    except User.DoesNotExist:
        raise Denied("not_found", "There is no such person.") from None


def _check_days(days: int) -> None:
    if not 1 <= days <= LONGEST_DAYS:
        raise Denied("malformed", f"Choose 1 to {LONGEST_DAYS} days.")


def warn(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Show the reason to this person on every page until it is acknowledged.

    :raises Denied: `forbidden`, `malformed`, `not_found`.
    """
    with transaction.atomic():
        reason = check(acts.WARN, by=by, reason=reason, now=now)
        person = locked(person_id)
        check_person(person, by=by)
        Warned.objects.create(person=person, at=now, text=reason)
        person.warned = True
        person.save(update_fields=["warned"])
        announce.person_news(person.pk)
        return record(acts.WARN, by=by, reason=reason, now=now, person=person)


def acknowledge(*, person_id: int, now: datetime) -> int:
    """The person has read all warnings so far; gives the number of those that were new."""
    with transaction.atomic():
        person = locked(person_id)
        read = Warned.objects.filter(person=person, acknowledged_at=None).update(acknowledged_at=now)
        person.warned = False
        person.save(update_fields=["warned"])
        return read


def mute(*, person_id: int, by: User, days: int, reason: str, now: datetime) -> AuditEntry:
    """Take this person's words away: the name at the table now, and choosing another until the mute ends.

    :raises Denied: `forbidden`, `malformed`, `not_found`.
    """
    with transaction.atomic():
        reason = check(acts.MUTE, by=by, reason=reason, now=now)
        _check_days(days)
        person = locked(person_id)
        check_person(person, by=by)
        entry = record(acts.MUTE, by=by, reason=reason, now=now, person=person, days=days)
        person.muted_until = now + timedelta(days=days)
        person.display_name = ""
        forget_name(person)
        person.save(update_fields=["muted_until", "display_name"])
        return entry


def forget_name(person: User) -> None:
    """Let no seat bring back the name that staff take: it shows where the account is gone, or a bot sits for good. Open
    pages of the tables where the person still plays look again.

    To be called before the person is saved: who moves holds seats and asks for the person only when committing, so a
    changed username that waited for seats would wait in a ring.
    """
    Seat.objects.filter(user=person).update(name=person.name)
    removed = AuditEntry.objects.filter(act=REMOVE, seat__isnull=False)
    last = removed.filter(game=OuterRef("game"), seat=OuterRef("index")).order_by("-pk").values("person_id")[:1]
    theirs = Seat.objects.filter(user=None, game__in=removed.filter(person_id=person.pk).values("game"))
    theirs.alias(last=Subquery(last)).filter(last=person.pk).update(name=person.name)
    for game in lists.unfinished_games_of(person):
        announce.after_commit(game, wake=False)


def unmute(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Let this person choose a name again.

    :raises Denied: `forbidden`, `malformed`, `not_found`.
    """
    with transaction.atomic():
        reason = check(acts.UNMUTE, by=by, reason=reason, now=now)
        person = locked(person_id)
        check_person(person, by=by)
        person.muted_until = None
        person.save(update_fields=["muted_until"])
        return record(acts.UNMUTE, by=by, reason=reason, now=now, person=person)


def suspend(*, person_id: int, by: User, days: int | None, reason: str, now: datetime) -> AuditEntry:
    """Shut this person out for some days, or for good (None): from pages, the API and open sockets, but for one page.

    A suspension replaces one in force; only who may lift that one gives one that ends sooner. Clocks of the person's
    games run on.

    :raises Denied: `forbidden`, `malformed`, `not_found`.
    """
    act = acts.SUSPEND_FOR_GOOD if days is None else acts.SUSPEND
    with transaction.atomic():
        reason = check(act, by=by, reason=reason, now=now)
        if days is not None:
            _check_days(days)
        person = locked(person_id)
        check_person(person, by=by)
        until = None if days is None else now + timedelta(days=days)
        in_force = person.suspended_until
        if (
            in_force is not None
            and now < in_force
            and (until or FOR_GOOD) < in_force
            and not by.has_perm(acts.LIFT.permission)
        ):
            raise Denied(
                "forbidden", f"{person.name} is suspended for longer already: only an admin makes that shorter."
            )
        end_suspensions(person, now)
        Suspension.objects.create(person=person, at=now, until=until, reason=reason)
        person.suspended_until = until or FOR_GOOD
        person.save(update_fields=["suspended_until"])
        announce.shut_out(person.pk)
        return record(act, by=by, reason=reason, now=now, person=person, days=days)


def lift(*, person_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """End the suspension in force.

    :raises Denied: `forbidden`, `malformed`, `not_found`, also if none is in force.
    """
    with transaction.atomic():
        reason = check(acts.LIFT, by=by, reason=reason, now=now)
        person = locked(person_id)
        check_person(person, by=by)
        if not person.suspended(now):
            raise Denied("not_found", f"{person.name} is not suspended.")
        end_suspensions(person, now)
        return record(acts.LIFT, by=by, reason=reason, now=now, person=person)


def end_suspensions(person: User, now: datetime) -> None:
    """End the suspensions in force of a person whose row the caller has locked."""
    Suspension.objects.filter(person=person, lifted_at=None).exclude(until__lte=now).update(lifted_at=now)
    person.suspended_until = None
    person.save(update_fields=["suspended_until"])


PERFORM: Final[Mapping[StaffAct[User], Callable[..., object]]] = {
    acts.WARN: warn,
    acts.MUTE: mute,
    acts.UNMUTE: unmute,
    acts.SUSPEND: suspend,
    acts.SUSPEND_FOR_GOOD: partial(suspend, days=None),
    acts.LIFT: lift,
}
"""The function of each act, which takes what the act's form asks for."""
