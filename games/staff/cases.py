"""Reports by players, and how staff settle them as cases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from accounts.actions import lock_person
from accounts.models import User
from games import announce, queries
from games.models import AuditEntry, Case, Report
from games.models.moderation import REASON_LENGTH, SHORTEST_WORDS, WORDS_LENGTH
from games.notices import preferences, staff_notices
from games.notices.kinds import OUTCOME_CHANGED, REPORT_SETTLED
from games.queries import Viewer, conduct, players
from games.refusals import Denied
from games.staff import acts
from games.staff.acts import StaffAct
from games.staff.audit import check, check_person, record


def clean_text(text: str) -> str:
    """Return the text of a report or an appeal in its stored form.

    :raises Denied: `malformed` if it is not at least a sentence, or too long.
    """
    text = text.replace("\r\n", "\n").strip()
    if not SHORTEST_WORDS <= len(text) <= WORDS_LENGTH or len(text.split()) < 3 or "\0" in text:
        raise Denied("malformed", f"Write at least a sentence, {SHORTEST_WORDS} to {WORDS_LENGTH} characters.")
    return text


def report(
    *,
    code: str,
    viewer: Viewer[User],
    seat: int,
    kind: str,
    text: str,
    now: datetime,
    owner: int | None = None,
    form: str | None = None,
) -> Report:
    """Report a person who has or had a seat at a table. The report joins the open case about that person and kind, or
    opens one.

    :param owner: the count of the seat's owner (see `players.Player`), or None for the owner of today.
    :param form: an id of one filled-in form in one browser, or None if it is unknown. A form that is sent again returns
        the report that it made, even if the case has been closed since.
    :raises Denied: `not_found`; `malformed`, also if the seat is or was a bot's; `forbidden` if the viewer reports
        themselves, or reports the same again.
    """
    text = clean_text(text)
    if kind not in Case.Kind.values:
        raise Denied("malformed", "Choose what the report is about.")
    table, reporter = queries.load_for(code, viewer), viewer.user
    person_id = players.owner_of(table, seat, owner)
    if person_id is None:
        raise Denied("malformed", "Choose a person at this table.")
    if person_id == reporter.pk:
        raise Denied("forbidden", "You can’t report yourself.")
    with transaction.atomic():
        person = _lock_reported(person_id, reporter.pk)
        sent = None if form is None else Report.objects.filter(reporter=reporter, form=form).first()
        if sent is not None:
            return sent
        case = _open_case(person_id, kind, now)
        filed, new = Report.objects.get_or_create(
            case=case,
            reporter=reporter,
            game=table.game,
            defaults={"at": now, "text": text, "called": person.name, "form": form},
        )
    if not new:
        raise Denied("forbidden", "You have already reported this. Staff will look at it.")
    return filed


def _lock_reported(person_id: int, *others: int) -> User:
    """Lock a person, and others such as the reporter, until the transaction ends, so that reports are made one by one.

    Returns the person.

    :raises Denied: `malformed` if the person is a guest who has been deleted.
    """
    people = User.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=(person_id, *others))
    found = {person.pk: person for person in people.order_by("pk")}
    if person_id not in found:
        raise Denied("malformed", "This guest no longer exists.")
    return found[person_id]


def _open_case(person_id: int, kind: str, now: datetime) -> Case:
    """Lock and return the open case about this person and kind; create it if there is none.

    The caller has locked the person.
    """
    # The lock keeps the case open. A case that is being closed is not found once the lock is taken.
    mine = Case.objects.filter(person_id=person_id, kind=kind, closed_at=None)
    open_ = mine.select_for_update(of=("self",), no_key=True)
    return open_.first() or Case.objects.create(person_id=person_id, kind=kind, opened_at=now)


def report_sign(*, person_id: int, kind: str, sign: Report.Sign, game_id: int, text: str, now: datetime) -> bool:
    """Report what the site detected, in the open case or a new one; return False if the case has it already.

    A shared browser is reported once per game, all else once per case.
    """
    with transaction.atomic():
        person = _lock_reported(person_id)
        case = _open_case(person_id, kind, now)
        earlier = Report.objects.filter(case=case, sign=sign)
        if sign is Report.Sign.BROWSER:
            earlier = earlier.filter(game_id=game_id)
        if earlier.exists():
            return False
        Report.objects.create(case=case, sign=sign, game_id=game_id, at=now, text=text, called=person.name)
        return True


def lock_case(case_id: int) -> Case:
    """Lock this case until the transaction ends, and return it.

    The person and the reporters are locked first, as in `report`: closing the case changes the reporters.

    :raises Denied: `not_found`.
    """
    reporters = Report.objects.filter(case=case_id).values("reporter")
    involved = reporters.union(Case.objects.filter(pk=case_id).values("person"))
    people = User.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=involved)
    list(people.order_by("pk").values_list("pk"))
    case = Case.objects.select_for_update(of=("self",), no_key=True).select_related("person").filter(pk=case_id).first()
    if case is None:
        raise Denied("not_found", "There is no such case.")
    return case


def check_case(case: Case, *, by: User) -> None:
    """Check that the case is open and that `by` is not part of it: the person, a reporter, or a player of its games.

    :raises Denied: `over`, `forbidden`.
    """
    if case.closed_at is not None:
        raise Denied("over", "This case is closed.")
    check_no_part(case, by)


def check_outcome_change(case: Case, *, by: User) -> None:
    """Check that the case is closed and its person exists, and that `by` is not part of the case.

    :raises Denied: `over`, `forbidden`.
    """
    if case.closed_at is None:
        raise Denied("forbidden", "This case is open. Close it with an outcome.")
    if case.person is None:
        raise Denied("over", "The guest has been deleted, so the outcome stays as it is.")
    check_no_part(case, by)


def check_no_part(case: Case, by: User) -> None:
    """Check that `by` is not part of the case: the person, a reporter, or a player of its games.

    :raises Denied: `forbidden`.
    """
    if case.person is not None:
        check_person(case.person, by=by)
    if Report.objects.filter(case=case, reporter=by).exists():
        raise Denied("forbidden", "You reported this person yourself. Leave the case to another staff member.")
    if not by.is_superuser and conduct.sat_in_games_of(case, by):
        raise Denied("forbidden", "You are or were a player in a game of this case. Leave it to another staff member.")


def hold(*, case_id: int, by: User, reason: str = "", now: datetime) -> AuditEntry:
    """Take a case, also from another staff member, so that others see who works on it.

    :raises Denied: `forbidden`, `malformed`, `not_found`, `over`.
    """
    with transaction.atomic():
        reason = check(acts.HOLD, by=by, reason=reason, now=now)
        case = lock_case(case_id)
        check_case(case, by=by)
        case.holder = by
        case.save(update_fields=["holder"])
        return record(acts.HOLD, by=by, reason=reason, now=now, person=case.person, case=case.pk)


def close_case(*, case_id: int, by: User, outcome: str, answer: str, reason: str, now: datetime) -> AuditEntry:
    """Close a case, and notify everyone who reported. They can read the outcome and the answer.

    :raises Denied: `forbidden`, `malformed`, `not_found`, `over`.
    """
    with transaction.atomic():
        reason = check(acts.CLOSE_CASE, by=by, reason=reason, now=now)
        case = lock_case(case_id)
        check_case(case, by=by)
        case.closed_at = now
        _set_outcome(case, outcome, answer)
        staff_notices.settled(case, now=now)
        details: dict[str, Any] = {"case": case.pk, "outcome": outcome, "answer": case.answer}
        return record(acts.CLOSE_CASE, by=by, reason=reason, now=now, person=case.person, **details)


def change_outcome(*, case_id: int, by: User, outcome: str, answer: str, reason: str, now: datetime) -> AuditEntry:
    """Change the outcome of a closed case that has turned out wrong, or only its answer, and notify everyone who
    reported.

    :raises Denied: `malformed`, `not_found`; `over` if the guest it is about has been deleted; `forbidden` also if the
        case is open, or has this outcome and this answer.
    """
    with transaction.atomic():
        reason = check(acts.CHANGE_OUTCOME, by=by, reason=reason, now=now)
        case = lock_case(case_id)
        check_outcome_change(case, by=by)
        before = case.outcome
        if (outcome, " ".join(answer.split())) == (before, case.answer):
            raise Denied("forbidden", "The case has this outcome and this answer already.")
        _set_outcome(case, outcome, answer)
        details: dict[str, Any] = {"case": case.pk, "before": before, "outcome": outcome, "answer": case.answer}
        entry = record(acts.CHANGE_OUTCOME, by=by, reason=reason, now=now, person=case.person, **details)
        staff_notices.outcome_changed(case, new_outcome=outcome != before, mark=entry.pk, now=now)
        return entry


def _set_outcome(case: Case, outcome: str, answer: str) -> None:
    """Save the outcome, the answer and the closing time of a locked case, and tell open pages of its reporters.

    :raises Denied: `malformed`.
    """
    answer = " ".join(answer.split())
    if outcome not in Case.Outcome.values or len(answer) > REASON_LENGTH:
        raise Denied("malformed", f"Choose an outcome, and answer in at most {REASON_LENGTH} characters.")
    case.outcome, case.answer = outcome, answer
    case.save(update_fields=["closed_at", "outcome", "answer"])
    case.reports.update(seen_at=None)
    reporters = User.objects.filter(reports__case=case)
    for reporter_id in reporters.distinct().values_list("pk", flat=True):
        announce.person_news(reporter_id)
    reporters.update(answered=True)


def mark_answers_read(*, person_id: int, shown: Collection[str], now: datetime) -> bool:
    """Store that this person has read the outcomes that the page showed. Returns True if there are no others to read.

    :param shown: the `answer_mark` of the reports that the page showed.
    """
    with transaction.atomic():
        lock_person(person_id)  # an outcome is saved under this lock
        unread = conduct.unread_answers_of(person_id)
        read = [report.pk for report in unread if report.answer_mark in shown]
        Report.objects.filter(pk__in=read).update(seen_at=now)
        if len(read) < len(unread):
            return False
        User.objects.filter(pk=person_id).update(answered=False)
        for kind in (REPORT_SETTLED, OUTCOME_CHANGED):
            preferences.mark_kind_read(user_id=person_id, kind=kind, now=now)
        return True


PERFORM: Final[Mapping[StaffAct[Any], Callable[..., object]]] = {
    acts.HOLD: hold,
    acts.CLOSE_CASE: close_case,
    acts.CHANGE_OUTCOME: change_outcome,
}
"""The function of each act. It takes what the act's form asks for."""
