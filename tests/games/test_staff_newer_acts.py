"""Test that an act is refused if staff have acted on the same subject since its page was made (decision 65)."""

from __future__ import annotations

import re
from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games.models import Appeal, AuditEntry, Case
from games.queries import Table, Viewer
from games.refusals import Denied
from games.staff import acts, appeals, cases, newer_acts, people, tables
from tests.conftest import staff
from tests.support.codes import staff_browser
from tests.support.staff import REASON, act, dealt, known_by, seen_in, write_entry
from tests.support.tables import TWO_HANDS, table_at

__all__ = ["dealt"]  # the fixture

MINE = "I read every word of the report"
AGAIN = "To go ahead all the same, confirm again."
TOLD = "Nothing has been done. Staff have acted here since you opened this page:"
TEXT = "He wrote a rude word as his name, twice."


def text_of(answer: Any) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def on_person(user: User, name: str) -> str:
    return f"/admin/accounts/user/{user.pk}/act/{name}/"


def on_table(table: Table, name: str) -> str:
    return f"/admin/games/game/{table.game.pk}/act/{name}/"


def opened(browser: Client, url: str) -> dict[str, str]:
    """Open the page of an act; return what its form sends by itself, with a reason."""
    return {"reason": MINE, **known_by(browser.get(url))}


def done() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("act", flat=True))


def test_an_act_on_a_person_is_refused_after_a_newer_one(mo: User, ann: User, bob: User) -> None:
    browser, url = staff_browser(mo), on_person(bob, "suspend")
    form = opened(browser, url) | {"days": "3"}
    people.suspend(person_id=bob.pk, by=ann, days=7, reason=REASON, now=timezone.now())
    answer = browser.post(url, form)
    assert answer.status_code == 409
    assert TOLD in text_of(answer)
    assert AGAIN in text_of(answer)
    assert f"ann has suspended bob for 7 days (less than a minute ago): {REASON}" in text_of(answer)
    assert MINE in answer.content.decode()
    assert 'name="days" value="3"' in answer.content.decode()
    assert done() == ["suspend"]
    assert browser.post(url, form | {"seen": seen_in(answer)}).status_code == 403  # shorter than the one in force
    assert browser.post(url, form | {"seen": seen_in(answer), "days": "30"}).status_code == 302
    assert done() == ["suspend", "suspend"]


@pytest.mark.long
def test_a_form_sent_twice_warns_once(mo: User, bob: User) -> None:
    browser, url = staff_browser(mo), on_person(bob, "warn")
    form = opened(browser, url)
    assert browser.post(url, form).status_code == 302
    answer = browser.post(url, form)
    assert answer.status_code == 409
    assert f"You have warned bob (less than a minute ago): {MINE}" in text_of(answer)
    assert done() == ["warn"]
    assert browser.post(url, form | {"seen": seen_in(answer)}).status_code == 302
    assert done() == ["warn", "warn"]


@pytest.mark.long
def test_the_page_of_an_act_shows_the_latest_acts_so_that_back_does_not_warn_twice(
    mo: User, ann: User, alice: User, bob: User
) -> None:
    browser, url, now = staff_browser(mo), on_person(bob, "warn"), timezone.now()
    people.warn(person_id=bob.pk, by=ann, reason="An old reason of two days ago.", now=now - timedelta(days=2))
    assert "within the last day" not in text_of(browser.get(url))
    for n in range(3):
        people.warn(person_id=bob.pk, by=ann, reason=f"Reason number {n}.", now=now - timedelta(hours=9 - n))
    people.warn(person_id=alice.pk, by=ann, reason="About somebody else.", now=now)
    browser.post(url, opened(browser, url))
    for page in (url, on_person(bob, "suspend")):
        said = text_of(browser.get(page))
        assert "Staff have acted here within the last day: ann has warned bob" in said
        assert f"You have warned bob (less than a minute ago): {MINE}" in said
        assert [n for n in range(3) if f"Reason number {n}." in said] == [1, 2]
        assert "An old reason" not in said
        assert "About somebody else." not in said
    assert f"You have warned bob (less than a minute ago): {MINE}" in text_of(browser.post(url, {"reason": "short"}))


