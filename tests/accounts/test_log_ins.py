"""People see where they are logged in, and log out elsewhere."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from allauth.account.internal.flows.login import _AUTHENTICATION_METHODS_USER_SESSION_KEY as METHODS_OF
from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY as METHODS
from django.conf import settings
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts import actions, log_ins
from accounts.models import Session, User
from accounts.user_agents import browser_of
from games import announce
from tests.conftest import logged_in, person
from tests.support import account_pages as pages
from tests.support.account_pages import copied, is_in
from tests.support.codes import confirmed_browser

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"
PAGE = pages.LOG_INS


WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"


@pytest.mark.parametrize(
    ("header", "words"),
    [
        (FIREFOX, "Firefox, Linux"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64) {WEBKIT} Chrome/126.0.0.0 Safari/537.36", "Chrome, Windows"),
        (f"Mozilla/5.0 (Windows NT 10.0; Win64) {WEBKIT} Chrome/126.0.0.0 Safari/537.36 Edg/126.0", "Edge, Windows"),
        (f"Mozilla/5.0 (Windows NT 10.0) {WEBKIT} Chrome/125.0 Safari/537.36 OPR/111.0", "Opera, Windows"),
        (f"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) {WEBKIT} Version/17.5 Safari/605.1.15", "Safari, Mac"),
        (
            f"Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) {WEBKIT} Version/17.5 Safari/604.1",
            "Safari, iPhone",
        ),
        (f"Mozilla/5.0 (iPad; CPU OS 17_5 like Mac OS X) {WEBKIT} CriOS/126.0 Safari/604.1", "Chrome, iPad"),
        (f"Mozilla/5.0 (Linux; Android 14; Pixel 8) {WEBKIT} Chrome/126.0 Mobile Safari/537.36", "Chrome, Android"),
        (f"Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) {WEBKIT} Chrome/126.0 Safari/537.36", "Chrome, ChromeOS"),
        ("curl/8.5.0 <script>", "Unknown browser"),
        ("", "Unknown browser"),
    ],
)
def test_a_browser_is_named_by_our_own_words(header: str, words: str) -> None:
    assert browser_of(header) == words


def browser_with(header: str, name: str = "alice") -> Client:
    """Return a browser that has logged in through the page."""
    browser = Client(headers={"User-Agent": header})
    pages.log_in(browser, name)
    return browser


def listed(browser: Client) -> list[Any]:
    return list(browser.get(PAGE).context["log_ins"])


def handle_of(browser: Client) -> str:
    """Return the name of this browser's session in the form that ends it."""
    return Session.objects.get(session_key=browser.session.session_key).handle


def test_a_person_sees_each_browser_and_when_it_was_used_but_no_cookies_and_addresses(alice: User, bob: User) -> None:
    at_home, away, bobs = browser_with(FIREFOX), browser_with("Mozilla/5.0 (iPhone) Safari/604.1"), logged_in(bob)
    seen = timezone.now() - timedelta(days=3)
    Session.objects.filter(session_key=away.session.session_key).update(seen_at=seen)
    first, second = listed(at_home)
    assert (first.browser, first.here) == ("Firefox, Linux", True)
    assert (second.browser, second.here, second.seen) == ("Safari, iPhone", False, seen)
    assert timezone.now() - first.since < timedelta(minutes=1)
    page = at_home.get(PAGE).content.decode()
    sessions = [browser.session for browser in (at_home, away, bobs)]
    for secret in ("127.0.0.1", "Gecko", *(str(session.session_key) for session in sessions)):
        assert secret not in page
    assert "127.0.0.1" not in str(list(Session.objects.values())) + str([dict(session) for session in sessions])


def stored(browser: Client) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the contents and the columns of this browser's session. All times must be those of a log-in just now."""
    row = Session.objects.select_related("user").get(session_key=browser.session.session_key)
    data, now = row.get_decoded(), timezone.now()
    assert row.user is not None
    lasts = row.expire_date - timedelta(seconds=settings.SESSION_COOKIE_AGE)
    times = {"since": datetime.fromisoformat(data.pop(log_ins.SINCE)), "seen": row.seen_at, "lasts": lasts}
    for name, time in (times | {"last log-in": row.user.last_login}).items():
        assert time is not None, name
        assert timedelta() <= now - time < timedelta(minutes=1), name
    return data, {"user": row.user_id, "ending": row.ending}


