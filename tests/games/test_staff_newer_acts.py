"""Test that an act is refused if staff have acted on the same subject since its page was made (decision 65)."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import User
from games.models import Appeal, AuditEntry, Case
from games.queries import Table, Viewer
from games.staff import acts, appeals, cases, newer_acts, people, tables
from tests.conftest import staff
from tests.support.codes import staff_browser
from tests.support.staff import REASON, act, dealt, open_act, page_url, refused, seen_in, write_entry
from tests.support.tables import TWO_HANDS, table_at

__all__ = ["dealt"]  # the fixture

MINE = "I read every word of the report"
AGAIN = "To go ahead all the same, confirm again."
TOLD = "Nothing has been done. Staff have acted here since you opened this page:"
TEXT = "He wrote a rude word as his name, twice."


def done() -> list[str]:
    return list(AuditEntry.objects.order_by("pk").values_list("act", flat=True))


def warn(person: User, by: User, reason: str = REASON, hours_ago: float = 0) -> None:
    people.warn(person_id=person.pk, by=by, reason=reason, now=timezone.now() - timedelta(hours=hours_ago))


def reported(table: Table, by: User, text: str = TEXT) -> Case:
    now = timezone.now()
    return cases.report(code=table.game.code, viewer=Viewer(by), seat=1, kind="name", text=text, now=now).case


def appealed(person: User, by: User) -> Appeal:
    """Suspend a person, and return their appeal."""
    people.suspend(person_id=person.pk, by=by, days=7, reason=REASON, now=timezone.now())
    return appeals.appeal(person_id=person.pk, text=TEXT, now=timezone.now())


def test_an_act_on_a_person_is_refused_after_a_newer_one(mo: User, ann: User, bob: User) -> None:
    page = open_act(staff_browser(mo), bob, "suspend")
    people.suspend(person_id=bob.pk, by=ann, days=7, reason=REASON, now=timezone.now())
    answer = page.send(days="3", reason=MINE)
    assert (answer.status, done()) == (409, ["suspend"])
    assert TOLD in answer.text
    assert AGAIN in answer.text
    assert f"ann has suspended bob for 7 days (less than a minute ago): {REASON}" in answer.text
    assert f"{MINE}</textarea>" in answer.source
    assert answer.fields["days"] == "3"
    assert answer.send(days="3").status == 403  # shorter than the one in force
    assert answer.send(days="30").status == 302
    assert done() == ["suspend", "suspend"]


@pytest.mark.long
def test_a_form_sent_twice_warns_once(mo: User, bob: User) -> None:
    page = open_act(staff_browser(mo), bob, "warn")
    assert page.send(reason=MINE).status == 302
    answer = page.send(reason=MINE)
    assert answer.status == 409
    assert f"You have warned bob (less than a minute ago): {MINE}" in answer.text
    assert done() == ["warn"]
    assert answer.send().status == 302
    assert done() == ["warn", "warn"]


@pytest.mark.long
def test_the_page_of_an_act_shows_the_latest_acts_so_that_back_does_not_warn_twice(
    mo: User, ann: User, alice: User, bob: User
) -> None:
    browser, yours = staff_browser(mo), f"You have warned bob (less than a minute ago): {MINE}"
    warn(bob, ann, "An old reason of two days ago.", hours_ago=48)
    assert "within the last day" not in open_act(browser, bob, "warn").text
    for n in range(3):
        warn(bob, ann, f"Reason number {n}.", hours_ago=9 - n)
    warn(alice, ann, "About somebody else.")
    open_act(browser, bob, "warn").send(reason=MINE)
    for name in ("warn", "suspend"):
        said = open_act(browser, bob, name).text
        assert "Staff have acted here within the last day: ann has warned bob" in said
        assert yours in said
        assert [n for n in range(3) if f"Reason number {n}." in said] == [1, 2]
        assert "An old reason" not in said
        assert "About somebody else." not in said
    assert yours in open_act(browser, bob, "warn").send(reason="short").text


@pytest.mark.long
def test_the_pages_that_would_close_an_appeal_say_that_it_waits(root: User, mo: User, ann: User, bob: User) -> None:
    appeal = appealed(bob, ann)
    waits = f"An appeal has waited since {timezone.localtime(appeal.at):%Y-%m-%d %H:%M}"
    urls = [page_url(bob)] + [page_url(bob).replace("change", f"act/{name}") for name in ("suspend", "warn")]
    for_admins = [page_url(bob).replace("change", f"act/{name}") for name in ("suspend_for_good", "lift")]
    as_mo, as_ann = staff_browser(mo), staff_browser(ann)
    for browser, pages in ((as_mo, urls), (as_ann, [*urls, *for_admins])):
        said = {url: browser.get(url).content.decode() for url in pages}
        assert [url for url in said if waits not in " ".join(said[url].split())] == [urls[2]]
        assert f'href="{page_url(appeal)}"' in said[urls[0]]
    people.lift(person_id=bob.pk, by=root, reason=REASON, now=timezone.now())
    assert waits not in as_mo.get(urls[0]).content.decode()


@pytest.mark.long
@pytest.mark.parametrize("name", ["suspend", "warn", "lift"])
def test_an_act_on_a_person_is_refused_after_a_new_appeal(root: User, ann: User, bob: User, name: str) -> None:
    people.suspend(person_id=bob.pk, by=root, days=7, reason=REASON, now=timezone.now())
    page = open_act(staff_browser(ann), bob, name)
    appeal = appeals.appeal(person_id=bob.pk, text=TEXT, now=timezone.now())
    answer = page.send(days="30", reason=MINE)
    assert (answer.status, done()) == (409, ["suspend"])
    assert f"Nothing has been done. A new appeal since you opened this page: {TEXT}" in answer.text
    assert f'href="{page_url(appeal)}"' in answer.source
    assert AGAIN in answer.text
    assert f"{MINE}</textarea>" in answer.source
    assert page.send(days="30").status == 409
    assert answer.send(days="30").status == 302
    assert done() == ["suspend", name]


def test_what_the_page_showed_and_acts_on_others_refuse_no_act(
    mo: User, ann: User, alice: User, bob: User, dealt: Table
) -> None:
    appealed(bob, ann)
    tables.extend(**act(dealt, ann, minutes=5))
    browser = staff_browser(mo)
    of_bob, of_table = open_act(browser, bob, "warn"), open_act(browser, dealt.game, "extend")
    warn(alice, ann)
    appealed(alice, ann)
    cases.hold(case_id=reported(dealt, alice).pk, by=ann, now=timezone.now())  # about Bob, but not an act on him
    of_game = {"game": dealt.game, "game_code": dealt.game.code, "version": dealt.game.version}
    write_entry("forgive", ann, person=mo, at=timezone.now(), seat=1, **of_game)  # about the reader, so not shown
    assert of_table.send(amount="9").status == 302
    tables.remove(**act(dealt, ann, seat=1, bot=True))
    assert of_bob.send().status == 302


@pytest.mark.long
def test_an_act_at_a_table_is_refused_after_a_newer_one(mo: User, ann: User, dealt: Table) -> None:
    page = open_act(staff_browser(mo), dealt.game, "extend")
    tables.extend(**act(dealt, ann, minutes=1))
    answer = page.send(amount="9")
    assert (answer.status, done()) == (409, ["extend"])
    assert "ann has extended the clock by 1 min (" in answer.text
    assert answer.send(amount="9").status == 302


@pytest.mark.parametrize("name", ["lift", "unmute", "end_neutral_name"])
def test_the_page_of_an_impossible_act_says_so_at_once(ann: User, bob: User, name: str) -> None:
    page = open_act(staff_browser(ann), bob, name)
    assert f"“{acts.ACTS[name].title}” is not possible now." in page.text
    assert page.button is None


@pytest.mark.long
def test_the_pages_of_acts_say_at_once_who_may_not_act(mo: User, ann: User, alice: User, bob: User) -> None:
    game, browser = table_at(TWO_HANDS, [mo, bob]).game, staff_browser(mo)
    for name in ("pause", "remove", "look"):
        page = open_act(browser, game, name)
        assert "You are or were a player at this table. Ask another staff member." in page.text, name
        assert page.button is None
    assert "You are playing with bob." in open_act(browser, bob, "warn").text
    appeal, answer = appealed(alice, mo), "We looked at it again."
    appeals.decide_appeal(appeal_id=appeal.pk, by=ann, lift=False, answer=answer, reason=REASON, now=timezone.now())
    assert "“Decide the appeal” is not possible now." in open_act(staff_browser(ann), appeal, "decide_appeal").text


@pytest.mark.parametrize("seen", [None, "x", "9" * 30 + "-0", "0-0"])
def test_a_form_that_does_not_say_what_it_knew_is_refused_after_any_act(
    mo: User, ann: User, alice: User, bob: User, seen: str | None
) -> None:
    browser, form = staff_browser(mo), {"reason": MINE} | ({} if seen is None else {"seen": seen})
    warn(bob, ann)
    of_alice, of_bob = (open_act(browser, person, "warn") for person in (alice, bob))
    assert browser.post(of_alice.url, form).status_code == 302
    answer = browser.post(of_bob.url, form)
    assert answer.status_code == 409
    assert browser.post(of_bob.url, form | {"seen": seen_in(answer)}).status_code == 302


def test_a_form_with_an_error_keeps_what_its_page_knew(mo: User, ann: User, bob: User) -> None:
    page = open_act(staff_browser(mo), bob, "warn")
    warn(bob, ann)
    answer = page.send(reason="short")
    assert (answer.status, answer.fields["seen"]) == (422, page.fields["seen"])
    assert answer.send().status == 409


@pytest.mark.long
def test_a_case_that_a_colleague_has_closed_or_taken(mo: User, ann: User, alice: User, dealt: Table) -> None:
    case = reported(dealt, alice)
    form: dict[str, Any] = {"outcome": "nothing", "answer": "We found nothing."}
    page = open_act(staff_browser(mo), case, "close_case")
    cases.hold(case_id=case.pk, by=ann, now=timezone.now())
    answer = page.send(**form)
    assert answer.status == 409
    assert "ann has taken the case (less than a minute ago)." in answer.text
    assert "We found nothing." in answer.source
    assert answer.send(**form).status == 302
    again = answer.send(**form)
    assert again.status == 409
    assert "You have closed the case: we found nothing against the rules (" in again.text
    assert "“Close the case” is not possible now." in again.text
    assert AGAIN not in again.text
    assert again.send(**form).status == 409  # it is closed
    assert done() == ["hold", "close_case"]


@pytest.mark.long
def test_a_report_that_nobody_has_read_is_not_closed_with_its_case(
    mo: User, alice: User, charlie: User, dealt: Table
) -> None:
    case = reported(dealt, alice)
    form: dict[str, Any] = {"outcome": "nothing", "answer": "We found nothing."}
    page = open_act(staff_browser(mo), case, "close_case")
    reported(dealt, charlie, "Now he calls me names at another table.")
    answer = page.send(**form)
    assert (answer.status, done()) == (409, [])
    assert (
        "Nothing has been done. New reports since you opened this page: "
        f"charlie, game {dealt.game.code}: Now he calls me names at another table." in answer.text
    )
    assert "We found nothing." in answer.source
    assert page.send(**form).status == 409
    assert f"alice, game {dealt.game.code}: {TEXT}" in page.send(seen="", **form).text
    assert answer.send(**form).status == 302
    assert done() == ["close_case"]


@pytest.mark.long
def test_taking_a_case_needs_no_page_unless_a_colleague_has_taken_it_since(
    mo: User, ann: User, alice: User, charlie: User, dealt: Table
) -> None:
    case, browser = reported(dealt, alice), staff_browser(mo)
    cases.hold(case_id=case.pk, by=ann, now=timezone.now())
    url, form = page_url(case).replace("change", "act/hold"), {"seen": seen_in(browser.get(page_url(case)))}
    reported(dealt, charlie)
    assert [browser.post(url, form).status_code for _ in range(2)] == [302, 302]  # a second click does no harm
    assert Case.objects.get().holder == mo
    page = open_act(browser, case, "hold")
    cases.hold(case_id=case.pk, by=ann, now=timezone.now())
    answer = page.send()
    assert answer.status == 409
    assert "ann has taken the case (" in answer.text
    assert AGAIN in answer.text
    assert Case.objects.get().holder == ann
    assert answer.send().status == 302
    assert Case.objects.get().holder == mo


def test_an_appeal_is_refused_after_an_act_on_its_person(mo: User, ann: User, bob: User) -> None:
    page = open_act(staff_browser(staff("abe", "admin")), appealed(bob, mo), "decide_appeal")
    people.lift(person_id=bob.pk, by=ann, reason=REASON, now=timezone.now())
    answer = page.send(decision="upheld", answer="We looked at the log once more.")
    assert answer.status == 409
    assert "ann has lifted the suspension of bob, which closed the appeal (" in answer.text
    assert "We looked at the log once more." in answer.source
    assert "“Decide the appeal” is not possible now." in answer.text
    assert AGAIN not in answer.text


@pytest.mark.parametrize(("lift", "said"), [(True, "the suspension is lifted"), (False, "the suspension stays")])
def test_an_appeal_that_a_colleague_has_decided(mo: User, ann: User, bob: User, lift: bool, said: str) -> None:
    appeal = appealed(bob, mo)
    answered: dict[str, Any] = {"answer": "We looked at the log once more."}
    page = open_act(staff_browser(staff("abe", "admin")), appeal, "decide_appeal")
    appeals.decide_appeal(appeal_id=appeal.pk, by=ann, lift=lift, reason=REASON, now=timezone.now(), **answered)
    answer = page.send(decision="upheld", **answered)
    assert f"ann has decided the appeal of bob: {said} (less than a minute ago): {REASON}" in answer.text
    assert AGAIN not in answer.text
    again = answer.send(decision="upheld", **answered)
    assert f"This appeal has already been decided: “{said.capitalize()}”." in again.text


@pytest.mark.long
def test_the_pages_of_an_appeal_and_of_a_case_show_what_is_decided(
    mo: User, ann: User, alice: User, bob: User, dealt: Table
) -> None:
    case = reported(dealt, alice)
    assert TEXT in open_act(staff_browser(mo), case, "close_case").text
    appeal, browser = appealed(bob, mo), staff_browser(ann)
    for page in (page_url(appeal), open_act(browser, appeal, "decide_appeal").url):
        source = browser.get(page).content.decode()
        assert all(said in source for said in (appeal.text, REASON, ">by mo</a>")), page
    assert f'href="{page_url(case)}"' in browser.get(page_url(appeal)).content.decode()


def test_an_act_at_a_table_that_has_ended_since_says_what_a_colleague_did(mo: User, ann: User, dealt: Table) -> None:
    page = open_act(staff_browser(mo), dealt.game, "pause")
    tables.void_game(**act(dealt, ann))
    answer = page.send(reason=MINE)
    assert (answer.status, done()) == (409, ["void_game"])
    assert "ann has voided the game (" in answer.text
    assert f"{MINE}</textarea>" in answer.source
    assert "“Pause the game” is not possible now." in answer.text
    again = answer.send(reason=MINE)
    assert again.status == 409
    assert "Nothing has been done. “Pause the game” is not possible at a table that is" in again.text
    assert f"{MINE}</textarea>" in again.source


def test_the_seat_of_a_removed_player_cannot_be_taken_again(mo: User, ann: User, dealt: Table) -> None:
    page = open_act(staff_browser(mo), dealt.game, "remove", seat=1)
    tables.remove(**act(dealt, ann, seat=1, bot=True))
    answer = page.send(seat="1", owner=page.fields["owner"], instead="bot", reason=MINE)
    assert answer.status == 422
    assert "ann has removed bob (" in answer.text
    assert REASON in answer.text
    assert f"{MINE}</textarea>" in answer.source
    assert done() == ["remove"]


def test_the_newest_ten_are_listed(mo: User, ann: User, bob: User) -> None:
    for n in range(12):
        warn(bob, ann, f"Reason number {n}.")
    said = open_act(staff_browser(mo), bob, "warn").send(seen="").text
    assert [n for n in range(12) if f"Reason number {n}." in said] == list(range(2, 12))
    assert said.index("number 2.") < said.index("number 11.")


def test_an_act_of_a_later_release_is_named(mo: User, ann: User, dealt: Table) -> None:
    write_entry("teleport", ann, at=timezone.now(), game=dealt.game, game_code=dealt.game.code, version=0)
    assert "ann has done “teleport” (" in open_act(staff_browser(mo), dealt.game, "pause").send(seen="").text


def test_every_act_can_be_said(ann: User, bob: User) -> None:
    now, details = timezone.now(), {"before": "carl", "round": 2, "days": 3, "minutes": 1, "outcome": "acted"}
    for name in acts.ACTS:
        entry = write_entry(name, ann, person=bob, at=now, reason="", details=details)
        sentence = newer_acts.said(entry, reader=bob, now=now)
        assert re.fullmatch(r"ann has [^{}“]+ \(less than a minute ago\)\.", sentence), sentence


def test_nobody_may_act_on_what_is_not_there(mo: User) -> None:
    unknown: dict[str, Any] = {"subject": {"person_id": 10**9}, "known": newer_acts.Known(), "by": mo, "reason": MINE}
    refused("not_found", newer_acts.perform, act=people.warn, now=timezone.now(), **unknown)


def test_a_look_at_hands_is_not_repeated_by_reloading(mo: User, dealt: Table) -> None:
    page = open_act(staff_browser(mo), dealt.game, "look")
    assert "The hands after move" in page.send().text
    answer = page.send()
    assert (answer.status, done()) == (409, ["look"])
    assert "You have looked at the hands" in answer.text


def test_staff_who_play_with_the_person_are_told_that_and_not_what_was_done(mo: User, ann: User, bob: User) -> None:
    game, browser = table_at(TWO_HANDS, [mo, bob]).game, staff_browser(mo)
    warn(bob, ann)
    for page, said in (
        (open_act(browser, bob, "warn"), "You are playing with bob."),
        (open_act(browser, game, "pause"), "You are or were a player at this table."),
    ):
        answer = page.send(seen="", reason=MINE)
        assert (answer.status, said in answer.text, REASON in answer.text) == (403, True, False)
