"""Appeals against suspensions, and how staff decide them (decision 61)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from allauth.mfa.utils import is_mfa_enabled
from django.db import transaction

from accounts.actions import lock_person
from accounts.models import User
from games.models import Appeal, AuditEntry, Suspension
from games.models.moderation import REASON_LENGTH, SHORTEST_WORDS
from games.notices import staff_notices
from games.queries import conduct
from games.refusals import Denied, permits
from games.staff import acts
from games.staff.acts import StaffAct
from games.staff.audit import check, check_person, record
from games.staff.cases import clean_text
from games.staff.people import end_suspensions


def appeal(*, person_id: int, text: str, now: datetime, suspension_id: int | None = None) -> Appeal:
    """Appeal against this person's current suspension. Possible once per suspension.

    :param suspension_id: the suspension that the page showed (decision 61), or None for the current one.
    :raises Denied: `malformed`; `not_found` if the person was not suspended; `over` if the suspension of the page has
        ended; `stale` if another one is in force; `forbidden` the second time.
    """
    with transaction.atomic():
        person = lock_person(person_id)
        suspension = conduct.suspension_of(person, now)
        if suspension is None:
            raise _no_suspension(person, suspension_id)
        if suspension_id not in (None, suspension.pk):
            message = "The suspension has changed since you opened this page. Read it, and send your appeal again."
            raise Denied("stale", message)
        if conduct.appeal_of(suspension) is not None:
            raise Denied("forbidden", "You have already appealed against this suspension. Your appeal is shown below.")
        made = Appeal.objects.create(suspension=suspension, at=now, text=clean_text(text))
        staff_notices.appeal_arrived(made, _deciders(made, now), now=now)
        return made


def _deciders(appeal: Appeal, now: datetime) -> list[User]:
    """Return the staff members who can decide an appeal: the one who suspended the person only if nobody else can."""
    staff = User.objects.filter(is_staff=True, is_active=True).order_by("pk")
    able = [one for one in staff if _can_decide(appeal, one, now)]
    by = conduct.suspended_by(appeal.suspension)
    return [one for one in able if one.pk != by] or able


def _no_suspension(person: User, suspension_id: int | None) -> Denied:
    """Return the refusal of an appeal of a person who is not suspended. `suspension_id`: see `appeal`."""
    shown = Suspension.objects.filter(person=person, pk=suspension_id or 0).first()
    if shown is None:
        return Denied("not_found", "You are not suspended.")
    if shown.lifted_at:
        return Denied("over", "Staff have lifted your suspension since you opened this page, so you need no appeal.")
    return Denied("over", "Your suspension has ended since you opened this page, so you need no appeal.")


def check_appeal(appeal: Appeal, *, by: User, now: datetime) -> None:
    """Check that `by` may act on the person, and did not suspend them, unless no other staff member can decide.

    :raises Denied: `forbidden`.
    """
    check_person(appeal.suspension.person, by=by)
    if conduct.suspended_by(appeal.suspension) == by.pk and other_can_decide(appeal, by=by, now=now):
        raise Denied("forbidden", "You suspended this person. Another admin must decide the appeal.")


def other_can_decide(appeal: Appeal, *, by: User, now: datetime) -> bool:
    """Return True if a staff member other than `by` can decide this appeal: with the role and a second factor."""
    others = User.objects.filter(is_staff=True, is_active=True).exclude(pk=by.pk)
    return any(_can_decide(appeal, other, now) for other in others)


def _can_decide(appeal: Appeal, staff: User, now: datetime) -> bool:
    if staff.suspended(now) or not staff.has_perm(acts.DECIDE_APPEAL.permission) or not is_mfa_enabled(staff):
        return False
    return permits(check_person, appeal.suspension.person, by=staff)


def lock_person_of(appeal_id: int) -> User:
    """Lock the person who appeals until the transaction ends, and return them. Their appeals change under this lock.

    :raises Denied: `not_found`.
    """
    people = User.objects.select_for_update(of=("self",), no_key=True)
    person = people.filter(suspensions__appeal=appeal_id).first()
    if person is None:
        raise Denied("not_found", "There is no such appeal.")
    return person


def decide_appeal(*, appeal_id: int, by: User, lift: bool, answer: str, reason: str, now: datetime) -> AuditEntry:
    """Answer an appeal and, if `lift` is True, lift its suspension. The person is told the decision and the
    answer.

    The audit entry notes `own_suspension` if `by` suspended the person, because no other staff member could decide.

    :raises Denied: `forbidden`, `malformed`, `not_found`; `over` if the appeal has been decided, or if `lift` is
        True and the suspension has already ended.
    """
    with transaction.atomic():
        reason = check(acts.DECIDE_APPEAL, by=by, reason=reason, now=now)
        answer = " ".join(answer.split())
        if not SHORTEST_WORDS <= len(answer) <= REASON_LENGTH:
            raise Denied(
                "malformed", "Answer in {least} to {most} characters.", least=SHORTEST_WORDS, most=REASON_LENGTH
            )
        person = lock_person_of(appeal_id)
        appeal = Appeal.objects.select_related("suspension").get(pk=appeal_id)
        if appeal.decided_at is not None:
            decision = appeal.get_decision_display()
            if appeal.answer:
                raise Denied("over", "This appeal has already been decided: “{decision}”.", decision=decision)
            raise Denied("over", "This appeal is closed: “{decision}”.", decision=decision)
        check_appeal(appeal, by=by, now=now)
        in_force = conduct.suspension_of(person, now)
        if lift and (in_force is None or in_force.pk != appeal.suspension_id):
            message = "The suspension of this appeal has ended, so it can’t be lifted. Uphold it to close the appeal."
            raise Denied("over", message)
        appeal.decided_at, appeal.answer = now, answer
        appeal.decision = Appeal.Answer.LIFTED if lift else Appeal.Answer.UPHELD
        appeal.save(update_fields=["decided_at", "answer", "decision"])
        if lift:
            end_suspensions(person, now)
        staff_notices.appeal_decided(appeal, person, now=now)
        details: dict[str, Any] = {"lifted": lift}
        if conduct.suspended_by(appeal.suspension) == by.pk:
            details["own_suspension"] = True
        return record(acts.DECIDE_APPEAL, by=by, reason=reason, now=now, person=person, **details)


PERFORM: Final[Mapping[StaffAct[Any], Callable[..., object]]] = {acts.DECIDE_APPEAL: decide_appeal}
"""The function of each act. It takes what the act's form asks for."""
