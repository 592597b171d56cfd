"""Simultaneous new passwords, on real connections: one is set, and the others get an error."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.test import Client

from accounts import actions
from accounts.models import ApiToken, User
from accounts.password_forms import ChangePassword, ResetPassword, replace_password
from accounts.views import JUST_CHANGED
from tests.accounts.test_stolen_session import SECRET, reset_link
from tests.conftest import logged_in, person
from tests.support.codes import confirmed_browser, totp
from tests.support.web import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

WORDS = [f"a long way to Bergen {n}" for n in range(4)]


def set_at_once(browsers: list[Client], path: str, **form: str) -> list[tuple[int, str]]:
    """Set a new password in each of these browsers at the same time. Return the status and the page of each."""

    def post(browser: Client, word: str, wait: Callable[[], object]) -> tuple[int, str]:
        wait()
        answer: Any = browser.post(path, {**form, "password1": word, "password2": word})
        return answer.status_code, answer.content.decode()

    return at_once([partial(post, *one) for one in zip(browsers, WORDS, strict=True)])


def check_together(monkeypatch: pytest.MonkeyPatch, form: type[Any]) -> None:
    """Let no request continue before all have been checked."""
    barrier, clean = threading.Barrier(len(WORDS), timeout=20), form.clean

    def wait(self: Any) -> Any:
        cleaned = clean(self)
        barrier.wait()
        return cleaned

    monkeypatch.setattr(form, "clean", wait)


def assert_one_was_set(user: User, answers: list[tuple[int, str]]) -> None:
    assert sorted(status for status, _ in answers) == [200, 200, 200, 302]
    assert all(JUST_CHANGED in page for status, page in answers if status == 200)
    user.refresh_from_db()
    assert sum(user.check_password(word) for word in WORDS) == 1


def test_one_of_simultaneous_password_changes_succeeds(monkeypatch: pytest.MonkeyPatch) -> None:
    alice = person("alice")
    browsers = [logged_in(alice) for _ in WORDS]
    check_together(monkeypatch, ChangePassword)
    assert_one_was_set(alice, set_at_once(browsers, "/accounts/password/change/", oldpassword="alice"))


def test_one_of_simultaneous_resets_by_one_link_succeeds(monkeypatch: pytest.MonkeyPatch) -> None:
    alice = person("alice")
    link = reset_link(alice)
    browsers = [Client() for _ in WORDS]
    (page,) = {browser.get(link).headers["Location"] for browser in browsers}
    check_together(monkeypatch, ResetPassword)
    assert_one_was_set(alice, set_at_once(browsers, page))


SECURITY: dict[str, tuple[str, dict[str, str]]] = {
    "make a token": ("/accounts/me/tokens/", {"name": "mine"}),
    "add an address": ("/accounts/email/", {"action_add": "", "email": "thief@example.org"}),
    "set up an app": ("/accounts/2fa/totp/activate/", {}),
    "turn the app off": ("/accounts/2fa/totp/deactivate/", {}),
    "make recovery codes": ("/accounts/2fa/recovery-codes/generate/", {}),
}


def credentials_of(user: User) -> list[object]:
    """Return the addresses, the second factors and the tokens of this person."""
    rows = (table.objects.filter(user=user).order_by("pk") for table in (EmailAddress, Authenticator, ApiToken))
    return [list(found.values()) for found in rows]


@pytest.mark.parametrize("change", SECURITY)
def test_a_change_that_waits_for_a_new_password_is_dropped(monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    alice, (page, form) = person("alice"), SECURITY[change]
    browser = confirmed_browser(alice)
    if change == "set up an app":
        form = {"code": totp(browser.get(page).context["form"].secret)}
    elif "2fa" in page:
        TOTP.activate(alice, SECRET)
        RecoveryCodes.activate(alice)
    EmailAddress.objects.create(user=alice, email="alice@example.org", verified=True, primary=True)
    before, lock = credentials_of(alice), actions.lock_person

    def overtaken(user_id: int) -> User:
        """Lock the person after another request has set a new password."""
        monkeypatch.setattr(actions, "lock_person", lock)
        at_once([lambda wait: replace_password(user=User.objects.get(pk=user_id), password=WORDS[0])])
        return lock(user_id)

    monkeypatch.setattr(actions, "lock_person", overtaken)
    answer = browser.post(page, form)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/accounts/login/?next={quote(page, safe='')}")
    assert credentials_of(alice) == before
