"""Simultaneous requests about accounts, on real connections: one succeeds, and the others get a clear page."""

from __future__ import annotations

import time
from collections import Counter
from functools import partial
from typing import Any
from urllib.parse import quote

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.conf import settings
from django.test import Client
from django.utils.html import escape

from accounts import actions, try_keys
from accounts.models import AccountMail, ApiToken, User
from accounts.names import NAME_TAKEN
from accounts.password_forms import ChangePassword, ResetPassword, replace_password
from accounts.queries import NAME_ALIKE
from accounts.second_factor import TURNED_OFF
from accounts.sign_up import HAS_ACCOUNT, JUST_TAKEN
from accounts.views import JUST_CHANGED
from tests.conftest import logged_in, person
from tests.support import account_pages as pages
from tests.support.account_pages import claim, confirmed, copied, who
from tests.support.codes import confirmed_browser, totp
from tests.support.pages import text_of

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def statuses(answers: list[Any]) -> list[int]:
    return sorted(answer.status_code for answer in answers)


def refused(answers: list[Any]) -> list[str]:
    """Return the pages of the requests that were not led elsewhere."""
    return [answer.content.decode() for answer in answers if answer.status_code == 200]


def browsers(user: User, number: int) -> list[Client]:
    """Return browsers that share one session of this person, which has just confirmed the password."""
    browser = confirmed_browser(user)
    return [copied(browser) for _ in range(number)]


# Signing up


def signed_up_at_once(*forms: tuple[Client, str]) -> list[Any]:
    """Sign up with these names at the same time. Return the answers."""
    return pages.sent_at_once(
        partial(pages.sign_up, browser, name, email="dora@example.org") for browser, name in forms
    )


TAKEN = (NAME_TAKEN, "A user with that username already exists.", escape(NAME_ALIKE), JUST_TAKEN)
"""Our errors, and allauth's for a name that was taken before the form was read."""


@pytest.mark.usefixtures("optional")
def test_one_of_simultaneous_sign_ups_gets_the_name() -> None:
    for n in range(5):
        answers = signed_up_at_once(*[(Client(), f"dora{n}")] * 4)
        assert statuses(answers) == [200, 200, 200, 302]
        for page in refused(answers):
            assert any(said in page for said in TAKEN), page
        assert User.objects.filter(username=f"dora{n}").count() == 1
    assert EmailAddress.objects.count() == AccountMail.objects.count() == 5