@pytest.mark.long
def test_the_pages_that_would_close_an_appeal_say_that_it_waits(root: User, mo: User, ann: User, bob: User) -> None:
    now = timezone.now()
    people.suspend(person_id=bob.pk, by=ann, days=7, reason=REASON, now=now)
    appeal = appeals.appeal(person_id=bob.pk, text=TEXT, now=now)
    waits = f"An appeal has waited since {timezone.localtime(now):%Y-%m-%d %H:%M}"
    pages = [f"/admin/accounts/user/{bob.pk}/change/", on_person(bob, "suspend")]
    of_admins = [*pages, on_person(bob, "suspend_for_good"), on_person(bob, "lift")]
    for browser, urls in ((staff_browser(mo), pages), (staff_browser(ann), of_admins)):
        for url in urls:
            page = browser.get(url)
            assert waits in text_of(page), url
            assert f'href="/admin/games/appeal/{appeal.pk}/change/"' in page.content.decode()
    assert waits not in text_of(staff_browser(mo).get(on_person(bob, "warn")))
    people.lift(person_id=bob.pk, by=root, reason=REASON, now=now)
    assert waits not in text_of(staff_browser(mo).get(pages[0]))


@pytest.mark.long
@pytest.mark.parametrize("name", ["suspend", "warn", "lift"])
def test_an_act_on_a_person_is_refused_after_a_new_appeal(root: User, ann: User, bob: User, name: str) -> None:
    now = timezone.now()
    people.suspend(person_id=bob.pk, by=root, days=7, reason=REASON, now=now)
    browser, url = staff_browser(ann), on_person(bob, name)
    form = opened(browser, url) | {"days": "30"}
    appeal = appeals.appeal(person_id=bob.pk, text=TEXT, now=now)
    answer = browser.post(url, form)
    assert (answer.status_code, done()) == (409, ["suspend"])
    assert f"Nothing has been done. A new appeal since you opened this page: {TEXT}" in text_of(answer)
    assert f'href="/admin/games/appeal/{appeal.pk}/change/"' in answer.content.decode()
    assert AGAIN in text_of(answer)
    assert f"{MINE}</textarea>" in answer.content.decode()
    assert browser.post(url, form).status_code == 409
    assert browser.post(url, form | known_by(answer)).status_code == 302
    assert done() == ["suspend", name]


def test_an_appeal_that_the_page_showed_or_another_person_made_refuses_no_act(
    ann: User, alice: User, bob: User
) -> None:
    browser, now = staff_browser(ann), timezone.now()
    for person in (alice, bob):
        people.suspend(person_id=person.pk, by=ann, days=7, reason=REASON, now=now)
    appeals.appeal(person_id=bob.pk, text=TEXT, now=now)
    form = opened(browser, on_person(bob, "warn"))
    appeals.appeal(person_id=alice.pk, text=TEXT, now=now)
    assert browser.post(on_person(bob, "warn"), form).status_code == 302


@pytest.mark.long
def test_an_act_at_a_table_is_refused_after_a_newer_one(mo: User, ann: User, dealt: Table) -> None:
    browser, url = staff_browser(mo), on_table(dealt, "extend")
    form = opened(browser, url) | {"amount": "9"}
    tables.extend(**act(dealt, ann, minutes=1))
    answer = browser.post(url, form)
    assert (answer.status_code, done()) == (409, ["extend"])
    assert "ann has extended the clock by 1 minute (" in text_of(answer)
    assert browser.post(url, form | {"seen": seen_in(answer)}).status_code == 302


def test_a_page_opened_after_an_act_performs_the_next(mo: User, ann: User, dealt: Table) -> None:
    browser, url = staff_browser(mo), on_table(dealt, "extend")
    tables.extend(**act(dealt, ann, minutes=5))
    assert browser.post(url, opened(browser, url) | {"amount": "9"}).status_code == 302


@pytest.mark.parametrize("name", ["lift", "unmute", "end_neutral_name"])
def test_the_page_of_an_impossible_act_says_so_at_once(mo: User, ann: User, bob: User, name: str) -> None:
    page = staff_browser(ann).get(on_person(bob, name))
    assert f"“{acts.ACTS[name].title}” is not possible now." in text_of(page)
    assert 'type="submit" class="default"' not in page.content.decode()


