"""A second factor that is set up ends what the password alone has opened, and then only a code confirms changes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.stages import AuthenticateStage
from allauth.mfa.totp.internal.auth import TOTP
from django.test import Client

from accounts import actions
from accounts.adapter import OVERTAKEN
from accounts.models import ApiToken, Session, User
from tests.conftest import api_token, logged_in, person
from tests.support import account_pages as pages
from tests.support.account_pages import copied, is_in
from tests.support.codes import confirmed_browser, totp
from tests.support.pages import text_of


def set_up(browser: Client, **more: str) -> Any:
    """Confirm the password in this browser of Alice, and set up an app. Return the answer."""
    browser.post(pages.CONFIRM, {"password": "alice"})
    return pages.set_up_app(browser, **more)[1]


# What is open


@pytest.mark.django_db(transaction=True)
def test_setting_up_an_app_ends_all_other_sessions(alice: User, bob: User) -> None:
    owner, thief, bobs = logged_in(alice), confirmed_browser(alice), logged_in(bob)
    copy = copied(owner)
    answer = set_up(owner)
    assert (answer.status_code, answer.headers["Location"]) == (302, pages.CODES)
    assert [is_in(browser) for browser in (owner, thief, copy, bobs)] == [True, False, False, True]
    assert "You are logged out everywhere else" in text_of(owner.get(pages.CODES))
    assert [session.session_key for session in Session.objects.filter(user=alice)] == [owner.session.session_key]
    assert thief.post(pages.CONFIRM, {"password": "alice"}).headers["Location"].startswith(pages.LOG_IN)


@pytest.mark.long
@pytest.mark.parametrize(("ticked", "left"), [({"revoke_tokens": "on"}, 0), ({}, 1)])
def test_setting_up_an_app_asks_about_api_tokens(alice: User, ticked: dict[str, str], left: int) -> None:
    browser = confirmed_browser(alice)
    assert 'name="revoke_tokens"' not in browser.get(pages.SET_UP).content.decode()  # there is none yet
    api_token(alice)
    assert 'name="revoke_tokens"' in browser.get(pages.SET_UP).content.decode()
    assert set_up(browser, **ticked).status_code == 302
    assert ApiToken.objects.filter(user=alice).count() == left


@pytest.mark.django_db(transaction=True)
def test_a_log_in_without_a_code_is_not_completed_after_the_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log-in has found no second factor, and the app is set up before the log-in has made its session."""
    owner = confirmed_browser(person("alice"))
    handle = AuthenticateStage.handle

    def overtaken(stage: AuthenticateStage) -> Any:
        found = handle(stage)
        pages.sent_at_once([lambda: set_up(owner)])
        return found

    monkeypatch.setattr(AuthenticateStage, "handle", overtaken)
    thief = Client()
    answer = pages.log_in(thief)
    monkeypatch.undo()
    assert answer.headers["Location"] == pages.LOG_IN
    assert (is_in(thief), is_in(owner)) == (False, True)
    assert OVERTAKEN in text_of(thief.get(pages.LOG_IN))


def log_out_elsewhere(browser: Client) -> Any:
    return browser.post(pages.LOG_INS, {"end": "others"})


