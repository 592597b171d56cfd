"""Simultaneous sign-ups, on real connections: one succeeds, and the others get an error."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from django.utils.html import escape
from pytest_django.fixtures import Settings

from accounts import actions
from accounts.models import AccountMail, User
from accounts.names import NAME_TAKEN
from accounts.queries import NAME_ALIKE
from accounts.sign_up import HAS_ACCOUNT, JUST_TAKEN
from tests.conftest import logged_in
from tests.support.web import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

WORD = "a long way to Bergen"


def signed_up_at_once(forms: list[tuple[Client, dict[str, str]]]) -> list[tuple[int, str]]:
    """Send all these sign-ups at the same time. Return the status and the page of each."""

    def post(browser: Client, form: dict[str, str], wait: Callable[[], object]) -> tuple[int, str]:
        wait()
        answer: Any = browser.post("/accounts/signup/", form)
        return answer.status_code, answer.content.decode()

    return at_once([partial(post, *one) for one in forms])


def form(username: str) -> dict[str, str]:
    return {"username": username, "email": "dora@example.org", "password1": WORD, "password2": WORD}


@pytest.fixture(autouse=True)
def verification_is_optional(settings: Settings) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "optional"


TAKEN = (NAME_TAKEN, "A user with that username already exists.")
"""Our errors, and allauth's for a name that was taken before the form was read."""


def test_one_of_simultaneous_sign_ups_gets_the_name() -> None:
    for n in range(5):
        name = f"dora{n}"
        answers = signed_up_at_once([(Client(), form(name)) for _ in range(4)])
        assert sorted(status for status, _ in answers) == [200, 200, 200, 302]
        for status, page in answers:
            assert status == 302 or any(said in page for said in (*TAKEN, escape(NAME_ALIKE), JUST_TAKEN)), page
        assert User.objects.filter(username=name).count() == 1
    assert EmailAddress.objects.count() == AccountMail.objects.count() == 5


@pytest.mark.parametrize("names", [("dora", "dora"), ("dora1", "doral")])
def test_a_name_taken_after_the_form_was_checked_is_refused_in_the_form(
    names: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have been checked before the first is saved."""
    barrier = threading.Barrier(2, timeout=20)
    save = actions.promote_guest

    def wait(**options: Any) -> None:
        barrier.wait()
        save(**options)

    monkeypatch.setattr(actions, "promote_guest", wait)
    answers = signed_up_at_once([(Client(), form(name)) for name in names])
    assert sorted(status for status, _ in answers) == [200, 302]
    assert JUST_TAKEN in next(page for status, page in answers if status == 200)
    assert User.objects.count() == EmailAddress.objects.count() == AccountMail.objects.count() == 1


def test_one_of_simultaneous_sign_ups_of_a_guest_succeeds(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    guest = actions.create_guest()
    session = logged_in(guest).cookies[settings.SESSION_COOKIE_NAME].value
    browsers = [Client() for _ in range(5)]
    for browser in browsers:
        browser.cookies[settings.SESSION_COOKIE_NAME] = session
    barrier = threading.Barrier(len(browsers), timeout=20)
    lock = actions.lock_guest

    def wait(user_id: int) -> User:
        barrier.wait()
        return lock(user_id)

    monkeypatch.setattr(actions, "lock_guest", wait)
    answers = signed_up_at_once([(browser, form(f"dora{n}")) for n, browser in enumerate(browsers)])
    assert sorted(status for status, _ in answers) == [200, 200, 200, 200, 302]
    assert [HAS_ACCOUNT in page for status, page in answers if status == 200] == [True] * 4
    person = User.objects.get()
    assert (person.pk, person.is_guest, person.check_password(WORD)) == (guest.pk, False, True)
    assert EmailAddress.objects.count() == AccountMail.objects.count() == 1