@pytest.mark.long
def test_the_pages_of_acts_say_at_once_who_may_not_act(mo: User, ann: User, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [mo, bob])
    browser = staff_browser(mo)
    for name in ("pause", "remove", "look"):
        page = browser.get(on_table(table, name))
        assert "You are or were a player at this table. Ask another staff member." in text_of(page), name
        assert 'type="submit" class="default"' not in page.content.decode()
    page = browser.get(on_person(bob, "warn"))
    assert "You are playing with bob." in text_of(page)
    people.suspend(person_id=alice.pk, by=mo, days=7, reason=REASON, now=timezone.now())
    appeal = appeals.appeal(person_id=alice.pk, text=TEXT, now=timezone.now())
    appeals.decide_appeal(
        appeal_id=appeal.pk, by=ann, lift=False, answer="We looked at it again.", reason=REASON, now=timezone.now()
    )
    page = staff_browser(ann).get(f"/admin/games/appeal/{appeal.pk}/act/decide_appeal/")
    assert "“Decide the appeal” is not possible now." in text_of(page)


def test_an_act_on_another_subject_does_not_matter(mo: User, ann: User, alice: User, bob: User, dealt: Table) -> None:
    browser = staff_browser(mo)
    pages = [on_person(bob, "warn"), on_table(dealt, "pause")]
    forms = [opened(browser, url) for url in pages]
    people.warn(person_id=alice.pk, by=ann, reason=REASON, now=timezone.now())
    other = cases.report(code=dealt.game.code, viewer=Viewer(alice), seat=1, kind="name", text=TEXT, now=timezone.now())
    cases.hold(case_id=other.case.pk, by=ann, now=timezone.now())  # about Bob, but not an act on him
    answers = [browser.post(url, form).status_code for url, form in zip(pages, forms, strict=True)]
    assert answers == [302, 302]


def test_an_act_at_a_table_does_not_refuse_one_on_its_player(mo: User, ann: User, bob: User, dealt: Table) -> None:
    browser, url = staff_browser(mo), on_person(bob, "warn")
    form = opened(browser, url)
    tables.remove(**act(dealt, ann, seat=1, bot=True))
    assert browser.post(url, form).status_code == 302


@pytest.mark.parametrize("seen", [None, "", "x", "-1", "9" * 30 + "-0", "½-0", "0", "0-0"])
def test_a_form_that_does_not_say_what_it_knew_is_refused_after_any_act(
    mo: User, ann: User, alice: User, bob: User, seen: str | None
) -> None:
    browser, form = staff_browser(mo), {"reason": MINE} | ({} if seen is None else {"seen": seen})
    people.warn(person_id=bob.pk, by=ann, reason=REASON, now=timezone.now())
    assert browser.post(on_person(alice, "warn"), form).status_code == 302
    answer = browser.post(on_person(bob, "warn"), form)
    assert answer.status_code == 409
    assert browser.post(on_person(bob, "warn"), form | {"seen": seen_in(answer)}).status_code == 302


def test_a_form_with_an_error_keeps_what_its_page_knew(mo: User, ann: User, bob: User) -> None:
    browser, url = staff_browser(mo), on_person(bob, "warn")
    form = opened(browser, url)
    people.warn(person_id=bob.pk, by=ann, reason=REASON, now=timezone.now())
    answer = browser.post(url, form | {"reason": "short"})
    assert (answer.status_code, seen_in(answer)) == (422, form["seen"])
    assert browser.post(url, form | {"seen": seen_in(answer)}).status_code == 409


