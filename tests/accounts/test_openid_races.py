"""Simultaneous requests about the OpenID provider, on real connections: one succeeds, and no other breaks."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.test import Client

from accounts import queries
from accounts.models import AccountMail, User
from tests.support.account_pages import confirmed, copied, is_in, sent_at_once
from tests.support.codes import confirmed_browser
from tests.support.openid import DORA, LINK, SIGN_UP, UNLINK, Provider, begin, go_through, linked, text

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def statuses(requests: Iterable[Callable[[], Any]]) -> list[int]:
    """Make all these requests at the same time, and return the status of each, sorted."""
    return sorted(answer.status_code for answer in sent_at_once(requests))


def sign_up(browser: Client, name: str = "dora", address: str = "dora@example.org") -> Any:
    return browser.post(SIGN_UP, {"username": name, "email": address, "time_zone": "UTC"})


def test_one_of_simultaneous_sign_ups_with_an_identity_makes_an_account(provider: Provider) -> None:
    for n in range(3):
        address = f"dora{n}@example.org"
        provider.person = {**DORA, "sub": str(n), "email": address}
        browsers = [Client() for _ in range(4)]
        for browser in browsers:
            go_through(browser)
        posts = [partial(sign_up, browser, f"dora{n}{'abcd'[i]}", address) for i, browser in enumerate(browsers)]
        assert statuses(posts) == [302] * 4
        assert SocialAccount.objects.filter(uid=str(n)).count() == 1
        assert User.objects.count() == EmailAddress.objects.filter(verified=True).count() == n + 1
        assert [is_in(browser) for browser in browsers].count(True) == 1


@pytest.mark.parametrize("is_guest", [False, True])
def test_a_double_click_on_sign_up_makes_one_account(provider: Provider, is_guest: bool) -> None:
    browser = Client()
    if is_guest:
        browser.post("/play-now/")
    go_through(browser)
    assert set(statuses(partial(sign_up, one) for one in (browser, copied(browser)))) <= {200, 302}
    assert User.objects.get().username == "dora"
    assert SocialAccount.objects.count() == 1


def test_an_account_gets_one_identity_and_one_mail(provider: Provider, alice: User) -> None:
    confirmed(alice)
    ways = []
    for n in range(3):
        provider.person = {**DORA, "sub": str(n)}
        browser = confirmed_browser(alice)
        ways.append(partial(browser.get, begin(browser, LINK)))
    assert statuses(ways) == [302, 409, 409]
    assert SocialAccount.objects.filter(user=alice).count() == 1
    assert AccountMail.objects.count() == 1


def test_an_identity_gets_one_account(provider: Provider, alice: User, bob: User) -> None:
    browsers = [confirmed_browser(person) for person in (alice, bob)]
    ways = [partial(browser.get, begin(browser, LINK)) for browser in browsers]
    assert statuses(ways) == [302, 409]
    assert SocialAccount.objects.count() == 1


def test_a_log_in_beside_the_unlinking_leaves_nobody_in(
    provider: Provider, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The identity is found, then unlinked, and then the log-in goes on."""
    linked(alice, provider)
    owner, thief = confirmed_browser(alice), Client()
    found = queries.identity_with

    def meanwhile(**identity: str) -> SocialAccount | None:
        row = found(**identity)
        assert owner.post(UNLINK).status_code == 302
        return row

    there = begin(thief)
    with monkeypatch.context() as patch:
        patch.setattr(queries, "identity_with", meanwhile)
        assert thief.get(there)["Location"] == "/accounts/login/"
    assert not SocialAccount.objects.exists()
    assert (is_in(thief), is_in(owner)) == (False, True)


def test_unlinking_twice_ends_no_session_twice(provider: Provider, alice: User) -> None:
    linked(alice, provider)
    browsers = [confirmed_browser(alice) for _ in range(2)]
    assert set(statuses(partial(one.post, UNLINK) for one in browsers)) <= {302, 303}
    assert not SocialAccount.objects.exists()
    assert [is_in(one) for one in browsers].count(True) == 1


def test_two_people_come_back_with_a_new_key_of_the_provider(provider: Provider) -> None:
    def late(handler: Any) -> None:
        time.sleep(0.2)
        text(200, json.dumps(provider.public_keys()))(handler)

    browsers = [Client(), Client(), Client()]
    go_through(browsers[0])
    provider.keys, provider.header = ["second"], {"kid": "second"}
    provider.faults["/keys"] = late
    provider.key("second")
    ways = [partial(browser.get, begin(browser)) for browser in browsers[1:]]
    assert statuses(ways) == [302, 302]
