"""Simultaneous requests about mail addresses, on real connections: none fails, and the limits hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.conf import settings
from django.test import Client
from django.urls import reverse

from accounts import confirmation_keys
from accounts.models import AccountMail, User
from tests.support.codes import confirmed_browser
from tests.support.web import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def post_all(requests: list[tuple[Client, str, dict[str, str]]]) -> Counter[int]:
    """Post all these at the same time, and return how often each status came."""

    def post(browser: Client, path: str, form: dict[str, str], wait: Callable[[], object]) -> int:
        wait()
        answer: Any = browser.post(path, form)
        status: int = answer.status_code
        return status

    return Counter(at_once([partial(post, *one) for one in requests]))


def browsers(user: User, number: int) -> list[Client]:
    """Return browsers that share one session of this person, which has just confirmed the password."""
    session = confirmed_browser(user).cookies[settings.SESSION_COOKIE_NAME].value
    found = [Client() for _ in range(number)]
    for browser in found:
        browser.cookies[settings.SESSION_COOKIE_NAME] = session
    return found


def test_one_of_two_accounts_that_confirm_an_address_at_once_gets_it(alice: User, bob: User) -> None:
    for n in range(5):
        links = []
        for user in (alice, bob):
            claim = EmailAddress.objects.create(user=user, email=f"n{n}@example.org")
            links.append(reverse("account_confirm_email", args=[confirmation_keys.key_of(claim)]))
        statuses = post_all([(Client(), link, {}) for link in links])
        assert set(statuses) <= {200, 302}, statuses
        assert EmailAddress.objects.filter(email=f"n{n}@example.org", verified=True).count() == 1


def test_making_two_addresses_primary_at_once_leaves_one(alice: User) -> None:
    names = [f"n{n}@example.org" for n in range(4)]
    for name in names:
        EmailAddress.objects.create(user=alice, email=name, verified=True)
    for _ in range(5):
        forms = [{"action_primary": "", "email": name} for name in names]
        statuses = post_all([(b, "/accounts/email/", form) for b, form in zip(browsers(alice, 4), forms, strict=True)])
        assert statuses == {302: 4}
        primary = EmailAddress.objects.get(user=alice, primary=True)
        alice.refresh_from_db()
        assert alice.email == primary.email


def test_adding_and_removing_an_address_at_once_does_not_fail(alice: User) -> None:
    EmailAddress.objects.create(user=alice, email=alice.email, verified=True, primary=True)
    for _ in range(3):
        adding = [(b, "/accounts/email/", {"action_add": "", "email": "new@example.org"}) for b in browsers(alice, 4)]
        statuses = post_all(adding)
        assert statuses[302] == 1
        assert set(statuses) <= {200, 302}
        removing = [
            (b, "/accounts/email/", {"action_remove": "", "email": "new@example.org"}) for b in browsers(alice, 4)
        ]
        assert post_all(removing) == {302: 4}
        assert not EmailAddress.objects.filter(email="new@example.org").exists()


def test_adding_addresses_at_once_respects_the_limit(alice: User) -> None:
    forms = [{"action_add": "", "email": f"n{n}@example.org"} for n in range(12)]
    statuses = post_all([(b, "/accounts/email/", form) for b, form in zip(browsers(alice, 12), forms, strict=True)])
    assert set(statuses) <= {200, 302}
    assert EmailAddress.objects.filter(user=alice).count() == settings.ACCOUNT_MAX_EMAIL_ADDRESSES


def test_simultaneous_requests_for_one_mail_queue_one(alice: User) -> None:
    statuses = post_all([(Client(), "/accounts/password/reset/", {"email": alice.email}) for _ in range(8)])
    assert statuses == {302: 8}
    assert AccountMail.objects.count() == 1
