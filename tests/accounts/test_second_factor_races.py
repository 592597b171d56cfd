"""Simultaneous requests about second factors, on real connections: none fails, and each gets a clear page."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth import get_user
from django.test import Client

from accounts import actions, try_keys
from accounts.second_factor import TURNED_OFF
from tests.conftest import logged_in, person
from tests.support.codes import confirmed_browser, totp
from tests.support.pages import text_of
from tests.support.web import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
PAGES, SET_UP, LOG_IN = "/accounts/2fa/", "/accounts/2fa/totp/activate/", "/accounts/2fa/authenticate/"


def first(monkeypatch: pytest.MonkeyPatch, module: Any, name: str, act: Callable[[], object]) -> None:
    """Let `act` happen in another thread before the next call of this function."""
    function = getattr(module, name)

    def overtaken(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(module, name, function)
        at_once([lambda wait: act()])
        return function(*args, **kwargs)

    monkeypatch.setattr(module, name, overtaken)


@pytest.mark.parametrize(("module", "name"), [(actions, "lock_person"), (try_keys, "second_factor")])
def test_of_two_set_ups_at_once_one_succeeds(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
    """The second one, in another tab, waits for the lock, or finds that its code was used."""
    alice = person("alice")
    browser = confirmed_browser(alice)
    secret = browser.get(SET_UP).context["form"].secret
    tab = Client()
    tab.cookies = browser.cookies
    first(monkeypatch, module, name, lambda: tab.post(SET_UP, {"code": totp(secret, time.time() + 30)}))
    answer = browser.post(SET_UP, {"code": totp(secret)})
    assert (answer.status_code, answer.headers["Location"]) == (302, PAGES)
    assert get_user(browser) == alice
    assert Authenticator.objects.count() == 2


def test_a_code_for_an_app_that_was_just_turned_off_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    alice = person("alice")
    TOTP.activate(alice, SECRET)
    owner, browser = confirmed_browser(alice), Client()
    browser.post("/accounts/login/", {"login": "alice", "password": "alice"})
    first(monkeypatch, try_keys, "second_factor", lambda: owner.post(f"{PAGES}totp/deactivate/"))
    assert TURNED_OFF in text_of(browser.post(LOG_IN, {"code": totp(SECRET)}))
    assert browser.get(LOG_IN).headers["Location"] == "/accounts/login/"


def test_pages_about_codes_never_fail_while_codes_are_replaced_and_removed() -> None:
    alice = person("alice")
    for _ in range(5):
        Authenticator.objects.all().delete()
        TOTP.activate(alice, SECRET)
        codes = RecoveryCodes.activate(alice).get_unused_codes()
        changes = ("totp/deactivate/", "recovery-codes/generate/", "recovery-codes/generate/")
        reads = ("recovery-codes/", "recovery-codes/", "recovery-codes/download/")
        calls = [partial(act, confirmed_browser(alice).post, f"{PAGES}{page}") for page in changes]
        calls += [partial(act, confirmed_browser(alice).get, f"{PAGES}{page}") for page in reads]
        for code in codes[:3]:
            visitor = Client()
            visitor.post("/accounts/login/", {"login": "alice", "password": "alice"})
            calls.append(partial(act, partial(visitor.post, data={"code": code}), LOG_IN))
        calls.append(partial(act, partial(logged_in(alice).post, data={"code": codes[4]}), f"{PAGES}reauthenticate/"))
        assert set(at_once(calls)) <= {200, 302, 303, 404}
        assert not Authenticator.objects.exists()


def act(send: Callable[[str], Any], page: str, wait: Callable[[], object]) -> int:
    wait()
    status: int = send(page).status_code
    return status
