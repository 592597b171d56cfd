"""The account pages as people use them: their paths, a function for each form, and the links in mails."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from http.cookies import SimpleCookie
from typing import Any, Final

import pytest
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from django.conf import settings
from django.contrib.auth import get_user
from django.core import mail
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from accounts import confirmation_keys
from accounts.models import User
from accounts.reset_tokens import ResetTokens
from mail import outbox
from tests.support.codes import totp
from tests.support.web import at_once

LOG_IN, LOG_OUT, SIGN_UP = "/accounts/login/", "/accounts/logout/", "/accounts/signup/"
ACCOUNT, EMAIL, SEND_AGAIN = "/accounts/me/", "/accounts/email/", "/accounts/email/again/"
TOKENS, LOG_INS = "/accounts/me/tokens/", "/accounts/me/sessions/"
CHANGE, SET, RESET = "/accounts/password/change/", "/accounts/password/set/", "/accounts/password/reset/"
FACTORS, SET_UP, TURN_OFF = "/accounts/2fa/", "/accounts/2fa/totp/activate/", "/accounts/2fa/totp/deactivate/"
CODES, MAKE_CODES = "/accounts/2fa/recovery-codes/", "/accounts/2fa/recovery-codes/generate/"
CONFIRM, CONFIRM_BY_CODE = "/accounts/reauthenticate/", "/accounts/2fa/reauthenticate/"
ENTER_CODE, CONFIRM_ADDRESS, MOVE_SEATS = "/accounts/2fa/authenticate/", "/accounts/confirm-email/", "/move-seats/"
SECRET: Final = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
"""The secret of an app."""
PASSWORD: Final = "a long way to Bergen"
"""A password that the site accepts."""
NEW_PASSWORD: Final = {"password1": PASSWORD, "password2": PASSWORD}
"""The fields of a form that sets it."""


# Browsers


def is_in(browser: Client) -> bool:
    return get_user(browser).is_authenticated


def who(browser: Client) -> str:
    """Return the username of this browser's person, or ""."""
    return get_user(browser).get_username()


def copied(browser: Client) -> Client:
    """Return another browser with a copy of this one's session cookie, as a thief has it."""
    thief = Client()
    thief.cookies = SimpleCookie({settings.SESSION_COOKIE_NAME: browser.cookies[settings.SESSION_COOKIE_NAME].value})
    return thief


# Forms


def log_in(browser: Client, name: str = "alice", password: str = "") -> Any:
    """Log in by name or address. The password of the cast is their name."""
    return browser.post(LOG_IN, {"login": name, "password": password or name})


def waiting_for_code(name: str = "alice") -> Client:
    """Return a browser in which this person, who has a second factor, has typed the password."""
    browser = Client()
    assert log_in(browser, name).headers["Location"] == ENTER_CODE
    return browser


def sign_up(browser: Client, username: str = "dora", **more: str) -> Any:
    return browser.post(SIGN_UP, {"username": username, **NEW_PASSWORD, **more})


def set_up_app(browser: Client, **more: str) -> tuple[str, Any]:
    """Set up an app in a browser whose person has just confirmed the password. Return its secret and the answer."""
    secret: str = browser.get(SET_UP).context["form"].secret
    return secret, browser.post(SET_UP, {"code": totp(secret), **more})


def change_address(browser: Client, action: str, address: str) -> Any:
    """Press the button to `add`, `remove` or `send` (the confirmation again), or to make `primary`."""
    return browser.post(EMAIL, {f"action_{action}": "", "email": address})


def change_password(browser: Client, mine: Sequence[str] | None = None, **more: str) -> int:
    """Change Alice's password, and keep the addresses `mine`. None sends a form that does not ask for them.

    Return the status.
    """
    asked: dict[str, object] = {} if mine is None else {"asked": "True", "mine": list(mine)}
    return browser.post(CHANGE, {"oldpassword": "alice", **NEW_PASSWORD, **asked, **more}).status_code


def ask_reset(address: str) -> None:
    assert Client().post(RESET, {"email": address}).status_code == 302


def reset_password(browser: Client, link: str) -> int:
    """Open the link of a reset mail and set a new password. Return the status."""
    page = browser.get(link)
    return browser.post(page.headers.get("Location", link), NEW_PASSWORD).status_code


# Addresses, and the mails to them


def claim(user: User, address: str = "", *, verified: bool = False, primary: bool = False) -> EmailAddress:
    """Store an address of this person, by default the one of the account."""
    return EmailAddress.objects.create(user=user, email=address or user.email, verified=verified, primary=primary)


def confirmed(user: User, address: str = "") -> EmailAddress:
    """Store a confirmed primary address of this person, by default the one of the account."""
    return claim(user, address, verified=True, primary=True)


def confirmation_link(address: EmailAddress) -> str:
    """Return the path of the link in the mail that asks to confirm this address."""
    path: str = reverse("account_confirm_email", args=[confirmation_keys.key_of(address)])
    return path


def reset_link(user: User, address: str = "") -> str:
    """Return the path of the link in the mail to this address (or the account's first) that resets the password."""
    token = ResetTokens(address or user.email).make_token(user)
    path: str = reverse("account_reset_password_from_key", args=[user_pk_to_url_str(user), token])
    return path


def new_mails() -> list[Any]:
    """Send what is due, and return the mails that were sent now."""
    before = len(mail.outbox)
    outbox.deliver(clock=timezone.now)
    return mail.outbox[before:]


def links_to(page: str, message: Any) -> list[str]:
    """Return the paths of the links in a mail that lead to `/accounts/PAGE/`."""
    return re.findall(rf"https?://[^/\s]+(/accounts/{page}/\S+)", str(message.body))


# Requests at the same time


def sent_at_once(requests: Iterable[Callable[[], Any]]) -> list[Any]:
    """Make these requests at the same time. Return their answers."""

    def send(request: Callable[[], Any], wait: Callable[[], object]) -> Any:
        wait()
        return request()

    return at_once([partial(send, one) for one in requests])


def overtaken_by(act: Callable[[], object], monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
    """Let `act` happen in another thread before the next call of this function."""
    function = getattr(module, name)

    def overtaken(*args: Any, **kwargs: Any) -> Any:
        monkeypatch.setattr(module, name, function)
        sent_at_once([act])
        return function(*args, **kwargs)

    monkeypatch.setattr(module, name, overtaken)


def wait_for_each_other(number: int, monkeypatch: pytest.MonkeyPatch, module: Any, name: str, *, after: bool) -> None:
    """Let no call of this function begin (or, with `after`, return) before that many have come there."""
    barrier, function = threading.Barrier(number, timeout=20), getattr(module, name)

    def together(*args: Any, **kwargs: Any) -> Any:
        if not after:
            barrier.wait()
        result = function(*args, **kwargs)
        if after:
            barrier.wait()
        return result

    monkeypatch.setattr(module, name, together)