def forced(user: User) -> Client:
    browser = Client()
    browser.force_login(user, backend="accounts.backends.ByUsername")
    return browser


def test_the_browsers_of_tests_have_the_session_of_a_log_in(alice: User) -> None:
    """`logged_in` writes it without a log-in. What the page of the log-in adds is about the log-in itself."""
    written, columns = stored(logged_in(alice))
    User.objects.update(last_login=None)
    assert stored(forced(alice)) == (written, columns)
    User.objects.update(last_login=None)
    of_the_page, columns_of_the_page = stored(browser_with(""))
    assert of_the_page.pop("_session_expiry") == settings.SESSION_COOKIE_AGE  # as without it
    added = {METHODS, METHODS_OF, "_messages"}
    assert {name: value for name, value in of_the_page.items() if name not in added} == written
    assert columns_of_the_page == columns


def test_ended_log_ins_are_not_listed(alice: User) -> None:
    here, loggedout, other = browser_with(FIREFOX), logged_in(alice), logged_in(alice)
    loggedout.post(pages.LOG_OUT)
    session = other.session
    session["_auth_user_hash"] = "of another password"
    session.save()
    assert [one.here for one in listed(here)] == [True]


def test_a_browser_that_has_just_confirmed_is_listed_once(alice: User) -> None:
    browser = browser_with(FIREFOX)
    browser.post(pages.CONFIRM, {"password": "alice"})
    assert Session.objects.filter(user=alice).count() == 2  # the old key works for a moment
    assert [one.here for one in listed(browser)] == [True]


def test_a_single_browser_can_be_logged_out(alice: User) -> None:
    here, there, third = confirmed_browser(alice), logged_in(alice), logged_in(alice)
    handle = handle_of(there)
    answer = here.post(PAGE, {"end": handle}, follow=True)
    assert "That browser is logged out." in answer.content.decode()
    assert (is_in(here), is_in(there), is_in(third)) == (True, False, True)
    again = here.post(PAGE, {"end": handle}, follow=True)
    assert "That browser was logged out already." in again.content.decode()


def test_a_new_log_in_ends_those_used_longest_ago(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_ins, "MOST_LOG_INS", 3)
    bobs, browsers = logged_in(bob), [browser_with(FIREFOX) for _ in range(5)]
    assert [is_in(browser) for browser in browsers] == [False, False, True, True, True]
    assert is_in(bobs)


@pytest.mark.django_db(transaction=True)
def test_simultaneous_log_ins_are_all_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    person("alice")
    monkeypatch.setattr(log_ins, "MOST_LOG_INS", 2)
    pages.wait_for_each_other(4, monkeypatch, actions, "lock_person", after=False)
    pages.sent_at_once([lambda: browser_with(FIREFOX)] * 4)
    assert Session.objects.exclude(user=None).count() == 2


def test_a_browser_is_found_without_reading_the_data_of_sessions(alice: User) -> None:
    here, other = logged_in(alice), logged_in(alice)
    handle = handle_of(other)
    with CaptureQueriesContext(connection) as statements:
        assert log_ins.end(user_id=alice.pk, handle=handle, here=str(here.session.session_key))
    assert [is_in(here), is_in(other)] == [True, False]
    assert not any("session_data" in statement["sql"] for statement in statements)


def test_logging_out_elsewhere_also_ends_a_copied_session(alice: User, bob: User) -> None:
    here, there, others = confirmed_browser(alice), logged_in(alice), logged_in(bob)
    thief = copied(here)
    assert is_in(thief)
    assert here.post(PAGE, {"end": "others"}).status_code == 303
    assert (is_in(here), is_in(there), is_in(others), is_in(thief)) == (True, False, True, False)
    assert len(listed(here)) == 1


def test_a_copied_session_cannot_log_others_out(alice: User) -> None:
    at_home = logged_in(alice)
    thief, owner = copied(at_home), logged_in(alice)
    handle = handle_of(owner)
    for end in ("others", handle):
        answer = thief.post(PAGE, {"end": end})
        assert answer.status_code == 303
        assert answer.headers["Location"] == "/accounts/reauthenticate/?next=%2Faccounts%2Fme%2Fsessions%2F"
    assert (is_in(at_home), is_in(thief), is_in(owner)) == (True, True, True)
    assert "Log out everywhere else" not in owner.get(PAGE).content.decode()
    owner.post(f"/accounts/reauthenticate/?next={PAGE}", {"password": "alice"})
    assert "Log out everywhere else" in owner.get(PAGE).content.decode()
    owner.post(PAGE, {"end": "others"})
    assert (is_in(at_home), is_in(thief), is_in(owner)) == (False, False, True)