@pytest.mark.long
def test_a_case_that_a_colleague_has_closed_or_taken(mo: User, ann: User, alice: User, dealt: Table) -> None:
    cases.report(code=dealt.game.code, viewer=Viewer(alice), seat=1, kind="name", text=TEXT, now=timezone.now())
    case, browser = Case.objects.get(), staff_browser(mo)
    url = f"/admin/games/case/{case.pk}/act/close_case/"
    form = opened(browser, url) | {"outcome": "nothing", "answer": "We found nothing."}
    cases.hold(case_id=case.pk, by=ann, now=timezone.now())
    answer = browser.post(url, form)
    assert answer.status_code == 409
    assert "ann has taken the case (less than a minute ago)." in text_of(answer)
    assert "We found nothing." in answer.content.decode()
    assert browser.post(url, form | {"seen": seen_in(answer)}).status_code == 302
    again = browser.post(url, form | {"seen": seen_in(answer)})
    assert again.status_code == 409
    assert "You have closed the case: we found nothing against the rules (" in text_of(again)
    assert "“Close the case” is not possible now." in text_of(again)
    assert AGAIN not in text_of(again)
    assert browser.post(url, form | {"seen": seen_in(again)}).status_code == 409  # it is closed
    assert done() == ["hold", "close_case"]


@pytest.mark.long
def test_a_report_that_nobody_has_read_is_not_closed_with_its_case(
    mo: User, alice: User, charlie: User, dealt: Table
) -> None:
    def reported(by: User, text: str) -> Case:
        filed = cases.report(
            code=dealt.game.code, viewer=Viewer(by), seat=1, kind="name", text=text, now=timezone.now()
        )
        return filed.case

    case, browser = reported(alice, TEXT), staff_browser(mo)
    url = f"/admin/games/case/{case.pk}/act/close_case/"
    form = opened(browser, url) | {"outcome": "nothing", "answer": "We found nothing."}
    reported(charlie, "Now he calls me names at another table.")
    answer = browser.post(url, form)
    assert (answer.status_code, done()) == (409, [])
    assert (
        "Nothing has been done. New reports since you opened this page: "
        f"charlie, game {dealt.game.code}: Now he calls me names at another table." in text_of(answer)
    )
    assert "We found nothing." in answer.content.decode()
    assert browser.post(url, form).status_code == 409
    assert browser.post(url, form | known_by(answer)).status_code == 302
    assert done() == ["close_case"]


def test_a_form_that_does_not_say_which_reports_it_knew_is_refused(mo: User, alice: User, dealt: Table) -> None:
    cases.report(code=dealt.game.code, viewer=Viewer(alice), seat=1, kind="name", text=TEXT, now=timezone.now())
    url = f"/admin/games/case/{Case.objects.get().pk}/act/close_case/"
    answer = staff_browser(mo).post(url, {"reason": MINE, "outcome": "nothing"})
    assert answer.status_code == 409
    assert f"alice, game {dealt.game.code}: {TEXT}" in text_of(answer)


def test_taking_a_case_needs_no_page(mo: User, ann: User, alice: User, charlie: User, dealt: Table) -> None:
    cases.report(code=dealt.game.code, viewer=Viewer(alice), seat=1, kind="name", text=TEXT, now=timezone.now())
    case = Case.objects.get()
    cases.hold(case_id=case.pk, by=ann, now=timezone.now())
    browser, url = staff_browser(mo), f"/admin/games/case/{case.pk}/act/hold/"
    form = {"seen": seen_in(browser.get(f"/admin/games/case/{case.pk}/change/"))}
    cases.report(code=dealt.game.code, viewer=Viewer(charlie), seat=1, kind="name", text=TEXT, now=timezone.now())
    assert [browser.post(url, form).status_code for _ in range(2)] == [302, 302]  # a second click does no harm
    assert Case.objects.get().holder == mo


@pytest.mark.long
def test_taking_a_case_that_a_colleague_has_taken_since_asks_first(
    mo: User, ann: User, alice: User, dealt: Table
) -> None:
    cases.report(code=dealt.game.code, viewer=Viewer(alice), seat=1, kind="name", text=TEXT, now=timezone.now())
    case = Case.objects.get()
    browser, url = staff_browser(mo), f"/admin/games/case/{case.pk}/act/hold/"
    form = {"seen": seen_in(browser.get(f"/admin/games/case/{case.pk}/change/"))}
    cases.hold(case_id=case.pk, by=ann, now=timezone.now())
    answer = browser.post(url, form)
    assert answer.status_code == 409
    assert "ann has taken the case (" in text_of(answer)
    assert AGAIN in text_of(answer)
    assert Case.objects.get().holder == ann
    assert browser.post(url, {**form, **known_by(answer)}).status_code == 302
    assert Case.objects.get().holder == mo


