"""A second factor that is set up ends what the password alone has opened, and then only a code confirms changes."""

from __future__ import annotations

from collections.abc import Callable
from http.cookies import SimpleCookie
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.stages import AuthenticateStage
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth import get_user
from django.test import Client

from accounts import actions
from accounts.adapter import OVERTAKEN
from accounts.models import ApiToken, Session, User
from tests.conftest import api_token, logged_in, person
from tests.support.codes import confirmed_browser, totp
from tests.support.pages import text_of
from tests.support.web import at_once

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
WORD = "a long way to Bergen"
CONFIRM, BY_CODE, SET_UP = "/accounts/reauthenticate/", "/accounts/2fa/reauthenticate/", "/accounts/2fa/totp/activate/"
EMAIL, CODES, PASSWORD = "/accounts/email/", "/accounts/2fa/recovery-codes/", "/accounts/password/change/"


def is_in(browser: Client) -> bool:
    return get_user(browser).is_authenticated


def set_up(browser: Client, **more: str) -> Any:
    """Set up an app in this browser of Alice. Return the answer."""
    browser.post(CONFIRM, {"password": "alice"})
    secret = browser.get(SET_UP).context["form"].secret
    return browser.post(SET_UP, {"code": totp(secret), **more})


# What is open


@pytest.mark.django_db(transaction=True)
def test_setting_up_an_app_ends_all_other_sessions(alice: User, bob: User) -> None:
    owner, thief, bobs = logged_in(alice), confirmed_browser(alice), logged_in(bob)
    copy = Client()
    copy.cookies = SimpleCookie(owner.cookies)
    answer = set_up(owner)
    assert (answer.status_code, answer.headers["Location"]) == (302, CODES)
    assert [is_in(browser) for browser in (owner, thief, copy, bobs)] == [True, False, False, True]
    assert "You are logged out everywhere else" in text_of(owner.get(CODES))
    assert [session.session_key for session in Session.objects.filter(user=alice)] == [owner.session.session_key]
    assert thief.post(CONFIRM, {"password": "alice"}).headers["Location"].startswith("/accounts/login/")


@pytest.mark.long
@pytest.mark.parametrize(("ticked", "left"), [({"revoke_tokens": "on"}, 0), ({}, 1)])
def test_setting_up_an_app_asks_about_api_tokens(alice: User, ticked: dict[str, str], left: int) -> None:
    api_token(alice)
    browser = logged_in(alice)
    browser.post(CONFIRM, {"password": "alice"})
    assert 'name="revoke_tokens"' in browser.get(SET_UP).content.decode()
    assert set_up(browser, **ticked).status_code == 302
    assert ApiToken.objects.filter(user=alice).count() == left


def test_setting_up_an_app_does_not_ask_about_tokens_that_do_not_exist(alice: User) -> None:
    browser = confirmed_browser(alice)
    assert 'name="revoke_tokens"' not in browser.get(SET_UP).content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_log_in_without_a_code_is_not_completed_after_the_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """The log-in has found no second factor, and the app is set up before the log-in has made its session."""
    alice = person("alice")
    owner = confirmed_browser(alice)
    handle = AuthenticateStage.handle

    def overtaken(stage: AuthenticateStage) -> Any:
        found = handle(stage)
        at_once([lambda wait: set_up(owner)])
        return found

    monkeypatch.setattr(AuthenticateStage, "handle", overtaken)
    thief = Client()
    answer = thief.post("/accounts/login/", {"login": "alice", "password": "alice"})
    monkeypatch.undo()
    assert answer.headers["Location"] == "/accounts/login/"
    assert (is_in(thief), is_in(owner)) == (False, True)
    assert OVERTAKEN in text_of(thief.get("/accounts/login/"))


def log_out_elsewhere(browser: Client) -> Any:
    return browser.post("/accounts/me/sessions/", {"end": "others"})


@pytest.mark.parametrize("end", [set_up, log_out_elsewhere])
def test_a_log_in_that_waits_for_a_code_is_not_completed_afterwards(alice: User, end: Callable[[Client], Any]) -> None:
    app = TOTP.activate(alice, SECRET).instance
    waiting = Client()
    waiting.post("/accounts/login/", {"login": "alice", "password": "alice"})
    if end is set_up:
        app.delete()
    assert end(confirmed_browser(alice)).status_code in (302, 303)
    Authenticator.objects.all().delete()
    TOTP.activate(alice, SECRET)
    User.objects.update(last_totp_step=0)  # the code was used for the set-up
    answer = waiting.post("/accounts/2fa/authenticate/", {"code": totp(SECRET)})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/accounts/login/")
    assert not is_in(waiting)


CHANGES = {
    "make a token": ("/accounts/me/tokens/", {"name": "thief"}),
    "add an address": (EMAIL, {"action_add": "", "email": "thief@example.org"}),
    "turn the app off": ("/accounts/2fa/totp/deactivate/", {}),
    "make recovery codes": (f"{CODES}generate/", {}),
    "change the password": (PASSWORD, {"oldpassword": "alice", "password1": WORD, "password2": WORD}),
}