@pytest.mark.usefixtures("optional")
@pytest.mark.parametrize("names", [("dora", "dora"), ("dora1", "doral")])
def test_a_name_taken_after_the_form_was_checked_is_refused_in_the_form(
    names: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have been checked before the first is saved."""
    pages.wait_for_each_other(2, monkeypatch, actions, "promote_guest", after=False)
    answers = signed_up_at_once(*[(Client(), name) for name in names])
    assert statuses(answers) == [200, 302]
    assert JUST_TAKEN in refused(answers)[0]
    assert User.objects.count() == EmailAddress.objects.count() == AccountMail.objects.count() == 1


@pytest.mark.usefixtures("optional")
def test_one_of_simultaneous_sign_ups_of_a_guest_succeeds(monkeypatch: pytest.MonkeyPatch) -> None:
    guest = actions.create_guest()
    browser = logged_in(guest)
    pages.wait_for_each_other(5, monkeypatch, actions, "lock_guest", after=False)
    answers = signed_up_at_once(*[(copied(browser), f"dora{n}") for n in range(5)])
    assert statuses(answers) == [200, 200, 200, 200, 302]
    assert [HAS_ACCOUNT in page for page in refused(answers)] == [True] * 4
    stored = User.objects.get()
    assert (stored.pk, stored.is_guest, stored.check_password(pages.PASSWORD)) == (guest.pk, False, True)
    assert EmailAddress.objects.count() == AccountMail.objects.count() == 1


# Passwords


WORDS = [f"a long way to Bergen {n}" for n in range(4)]


@pytest.mark.parametrize("by_link", [False, True])
def test_one_of_simultaneous_password_changes_succeeds(monkeypatch: pytest.MonkeyPatch, by_link: bool) -> None:
    alice, page, form = person("alice"), pages.CHANGE, {"oldpassword": "alice"}
    some = [Client() if by_link else logged_in(alice) for _ in WORDS]
    if by_link:
        link = pages.reset_link(alice)
        (page,) = {browser.get(link).headers["Location"] for browser in some}
    # No form is saved before all have been checked.
    form_class = ResetPassword if by_link else ChangePassword
    pages.wait_for_each_other(len(WORDS), monkeypatch, form_class, "clean", after=True)
    answers = pages.sent_at_once(
        partial(browser.post, page, {**form, "password1": word, "password2": word})
        for browser, word in zip(some, WORDS, strict=True)
    )
    assert statuses(answers) == [200, 200, 200, 302]
    assert all(JUST_CHANGED in shown for shown in refused(answers))
    alice.refresh_from_db()
    assert sum(alice.check_password(word) for word in WORDS) == 1


SECURITY: dict[str, dict[str, str]] = {
    pages.TOKENS: {"name": "mine"},
    pages.EMAIL: {"action_add": "", "email": "thief@example.org"},
    pages.SET_UP: {},
    pages.TURN_OFF: {},
    pages.MAKE_CODES: {},
}


def credentials_of(user: User) -> list[object]:
    """Return the addresses, the second factors and the tokens of this person."""
    rows = (table.objects.filter(user=user).order_by("pk") for table in (EmailAddress, Authenticator, ApiToken))
    return [list(found.values()) for found in rows]


@pytest.mark.parametrize("page", SECURITY)
def test_a_change_that_waits_for_a_new_password_is_dropped(monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    alice, form = person("alice"), SECURITY[page]
    browser = confirmed_browser(alice)
    if page == pages.SET_UP:
        form = {"code": totp(browser.get(page).context["form"].secret)}
    elif "2fa" in page:
        TOTP.activate(alice, pages.SECRET)
        RecoveryCodes.activate(alice)
    confirmed(alice)
    before = credentials_of(alice)

    def another_password() -> None:
        replace_password(user=User.objects.get(pk=alice.pk), password=WORDS[0])

    pages.overtaken_by(another_password, monkeypatch, actions, "lock_person")
    answer = browser.post(page, form)
    assert (answer.status_code, answer.headers["Location"]) == (303, f"/accounts/login/?next={quote(page, safe='')}")
    assert credentials_of(alice) == before


# Mail addresses


def changed_at_once(user: User, *changes: tuple[str, str]) -> Counter[int]:
    """Press these buttons beside these addresses at the same time. Return how often each status came."""
    asked = zip(browsers(user, len(changes)), changes, strict=True)
    answers = pages.sent_at_once(partial(pages.change_address, browser, *change) for browser, change in asked)
    return Counter(statuses(answers))


def test_one_of_two_accounts_that_confirm_an_address_at_once_gets_it(alice: User, bob: User) -> None:
    for n in range(5):
        links = [pages.confirmation_link(claim(user, f"n{n}@example.org")) for user in (alice, bob)]
        answers = pages.sent_at_once(partial(Client().post, link) for link in links)
        assert set(statuses(answers)) <= {200, 302}
        assert EmailAddress.objects.filter(email=f"n{n}@example.org", verified=True).count() == 1


def test_making_two_addresses_primary_at_once_leaves_one(alice: User) -> None:
    names = [claim(alice, f"n{n}@example.org", verified=True).email for n in range(4)]
    for _ in range(5):
        assert changed_at_once(alice, *[("primary", name) for name in names]) == {302: 4}
        primary = EmailAddress.objects.get(user=alice, primary=True)
        alice.refresh_from_db()
        assert alice.email == primary.email


def test_adding_and_removing_an_address_at_once_does_not_fail(alice: User) -> None:
    confirmed(alice)
    for _ in range(3):
        adding = changed_at_once(alice, *[("add", "new@example.org")] * 4)
        assert adding[302] == 1
        assert set(adding) <= {200, 302}
        assert changed_at_once(alice, *[("remove", "new@example.org")] * 4) == {302: 4}
        assert not EmailAddress.objects.filter(email="new@example.org").exists()


def test_adding_addresses_at_once_respects_the_limit(alice: User) -> None:
    assert set(changed_at_once(alice, *[("add", f"n{n}@example.org") for n in range(12)])) <= {200, 302}
    assert EmailAddress.objects.filter(user=alice).count() == settings.ACCOUNT_MAX_EMAIL_ADDRESSES


def test_simultaneous_requests_for_one_mail_queue_one(alice: User) -> None:
    pages.sent_at_once([partial(pages.ask_reset, alice.email)] * 8)
    assert AccountMail.objects.count() == 1


# Second factors


@pytest.mark.parametrize(("module", "name"), [(actions, "lock_person"), (try_keys, "second_factor")])
def test_of_two_set_ups_at_once_one_succeeds(monkeypatch: pytest.MonkeyPatch, module: Any, name: str) -> None:
    """The second one, in another tab, waits for the lock, or finds that its code was used."""
    browser = confirmed_browser(person("alice"))
    secret = browser.get(pages.SET_UP).context["form"].secret
    tab = Client()
    tab.cookies = browser.cookies
    code = totp(secret, time.time() + 30)
    pages.overtaken_by(lambda: tab.post(pages.SET_UP, {"code": code}), monkeypatch, module, name)
    answer = browser.post(pages.SET_UP, {"code": totp(secret)})
    assert (answer.status_code, answer.headers["Location"]) == (302, pages.FACTORS)
    assert who(browser) == "alice"
    assert Authenticator.objects.count() == 2


def test_a_code_for_an_app_that_was_just_turned_off_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    alice = person("alice")
    TOTP.activate(alice, pages.SECRET)
    owner, browser = confirmed_browser(alice), pages.waiting_for_code()
    pages.overtaken_by(lambda: owner.post(pages.TURN_OFF), monkeypatch, try_keys, "second_factor")
    assert TURNED_OFF in text_of(browser.post(pages.ENTER_CODE, {"code": totp(pages.SECRET)}))
    assert browser.get(pages.ENTER_CODE).headers["Location"] == pages.LOG_IN


def test_pages_about_codes_never_fail_while_codes_are_replaced_and_removed() -> None:
    alice = person("alice")
    for _ in range(5):
        Authenticator.objects.all().delete()
        TOTP.activate(alice, pages.SECRET)
        codes = RecoveryCodes.activate(alice).get_unused_codes()
        changes = (pages.TURN_OFF, pages.MAKE_CODES, pages.MAKE_CODES)
        reads = (pages.CODES, pages.CODES, f"{pages.CODES}download/")
        calls = [partial(confirmed_browser(alice).post, page) for page in changes]
        calls += [partial(confirmed_browser(alice).get, page) for page in reads]
        calls += [partial(pages.waiting_for_code().post, pages.ENTER_CODE, {"code": code}) for code in codes[:3]]
        calls.append(partial(logged_in(alice).post, pages.CONFIRM_BY_CODE, {"code": codes[4]}))
        assert set(statuses(pages.sent_at_once(calls))) <= {200, 302, 303, 404}
        assert not Authenticator.objects.exists()