def test_an_appeal_is_refused_after_an_act_on_its_person(mo: User, ann: User, bob: User) -> None:
    people.suspend(person_id=bob.pk, by=mo, days=7, reason=REASON, now=timezone.now())
    appeal = appeals.appeal(person_id=bob.pk, text=TEXT, now=timezone.now())
    browser, url = staff_browser(staff("abe", "admin")), f"/admin/games/appeal/{appeal.pk}/act/decide_appeal/"
    form = opened(browser, url) | {"decision": "upheld", "answer": "We looked at the log once more."}
    people.lift(person_id=bob.pk, by=ann, reason=REASON, now=timezone.now())
    answer = browser.post(url, form)
    assert answer.status_code == 409
    assert "ann has lifted the suspension of bob, which closed the appeal (" in text_of(answer)
    assert "We looked at the log once more." in answer.content.decode()
    assert "“Decide the appeal” is not possible now." in text_of(answer)
    assert AGAIN not in text_of(answer)
    again = text_of(browser.post(url, form | known_by(answer)))
    assert "Nothing has been done. This appeal is closed: the suspension is lifted." in again
    assert Appeal.objects.get().decision == "lifted"


@pytest.mark.parametrize(
    ("lift", "said"), [(False, "the suspension stays"), (True, "the suspension is lifted")], ids=["upheld", "lifted"]
)
def test_a_refusal_says_what_a_colleague_decided(mo: User, ann: User, bob: User, lift: bool, said: str) -> None:
    now, more = timezone.now(), {"answer": "We looked at the log once more.", "reason": REASON}
    people.suspend(person_id=bob.pk, by=mo, days=7, reason=REASON, now=now)
    appeal = appeals.appeal(person_id=bob.pk, text=TEXT, now=now)
    browser, url = staff_browser(staff("abe", "admin")), f"/admin/games/appeal/{appeal.pk}/act/decide_appeal/"
    form = opened(browser, url) | more | {"decision": "upheld"}
    appeals.decide_appeal(appeal_id=appeal.pk, by=ann, lift=lift, now=now, **more)
    answer = browser.post(url, form)
    assert f"ann has decided the appeal of bob: {said} (less than a minute ago): {REASON}" in text_of(answer)
    assert AGAIN not in text_of(answer)
    again = text_of(browser.post(url, form | known_by(answer)))
    assert f"This appeal has already been decided: {said}." in again


@pytest.mark.long
def test_the_pages_of_an_appeal_and_of_a_case_show_what_is_decided(
    mo: User, ann: User, alice: User, dealt: Table
) -> None:
    now = timezone.now()
    filed = cases.report(code=dealt.game.code, viewer=Viewer(alice), seat=1, kind="name", text=TEXT, now=now)
    assert TEXT in text_of(staff_browser(mo).get(f"/admin/games/case/{filed.case_id}/act/close_case/"))
    bob_id = filed.case.person_id
    assert bob_id is not None
    people.suspend(person_id=bob_id, by=mo, days=7, reason=REASON, now=now)
    appeal = appeals.appeal(person_id=bob_id, text="It was my little brother.", now=now)
    for name in ("change", "act/decide_appeal"):
        page = staff_browser(ann).get(f"/admin/games/appeal/{appeal.pk}/{name}/")
        assert "It was my little brother." in text_of(page)
        assert REASON in text_of(page)
        assert ">by mo</a>" in page.content.decode()
    page = staff_browser(ann).get(f"/admin/games/appeal/{appeal.pk}/change/")
    assert f'href="/admin/games/case/{filed.case_id}/change/"' in page.content.decode()


def test_an_act_at_a_table_that_has_ended_since_says_what_a_colleague_did(mo: User, ann: User, dealt: Table) -> None:
    browser, url = staff_browser(mo), on_table(dealt, "pause")
    form = opened(browser, url)
    tables.void_game(**act(dealt, ann))
    answer = browser.post(url, form)
    assert (answer.status_code, done()) == (409, ["void_game"])
    assert "ann has voided the game (" in text_of(answer)
    assert f"{MINE}</textarea>" in answer.content.decode()
    assert "“Pause the game” is not possible now." in text_of(answer)
    again = browser.post(url, form | known_by(answer))
    assert again.status_code == 409
    assert "Nothing has been done. “Pause the game” is not possible at a table that is" in text_of(again)
    assert f"{MINE}</textarea>" in again.content.decode()


