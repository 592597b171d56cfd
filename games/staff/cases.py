"""Reports by players, and how staff settle them as cases."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Final

from django.db import transaction

from accounts.actions import lock_person
from accounts.models import User
from games import announce, queries
from games.models import AuditEntry, Case, Report
from games.models.moderation import LONGEST_DAYS, REASON_LENGTH, SHORTEST_WORDS, WORDS_LENGTH
from games.notices import preferences, staff_notices
from games.notices.kinds import OUTCOME_CHANGED, REPORT_SETTLED
from games.queries import Viewer, conduct, players
from games.refusals import Denied
from games.staff import acts, people
from games.staff.acts import StaffAct
from games.staff.audit import check, check_person, record


def clean_text(text: str) -> str:
    """Return the text of a report or an appeal in its stored form.

    :raises Denied: `malformed` if it is not at least a sentence, or too long.
    """
    text = text.replace("\r\n", "\n").strip()
    if not SHORTEST_WORDS <= len(text) <= WORDS_LENGTH or len(text.split()) < 3 or "\0" in text:
        raise Denied(
            "malformed",
            "Write at least a sentence, {least} to {most} characters.",
            least=SHORTEST_WORDS,
            most=WORDS_LENGTH,
        )
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
    form_key: str | None = None,
) -> Report:
    """Report a person who has or had a seat at a table. The report joins the open case about that person and kind, or
    opens one.

    :param owner: the count of the seat's owner (see `players.SeatOwner`), or None for the owner of today.
    :param form_key: the key of the submitted form, or None if it is unknown. A form that is sent again returns
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
        raise Denied("forbidden", "You can’t report yourself. Choose another player.")
    with transaction.atomic():
        person = _lock_reported(person_id, reporter.pk)
        sent = None if form_key is None else Report.objects.filter(reporter=reporter, form_key=form_key).first()
        if sent is not None:
            return sent
        case = _open_case(person_id, kind, now, reporter_id=reporter.pk)
        filed, new = Report.objects.get_or_create(
            case=case,
            reporter=reporter,
            game=table.game,
            defaults={"at": now, "text": text, "called": person.name, "form_key": form_key},
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


def _open_case(person_id: int, kind: str, now: datetime, *, reporter_id: int | None = None) -> Case:
    """Lock and return the open case about this person and kind; create it and tell staff if there is none.

    The caller has locked the person.
    """
    # The lock keeps the case open. A case that is being closed is not found once the lock is taken.
    mine = Case.objects.filter(person_id=person_id, kind=kind, closed_at=None)
    open_ = mine.select_for_update(of=("self",), no_key=True)
    case = open_.first()
    if case is None:
        case = Case.objects.create(person_id=person_id, kind=kind, opened_at=now)
        staff_notices.case_opened(case, reporter_id=reporter_id, now=now)
    return case


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
    check_no_part(case, by=by)


def check_closed(case: Case, *, by: User) -> None:
    """Check that the case is closed and its person exists, and that `by` is not part of the case.

    :raises Denied: `over`, `forbidden`.
    """
    if case.closed_at is None:
        raise Denied("forbidden", "This case is open. Close it with an outcome.")
    if case.person is None:
        raise Denied("over", "The account has been deleted, so the outcome stays as it is.")
    check_no_part(case, by=by)


def check_no_part(case: Case, *, by: User) -> None:
    """Check that `by` is not part of the case: the person, a reporter, or a player of its games.

    :raises Denied: `forbidden`.
    """
    if case.person is not None:
        check_person(case.person, by=by)
    if Report.objects.filter(case=case, reporter=by).exists():
        raise Denied("forbidden", "You reported this person yourself. Leave the case to another staff member.")
    if not by.is_superuser and conduct.sat_in_games_of(case, by):
        raise Denied("forbidden", "You are or were a player in a game of this case. Leave it to another staff member.")


@contextmanager
def _case(
    act: StaffAct[Case], allowed: Callable[..., None], *, case_id: int, by: User, reason: str, now: datetime
) -> Iterator[tuple[Case, str]]:
    """Check an act in a case, lock the case, and yield it with the stored reason, in one transaction.

    :param allowed: `check_case`, `check_closed` or `check_no_part`.
    :raises Denied: `forbidden`, `malformed`, `not_found`, and as `allowed`.
    """
    with transaction.atomic():
        reason = check(act, by=by, reason=reason, now=now)
        case = lock_case(case_id)
        allowed(case, by=by)
        yield case, reason


def hold(*, case_id: int, by: User, reason: str = "", now: datetime) -> AuditEntry:
    """Take a case, also from another staff member, so that others see who works on it.

    :raises Denied: `forbidden`, `malformed`, `not_found`, `over`.
    """
    with _case(acts.HOLD, check_case, case_id=case_id, by=by, reason=reason, now=now) as (case, reason):
        _give_to(case, by, now)
        return record(acts.HOLD, by=by, reason=reason, now=now, person=case.person, case=case.pk)


def _give_to(case: Case, holder: User | None, now: datetime) -> None:
    case.holder, case.held_at = holder, None if holder is None else now
    case.save(update_fields=["holder", "held_at"])


def colleagues_for(case: Case, *, by: User, now: datetime) -> list[User]:
    """Return the staff members to whom `by` can hand this case over, by name."""
    staff = User.objects.filter(is_staff=True, is_active=True).exclude(pk__in=(by.pk, case.holder_id or 0))
    return [one for one in staff.order_by("username") if not _unfit(case, one, now)]


def _unfit(case: Case, colleague: User, now: datetime) -> str:
    """Return why the colleague `{name}` cannot work on the case, or ""."""
    if not colleague.is_active or colleague.suspended(now) or not colleague.has_perm(acts.HOLD.permission):
        return "{name} cannot work on cases now."
    try:
        check_no_part(case, by=colleague)
    except Denied:
        return "{name} cannot work on this case, because it is about a person or a game of theirs."
    return ""


def hand_over(*, case_id: int, by: User, colleague: int, reason: str, now: datetime) -> AuditEntry:
    """Give a case to another staff member, and notify them. `colleague` is their number.

    :raises Denied: `malformed`, `not_found`, `over`; `forbidden` also if the colleague cannot work on the case.
    """
    with _case(acts.HAND_OVER, check_case, case_id=case_id, by=by, reason=reason, now=now) as (case, reason):
        holder = User.objects.filter(pk=colleague, is_staff=True).first()
        if holder is None:
            raise Denied("malformed", "Choose a colleague.")
        if holder.pk in (by.pk, case.holder_id):
            raise Denied("forbidden", "The case is theirs already. Choose another colleague.")
        if unfit := _unfit(case, holder, now):
            raise Denied("forbidden", unfit, name=holder.name)
        _give_to(case, holder, now)
        details: dict[str, Any] = {"case": case.pk, "colleague_id": holder.pk}
        to = (holder.pk, holder.name)
        entry = record(acts.HAND_OVER, by=by, reason=reason, now=now, person=case.person, other=to, **details)
        staff_notices.case_handed_over(case, holder, entry_id=entry.pk, now=now)
        return entry


def give_back(*, case_id: int, by: User, reason: str = "", now: datetime) -> AuditEntry:
    """Give a case back that `by` has taken, so that nobody works on it.

    :raises Denied: `malformed`, `not_found`, `over`; `forbidden` also if the case is not theirs.
    """
    with _case(acts.GIVE_BACK, check_case, case_id=case_id, by=by, reason=reason, now=now) as (case, reason):
        if case.holder_id != by.pk:
            raise Denied("forbidden", "You do not work on this case.")
        _give_to(case, None, now)
        return record(acts.GIVE_BACK, by=by, reason=reason, now=now, person=case.person, case=case.pk)


def note(*, case_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Write a note in a case, open or closed, which is the reason of the audit entry. Only staff read it.

    :raises Denied: `forbidden`, `malformed`, `not_found`.
    """
    with _case(acts.NOTE_CASE, check_no_part, case_id=case_id, by=by, reason=reason, now=now) as (case, reason):
        return record(acts.NOTE_CASE, by=by, reason=reason, now=now, person=case.person, case=case.pk)


def close_case(
    *,
    case_id: int,
    by: User,
    outcome: str,
    answer: str,
    reason: str,
    now: datetime,
    also: str = "",
    days: int | None = None,
) -> AuditEntry:
    """Close a case, and notify everyone who reported. They can read the outcome and the answer.

    :param also: an act of `_ALSO` on the person, for the same reason, or "". A mute or a suspension needs `days`.
    :raises Denied: `forbidden`, `malformed`, `not_found`, `over`, also as the act on the person.
    """
    with _case(acts.CLOSE_CASE, check_case, case_id=case_id, by=by, reason=reason, now=now) as (case, reason):
        if also and outcome in (Case.Outcome.NOTHING, Case.Outcome.BAD_FAITH):
            sentence = "With this outcome you can do nothing to {name}. Choose another outcome, or “Nothing more”."
            raise Denied("malformed", sentence, name=case.about)
        if also:
            _do_also(case, also, days, by=by, reason=reason, now=now)
        case.closed_at = now
        _set_outcome(case, outcome, answer)
        details: dict[str, Any] = {"case": case.pk, "outcome": outcome, "answer": case.answer}
        if also:
            details["also"] = also
        entry = record(acts.CLOSE_CASE, by=by, reason=reason, now=now, person=case.person, **details)
        if conduct.was_reopened(case):
            staff_notices.settled_again(case, entry_id=entry.pk, now=now)
        else:
            staff_notices.settled(case, now=now)
        return entry


_ALSO: Final[Mapping[str, Callable[..., AuditEntry]]] = {
    acts.WARN.name: people.warn,
    acts.MUTE.name: people.mute,
    acts.SUSPEND.name: people.suspend,
}
"""The acts on the person with which a case can be closed."""


def _do_also(case: Case, act: str, days: int | None, *, by: User, reason: str, now: datetime) -> None:
    """Perform an act on the person of a case that is being closed.

    :raises Denied: `malformed`, `forbidden` also if a suspension would close an appeal, and as the act.
    """
    if act not in _ALSO:
        raise Denied("malformed", "Choose what to do to the person.")
    if case.person_id is None:
        raise Denied("malformed", "The account has been deleted. Close the case without doing anything to them.")
    if act == acts.SUSPEND.name and conduct.waiting_appeals_of(case.person_id).exists():
        # The page of a case does not show the appeal, so nobody would have read it.
        raise Denied(
            "forbidden", "{name} has appealed, and this would close the appeal. Decide it first.", name=case.about
        )
    more: dict[str, Any] = {}
    if act != acts.WARN.name:
        if days is None:
            raise Denied("malformed", "Choose 1 to {most} days.", most=LONGEST_DAYS)
        more["days"] = days
    _ALSO[act](person_id=case.person_id, by=by, reason=reason, now=now, **more)


def reopen_case(*, case_id: int, by: User, reason: str, now: datetime) -> AuditEntry:
    """Open a closed case again for `by`, without its outcome and answer, and notify everyone who reported.

    :raises Denied: `malformed`, `not_found`; `over` if the guest it is about has been deleted; `forbidden` also if the
        case is open, or another open case is about this person and kind.
    """
    with _case(acts.REOPEN_CASE, check_closed, case_id=case_id, by=by, reason=reason, now=now) as (case, why):
        if Case.objects.filter(person=case.person, kind=case.kind, closed_at=None).exists():
            raise Denied(
                "forbidden", "Another case of this kind about {name} is open. Work on that one.", name=case.about
            )
        details: dict[str, Any] = {"case": case.pk, "before": case.outcome}
        case.closed_at, case.outcome, case.answer = None, "", ""
        case.save(update_fields=["closed_at", "outcome", "answer"])
        _give_to(case, by, now)
        entry = record(acts.REOPEN_CASE, by=by, reason=why, now=now, person=case.person, **details)
        for reporter in User.objects.filter(reports__case=case).distinct():
            reporter.answered = bool(conduct.unread_answers_of(reporter.pk))
            reporter.save(update_fields=["answered"])
            announce.person_news(reporter.pk)
        staff_notices.case_reopened(case, entry_id=entry.pk, now=now)
        return entry


def change_outcome(*, case_id: int, by: User, outcome: str, answer: str, reason: str, now: datetime) -> AuditEntry:
    """Change the outcome of a closed case that has turned out wrong, or only its answer, and notify everyone who
    reported.

    :raises Denied: `malformed`, `not_found`; `over` if the guest it is about has been deleted; `forbidden` also if the
        case is open, or has this outcome and this answer.
    """
    with _case(acts.CHANGE_OUTCOME, check_closed, case_id=case_id, by=by, reason=reason, now=now) as (case, why):
        before = case.outcome
        if (outcome, " ".join(answer.split())) == (before, case.answer):
            raise Denied("forbidden", "The case has this outcome and this answer already.")
        _set_outcome(case, outcome, answer)
        details: dict[str, Any] = {"case": case.pk, "before": before, "outcome": outcome, "answer": case.answer}
        entry = record(acts.CHANGE_OUTCOME, by=by, reason=why, now=now, person=case.person, **details)
        staff_notices.outcome_changed(case, new_outcome=outcome != before, entry_id=entry.pk, now=now)
        return entry


def _set_outcome(case: Case, outcome: str, answer: str) -> None:
    """Save the outcome, the answer and the closing time of a locked case, and tell open pages of its reporters.

    :raises Denied: `malformed`.
    """
    answer = " ".join(answer.split())
    if outcome not in Case.Outcome.values or len(answer) > REASON_LENGTH:
        raise Denied("malformed", "Choose an outcome, and answer in at most {most} characters.", most=REASON_LENGTH)
    case.outcome, case.answer = outcome, answer
    case.save(update_fields=["closed_at", "outcome", "answer"])
    case.reports.update(seen_at=None)
    reporters = User.objects.filter(reports__case=case)
    for reporter_id in reporters.distinct().values_list("pk", flat=True):
        announce.person_news(reporter_id)
    reporters.update(answered=True)


def mark_answers_read(*, person_id: int, shown: Collection[str], now: datetime) -> bool:
    """Store that this person has read the outcomes that the page showed. Returns True if there are no others to read.

    :param shown: the `outcome_shown` of the reports that the page showed.
    """
    with transaction.atomic():
        lock_person(person_id)  # an outcome is saved under this lock
        unread = conduct.unread_answers_of(person_id)
        read = [report.pk for report in unread if report.outcome_shown in shown]
        Report.objects.filter(pk__in=read).update(seen_at=now)
        if len(read) < len(unread):
            return False
        User.objects.filter(pk=person_id).update(answered=False)
        for kind in (REPORT_SETTLED, OUTCOME_CHANGED):
            preferences.mark_kind_read(user_id=person_id, kind=kind, now=now)
        return True


PERFORM: Final[Mapping[StaffAct[Any], Callable[..., object]]] = {
    acts.HOLD: hold,
    acts.HAND_OVER: hand_over,
    acts.GIVE_BACK: give_back,
    acts.NOTE_CASE: note,
    acts.CLOSE_CASE: close_case,
    acts.CHANGE_OUTCOME: change_outcome,
    acts.REOPEN_CASE: reopen_case,
}
"""The function of each act. It takes what the act's form asks for."""
