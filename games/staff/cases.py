"""What people say about each other's conduct, and against a suspension, and how staff settle it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from accounts.actions import lock_person
from accounts.models import User
from games import announce, queries
from games.models import Appeal, AuditEntry, Case, Report
from games.models.moderation import REASON_LENGTH, SHORTEST_WORDS, WORDS_LENGTH
from games.notices import preferences, staff_notices
from games.notices.kinds import REPORT_SETTLED
from games.queries import Viewer, conduct
from games.refusals import Denied
from games.staff import acts
from games.staff.acts import StaffAct
from games.staff.audit import check, check_person, record
from games.staff.people import end_suspensions


def _words(text: str) -> str:
    """At least a sentence, as stored.

    :raises Denied: `malformed`.
    """
    text = text.replace("\r\n", "\n").strip()
    if not SHORTEST_WORDS <= len(text) <= WORDS_LENGTH or len(text.split()) < 3 or "\0" in text:
        raise Denied("malformed", f"Say it in at least a sentence: {SHORTEST_WORDS} to {WORDS_LENGTH} characters.")
    return text


def appeal(*, person_id: int, text: str, now: datetime) -> Appeal:
    """Ask staff to look at one's suspension again, once a suspension.

    :raises Denied: `malformed`; `not_found` if none is in force; `forbidden` the second time.
    """
    text = _words(text)
    with transaction.atomic():
        person = lock_person(person_id)
        suspension = conduct.suspension_of(person, now)
        if suspension is None:
            raise Denied("not_found", "You are not suspended.")
        if conduct.appeal_of(suspension) is not None:
            raise Denied("forbidden", "You have appealed already; the answer will appear on this page.")
        return Appeal.objects.create(suspension=suspension, at=now, text=text)


def report(
    *,
    code: str,
    viewer: Viewer[User],
    seat: int,
    kind: str,
    text: str,
    now: datetime,
    form: str | None = None,
) -> Report:
    """Say what somebody at a table did; it joins the open case about that person in that kind, or opens one.

    `form` is unique to one filled-in form in one browser, or None if that is not known. A form that is sent again
    changes nothing and returns the report that it made, also when its case has been closed meanwhile.

    :raises Denied: `not_found`, `malformed`; `forbidden` about oneself, about a bot, or twice.
    """
    text = _words(text)
    if kind not in Case.Kind.values:
        raise Denied("malformed", "Choose what it is about.")
    table, reporter = queries.load_for(code, viewer), viewer.user
    row = next((row for row in table.seats if row.index == seat), None)
    if row is None or row.user_id is None:
        raise Denied("malformed", "Choose a person at this table.")
    if row.user_id == reporter.pk:
        raise Denied("forbidden", "You cannot report yourself.")
    with transaction.atomic():
        _lock_reported(row.user_id, reporter.pk)
        sent = None if form is None else Report.objects.filter(reporter=reporter, form=form).first()
        if sent is not None:
            return sent
        case = _open_case(row.user_id, kind, now)
        filed, new = Report.objects.get_or_create(
            case=case, reporter=reporter, game=table.game, defaults={"at": now, "text": text, "form": form}
        )
    if not new:
        raise Denied("forbidden", "You have reported this already: it is with the staff.")
    return filed


def _lock_reported(person_id: int, *others: int) -> None:
    """Lock a person, and others such as the reporter, until the transaction ends: reports of both are made one by one.

    :raises Denied: `malformed` if the person is a guest who is gone.
    """
    people = User.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=(person_id, *others))
    if person_id not in people.order_by("pk").values_list("pk", flat=True):
        raise Denied("malformed", "This guest is gone.")


def _open_case(person_id: int, kind: str, now: datetime) -> Case:
    """Return the open case about this person and kind, locked, and made if there is none. The person is locked."""
    # Locked, so that nobody closes it meanwhile; one that was just being closed is not found any more.
    mine = Case.objects.filter(person_id=person_id, kind=kind, closed_at=None)
    open_ = mine.select_for_update(of=("self",), no_key=True)
    return open_.first() or Case.objects.create(person_id=person_id, kind=kind, opened_at=now)


def report_sign(*, person_id: int, kind: str, sign: Report.Sign, game_id: int, text: str, now: datetime) -> bool:
    """Say in a case what the site saw, opening one if there is none; says whether that is new there.

    Two accounts in one browser are told once a game, anything else once a case: it grows by the hour.
    """
    with transaction.atomic():
        _lock_reported(person_id)
        case = _open_case(person_id, kind, now)
        said = Report.objects.filter(case=case, sign=sign)
        if sign is Report.Sign.BROWSER:
            said = said.filter(game_id=game_id)
        if said.exists():
            return False
        Report.objects.create(case=case, sign=sign, game_id=game_id, at=now, text=text)
        return True


def _case(case_id: int, by: User) -> Case:
    case = Case.objects.select_for_update(of=("self",), no_key=True).select_related("person").filter(pk=case_id).first()
    if case is None:
        raise Denied("not_found", "There is no such case.")
    check_case(case, by=by)
    return case


def check_case(case: Case, *, by: User) -> None:
    """Nobody settles a case that is closed, or that they are part of.

    :raises Denied: `over`, `forbidden`.
    """
    if case.closed_at is not None:
        raise Denied("over", "This case is closed.")
    if case.person is not None:
        check_person(case.person, by=by)
    if Report.objects.filter(case=case, reporter=by).exists():
        raise Denied("forbidden", "You have reported this person yourself: leave the case to another member of staff.")
    if not by.is_superuser and conduct.sat_in_games_of(case, by):
        raise Denied("forbidden", "You sit or sat in a game of this case: leave it to another member of staff.")


def hold(*, case_id: int, by: User, reason: str = "", now: datetime) -> AuditEntry:
    """Take a case, so that others see who works on it; from whoever held it before, too. It needs no reason.

    :raises Denied: `forbidden`, `malformed`, `not_found`, `over`.
    """
    with transaction.atomic():
        reason = check(acts.HOLD, by=by, reason=reason, now=now)
        case = _case(case_id, by)
        case.holder = by
        case.save(update_fields=["holder"])
        return record(acts.HOLD, by=by, reason=reason, now=now, person=case.person, case=case.pk)


def close_case(*, case_id: int, by: User, outcome: str, answer: str, reason: str, now: datetime) -> AuditEntry:
    """Settle a case; everybody who reported is told the outcome, with the answer if there is one.

    :raises Denied: `forbidden`, `malformed`, `not_found`, `over`.
    """
    with transaction.atomic():
        reason = check(acts.CLOSE_CASE, by=by, reason=reason, now=now)
        answer = " ".join(answer.split())
        if outcome not in Case.Outcome.values or len(answer) > REASON_LENGTH:
            raise Denied("malformed", f"Choose an outcome, and answer in at most {REASON_LENGTH} characters.")
        case = _case(case_id, by)
        case.closed_at, case.outcome, case.answer = now, outcome, answer
        case.save(update_fields=["closed_at", "outcome", "answer"])
        reporters = User.objects.filter(reports__case=case)
        for reporter_id in reporters.distinct().values_list("pk", flat=True):
            announce.person_news(reporter_id)
        reporters.update(answered=True)
        staff_notices.settled(case, now=now)
        return record(acts.CLOSE_CASE, by=by, reason=reason, now=now, person=case.person, case=case.pk, outcome=outcome)


def see_answers(*, person_id: int, now: datetime) -> None:
    """The person has read the outcomes of all own reports so far."""
    with transaction.atomic():
        Report.objects.filter(reporter_id=person_id, seen_at=None, case__closed_at__isnull=False).update(seen_at=now)
        User.objects.filter(pk=person_id).update(answered=False)
        preferences.mark_kind_read(user_id=person_id, kind=REPORT_SETTLED, now=now)


def decide_appeal(*, appeal_id: int, by: User, lift: bool, answer: str, reason: str, now: datetime) -> AuditEntry:
    """Answer an appeal, and lift the suspension that it is against if so decided. The person reads the answer.

    :raises Denied: `forbidden`, `malformed`, `not_found`; `over` if it has been decided, or if that suspension is to be
        lifted and is not in force any more.
    """
    with transaction.atomic():
        reason = check(acts.DECIDE_APPEAL, by=by, reason=reason, now=now)
        answer = " ".join(answer.split())
        if not SHORTEST_WORDS <= len(answer) <= REASON_LENGTH:
            raise Denied("malformed", f"Answer in {SHORTEST_WORDS} to {REASON_LENGTH} characters.")
        appeal = Appeal.objects.select_for_update(of=("self",), no_key=True).filter(pk=appeal_id).first()
        if appeal is None:
            raise Denied("not_found", "There is no such appeal.")
        if appeal.decided_at is not None:
            raise Denied("over", "This appeal is decided.")
        person = User.objects.select_for_update(of=("self",), no_key=True).get(suspensions__appeal=appeal)
        check_person(person, by=by)
        in_force = conduct.suspension_of(person, now)
        if lift and (in_force is None or in_force.pk != appeal.suspension_id):
            message = (
                "The suspension of this appeal is not in force any more: nothing is left to lift. Uphold to close it."
            )
            raise Denied("over", message)
        appeal.decided_at, appeal.answer = now, answer
        appeal.decision = Appeal.Answer.LIFTED if lift else Appeal.Answer.UPHELD
        appeal.save(update_fields=["decided_at", "answer", "decision"])
        if lift:
            end_suspensions(person, now)
        return record(acts.DECIDE_APPEAL, by=by, reason=reason, now=now, person=person, lifted=lift)


PERFORM: Final[Mapping[StaffAct[Any], Callable[..., object]]] = {
    acts.HOLD: hold,
    acts.CLOSE_CASE: close_case,
    acts.DECIDE_APPEAL: decide_appeal,
}
"""The function of each act, which takes what the act's form asks for."""
