"""Test reports, cases, outcomes and appeals."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.conf import settings
from django.core import mail
from django.core.mail import EmailMultiAlternatives
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone
from django.utils.formats import date_format

from accounts.actions import lock_person
from accounts.models import User
from games.actions import lobby
from games.actions.play import play_move
from games.models import Appeal, AuditEntry, Case, Notice, Report, Suspension
from games.notices import emails
from games.queries import Table, Viewer, conduct
from games.refusals import Denied
from games.staff import appeals, cases, people
from mail import outbox
from tests.conftest import logged_in, person, staff
from tests.support.codes import staff_browser
from tests.support.mail import parsed, text_of
from tests.support.notices import texts_of
from tests.support.staff import confirm, open_act, page_url
from tests.support.tables import NOON, TWO_HANDS, table_at
from tests.support.waiting import until
from tests.support.web import at_once

TEXT = "He wrote a rude word as his name, twice."
REASON = "Seen in the log of the game"


def refused(expected: str, act: Any, **arguments: Any) -> None:
    with pytest.raises(Denied) as denied:
        act(**arguments)
    assert (denied.value.code, denied.value.rule) == (expected, None)


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return table_at(TWO_HANDS, [alice, bob])


def text(answer: Any) -> str:
    """Return the source of a page with single spaces."""
    return " ".join(answer.content.decode().split())


def report_arguments(table: Table, reporter: User, **more: Any) -> dict[str, Any]:
    fields = {"code": table.game.code, "viewer": Viewer(reporter), "seat": 1, "kind": "name", "text": TEXT, "now": NOON}
    return fields | more


def report(table: Table, reporter: User, **more: Any) -> Report:
    return cases.report(**report_arguments(table, reporter, **more))


def test_a_report_is_sent_with_the_form_of_a_table(table: Table, as_alice: Client, alice: User, bob: User) -> None:
    url = f"/games/{table.game.code}/report/"
    assert url in as_alice.get(f"/games/{table.game.code}/").content.decode()
    page = as_alice.get(f"{url}?seat=1").content.decode()
    assert "bob" in page
    assert 'value="0"' not in page
    answer = as_alice.post(url, {"seat": 1, "kind": "name", "text": TEXT})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/reports/")
    assert TEXT in as_alice.get("/reports/").content.decode()
    case = Case.objects.get()
    assert (case.person, case.kind, case.reports.get().reporter) == (bob, "name", alice)


def waiting_for_a_lock() -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_stat_clear_snapshot()")
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
        )
        return int(cursor.fetchall()[0][0])


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_a_report_at_the_moment_of_a_decision_does_not_deadlock(
    table: Table, alice: User, bob: User, ann: User
) -> None:
    """Both are begun while Alice is locked, so that each has taken the locks that it takes before hers."""
    again = table_at(TWO_HANDS, [alice, bob])
    case = report(table, alice).case
    outcome: dict[str, Any] = {"by": ann, "outcome": "acted", "answer": "", "reason": REASON, "now": NOON}

    def hold_up(ready: Callable[[], object]) -> None:
        with transaction.atomic():
            lock_person(alice.pk)
            ready()
            until("both wait for Alice", lambda: waiting_for_a_lock() == 2)

    at_once(
        [
            hold_up,
            lambda ready: (ready(), report(again, alice)),
            lambda ready: (ready(), cases.close_case(case_id=case.pk, **outcome)),
        ]
    )
    assert Report.objects.filter(reporter=alice).count() == 2
    assert Case.objects.get(pk=case.pk).outcome == "acted"


def test_a_person_at_an_open_table_can_be_reported(as_alice: Client, bob: User) -> None:
    table = lobby.create_table(user=bob, choices=lobby.TableChoices(players=3), now=NOON)
    page, url = f"/games/{table.game.code}/", f"/games/{table.game.code}/report/"
    assert url not in logged_in(bob).get(page).content.decode()  # there is no other person at the table
    assert f'href="{url}"' in as_alice.get(page).content.decode()
    assert as_alice.post(url, {"seat": 0, "kind": "name", "text": TEXT}).status_code == 303
    assert Report.objects.get().case.person == bob


def test_a_person_with_a_link_but_no_access_is_not_offered_the_form(as_alice: Client, bob: User) -> None:
    options = lobby.TableChoices(players=3, public=False)
    game = lobby.create_table(user=bob, choices=options, now=NOON).game
    answer = as_alice.get(f"/join/{game.invite_key}/")
    assert answer.status_code == 200
    assert "Report a player" not in answer.content.decode()


@pytest.mark.long
@pytest.mark.parametrize(
    "form",
    [
        {},
        {"seat": 1, "kind": "name", "text": "Rude"},
        {"seat": 0, "kind": "name", "text": TEXT},
        {"seat": 9, "kind": "name", "text": TEXT},
        {"seat": 1, "kind": "ugly", "text": TEXT},
        {"seat": 1, "kind": "name", "text": TEXT + "x" * 2000},
        {"seat": 1, "kind": "name", "text": TEXT + "\0"},
        {"seat": 1, "kind": "name", "text": "xxxxxxxxxxxxxxxxxxxxxxxxxx"},
    ],
)
def test_an_incomplete_report_is_refused_and_the_form_is_kept(
    table: Table, as_alice: Client, form: dict[str, str]
) -> None:
    answer = as_alice.post(f"/games/{table.game.code}/report/", form)
    assert answer.status_code in (400, 422)
    assert "errorlist" in answer.content.decode()
    if form.get("text", "").isprintable():
        assert str(form.get("text", "")) in answer.content.decode()
    assert not Report.objects.exists()


def test_reports_about_a_person_and_kind_share_one_open_case(
    table: Table, alice: User, charlie: User, bob: User
) -> None:
    report(table, alice)
    report(table, charlie)
    report(table, alice, kind="abandon")
    refused("forbidden", cases.report, **report_arguments(table, alice))
    assert [(case.kind, case.reports.count()) for case in Case.objects.order_by("pk")] == [("name", 2), ("abandon", 1)]


def test_reports_about_oneself_a_bot_or_a_hidden_table_are_refused(alice: User, bob: User, charlie: User) -> None:
    table = table_at(TWO_HANDS, [alice, "careful"], is_public=False)
    refused("forbidden", cases.report, **report_arguments(table, alice, seat=0))
    refused("malformed", cases.report, **report_arguments(table, alice, seat=1))
    refused("not_found", cases.report, **report_arguments(table, charlie, seat=0))
    assert logged_in(charlie).get(f"/games/{table.game.code}/report/").status_code == 404
    assert Client().get(f"/games/{table.game.code}/report/").headers["Location"].startswith("/accounts/login/")
    assert "Bots can’t be reported" in logged_in(alice).get(f"/games/{table.game.code}/report/").content.decode()


def close(case: Case, by: User, **more: Any) -> AuditEntry:
    fields: dict[str, Any] = {"outcome": "acted", "answer": "The name is gone.", "reason": REASON, "now": NOON}
    return cases.close_case(case_id=case.pk, by=by, **(fields | more))


def read_answers(reporter: User, now: datetime) -> bool:
    shown = [report.outcome_shown for report in conduct.unread_answers_of(reporter.pk)]
    return cases.mark_answers_read(person_id=reporter.pk, shown=shown, now=now)


def marks_in(page: Any) -> dict[str, list[str]]:
    return {"answer": re.findall(r'name="answer" value="([^"]+)"', page.content.decode())}


@pytest.mark.long
def test_only_the_outcomes_that_the_page_showed_are_marked_as_read(
    table: Table, mo: User, ann: User, alice: User, bob: User
) -> None:
    first = report(table, alice)
    second = report(table, alice, kind="other")
    close(first.case, mo)
    browser = logged_in(alice)
    shown = marks_in(browser.get("/reports/"))
    close(second.case, mo)
    answer = browser.post("/reports/", shown, follow=True)
    assert "Another outcome has arrived since you opened the page." in answer.content.decode()
    assert Report.objects.get(seen_at=None) == second
    assert "Read the outcome" in browser.get("/rules/").content.decode()
    shown = marks_in(browser.get("/reports/"))
    cases.change_outcome(
        case_id=second.case_id, by=ann, outcome="nothing", answer="", reason=REASON, now=timezone.now()
    )
    browser.post("/reports/", shown)
    assert Report.objects.get(seen_at=None) == second
    browser.post("/reports/", marks_in(browser.get("/reports/")))
    assert not Report.objects.filter(seen_at=None).exists()
    assert "Read the outcome" not in browser.get("/rules/").content.decode()


def test_reporters_are_told_the_outcome(table: Table, mo: User, alice: User, bob: User) -> None:
    report(table, alice)
    close(Case.objects.get(), mo)
    browser = logged_in(alice)
    assert "Read the outcome" in browser.get("/rules/").content.decode()
    page = browser.get("/reports/")
    body = page.content.decode()
    assert "We agreed and acted on it" in body
    assert "The name is gone." in body
    assert REASON not in body
    assert browser.post("/reports/", marks_in(page)).status_code == 303
    assert "Read the outcome" not in browser.get("/rules/").content.decode()
    assert Report.objects.get().seen_at is not None
    assert "Read the outcome" not in logged_in(bob).get("/rules/").content.decode()
    assert "The name is gone." not in logged_in(bob).get("/reports/").content.decode()


def test_a_closed_case_stays_closed_and_the_next_report_opens_another(table: Table, mo: User, alice: User) -> None:
    report(table, alice)
    first = Case.objects.get()
    close(first, mo)
    refused("over", cases.hold, case_id=first.pk, by=mo, reason=REASON, now=NOON)
    report(table, alice)
    assert Case.objects.filter(closed_at=None).count() == 1


@pytest.mark.long
def test_a_report_keeps_the_name_that_the_person_had(
    table: Table, mo: User, alice: User, bob: User, as_alice: Client
) -> None:
    User.objects.filter(pk=bob.pk).update(display_name="Alice is an idiot")
    case = report(table, alice).case
    browser, called = staff_browser(mo), "called “Alice is an idiot” when it was reported"
    pages = (f"/admin/games/case/{case.pk}/change/", f"/admin/games/game/{table.game.pk}/change/")
    closing = f"/admin/games/case/{case.pk}/act/close_case/"
    assert all(called not in browser.get(page).content.decode() for page in (*pages, closing))
    User.objects.filter(pk=bob.pk).update(display_name="Sweet Bobby")
    assert [called in " ".join(browser.get(page).content.decode().split()) for page in (*pages, closing)] == [True] * 3
    found = browser.get("/admin/games/case/?q=an+idiot").context["cl"].result_list
    assert [row.pk for row in found] == [case.pk]
    own = " ".join(as_alice.get("/reports/").content.decode().split())
    assert "Sweet Bobby: an offensive name" in own
    assert "name has changed since. Staff see the name that you reported." in own
    assert "an idiot" not in own  # staff may have replaced it because it insults somebody
    Report.objects.update(called="")  # a report of an earlier release
    assert all("when it was reported" not in browser.get(page).content.decode() for page in pages)
    assert "has changed since" not in as_alice.get("/reports/").content.decode()


def test_staff_neither_close_a_case_that_they_are_part_of_nor_change_its_outcome(
    table: Table, mo: User, ann: User, alice: User
) -> None:
    own, reported = report(table_at(TWO_HANDS, [alice, mo]), alice).case, report(table, mo).case
    for case in (own, reported):
        refused("forbidden", close, case=case, by=mo)
    close(reported, ann)
    change: dict[str, Any] = {"outcome": "nothing", "answer": "", "reason": REASON, "now": NOON}
    refused("forbidden", cases.change_outcome, case_id=reported.pk, by=mo, **change)
    cases.change_outcome(case_id=reported.pk, by=ann, **change)


def test_the_queue_weighs_reports_by_their_reporters_record(table: Table, mo: User, alice: User, charlie: User) -> None:
    other = table_at(TWO_HANDS, [alice, person("dora")])
    for n in range(3):
        spurious = Case.objects.create(person=mo, kind="other", opened_at=NOON, closed_at=NOON, outcome="nothing")
        right = Case.objects.create(person=mo, kind="other", opened_at=NOON, closed_at=NOON, outcome="acted")
        Report.objects.create(case=spurious, reporter=charlie, game=table.game, at=NOON, text=f"{n}")
        Report.objects.create(case=right, reporter=alice, game=table.game, at=NOON, text=f"{n}")
    for _ in range(3):  # many games of one person count as one voice
        report(table_at(TWO_HANDS, [alice, User.objects.get(username="bob")]), charlie)
    report(other, alice)
    weighed: Any = conduct.with_weight(Case.objects.filter(closed_at=None), reader=None)
    weights = dict(weighed.values_list("person__username", "weight"))
    assert weights == {"bob": pytest.approx(0.4), "dora": pytest.approx(1.6)}
    bob = User.objects.get(username="bob")
    for n in range(2):  # another game and another sign still count as one voice
        game, sign = table_at(TWO_HANDS, [alice, bob]).game, list(Report.Sign)[n]
        assert cases.report_sign(person_id=bob.pk, kind="name", sign=sign, game_id=game.pk, text="x", now=NOON)
    weights = dict(weighed.values_list("person__username", "weight"))
    assert weights == {"bob": pytest.approx(1.4), "dora": pytest.approx(1.6)}
    assert weighed.get(person=bob).report_count == 5


@pytest.mark.parametrize("outcome", ["acted", "nothing"])
def test_an_outcome_changes_the_weight_of_other_cases_only(table: Table, mo: User, alice: User, outcome: str) -> None:
    case = report(table, alice).case
    close(case, mo, outcome=outcome)
    other = report(table_at(TWO_HANDS, [alice, person("dora")]), alice).case

    def record(of: Case) -> tuple[Any, int, int]:
        weighed: Any = conduct.with_weight(Case.objects.filter(pk=of.pk), reader=None)
        report: Any = conduct.reports_of(of, reader=None).get()
        return weighed.get().weight, report.acted, report.nothing

    assert record(case) == (pytest.approx(1.0), 0, 0)
    expected = (4 / 3, 1, 0) if outcome == "acted" else (2 / 3, 0, 1)
    assert record(other) == (pytest.approx(expected[0]), *expected[1:])


@pytest.mark.long
def test_open_cases_are_listed_taken_and_closed_on_staff_pages(table: Table, mo: User, alice: User) -> None:
    report(table, alice)
    case, browser = Case.objects.get(), staff_browser(mo)
    assert "bob" in browser.get("/admin/games/case/").content.decode()
    assert TEXT in browser.get(f"/admin/games/case/{case.pk}/change/").content.decode()
    acts = f"/admin/games/case/{case.pk}/act"
    offered = f'<form method="post" action="{acts}/hold/">'
    assert offered in browser.get(f"/admin/games/case/{case.pk}/change/").content.decode()
    assert browser.post(f"{acts}/hold/").status_code == 302
    assert offered not in browser.get(f"/admin/games/case/{case.pk}/change/").content.decode()
    assert "A member of staff is looking into it" in logged_in(alice).get("/reports/").content.decode()
    assert browser.post(f"{acts}/close_case/", {"reason": REASON}).status_code == 422
    form = {"reason": REASON, "outcome": "nothing", "answer": ""}
    assert confirm(browser, f"{acts}/close_case/", form).status_code == 302
    assert browser.get("/admin/games/case/").context["cl"].result_count == 0
    assert browser.get("/admin/games/case/?state=closed").context["cl"].result_count == 1
    assert [(entry.act, entry.reason) for entry in AuditEntry.objects.order_by("pk")] == [
        ("hold", ""),
        ("close_case", REASON),
    ]


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [{"is_staff": False}, {"is_active": False}, {"suspended_until": timezone.now() + timedelta(days=9)}],
    ids=["no role", "closed", "suspended"],
)
def test_a_case_is_not_taken_if_who_took_it_is_no_longer_staff(
    table: Table, mo: User, ann: User, alice: User, change: dict[str, Any]
) -> None:
    case = report(table, alice).case
    cases.hold(case_id=case.pk, by=mo, now=NOON)
    browser, reporter = staff_browser(ann), logged_in(alice)
    page, queue = f"/admin/games/case/{case.pk}/change/", "/admin/games/case/"

    def shown() -> list[bool | int]:
        return [
            "<dt>Taken by</dt><dd>mo</dd>" in text(browser.get(page)),
            ">mo</td>" in text(browser.get(queue)),
            "1 not taken" not in text(browser.get("/admin/")),
            not browser.get(f"{queue}?held=nobody").context["cl"].result_count,
            "A member of staff is looking into it." in text(reporter.get("/reports/")),
        ]

    assert all(shown()), shown()
    User.objects.filter(pk=mo.pk).update(**change)
    assert not any(shown()), shown()
    assert "Waiting for staff." in text(reporter.get("/reports/"))


@pytest.mark.long
def test_staff_cannot_see_who_reported_them(mo: User, ann: User, alice: User) -> None:
    own = table_at(TWO_HANDS, [alice, mo])
    report(own, alice)
    case, filed = Case.objects.get(), Report.objects.get()
    about, lists = f"/admin/games/case/{case.pk}/change/", ("/admin/games/case/", "/admin/games/report/")
    reported, other = staff_browser(mo), staff_browser(ann)
    assert [reported.get(url).context["cl"].result_count for url in lists] == [0, 0]
    assert [other.get(url).context["cl"].result_count for url in lists] == [1, 1]
    assert (reported.get(about).status_code, other.get(about).status_code) == (404, 200)
    assert reported.get(f"/admin/games/report/{filed.pk}/change/").status_code == 302
    assert TEXT not in reported.get(f"/admin/games/game/{own.game.pk}/change/").content.decode()
    assert TEXT in other.get(f"/admin/games/game/{own.game.pk}/change/").content.decode()
    person_page = f"/admin/accounts/user/{mo.pk}/change/"
    assert "An offensive name" not in reported.get(person_page).content.decode()
    assert "An offensive name" in other.get(person_page).content.decode()


@pytest.mark.long
def test_staff_cannot_see_notices_of_outcomes(mo: User, ann: User, alice: User) -> None:
    report(table_at(TWO_HANDS, [alice, mo]), alice)
    other = person("dora")
    report(table_at(TWO_HANDS, [alice, other]), alice)
    about = f"/admin/games/case/{Case.objects.get(person=other).pk}/change/"
    reported, admin = staff_browser(mo), staff_browser(ann)
    before = reported.get(about).content.decode()
    assert "0 confirmed, 0 unfounded" in before
    close(Case.objects.get(person=mo), ann)
    assert Notice.objects.filter(user=alice, kind="report_settled").exists()
    for browser in (reported, admin):
        assert browser.get("/admin/games/notice/").context["cl"].result_count == 0
    assert "0 confirmed, 0 unfounded" in reported.get(about).content.decode()
    assert "1 confirmed, 0 unfounded" in admin.get(about).content.decode()
    weights = {
        browser: browser.get("/admin/games/case/").context["cl"].result_list.get(person=other).weight
        for browser in (reported, admin)
    }
    assert weights == {reported: pytest.approx(1.0), admin: pytest.approx(4 / 3)}


@pytest.fixture
def appeal(mo: User, alice: User) -> Appeal:
    people.suspend(person_id=alice.pk, by=mo, days=9, reason=REASON, now=timezone.now())
    Notice.objects.all().delete()  # about the suspension
    return appeals.appeal(person_id=alice.pk, text="It was my little brother.", now=timezone.now())


@pytest.mark.long
@pytest.mark.parametrize("decision", ["upheld", "lifted"])
def test_an_appeal_is_answered_on_the_persons_page(ann: User, alice: User, appeal: Appeal, decision: str) -> None:
    browser = staff_browser(ann)
    assert "It was my little brother." in browser.get(f"/admin/games/appeal/{appeal.pk}/change/").content.decode()
    url = f"/admin/games/appeal/{appeal.pk}/act/decide_appeal/"
    answer = "We looked at the log once more."
    form = {"reason": REASON, "decision": decision, "answer": answer}
    assert browser.post(url, form | {"answer": "No."}).status_code == 422
    assert confirm(browser, url, form).status_code == 302
    assert confirm(browser, url, form).status_code == 409
    page = logged_in(alice).get("/suspended/").content.decode()
    assert answer in page
    assert ("You are not suspended." in page) == (decision == "lifted")
    assert (Suspension.objects.get().lifted_at is not None) == (decision == "lifted")


@pytest.mark.parametrize(
    ("lift", "said"),
    [(True, "Staff granted your appeal: the suspension is lifted."), (False, "Staff upheld your suspension.")],
)
def test_the_decision_on_an_appeal_arrives_by_bell_and_mail(
    ann: User, alice: User, appeal: Appeal, lift: bool, said: str
) -> None:
    answer = ("We looked at it again. " * 30)[:499] + "!"
    now = timezone.now()
    appeals.decide_appeal(appeal_id=appeal.pk, by=ann, lift=lift, answer=answer, reason=REASON, now=now)
    (letter,) = outbox_of(now)
    assert letter.to == ["alice@example.org"]
    for body in (text_of(parsed(letter.message().as_bytes())), *texts_of(Notice.objects.filter(channel="site"))):
        assert f"{said} Their answer: {answer}" in " ".join(body.split())
    assert f"{settings.SITE_URL}/suspended/" in everything_in(letter)
    if lift:
        page = logged_in(alice).get("/notices/").content.decode()
        assert answer in page
        assert "/notices/" in page


OWN_APPEAL = "You suspended this person. Another admin must decide the appeal."
DECISION: dict[str, Any] = {"lift": True, "answer": "We looked at it again.", "reason": REASON}


@pytest.fixture
def appeal_against_ann(ann: User, alice: User) -> Appeal:
    """Return an appeal against a suspension by Ann, who is an admin."""
    people.suspend(person_id=alice.pk, by=ann, days=9, reason=REASON, now=timezone.now())
    return appeals.appeal(person_id=alice.pk, text="It was my little brother.", now=timezone.now())


def test_another_admin_than_the_one_who_suspended_decides_the_appeal(ann: User, appeal_against_ann: Appeal) -> None:
    abe = staff("abe", "admin")
    other = staff_browser(abe)
    page = f"/admin/games/appeal/{appeal_against_ann.pk}/change/"
    body = staff_browser(ann).get(page).content.decode()
    assert OWN_APPEAL in body
    assert "/act/decide_appeal/" not in body
    decision = DECISION | {"appeal_id": appeal_against_ann.pk, "now": timezone.now()}
    refused("forbidden", appeals.decide_appeal, by=ann, **decision)
    assert "/act/decide_appeal/" in other.get(page).content.decode()
    assert appeals.decide_appeal(by=abe, **decision).details == {"lifted": True}


@pytest.mark.parametrize("why", ["nobody", "no factor", "suspended", "moderator", "closed"])
def test_the_page_says_that_no_other_admin_can_decide(
    ann: User, mo: User, appeal_against_ann: Appeal, why: str
) -> None:
    staff_browser(mo)
    if why != "nobody":
        abe = staff("abe", "moderator" if why == "moderator" else "admin")
        if why != "no factor":
            staff_browser(abe)
        until = timezone.now() + timedelta(days=1) if why == "suspended" else None
        User.objects.filter(pk=abe.pk).update(suspended_until=until, is_active=why != "closed")
    body = staff_browser(ann).get(f"/admin/games/appeal/{appeal_against_ann.pk}/change/").content.decode()
    assert "there is no other admin who can" in body
    entry = appeals.decide_appeal(appeal_id=appeal_against_ann.pk, by=ann, now=timezone.now(), **DECISION)
    assert entry.details == {"lifted": True, "own_suspension": True}


def grant_appeal(user: User, by: User) -> None:
    people.suspend(person_id=user.pk, by=by, days=9, reason=REASON, now=NOON)
    appeal = appeals.appeal(person_id=user.pk, text="It was my little brother.", now=NOON)
    appeals.decide_appeal(appeal_id=appeal.pk, by=by, now=NOON, **DECISION)


@pytest.mark.long
@pytest.mark.parametrize("how", ["slip", "appeal"])
def test_staff_change_a_wrong_outcome(table: Table, mo: User, ann: User, alice: User, bob: User, how: str) -> None:
    report(table, alice)
    case = Case.objects.get()
    report(table, alice, kind="other")
    other: Any = conduct.with_weight(Case.objects.filter(kind="other"), reader=None)
    page, url = f"/admin/games/case/{case.pk}/change/", f"/admin/games/case/{case.pk}/act/change_outcome/"
    browser, form = staff_browser(mo), {"outcome": "nothing", "answer": "We were wrong.", "reason": REASON}
    assert url not in browser.get(page).content.decode()
    assert "Close it with an outcome." in text(confirm(browser, url, form))
    close(case, mo)
    read_answers(alice, NOON)
    assert other.get().weight == pytest.approx(4 / 3)
    if how == "appeal":
        grant_appeal(bob, ann)
    outbox_of(NOON)
    assert url in browser.get(page).content.decode()
    asked = text(browser.get(url))
    assert "<dt>Outcome</dt><dd>We agreed and acted on it, " in asked
    assert "<p>Answer: The name is gone.</p>" in asked
    same = {"outcome": "acted", "answer": "The name is gone."}
    assert confirm(browser, url, form | same).status_code == 403
    assert confirm(browser, url, form).status_code == 302
    assert other.get().weight == pytest.approx(2 / 3)
    entry = AuditEntry.objects.latest("pk")
    assert entry.details == {"case": case.pk, "before": "acted", "outcome": "nothing", "answer": "We were wrong."}
    assert AuditEntry.objects.get(act="close_case").details["answer"] == "The name is gone."
    assert "Read the outcome" in logged_in(alice).get("/rules/").content.decode()
    assert "We were wrong." in logged_in(alice).get("/reports/").content.decode()
    [letter] = outbox_of(timezone.now())
    assert "Staff have changed the outcome of your report. We found nothing" in everything_in(letter)
    read_answers(alice, NOON)
    assert not Notice.objects.filter(channel="site", user=alice, state="sent", read_at=None).exists()


def test_the_page_of_a_closed_case_says_who_closed_it_and_why(table: Table, mo: User, ann: User, alice: User) -> None:
    case = report(table, alice).case
    close(case, mo)
    page = text(staff_browser(ann).get(f"/admin/games/case/{case.pk}/change/"))
    assert 'Close the case: we agreed and acted on it</a></td> <td role="cell" data-label="By">mo</td>' in page
    assert REASON in page


def test_the_page_of_a_game_links_the_cases_of_its_reports(table: Table, mo: User, alice: User) -> None:
    case = report(table, alice).case
    page = staff_browser(mo).get(f"/admin/games/game/{table.game.pk}/change/").content.decode()
    assert f'href="/admin/games/case/{case.pk}/change/"' in page


def test_the_page_of_a_case_says_why_its_outcome_cannot_be_changed(
    table: Table, mo: User, ann: User, alice: User, bob: User
) -> None:
    case = report(table, alice).case
    report(table, mo)
    close(case, ann)
    page, act = f"/admin/games/case/{case.pk}/change/", "/act/change_outcome/"
    assert "You reported this person yourself." in text(staff_browser(mo).get(page))
    assert act in text(staff_browser(ann).get(page))
    Case.objects.update(person=None)
    deleted = text(staff_browser(ann).get(page))
    assert "The account has been deleted, so the outcome stays as it is." in deleted
    assert act not in deleted


@pytest.mark.long
def test_the_account_page_links_to_the_reports_of_a_person(table: Table, alice: User, as_alice: Client) -> None:
    assert 'href="/reports/"' not in text(as_alice.get("/accounts/me/"))
    report(table, alice)
    assert 'href="/reports/"' in text(as_alice.get("/accounts/me/"))


@pytest.mark.long
def test_the_answer_of_a_closed_case_can_be_corrected_and_removed(table: Table, mo: User, alice: User) -> None:
    case = report(table, alice).case
    close(case, mo)
    browser, url = staff_browser(mo), f"/admin/games/case/{case.pk}/act/change_outcome/"
    outbox_of(NOON)
    page = browser.get(url).content.decode()
    assert 'name="outcome" value="acted" required id="id_outcome_0" checked' in page
    assert "The name is gone.</textarea>" in page
    form = {"outcome": "acted", "answer": "The name was removed.", "reason": REASON}
    assert confirm(browser, url, form).status_code == 302
    assert "The name was removed." in text(logged_in(alice).get("/reports/"))
    [letter] = outbox_of(timezone.now())
    said = "Staff have changed their answer to your report. The outcome stays. We agreed and acted on it."
    assert said in everything_in(letter)
    assert confirm(browser, url, form | {"answer": ""}).status_code == 302
    own = text(logged_in(alice).get("/reports/"))
    assert "The name was removed." not in own


def test_an_answer_corrected_before_the_outcome_is_told_is_no_change(table: Table, mo: User, alice: User) -> None:
    case = report(table, alice).case
    close(case, mo)
    form = {"outcome": "acted", "answer": "The name was removed.", "reason": REASON}
    assert confirm(staff_browser(mo), f"/admin/games/case/{case.pk}/act/change_outcome/", form).status_code == 302
    [letter] = outbox_of(timezone.now())
    assert letter.subject == "Staff have settled your report. We agreed and acted on it."


@pytest.mark.parametrize("told", [True, False])
def test_only_the_last_of_several_outcomes_is_told(table: Table, mo: User, ann: User, alice: User, told: bool) -> None:
    case = report(table, alice).case
    close(case, mo)
    if told:
        outbox_of(NOON)
    for outcome, answer in (("nothing", "No."), ("unclear", "Perhaps."), ("unclear", "We do not know.")):
        change: dict[str, Any] = {
            "case_id": case.pk,
            "outcome": outcome,
            "answer": answer,
            "reason": REASON,
            "now": NOON,
        }
        cases.change_outcome(by=ann, **change)
    [letter] = outbox_of(NOON)
    assert letter.subject == "Staff have changed the outcome of your report. We could not tell."
    assert "acted on it" not in everything_in(letter)
    [unread] = Notice.objects.filter(user=alice, channel="site", state="sent", read_at=None)
    assert texts_of([unread]) == [letter.subject]
    replaced = Notice.objects.filter(user=alice, state="dropped")
    assert {row.reason for row in replaced} == {"newer"}


@pytest.mark.long
def test_a_changed_outcome_is_dated_and_called_a_change(
    table: Table, mo: User, ann: User, alice: User, bob: User
) -> None:
    case = report(table, alice).case
    closed_at = timezone.now() - timedelta(days=3)
    close(case, mo, now=closed_at)
    reporter, browser = logged_in(alice), staff_browser(mo)
    assert "Staff have closed a report of yours." in text(reporter.get("/rules/"))
    assert f"{closed_at:%Y-%m-%d %H:%M}" in text(browser.get(f"/admin/games/case/{case.pk}/change/"))
    assert f"{date_format(closed_at, 'j F Y, H:i')}</span>" in text(reporter.get("/reports/"))
    read_answers(alice, closed_at)
    now = timezone.now()
    change: dict[str, Any] = {"case_id": case.pk, "outcome": "nothing", "reason": REASON, "now": now}
    cases.change_outcome(by=ann, answer="The name is gone.", **change)
    assert "Staff have changed the outcome of a report of yours." in text(reporter.get("/rules/"))
    own, page = text(reporter.get("/reports/")), text(browser.get(f"/admin/games/case/{case.pk}/change/"))
    assert f'The name is gone. <span class="soft">Changed on {date_format(now, "j F Y, H:i")}</span>' in own
    assert f"changed {now:%Y-%m-%d %H:%M}" in page
    assert "The name is gone." in page


@pytest.mark.long
def test_a_search_for_cases_finds_closed_ones(table: Table, mo: User, alice: User) -> None:
    report(table, alice)
    close(Case.objects.get(), mo)
    browser = staff_browser(mo)

    def found(query: str) -> int:
        return int(browser.get(f"/admin/games/case/?{query}").context["cl"].result_count)

    assert found(f"q={table.game.code}") == 1
    assert found(f"q={table.game.code}&state=closed") == 1
    assert found(f"q={table.game.code}&state=open") == 0
    assert found("") == 0


def test_earlier_decisions_stay_on_the_page_of_a_later_suspension(ann: User, alice: User, appeal: Appeal) -> None:
    now, answer = timezone.now(), "We looked at it again."
    appeals.decide_appeal(appeal_id=appeal.pk, by=ann, lift=True, answer=answer, reason=REASON, now=now)
    people.suspend(person_id=alice.pk, by=ann, days=1, reason="Another reason", now=now)
    page = logged_in(alice).get("/suspended/").content.decode()
    assert "Another reason" in page
    assert answer in page
    assert 'name="text"' in page


@pytest.mark.parametrize("newer", [True, False])
def test_an_appeal_lifts_its_own_suspension_only(ann: User, alice: User, appeal: Appeal, newer: bool) -> None:
    now = timezone.now() + timedelta(days=10)  # the suspension has ended by itself
    if newer:
        people.suspend(person_id=alice.pk, by=ann, days=None, reason=REASON, now=now)
    decision: dict[str, Any] = {
        "appeal_id": appeal.pk,
        "by": ann,
        "answer": "We looked at it again.",
        "reason": REASON,
        "now": now,
    }
    refused("over", appeals.decide_appeal, lift=True, **decision)
    appeals.decide_appeal(lift=False, **decision)
    alice.refresh_from_db()
    assert alice.suspended(now) == newer


WHICH_ENDS: dict[str, tuple[str, str]] = {
    "lift": ("lifted", "Staff lifted your suspension, so your appeal is closed."),
    "suspend": ("replaced", "Staff replaced your suspension by a new one, so your appeal is closed. You can appeal"),
}


def end_otherwise(appeal: Appeal, how: str, by: User, now: datetime) -> AuditEntry:
    """End the suspension of an appeal that waits by an act on the person."""
    more: dict[str, Any] = {"person_id": appeal.suspension.person_id, "by": by, "reason": REASON, "now": now}
    return people.lift(**more) if how == "lift" else people.suspend(days=30, **more)


@pytest.mark.parametrize("how", WHICH_ENDS)
def test_an_appeal_is_closed_when_its_suspension_ends_otherwise(
    ann: User, alice: User, appeal: Appeal, how: str
) -> None:
    now, (decision, said) = timezone.now(), WHICH_ENDS[how]
    entry = end_otherwise(appeal, how, ann, now)
    assert entry.details["appeal"] == appeal.pk
    appeal.refresh_from_db()
    assert (appeal.decision, appeal.answer, appeal.decided_at) == (decision, "", now)
    Notice.objects.filter(kind="suspended").delete()
    [letter] = outbox_of(now)
    assert letter.to == ["alice@example.org"]
    for body in (text_of(parsed(letter.message().as_bytes())), *texts_of(Notice.objects.filter(channel="site"))):
        assert said in " ".join(body.split())
    refused("over", appeals.decide_appeal, appeal_id=appeal.pk, by=ann, now=now, **DECISION)
    label, page = Appeal.Answer(decision).label, text(logged_in(alice).get("/suspended/"))
    assert f"<b>{label}.</b> This closed your appeal on" in page
    assert ("You are not suspended." in page) == (how == "lift")
    assert ('name="text"' in page) == (how == "suspend")  # the new suspension can be appealed against
    browser = staff_browser(ann)
    shown = text(browser.get(page_url(appeal)))
    assert label in shown
    assert "Closed by an act on the suspension" in shown
    assert "/act/decide_appeal/" not in shown
    counts = [browser.get(f"/admin/games/appeal/?{query}").context["cl"].result_count for query in ("", "state=closed")]
    assert counts == [0, 1]
    assert '"replaced"' not in open_act(browser, appeal, "decide_appeal").source


def test_a_new_suspension_can_be_appealed_against_after_the_old_appeal_was_closed(
    ann: User, alice: User, appeal: Appeal
) -> None:
    end_otherwise(appeal, "suspend", ann, timezone.now())
    now = timezone.now()
    second = appeals.appeal(person_id=alice.pk, text="It was my big sister.", now=now)
    assert list(Appeal.objects.filter(decided_at=None)) == [second]
    appeals.decide_appeal(appeal_id=second.pk, by=staff("abe", "admin"), now=now, **DECISION)
    assert not conduct.suspension_of(User.objects.get(pk=alice.pk), now)


def test_an_appeal_stays_open_when_another_persons_suspension_is_lifted(ann: User, bob: User, appeal: Appeal) -> None:
    people.suspend(person_id=bob.pk, by=ann, days=9, reason=REASON, now=timezone.now())
    entry = people.lift(person_id=bob.pk, by=ann, reason=REASON, now=timezone.now())
    assert "appeal" not in entry.details
    assert not Notice.objects.filter(kind="appeal_decided").exists()
    appeal.refresh_from_db()
    assert appeal.decided_at is None


def test_a_decided_appeal_keeps_its_decision_when_the_suspension_is_lifted(
    ann: User, alice: User, appeal: Appeal
) -> None:
    now = timezone.now()
    appeals.decide_appeal(appeal_id=appeal.pk, by=ann, now=now, **DECISION | {"lift": False})
    end_otherwise(appeal, "lift", ann, now)
    appeal.refresh_from_db()
    assert (appeal.decision, appeal.answer) == ("upheld", DECISION["answer"])
    told = Notice.objects.filter(channel="site").order_by("pk")
    assert list(told.values_list("kind", flat=True)) == ["appeal_decided", "lifted"]


def test_a_new_suspension_closes_no_appeal_that_somebody_else_decides(mo: User, ann: User, bob: User) -> None:
    new: dict[str, Any] = {"person_id": bob.pk, "days": 14, "reason": REASON, "now": NOON}
    people.suspend(person_id=bob.pk, by=mo, days=7, reason=REASON, now=NOON)
    waits = appeals.appeal(person_id=bob.pk, text="It was my little brother.", now=NOON)
    refused("forbidden", people.suspend, by=mo, **new)
    waits.refresh_from_db()
    assert waits.decided_at is None
    people.suspend(by=ann, **new)
    waits.refresh_from_db()
    assert waits.decision == Appeal.Answer.REPLACED


def test_the_admin_who_suspended_cannot_close_the_appeal_by_lifting(
    ann: User, root: User, alice: User, appeal_against_ann: Appeal
) -> None:
    lifting: dict[str, Any] = {"person_id": alice.pk, "reason": REASON, "now": timezone.now()}
    refused("forbidden", people.lift, by=ann, **lifting)
    appeal_against_ann.refresh_from_db()
    alice.refresh_from_db()
    assert (appeal_against_ann.decision, alice.suspended(timezone.now())) == ("", True)
    people.lift(by=root, **lifting)
    appeal_against_ann.refresh_from_db()
    assert appeal_against_ann.decision == Appeal.Answer.LIFTED


def test_the_page_of_an_appeal_tells_a_moderator_who_decides_it(mo: User, ann: User, appeal: Appeal) -> None:
    page, said = f"/admin/games/appeal/{appeal.pk}/change/", "Only an admin can decide appeals."
    assert said in staff_browser(mo).get(page).content.decode()
    body = staff_browser(ann).get(page).content.decode()
    assert said not in body
    assert "Decide the appeal" in body


def test_reporters_get_the_outcome_only_on_the_site_and_by_mail(
    table: Table, mo: User, alice: User, bob: User, charlie: User
) -> None:
    report(table, alice)
    report(table_at(TWO_HANDS, [alice, bob]), alice)
    report(table, charlie)
    close(Case.objects.get(), mo)
    rows = Notice.objects.filter(kind="report_settled").order_by("pk")
    assert [(row.user, row.channel, row.game) for row in rows] == [
        (user, channel, None) for user in (alice, charlie) for channel in ("site", "email")
    ]
    assert set(texts_of(rows)) == {"Staff have settled your report. We agreed and acted on it."}
    sent = outbox_of(NOON)
    assert [letter.to for letter in sent] == [["alice@example.org"], ["charlie@example.org"]]
    for letter in sent:
        body = everything_in(letter)
        assert f"{settings.SITE_URL}/reports/" in body
        assert not any(word in body for word in ("bob", "The name is gone.", TEXT, REASON, table.game.code))


def test_a_notice_of_an_outcome_links_to_the_reports_and_is_read_there(
    table: Table, mo: User, as_alice: Client, alice: User
) -> None:
    report(table, alice)
    close(Case.objects.get(), mo)
    outbox_of(NOON)
    notice = Notice.objects.get(user=alice, channel="site")
    assert "Staff have settled your report" in as_alice.get("/notices/").content.decode()
    assert as_alice.post(f"/notices/{notice.pk}/open/").headers["Location"] == "/reports/"
    report(table, alice)
    close(Case.objects.get(closed_at=None), mo)
    as_alice.post("/reports/", marks_in(as_alice.get("/reports/")))
    waiting = Notice.objects.filter(user=alice).order_by("pk")[2:]
    assert [(row.state, row.reason) for row in waiting] == [("dropped", "read")] * 2


def test_a_move_does_not_settle_the_notice_of_an_outcome(table: Table, mo: User, alice: User) -> None:
    report(table, alice)
    close(Case.objects.get(), mo)
    play_move(code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=NOON)
    assert set(Notice.objects.filter(user=alice).values_list("kind", "state")) == {("report_settled", "waiting")}


def test_several_outcomes_share_one_mail_and_are_in_the_summary(table: Table, mo: User, alice: User) -> None:
    for kind in ("name", "abandon"):
        report(table, alice, kind=kind)
        close(Case.objects.get(kind=kind), mo, outcome="unclear")
    (letter,) = outbox_of(NOON)
    assert letter.subject == "2 of your reports are settled"
    assert str(letter.body).count("We could not tell") == 2
    digest = emails.digest_mail(
        emails.Reader(alice.pk, "alice", "a@example.org", "UTC", "key"),
        [], [emails.EmailItem("Staff have settled your report.", None, "/reports/")], now=NOON, unique="1",
    )  # fmt: skip
    assert everything_in(digest).count(f"{settings.SITE_URL}/reports/") == 2


def outbox_of(now: datetime) -> list[EmailMultiAlternatives]:
    """Deliver what is due; return the mails that were sent."""
    mail.outbox.clear()
    outbox.deliver(clock=lambda: now)
    return [letter for letter in mail.outbox if isinstance(letter, EmailMultiAlternatives)]


def everything_in(letter: EmailMultiAlternatives) -> str:
    message = parsed(letter.message().as_bytes())
    return "\n".join((message["Subject"], text_of(message), text_of(message, "html")))


def test_a_report_sent_again_after_its_case_was_closed_counts_once(
    table: Table, as_alice: Client, alice: User, bob: User
) -> None:
    as_alice.get("/")  # sets the cookie of the CSRF secret
    fields = {"seat": 1, "kind": "name", "text": TEXT, "form": "a-token"}
    for _ in range(2):
        answer = as_alice.post(f"/games/{table.game.code}/report/", fields)
        assert (answer.status_code, answer.headers["Location"]) == (303, "/reports/")
        Case.objects.update(closed_at=NOON)
    assert Report.objects.count() == Case.objects.count() == 1


def test_a_report_of_a_person_sent_again_counts_once(table: Table, as_alice: Client, bob: User) -> None:
    page = as_alice.get("/people/bob/report/").content.decode()
    token = re.search(r'name="form" value="([^"]+)"', page)
    assert token is not None
    fields = {"game": table.game.code, "kind": "name", "text": TEXT, "form": token[1]}
    answers = [as_alice.post("/people/bob/report/", fields).status_code for _ in range(2)]
    assert (answers, Report.objects.count()) == ([303, 303], 1)


def test_a_form_counts_once_and_another_in_the_same_case_is_refused(table: Table, alice: User) -> None:
    first = report(table, alice, form_key="one")
    assert report(table_at(TWO_HANDS, [alice, person("carol")]), alice, form_key="one") == first
    refused("forbidden", cases.report, **report_arguments(table, alice, form_key="another"))