@pytest.mark.parametrize("end", [set_up, log_out_elsewhere])
def test_a_log_in_that_waits_for_a_code_is_not_completed_afterwards(alice: User, end: Callable[[Client], Any]) -> None:
    app = TOTP.activate(alice, pages.SECRET).instance
    waiting = pages.waiting_for_code()
    if end is set_up:
        app.delete()
    assert end(confirmed_browser(alice)).status_code in (302, 303)
    Authenticator.objects.all().delete()
    TOTP.activate(alice, pages.SECRET)
    User.objects.update(last_totp_step=0)  # the code was used for the set-up
    answer = waiting.post(pages.ENTER_CODE, {"code": totp(pages.SECRET)})
    assert (answer.status_code, answer.headers["Location"]) == (302, pages.LOG_IN)
    assert not is_in(waiting)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("page", "form"),
    [
        (pages.TOKENS, {"name": "thief"}),
        (pages.EMAIL, {"action_add": "", "email": "thief@example.org"}),
        (pages.CHANGE, {"oldpassword": "alice", **pages.NEW_PASSWORD}),
    ],
)
def test_a_change_that_waits_for_the_set_up_is_dropped(
    monkeypatch: pytest.MonkeyPatch, page: str, form: dict[str, str]
) -> None:
    alice = person("alice")
    owner, thief = logged_in(alice), confirmed_browser(alice)
    pages.overtaken_by(lambda: set_up(owner), monkeypatch, actions, "lock_person")
    thief.post(page, form)
    assert not ApiToken.objects.exists()
    assert not EmailAddress.objects.filter(email="thief@example.org").exists()
    alice.refresh_from_db()
    assert alice.check_password("alice")
    assert (is_in(thief), is_in(owner)) == (False, True)


# What confirms a change (`test_stolen_session.py` shows for each change that it asks for a confirmation)


def test_with_a_second_factor_the_password_confirms_nothing(alice: User) -> None:
    TOTP.activate(alice, pages.SECRET)
    browser, page = logged_in(alice), f"{pages.CONFIRM}?next={pages.EMAIL}"
    for answer in (browser.get(page), browser.post(page, {"password": "alice"})):
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith(f"{pages.CONFIRM_BY_CODE}?next=")
    assert browser.get(pages.TOKENS).headers["Location"].startswith(pages.CONFIRM_BY_CODE)
    shown = text_of(browser.get(pages.CONFIRM_BY_CODE))
    assert "your password alone is not enough" in shown
    assert "Use your password" not in shown


@pytest.mark.parametrize("with_app", [True, False])
def test_a_recovery_code_confirms_only_beside_an_app(alice: User, with_app: bool) -> None:
    if with_app:
        TOTP.activate(alice, pages.SECRET)
    code, browser = RecoveryCodes.activate(alice).get_unused_codes()[0], logged_in(alice)
    answer = browser.post(f"{pages.CONFIRM_BY_CODE}?next={pages.EMAIL}", {"code": code})
    assert answer.headers["Location"].startswith(pages.EMAIL if with_app else pages.CONFIRM)
    assert browser.get(pages.TOKENS).status_code == (200 if with_app else 303)


# Recovery codes


def test_a_set_up_replaces_recovery_codes_that_were_left(alice: User) -> None:
    left = RecoveryCodes.activate(alice).get_unused_codes()
    owner = logged_in(alice)
    assert set_up(owner).headers["Location"] == pages.CODES
    shown = owner.get(pages.CODES).context["unused_codes"]
    assert len(shown) == len(left)
    assert not set(shown) & set(left)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("page", [pages.MAKE_CODES, pages.TURN_OFF])
def test_a_change_that_waits_while_the_app_is_turned_off_leaves_no_codes(
    monkeypatch: pytest.MonkeyPatch, page: str
) -> None:
    alice = person("alice")
    TOTP.activate(alice, pages.SECRET)
    first, second = confirmed_browser(alice), confirmed_browser(alice)
    pages.overtaken_by(lambda: second.post(pages.TURN_OFF), monkeypatch, actions, "lock_person")
    answer = first.post(page)
    if page == pages.TURN_OFF:
        assert (answer.status_code, answer.headers["Location"]) == (302, pages.FACTORS)
    else:
        assert answer.status_code == 200
        assert "Set up an authenticator app or add a passkey first" in answer.content.decode()
    assert not Authenticator.objects.exists()


# Accounts from before


def test_a_session_from_before_marks_stays_valid(alice: User) -> None:
    assert alice.session_mark == ""
    assert alice.get_session_auth_hash() == super(User, alice).get_session_auth_hash()