def test_the_seat_of_a_removed_player_cannot_be_taken_again(mo: User, ann: User, dealt: Table) -> None:
    browser, url = staff_browser(mo), on_table(dealt, "remove")
    page = browser.get(f"{url}?seat=1")
    owner = re.search(r'name="owner" value="(\d+)"', page.content.decode())
    assert owner is not None
    form = {"reason": MINE, "seen": seen_in(page), "seat": "1", "owner": owner[1], "instead": "bot"}
    tables.remove(**act(dealt, ann, seat=1, bot=True))
    answer = browser.post(url, form)
    assert answer.status_code == 422
    assert "ann has removed bob (" in text_of(answer)
    assert REASON in text_of(answer)
    assert f"{MINE}</textarea>" in answer.content.decode()
    assert done() == ["remove"]


def test_acts_about_the_reader_are_neither_shown_nor_counted(mo: User, ann: User, dealt: Table) -> None:
    browser = staff_browser(mo)
    url = on_table(dealt, "extend")
    form = opened(browser, url) | {"amount": "9"}
    of_game = {"game": dealt.game, "game_code": dealt.game.code, "version": dealt.game.version}
    write_entry("forgive", ann, person=mo, at=timezone.now(), seat=1, **of_game)
    assert browser.post(url, form).status_code == 302


def test_the_newest_ten_are_listed(mo: User, ann: User, bob: User) -> None:
    for n in range(12):
        people.warn(person_id=bob.pk, by=ann, reason=f"Reason number {n}.", now=timezone.now())
    answer = staff_browser(mo).post(on_person(bob, "warn"), {"reason": MINE})
    said = text_of(answer)
    assert [n for n in range(12) if f"Reason number {n}." in said] == list(range(2, 12))
    assert said.index("number 2.") < said.index("number 11.")


def test_an_act_of_a_later_release_is_named(mo: User, ann: User, dealt: Table) -> None:
    write_entry("teleport", ann, at=timezone.now(), game=dealt.game, game_code=dealt.game.code, version=0)
    answer = staff_browser(mo).post(on_table(dealt, "pause"), {"reason": MINE})
    assert "ann has done “teleport” (" in text_of(answer)


def test_every_act_can_be_said(ann: User, bob: User) -> None:
    now, details = timezone.now(), {"before": "carl", "round": 2, "days": 3, "minutes": 1, "outcome": "acted"}
    for name in acts.ACTS:
        entry = write_entry(name, ann, person=bob, at=now, reason="", details=details)
        sentence = newer_acts.said(entry, reader=bob, now=now)
        assert re.fullmatch(r"ann has [^{}“]+ \(less than a minute ago\)\.", sentence), sentence


def test_nobody_may_act_on_what_is_not_there(mo: User) -> None:
    with pytest.raises(Denied) as denied:
        newer_acts.perform(
            people.warn, {"person_id": 10**9}, seen=newer_acts.Seen(), by=mo, now=timezone.now(), reason=MINE
        )
    assert denied.value.code == "not_found"


def test_a_look_at_hands_is_not_repeated_by_reloading(mo: User, dealt: Table) -> None:
    browser, url = staff_browser(mo), on_table(dealt, "look")
    form = opened(browser, url)
    assert "The hands after move" in text_of(browser.post(url, form))
    answer = browser.post(url, form)
    assert (answer.status_code, done()) == (409, ["look"])
    assert "You have looked at the hands" in text_of(answer)


def test_staff_who_play_with_the_person_are_told_that_and_not_what_was_done(mo: User, ann: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [mo, bob])
    people.warn(person_id=bob.pk, by=ann, reason=REASON, now=timezone.now())
    browser = staff_browser(mo)
    for url, said in (
        (on_person(bob, "warn"), "You are playing with bob."),
        (on_table(table, "pause"), "You are or were a player at this table."),
    ):
        answer = browser.post(url, {"reason": MINE})
        assert (answer.status_code, said in text_of(answer), REASON in text_of(answer)) == (403, True, False)