def unchanged(alice: User) -> None:
    assert not ApiToken.objects.exists()
    assert not EmailAddress.objects.filter(email="thief@example.org").exists()
    alice.refresh_from_db()
    assert alice.check_password("alice")


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", ["make a token", "add an address", "change the password"])
def test_a_change_that_waits_for_the_set_up_is_dropped(monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    alice, (page, form) = person("alice"), CHANGES[change]
    owner, thief, lock = logged_in(alice), confirmed_browser(alice), actions.lock_person

    def overtaken(user_id: int) -> User:
        """Lock the person after the owner has set up an app."""
        monkeypatch.setattr(actions, "lock_person", lock)
        at_once([lambda wait: set_up(owner)])
        return lock(user_id)

    monkeypatch.setattr(actions, "lock_person", overtaken)
    thief.post(page, form)
    unchanged(alice)
    assert (is_in(thief), is_in(owner)) == (False, True)


# What confirms a change


def test_with_a_second_factor_the_password_confirms_nothing(alice: User) -> None:
    TOTP.activate(alice, SECRET)
    browser, page = logged_in(alice), f"{CONFIRM}?next={EMAIL}"
    for answer in (browser.get(page), browser.post(page, {"password": "alice"})):
        assert answer.status_code == 302
        assert answer.headers["Location"].startswith(f"{BY_CODE}?next=")
    assert browser.get("/accounts/me/tokens/").headers["Location"].startswith(BY_CODE)
    page = text_of(browser.get(BY_CODE))
    assert "your password alone is not enough" in page
    assert "Use your password" not in page


@pytest.mark.parametrize("code", ["app", "recovery"])
def test_with_a_second_factor_a_code_confirms(alice: User, code: str) -> None:
    TOTP.activate(alice, SECRET)
    codes = RecoveryCodes.activate(alice).get_unused_codes()
    browser = logged_in(alice)
    sent = totp(SECRET) if code == "app" else codes[0]
    assert browser.post(f"{BY_CODE}?next={EMAIL}", {"code": sent}).headers["Location"] == EMAIL
    assert browser.get("/accounts/me/tokens/").status_code == 200


@pytest.mark.long
@pytest.mark.parametrize("change", CHANGES)
def test_a_session_and_the_password_change_nothing(alice: User, change: str) -> None:
    TOTP.activate(alice, SECRET)
    RecoveryCodes.activate(alice)
    page, form = CHANGES[change]
    thief = logged_in(alice)
    thief.post(CONFIRM, {"password": "alice"})
    before = list(Authenticator.objects.order_by("pk").values("pk", "data"))
    answer = thief.post(page, form)
    assert answer.status_code == 303
    assert answer.headers["Location"].startswith(f"{BY_CODE}?next=")
    assert list(Authenticator.objects.order_by("pk").values("pk", "data")) == before
    unchanged(alice)


def test_recovery_codes_without_an_app_confirm_nothing(alice: User) -> None:
    codes = RecoveryCodes.activate(alice).get_unused_codes()
    browser = logged_in(alice)
    assert browser.post(BY_CODE, {"code": codes[0]}).headers["Location"].startswith(CONFIRM)
    assert browser.get("/accounts/me/tokens/").headers["Location"].startswith(CONFIRM)


# Recovery codes


def test_a_set_up_replaces_recovery_codes_that_were_left(alice: User) -> None:
    left = RecoveryCodes.activate(alice).get_unused_codes()
    owner = logged_in(alice)
    assert set_up(owner).headers["Location"] == CODES
    shown = owner.get(CODES).context["unused_codes"]
    assert len(shown) == len(left)
    assert not set(shown) & set(left)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("change", ["make recovery codes", "turn the app off"])
def test_a_change_that_waits_while_the_app_is_turned_off_leaves_no_codes(
    monkeypatch: pytest.MonkeyPatch, change: str
) -> None:
    alice, (page, form) = person("alice"), CHANGES[change]
    TOTP.activate(alice, SECRET)
    first, second, lock = confirmed_browser(alice), confirmed_browser(alice), actions.lock_person

    def overtaken(user_id: int) -> User:
        """Lock the person after another request has turned the app off."""
        monkeypatch.setattr(actions, "lock_person", lock)
        at_once([lambda wait: second.post("/accounts/2fa/totp/deactivate/")])
        return lock(user_id)

    monkeypatch.setattr(actions, "lock_person", overtaken)
    answer = first.post(page, form)
    if change == "turn the app off":
        assert (answer.status_code, answer.headers["Location"]) == (302, "/accounts/2fa/")
    else:
        assert answer.status_code == 200
        assert "Set up an authenticator app or add a passkey first" in answer.content.decode()
    assert not Authenticator.objects.exists()


# Accounts from before


def test_a_session_from_before_marks_stays_valid(alice: User) -> None:
    assert alice.session_mark == ""
    assert alice.get_session_auth_hash() == super(User, alice).get_session_auth_hash()
