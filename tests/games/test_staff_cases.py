"""Test how staff work on cases: notes, handing over, giving back, reopening, and the next case."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import User
from games.models import Appeal, AuditEntry, Case, Game, Notice, Report
from games.queries import Table, Viewer, conduct
from games.refusals import Denied
from games.staff import appeals, cases, people, queue
from games.staff.acts import CLOSE_CASE, summary_of
from tests.conftest import logged_in, staff
from tests.support.codes import staff_browser
from tests.support.notices import texts_of
from tests.support.staff import confirm, refused
from tests.support.tables import NOON, table_after

SAID = "They let us wait for three days in each game."
REASON = "I am on holiday for two weeks"


@pytest.fixture
def table(alice: User, bob: User, charlie: User) -> Table:
    return table_after([alice, bob, charlie], 7, seed=0)


def case_about(table: Table, seat: int, reporter: User, kind: str = "abandon") -> Case:
    return cases.report(code=table.game.code, viewer=Viewer(reporter), seat=seat, kind=kind, text=SAID, now=NOON).case


def by(user: User, **more: Any) -> dict[str, Any]:
    return {"by": user, "reason": REASON, "now": NOON, **more}


def page_of(browser: Client, case: Case) -> str:
    return " ".join(browser.get(f"/admin/games/case/{case.pk}/change/").content.decode().split())


@pytest.mark.long
def test_a_note_is_read_by_staff_as_text(table: Table, mo: User, ann: User, alice: User, bob: User) -> None:
    case, browser = case_about(table, 1, alice), staff_browser(mo)
    note = "<b onmouseover=alert(1)>He has a brother</b> & plays at school."
    answer = confirm(browser, f"/admin/games/case/{case.pk}/act/note_case/", {"reason": note}, follow=True)
    assert "The note is on the page of the case." in answer.content.decode()
    for page in (
        page_of(staff_browser(ann), case),
        browser.get(f"/admin/accounts/user/{bob.pk}/change/").content.decode(),
    ):
        assert "<b onmouseover" not in page
        assert "&lt;b onmouseover=alert(1)&gt;He has a brother&lt;/b&gt; &amp; plays at school." in page
    assert "brother" not in logged_in(alice).get("/reports/").content.decode()
    assert AuditEntry.objects.get().reason == note


def test_a_note_about_a_person_is_on_their_page_and_in_their_cases(
    table: Table, mo: User, alice: User, bob: User
) -> None:
    case, browser = case_about(table, 1, alice), staff_browser(mo)
    confirm(browser, f"/admin/accounts/user/{bob.pk}/act/note_person/", {"reason": "Answers mails politely."})
    for page in (browser.get(f"/admin/accounts/user/{bob.pk}/change/").content.decode(), page_of(browser, case)):
        assert "Answers mails politely." in page.split("Notes of staff")[1].split("</section>")[0]


def test_nobody_writes_or_reads_notes_in_a_case_of_their_own(table: Table, mo: User, ann: User, alice: User) -> None:
    own = table_after([alice, mo], 7, seed=1)
    case = case_about(own, 1, alice)
    refused("forbidden", cases.note, case_id=case.pk, **by(mo))
    cases.note(case_id=case.pk, **by(ann))
    assert staff_browser(mo).get(f"/admin/games/case/{case.pk}/change/").status_code == 404


def test_a_closed_case_takes_notes(table: Table, ann: User, alice: User) -> None:
    case = case_about(table, 1, alice)
    cases.close_case(case_id=case.pk, outcome="nothing", answer="", **by(ann))
    cases.note(case_id=case.pk, **by(ann))
    assert AuditEntry.objects.latest("pk").act == "note_case"


@pytest.mark.long
def test_a_case_is_handed_over_to_a_colleague_who_is_told(table: Table, mo: User, ann: User, alice: User) -> None:
    case, browser = case_about(table, 1, alice), staff_browser(mo)
    cases.hold(case_id=case.pk, by=mo, now=NOON)
    url = f"/admin/games/case/{case.pk}/act/hand_over/"
    assert "ann" in browser.get(url).content.decode()
    confirm(browser, url, {"colleague": ann.pk, "reason": REASON})
    case.refresh_from_db()
    assert case.holder == ann
    assert summary_of(AuditEntry.objects.latest("pk")) == "Hand the case over: ann"
    told = Notice.objects.filter(kind="case_handed_over", channel="site")
    assert (told.get().user, texts_of(told)) == (
        ann,
        ["A colleague handed a case over to you: “Making others wait, or leaving games”."],
    )
    refused("forbidden", cases.hand_over, case_id=case.pk, colleague=ann.pk, **by(mo))


def test_a_case_is_not_handed_to_somebody_who_may_not_work_on_it(
    table: Table, mo: User, ann: User, alice: User, bob: User
) -> None:
    case, reporter = case_about(table, 1, alice), staff("rita", "moderator")
    suspended = staff("sue", "moderator")
    Report.objects.create(case=case, reporter=reporter, game=table.game, at=NOON, text=SAID)
    people.suspend(person_id=suspended.pk, days=3, **by(ann))
    assert cases.colleagues_for(case, by=mo, now=NOON) == [ann]
    for colleague in (reporter, suspended):
        refused("forbidden", cases.hand_over, case_id=case.pk, colleague=colleague.pk, **by(mo))
    for number in (alice.pk, 0):
        refused("malformed", cases.hand_over, case_id=case.pk, colleague=number, **by(mo))
    assert Case.objects.get().holder is None


def test_a_case_is_given_back_by_its_holder_only(table: Table, mo: User, ann: User, alice: User) -> None:
    case, reporter = case_about(table, 1, alice), logged_in(alice)
    cases.hold(case_id=case.pk, by=mo, now=NOON)
    assert "looking into it" in reporter.get("/reports/").content.decode()
    refused("forbidden", cases.give_back, case_id=case.pk, by=ann, now=NOON)
    cases.give_back(case_id=case.pk, by=mo, now=NOON)
    case.refresh_from_db()
    assert (case.holder, case.held_at) == (None, None)
    assert "Waiting for staff." in reporter.get("/reports/").content.decode()


@pytest.mark.long
def test_a_reopened_case_has_no_outcome_until_it_is_closed_again(
    table: Table, mo: User, ann: User, alice: User
) -> None:
    case, reporter = case_about(table, 1, alice), logged_in(alice)
    cases.close_case(case_id=case.pk, outcome="nothing", answer="Too long ago.", **by(mo))
    assert "Read the outcome" in reporter.get("/rules/").content.decode()
    cases.reopen_case(case_id=case.pk, **by(ann))
    case.refresh_from_db()
    assert (case.closed_at, case.outcome, case.answer, case.holder) == (None, "", "", ann)
    assert "Read the outcome" not in reporter.get("/rules/").content.decode()
    assert "looking into it" in reporter.get("/reports/").content.decode()
    later = NOON + timedelta(hours=1)
    cases.close_case(case_id=case.pk, outcome="acted", answer="", **by(ann, now=later))
    assert "Read the outcome" in reporter.get("/rules/").content.decode()
    told = Notice.objects.filter(user=alice, channel="site").order_by("pk")
    assert list(zip(texts_of(told), [one.state for one in told], strict=True)) == [
        ("Staff have settled your report. We found nothing against the rules.", "dropped"),
        ("Staff are looking at your report again. The earlier outcome does not count any more.", "dropped"),
        ("Staff have settled your report. We agreed and acted on it.", "waiting"),
    ]
    assert conduct.outcome_changes([Case.objects.get()]) == {}


def test_a_case_is_not_reopened_beside_a_newer_one(table: Table, mo: User, alice: User, charlie: User) -> None:
    case = case_about(table, 1, alice)
    refused("forbidden", cases.reopen_case, case_id=case.pk, **by(mo))
    cases.close_case(case_id=case.pk, outcome="nothing", answer="", **by(mo))
    newer = case_about(table, 1, charlie)
    assert newer.pk != case.pk
    assert "Work on that one." in refused("forbidden", cases.reopen_case, case_id=case.pk, **by(mo))


def test_the_page_of_a_case_links_other_open_cases_of_the_person_and_the_next_case(
    table: Table, mo: User, alice: User
) -> None:
    first, other = case_about(table, 1, alice), case_about(table, 1, alice, kind="name")
    third = case_about(table, 2, alice)
    page = page_of(staff_browser(mo), first)
    assert f"/admin/games/case/{other.pk}/change/" in page.split("Other open cases about them</h2>")[1]
    assert f'<a href="/admin/games/case/{other.pk}/change/">Next case: bob' in page
    assert f"/admin/games/case/{third.pk}/change/" not in page


def test_the_next_case_is_one_that_no_colleague_works_on(table: Table, mo: User, ann: User, alice: User) -> None:
    first, second, third = (case_about(table, 1, alice, kind=kind) for kind in ("name", "abandon", "other"))
    assert queue.next_case(mo, after=first, now=NOON) == second
    cases.hold(case_id=second.pk, by=ann, now=NOON)
    assert queue.next_case(mo, after=first, now=NOON) == third
    assert queue.next_case(mo, after=third, now=NOON) == first
    cases.close_case(case_id=first.pk, outcome="nothing", answer="", **by(mo))
    assert queue.next_case(mo, after=first, now=NOON) == third
    assert queue.next_case(mo, after=third, now=NOON) is None


def test_staff_are_told_of_a_new_case_but_not_its_person_or_its_reporter(
    mo: User, ann: User, root: User, alice: User
) -> None:
    table = table_after([alice, mo, ann], 7, seed=0)
    case_about(table, 1, ann)
    told = Notice.objects.filter(kind="case_arrived", state="waiting")
    assert [(one.user, one.channel) for one in told] == [(root, "site")]
    assert texts_of(told) == ["A new case waits: “Making others wait, or leaving games”."]
    case_about(table, 1, alice)  # joins the case
    assert Notice.objects.filter(kind="case_arrived", channel="site").count() == 1


def test_a_notice_about_a_case_opens_it(table: Table, mo: User, root: User, ann: User, alice: User) -> None:
    case = case_about(table, 1, alice)
    told = Notice.objects.get(kind="case_arrived", channel="site", user=mo)
    Notice.objects.filter(pk=told.pk).update(state="sent", due_at=NOON)
    assert logged_in(mo).post(f"/notices/{told.pk}/open/").headers["Location"] == f"/admin/games/case/{case.pk}/change/"
    cases.hand_over(case_id=case.pk, colleague=mo.pk, **by(ann))
    told = Notice.objects.get(kind="case_handed_over", channel="site")
    Notice.objects.filter(pk=told.pk).update(state="sent", due_at=NOON)
    assert logged_in(mo).post(f"/notices/{told.pk}/open/").headers["Location"] == "/admin/games/case/?held=me"


def test_a_warning_by_a_colleague_is_news_for_the_colleague_who_closes_the_case(
    table: Table, mo: User, ann: User, alice: User, bob: User
) -> None:
    case, browser = case_about(table, 1, alice), staff_browser(mo)
    url = f"/admin/games/case/{case.pk}/act/close_case/"
    page = browser.get(url)
    people.warn(person_id=bob.pk, by=ann, reason="Play in time, please.", now=NOON)
    form = {"seen": page.context["known"], "outcome": "acted", "reason": REASON}
    answer = browser.post(url, form)
    assert answer.status_code == 409
    assert "ann has warned bob" in answer.content.decode()
    assert Case.objects.get().closed_at is None


def test_a_person_cannot_be_denied_by_a_wrong_case_number(mo: User) -> None:
    with pytest.raises(Denied) as denied:
        cases.reopen_case(case_id=10**9, **by(mo))
    assert denied.value.code == "not_found"


@pytest.mark.long
@pytest.mark.parametrize(
    ("also", "done"),
    [
        ({"also": "warn"}, "You have warned bob."),
        ({"also": "mute", "days": "3"}, "You have muted bob."),
        ({"also": "suspend", "days": "9"}, "You have suspended bob."),
    ],
)
def test_a_case_is_closed_together_with_an_act_for_one_reason(
    table: Table, mo: User, alice: User, bob: User, also: dict[str, str], done: str
) -> None:
    case, browser = case_about(table, 1, alice), staff_browser(mo)
    form = {"outcome": "acted", "answer": "", "reason": "You let others wait for days.", **also}
    answer = confirm(browser, f"/admin/games/case/{case.pk}/act/close_case/", form, follow=True)
    assert f"The case is closed. {done}" in answer.content.decode()
    entries = AuditEntry.objects.order_by("pk")
    assert [(one.act, one.person, one.reason) for one in entries] == [
        (also["also"], bob, "You let others wait for days."),
        ("close_case", bob, "You let others wait for days."),
    ]
    assert entries[0].details.get("days") == (int(also["days"]) if "days" in also else None)


@pytest.mark.long
@pytest.mark.parametrize("outcome", ["nothing", "badfaith"])
def test_a_case_without_a_fault_is_not_closed_with_an_act_on_the_person(
    table: Table, mo: User, alice: User, bob: User, outcome: str
) -> None:
    case, browser = case_about(table, 1, alice), staff_browser(mo)
    url = f"/admin/games/case/{case.pk}/act/close_case/"
    assert "Do to bob:" in browser.get(url).content.decode()
    answer = confirm(browser, url, {"outcome": outcome, "answer": "", "also": "warn", "reason": REASON})
    assert answer.status_code == 400
    assert "With this outcome you can do nothing to bob." in answer.content.decode()
    assert Case.objects.get().closed_at is None
    assert not AuditEntry.objects.exists()


def test_a_case_stays_open_if_the_act_on_its_person_is_refused(
    table: Table, mo: User, ann: User, alice: User, bob: User
) -> None:
    case = case_about(table, 1, alice)
    more = by(mo, case_id=case.pk, outcome="acted", answer="")
    people.suspend(person_id=bob.pk, days=30, **by(ann))
    refused("forbidden", cases.close_case, also="suspend", days=3, **more)
    refused("malformed", cases.close_case, also="suspend", **more)
    refused("malformed", cases.close_case, also="suspend", days=10**6, **more)
    refused("malformed", cases.close_case, also="set_role", **more)
    case.person = None
    case.save()
    refused("malformed", cases.close_case, also="warn", **more)
    assert Case.objects.get().closed_at is None
    assert not Notice.objects.filter(kind="report_settled").exists()


def test_no_case_closes_an_appeal_that_nobody_has_read(
    table: Table, mo: User, ann: User, alice: User, bob: User
) -> None:
    case, browser = case_about(table, 1, alice), staff_browser(ann)
    people.suspend(person_id=bob.pk, days=300, **by(mo))
    appeals.appeal(person_id=bob.pk, text="It was my little brother.", now=timezone.now())
    url = f"/admin/games/case/{case.pk}/act/close_case/"
    assert "They are suspended until 20" in browser.get(url).content.decode()
    answer = confirm(browser, url, {"outcome": "acted", "answer": "", "also": "suspend", "days": "1", "reason": REASON})
    assert answer.status_code == 403
    assert "bob has appealed, and this would close the appeal. Decide it first." in answer.content.decode()
    assert (Case.objects.get().closed_at, Appeal.objects.get().decided_at) == (None, None)
    assert re.search(
        r"State\W[^<]*suspended", browser.get(f"/admin/games/game/{table.game.pk}/change/").content.decode()
    )


def test_a_ready_made_reason_is_filled_in_and_nothing_is_done(table: Table, mo: User, alice: User) -> None:
    case, browser = case_about(table, 1, alice), staff_browser(mo)
    url = f"/admin/games/case/{case.pk}/act/close_case/"
    text = CLOSE_CASE.ready[1]
    page = browser.get(url)
    form = {"seen": page.context["known"], "ready": "1"}
    filled = browser.post(url, {**form, "outcome": "nothing", "answer": "Thank you.", "days": "12", "reason": "No"})
    assert filled.status_code == 200
    assert not AuditEntry.objects.exists()
    shown = filled.context["form"]
    assert re.search(r'<textarea name="reason"[^>]* autofocus', filled.content.decode())
    assert [shown[name].value() for name in ("reason", "answer", "days", "outcome")] == [
        text, "Thank you.", "12", "nothing"
    ]  # fmt: skip
    assert browser.post(url, {**form, "ready": "999", "outcome": "nothing", "reason": "No"}).status_code == 422


def test_reports_in_bad_faith_lower_the_weight_of_their_reporter(
    table: Table, mo: User, alice: User, charlie: User
) -> None:
    bad, other = case_about(table, 1, alice), case_about(table, 2, alice)
    weight: Any = conduct.with_weight(Case.objects.filter(pk=other.pk), reader=None)
    cases.close_case(case_id=bad.pk, outcome="nothing", answer="", **by(mo))
    assert weight.get().weight == pytest.approx(2 / 3)
    cases.change_outcome(case_id=bad.pk, outcome="badfaith", answer="", **by(mo))
    assert weight.get().weight == pytest.approx(2 / 5)
    assert "1 in bad faith" in page_of(staff_browser(mo), other)
    assert "It was reported in bad faith." in logged_in(alice).get("/reports/").content.decode()


def boxes_in(page: Any) -> dict[int, str]:
    return {row.case.pk: row.choice for row in page.context["rows"]}


@pytest.mark.long
def test_several_cases_are_closed_at_once(table: Table, mo: User, ann: User, alice: User, bob: User) -> None:
    first, second, held = (case_about(table, 1, alice, kind=kind) for kind in ("name", "abandon", "other"))
    cases.hold(case_id=held.pk, by=ann, now=NOON)
    browser = staff_browser(mo)
    assert "/admin/games/case/close/" in browser.get("/admin/games/case/").content.decode()
    boxes = boxes_in(browser.get("/admin/games/case/close/"))
    assert list(boxes) == [first.pk, second.pk]
    form = {"outcome": "nothing", "answer": "Thank you.", "reason": "The log shows nothing."}
    answer = browser.post("/admin/games/case/close/", {**form, "case": list(boxes.values())}, follow=True)
    assert "2 cases closed." in answer.content.decode()
    closed = Case.objects.exclude(closed_at=None).order_by("pk")
    assert [(one.pk, one.outcome, one.answer) for one in closed] == [
        (one.pk, "nothing", "Thank you.") for one in (first, second)
    ]
    entries = AuditEntry.objects.filter(act="close_case")
    assert [one.reason for one in entries] == [form["reason"]] * 2


def test_closing_several_cases_tells_nobody_of_one_about_them(table: Table, alice: User, bob: User) -> None:
    case = case_about(table, 1, alice)
    bob.groups.add(Group.objects.get(name="moderator"))
    User.objects.filter(pk=bob.pk).update(is_staff=True)
    form = {"outcome": "nothing", "answer": "", "reason": "The log shows nothing."}
    browser, said = staff_browser(bob), []
    for number in (case.pk, case.pk + 1000):
        page = browser.post("/admin/games/case/close/", {**form, "case": f"{number}-0-0"}).content.decode()
        said.append((f"Case {number}: There is no such case." in page, "yourself" in page))
    assert said == [(True, False)] * 2
    assert Case.objects.get().closed_at is None


@pytest.mark.long
def test_a_case_with_news_stays_open_and_the_others_are_closed(
    table: Table, mo: User, ann: User, alice: User, charlie: User
) -> None:
    case_about(table, 1, alice)
    news = case_about(table, 2, alice)
    browser, url = staff_browser(mo), "/admin/games/case/close/"
    boxes = boxes_in(browser.get(url))
    Report.objects.create(case=news, reporter=table.seats[1].user, game=table.game, at=NOON, text=SAID)
    form = {"outcome": "unclear", "answer": "", "reason": "The log shows nothing."}
    answer = browser.post(url, {**form, "case": list(boxes.values())})
    assert answer.status_code == 409
    assert "Case about charlie: There is a new report." in answer.content.decode()
    assert Case.objects.get(closed_at=None) == news
    [row] = answer.context["rows"]
    assert row.checked
    assert browser.post(url, {**form, "case": [row.choice]}).status_code == 302
    assert not Case.objects.filter(closed_at=None).exists()


def test_nobody_closes_a_case_of_their_own_among_others(table: Table, mo: User, ann: User, alice: User) -> None:
    own = case_about(table_after([alice, mo], 7, seed=1), 1, alice)
    reported = case_about(table_after([mo, alice], 7, seed=2), 1, mo)
    browser, url = staff_browser(mo), "/admin/games/case/close/"
    assert boxes_in(browser.get(url)) == {}
    form = {"outcome": "nothing", "answer": "", "reason": "The log shows nothing."}
    answer = browser.post(url, {**form, "case": [f"{own.pk}-99-99", f"{reported.pk}-99-99", f"{10**9}-0-0"]})
    assert answer.status_code == 409
    assert len(answer.context["refusals"]) == 3
    assert Case.objects.filter(closed_at=None).count() == 2


@pytest.mark.parametrize("sent", [[], ["x"], ["1"], ["9" * 30 + "-0-0"], ["١-0-0"]])
def test_nonsense_for_several_cases_is_refused_with_a_sentence(mo: User, sent: list[str]) -> None:
    form = {"outcome": "nothing", "answer": "", "reason": "The log shows nothing.", "case": sent}
    answer = staff_browser(mo).post("/admin/games/case/close/", form)
    assert answer.status_code == 422
    assert "Choose at least one case." in answer.content.decode()


@pytest.mark.long
def test_a_report_links_the_move_after_which_it_was_made(table: Table, mo: User, alice: User) -> None:
    case, browser = case_about(table, 1, alice), staff_browser(mo)
    code, page = table.game.code, f"/admin/games/game/{table.game.pk}/change/"
    for shown in (page_of(browser, case), browser.get(page).content.decode()):
        assert f'<a href="/games/{code}/log/?to=7#m7">after move 7</a>' in shown
    assert f'<a href="/games/{code}/">Open the table</a>' in browser.get(page).content.decode()
    Game.objects.update(is_public=False)
    shown = browser.get(page).content.decode()
    assert f"/games/{code}/" not in shown
    assert f'href="{page}?to=7#m7">after move 7</a>' in page_of(browser, case)
    assert '<li id="m7">' in shown


def test_the_log_of_a_long_game_begins_at_the_reported_move(
    mo: User, alice: User, bob: User, charlie: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("games.admin.games.LOG_LINES", 5)
    table, browser = table_after([alice, bob, charlie], 20, seed=4), staff_browser(mo)
    page = f"/admin/games/game/{table.game.pk}/change/"

    def moves(query: str) -> list[str]:
        return re.findall(r'<li id="m(\d+)">', browser.get(page + query).content.decode())

    assert moves("") == moves("?to=999") == moves("?to=no") == ["20", "19", "18", "17", "16"]
    assert moves("?to=9") == ["9", "8", "7", "6", "5"]
    shown = browser.get(f"{page}?to=9").content.decode()
    assert "up to move 9" in shown
    assert '<a href="?to=4#log-title">Earlier moves</a>' in shown
    assert '<a href="?#log-title">The newest moves</a>' in shown


def test_a_report_before_the_first_move_links_none(mo: User, alice: User, bob: User) -> None:
    case = case_about(table_after([alice, bob], 0, seed=0), 1, alice)
    assert "after move" not in page_of(staff_browser(mo), case)


@pytest.mark.long
def test_the_header_tells_staff_how_many_cases_wait(table: Table, mo: User, ann: User, alice: User, bob: User) -> None:
    first = case_about(table, 1, alice)
    case_about(table, 2, alice)
    browser = logged_in(mo)
    assert "2 cases to take" in browser.get("/rules/").content.decode()
    cases.hold(case_id=first.pk, by=ann, now=timezone.now())
    assert "1 case to take" in browser.get("/rules/").content.decode()
    assert "case to" not in logged_in(alice).get("/rules/").content.decode()
    assert "case to" not in Client().get("/rules/").content.decode()


def test_the_header_counts_no_case_about_its_reader_or_by_them(mo: User, alice: User) -> None:
    case_about(table_after([alice, mo], 4, seed=0), 1, alice)
    case_about(table_after([mo, alice], 4, seed=0), 1, mo)
    assert queue.unheld_count(mo, now=NOON) == 0


@pytest.mark.long
def test_only_the_pages_of_staff_cost_a_query_more(mo: User, alice: User) -> None:
    User.objects.filter(pk=mo.pk).update(is_staff=False)
    costs = []
    for user in (mo, alice):
        browser = logged_in(user)
        browser.get("/rules/")
        with CaptureQueriesContext(connection) as queries:
            browser.get("/rules/")
        costs.append(len(queries))
    assert costs[0] == costs[1]


def test_cases_that_somebody_has_held_for_too_long_are_found(table: Table, mo: User, ann: User, alice: User) -> None:
    long, short = case_about(table, 1, alice), case_about(table, 2, alice)
    now = timezone.now()
    cases.hold(case_id=long.pk, by=ann, now=now - timedelta(days=4))
    cases.hold(case_id=short.pk, by=ann, now=now - timedelta(days=2))
    browser = staff_browser(mo)
    assert [one.pk for one in browser.get("/admin/games/case/?held=long").context["cl"].result_list] == [long.pk]
    assert "1 held for too long" in browser.get("/admin/").content.decode()


@pytest.mark.long
def test_people_are_found_who_are_muted_or_warned_or_in_an_open_case(
    table: Table, mo: User, ann: User, alice: User, bob: User, charlie: User
) -> None:
    more = by(ann, now=timezone.now())
    people.mute(person_id=alice.pk, days=3, **more)
    people.warn(person_id=bob.pk, **more)
    case_about(table, 2, alice)
    case_about(table_after([alice, mo], 4, seed=0), 1, alice)  # about the reader
    browser = staff_browser(mo)

    def listed(account: str) -> list[User]:
        return list(browser.get(f"/admin/accounts/user/?account={account}").context["cl"].result_list)

    assert (listed("muted"), listed("warned"), listed("case")) == ([alice], [bob], [charlie])
    assert listed("unread") == [bob]
    User.objects.filter(pk=bob.pk).update(warned=False)  # as after bob has acknowledged it
    assert (listed("warned"), listed("unread")) == ([bob], [])