def test_a_guest_logs_out_elsewhere_without_a_password(db: None) -> None:
    guest = actions.create_guest()
    here, there = logged_in(guest), logged_in(guest)
    assert "Log out everywhere else" in here.get(PAGE).content.decode()
    here.post(PAGE, {"end": "others"})
    assert (is_in(here), is_in(there)) == (True, False)


def test_a_bad_form_ends_no_log_in(alice: User, bob: User) -> None:
    own, bobs = confirmed_browser(alice), logged_in(bob)
    for handle in ("", "others ", "x" * 500, "\x00", handle_of(own), handle_of(bobs)):
        assert own.post(PAGE, {"end": handle}).status_code == 303, handle
        assert (is_in(own), is_in(bobs)) == (True, True), handle


def test_one_of_two_log_ins_that_end_each_other_stays(alice: User) -> None:
    here, there = logged_in(alice), logged_in(alice)
    requests = []
    for browser in (here, there):
        requests.append(RequestFactory().post(PAGE))
        requests[-1].session, requests[-1].user = browser.session, User.objects.get(pk=alice.pk)
    assert [log_ins.end_elsewhere(request) for request in requests] == [True, False]
    assert [session.pk for session in Session.objects.all()] == [requests[0].session.session_key]
    assert not is_in(there)


def test_logging_out_elsewhere_from_an_ended_session_leads_to_the_log_in(
    alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = confirmed_browser(alice)
    monkeypatch.setattr(log_ins, "end_elsewhere", lambda request: False)
    assert here.post(PAGE, {"end": "others"}).headers["Location"] == pages.LOG_IN
    assert not is_in(here)


def test_logging_out_elsewhere_closes_sockets(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[int] = []
    monkeypatch.setattr(announce, "close_sockets", told.append)
    here, there = confirmed_browser(alice), logged_in(alice)
    here.post(PAGE, {"end": handle_of(there)})
    here.post(PAGE, {"end": "others"})
    assert told == [alice.pk, alice.pk]


def test_a_running_request_does_not_restore_an_ended_session(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    here, there = confirmed_browser(alice), logged_in(alice)
    key = there.session.session_key
    monkeypatch.setattr(actions, "update_profile", lambda **rest: here.post(PAGE, {"end": "others"}))
    answer = there.post(pages.ACCOUNT, {"display_name": "Ally", "time_zone": "UTC"})
    # Its session, which has a message now, cannot be stored.
    assert (answer.status_code, answer.headers["Location"]) == (302, "/accounts/login/?next=/accounts/me/")
    assert not Session.objects.filter(session_key=key).exists()
    assert not is_in(there)


# When a session was used last


def writes(asked: CaptureQueriesContext) -> list[str]:
    return [query["sql"] for query in asked.captured_queries if query["sql"].startswith("UPDATE")]


def test_reading_pages_stores_the_last_use_every_ten_minutes_and_a_post_does_not(as_alice: Client) -> None:
    with CaptureQueriesContext(connection) as asked:
        as_alice.get("/about/")
    assert writes(asked) == []
    long_ago = timezone.now() - timedelta(minutes=11)
    Session.objects.update(seen_at=long_ago)
    with CaptureQueriesContext(connection) as asked:
        as_alice.post("/games/nothere000/move/", {"move": "draw"})
    assert writes(asked) == []
    with CaptureQueriesContext(connection) as asked:
        as_alice.get("/about/")
        as_alice.get("/about/")
    assert len(writes(asked)) == 1
    assert timezone.now() - Session.objects.get().seen_at < timedelta(minutes=1)


def test_the_session_of_a_visitor_has_no_user(client: Client, db: None) -> None:
    session = client.session
    session["links"] = ["abc"]
    session.save()
    assert Session.objects.get().user_id is None


# Stored


def test_deleting_a_person_deletes_their_sessions(alice: User, as_alice: Client) -> None:
    as_alice.get("/about/")
    alice.delete()
    assert not Session.objects.exists()
