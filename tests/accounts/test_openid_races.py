"""Simultaneous requests about the OpenID provider, on real connections: one succeeds, and no other breaks."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from http.cookies import SimpleCookie
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth import get_user
from django.test import Client

from accounts import queries
from accounts.models import AccountMail, User
from tests.support.codes import confirmed_browser
from tests.support.openid import DORA, LINK, SIGN_UP, UNLINK, Provider, begin, go_through, text
from tests.support.web import at_once

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

FORM = {"email": "dora@example.org", "time_zone": "UTC"}


def statuses(calls: list[Callable[[], Any]]) -> list[int]:
    """Make all these requests at the same time, and return the status of each, sorted."""

    def run(call: Callable[[], Any], wait: Callable[[], object]) -> int:
        wait()
        status: int = call().status_code
        return status

    return sorted(at_once([partial(run, call) for call in calls]))


def copied(browser: Client) -> Client:
    copy = Client()
    copy.cookies = SimpleCookie({name: morsel.value for name, morsel in browser.cookies.items()})
    return copy


def test_one_of_simultaneous_sign_ups_with_an_identity_makes_an_account(provider: Provider) -> None:
    for n in range(3):
        provider.person = {**DORA, "sub": str(n), "email": f"dora{n}@example.org"}
        browsers = [Client() for _ in range(4)]
        for browser in browsers:
            go_through(browser)
        posts = [
            partial(browser.post, SIGN_UP, {**FORM, "username": f"dora{n}{'abcd'[i]}", "email": f"dora{n}@example.org"})
            for i, browser in enumerate(browsers)
        ]
        assert statuses(list(posts)) == [302] * 4
        assert SocialAccount.objects.filter(uid=str(n)).count() == 1
        assert User.objects.count() == EmailAddress.objects.filter(verified=True).count() == n + 1
        assert sum(get_user(browser).is_authenticated for browser in browsers) == 1


def test_a_double_click_on_sign_up_makes_one_account(provider: Provider) -> None:
    browser = Client()
    go_through(browser)
    clicks = [browser, copied(browser)]
    assert set(statuses([partial(one.post, SIGN_UP, {**FORM, "username": "dora"}) for one in clicks])) <= {200, 302}
    assert User.objects.count() == SocialAccount.objects.count() == 1


def test_a_guest_signs_up_once(provider: Provider) -> None:
    browser = Client()
    browser.post("/play-now/")
    go_through(browser)
    clicks = [browser, copied(browser)]
    answers = statuses([partial(one.post, SIGN_UP, {**FORM, "username": "dora"}) for one in clicks])
    assert set(answers) <= {200, 302}
    assert User.objects.get().username == "dora"
    assert SocialAccount.objects.count() == 1


def test_an_account_gets_one_identity_and_one_mail(provider: Provider, alice: User) -> None:
    EmailAddress.objects.create(user=alice, email=alice.email, verified=True, primary=True)
    browsers = [confirmed_browser(alice) for _ in range(3)]
    ways = []
    for n, browser in enumerate(browsers):
        provider.person = {**DORA, "sub": str(n)}
        ways.append(partial(browser.get, begin(browser, LINK)))
    assert statuses(list(ways)) == [302, 409, 409]
    assert SocialAccount.objects.filter(user=alice).count() == 1
    assert AccountMail.objects.count() == 1


def test_an_identity_gets_one_account(provider: Provider, alice: User, bob: User) -> None:
    ways = []
    for person in (alice, bob):
        browser = confirmed_browser(person)
        ways.append(partial(browser.get, begin(browser, LINK)))
    assert statuses(list(ways)) == [302, 409]
    assert SocialAccount.objects.count() == 1


def test_a_log_in_beside_the_unlinking_leaves_nobody_in(
    provider: Provider, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The identity is found, then unlinked, and then the log-in goes on."""
    SocialAccount.objects.create(user=alice, provider=provider.url, uid=DORA["sub"])
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
    assert not get_user(thief).is_authenticated
    assert get_user(owner).is_authenticated


def test_unlinking_twice_ends_no_session_twice(provider: Provider, alice: User) -> None:
    SocialAccount.objects.create(user=alice, provider=provider.url, uid=DORA["sub"])
    first, second = confirmed_browser(alice), confirmed_browser(alice)
    answers = statuses([partial(one.post, UNLINK) for one in (first, second)])
    assert set(answers) <= {302, 303}
    assert not SocialAccount.objects.exists()
    assert [get_user(one).is_authenticated for one in (first, second)].count(True) == 1


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
    assert statuses(list(ways)) == [302, 302]
