"""Every confirmed address of an account is notified of each change to its security settings."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts import mails
from accounts.models import AccountMail, ApiToken, User
from tests.conftest import logged_in
from tests.support import account_pages as pages
from tests.support.codes import confirmed_browser

BOTH: Final = ["alice@example.org", "second@example.org"]
TOKEN: Final = {"An API token was created": BOTH}


@pytest.fixture(autouse=True)
def only_confirmed_addresses(addresses: None, settings: Settings) -> None:
    """Let the site mail only to confirmed addresses."""
    settings.MAIL_NEEDS_VERIFIED = True


def receivers_by_subject() -> dict[str, list[str]]:
    """Send what is due, and return the receivers of each mail by its subject."""
    found: dict[str, list[str]] = {}
    for message in pages.new_mails():
        found.setdefault(message.subject, []).extend(message.to)
    return {subject: sorted(to) for subject, to in found.items()}


def text() -> str:
    """Return the text of the first mail that was sent."""
    return str(mail.outbox[0].body)


CHANGES: Final[dict[str, tuple[Callable[[User], object], dict[str, list[str]], str]]] = {
    "a confirmed address is removed": (  # and gets a notice itself
        lambda alice: pages.change_address(confirmed_browser(alice), "remove", "second@example.org"),
        {"An email address was removed": BOTH},
        "The email address second@example.org was removed from your account.",
    ),
    "a claimed address is removed": (
        lambda alice: pages.change_address(confirmed_browser(alice), "remove", "third@example.org"),
        {"An email address was removed": BOTH},
        "The email address third@example.org was removed from your account.",
    ),
    "another address is primary": (
        lambda alice: pages.change_address(confirmed_browser(alice), "primary", "second@example.org"),
        {"Your email address was changed": BOTH},
        "changed from alice@example.org to second@example.org.",
    ),
    "the password is changed": (
        lambda alice: pages.change_password(logged_in(alice)),
        {"Your password was changed": BOTH},
        "Your password was changed.",
    ),
    "an address is not kept with a new password": (
        lambda alice: pages.change_password(logged_in(alice), ["alice@example.org"]),
        {"An email address was removed": BOTH, "Your password was changed": ["alice@example.org"]},
        "second@example.org was removed from your account.",
    ),
    "the password is reset": (
        lambda alice: pages.reset_password(Client(), pages.reset_link(alice)),
        {"Your password was changed": BOTH},
        "A new password was set using the link in an email to you.",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_notified(alice: User, change: str) -> None:
    act, told, sentence = CHANGES[change]
    act(alice)
    assert receivers_by_subject() == told
    assert sentence in text()


def test_adding_an_address_is_notified(alice: User) -> None:
    pages.change_address(confirmed_browser(alice), "add", "thief@example.org")
    assert receivers_by_subject() == {
        "Confirm your email address": ["thief@example.org"],
        "An email address was added": BOTH,
    }
    notice = next(str(message.body) for message in mail.outbox if message.to == ["second@example.org"])
    assert "The email address thief@example.org was added to your account." in notice
    assert "choose a new password now" in notice
    assert "http://127.0.0.1:8000/accounts/password/reset/" in notice


@pytest.mark.parametrize("needs_verified", [True, False])
def test_an_unconfirmed_address_is_not_notified_of_its_removal(
    bob: User, settings: Settings, needs_verified: bool
) -> None:
    settings.MAIL_NEEDS_VERIFIED = needs_verified
    User.objects.filter(pk=bob.pk).update(email="")
    bob.refresh_from_db()
    browser = confirmed_browser(bob)
    pages.change_address(browser, "add", "stranger@example.org")
    AccountMail.objects.all().delete()
    pages.change_address(browser, "remove", "stranger@example.org")
    assert not EmailAddress.objects.filter(user=bob, email="stranger@example.org").exists()
    assert receivers_by_subject() == {}


@pytest.mark.parametrize(
    ("sender", "contact"), [("No Mercy <help@cards.example>", ": help@cards.example"), ("no-reply@cards.example", ".")]
)
def test_a_removed_address_is_told_what_it_can_do(alice: User, settings: Settings, sender: str, contact: str) -> None:
    settings.DEFAULT_FROM_EMAIL = sender
    pages.change_address(confirmed_browser(alice), "remove", "second@example.org")
    texts = {message.to[0]: str(message.body) for message in pages.new_mails()}
    removed, kept = texts["second@example.org"], texts["alice@example.org"]
    assert "ask for a new password now, using another address of your account" in removed
    assert "second@example.org cannot be used for that." in removed
    assert "http://127.0.0.1:8000/accounts/login/" in removed
    assert "If it was not you, choose a new password now." in kept
    assert all(f"contact this site’s operators{contact}\n" in text for text in texts.values())


def test_new_tokens_are_notified_without_their_names_and_once_while_the_notice_waits(alice: User) -> None:
    browser = confirmed_browser(alice)
    for _ in range(3):
        browser.post(pages.TOKENS, {"name": "see https://evil.example"})
    assert ApiToken.objects.count() == 3
    assert sorted(AccountMail.objects.values_list("address", flat=True)) == BOTH
    assert receivers_by_subject() == TOKEN
    assert "evil" not in text()
    browser.post(pages.TOKENS, {"name": "mine"})
    assert receivers_by_subject() == TOKEN


def test_a_notice_that_stands_for_several_has_the_time_of_the_last(alice: User) -> None:
    for minute in (10, 20):
        mails.notify(kind=mails.TOKEN_MADE, user=alice, now=datetime(2026, 7, 1, 12, minute, tzinfo=UTC))
    assert receivers_by_subject() == TOKEN
    assert "on 1 July 2026 at 12:20 UTC." in text()


def test_only_some_notices_of_a_kind_wait_for_a_mailbox(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mails, "MOST_WAITING", 3)
    for number in range(5):
        facts = {"added_email": f"new{number}@example.org"}
        mails.notify(kind=mails.ADDED, user=alice, facts=facts, now=timezone.now())
    assert AccountMail.objects.filter(address=BOTH[0]).count() == 3


@pytest.mark.long
def test_no_token_is_created_without_its_mails(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(**rest: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("accounts.mails.notify", broken)
    browser = confirmed_browser(alice)
    browser.raise_request_exception = False
    assert browser.post(pages.TOKENS, {"name": "mine"}).status_code == 500
    assert not ApiToken.objects.exists()


def test_a_refused_password_is_not_notified(alice: User) -> None:
    browser = logged_in(alice)
    pages.change_password(browser, oldpassword="wrong")
    pages.change_password(browser, password2=f"{pages.PASSWORD}!")
    assert receivers_by_subject() == {}


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_changes_of_the_second_factor_are_notified(alice: User) -> None:
    browser = confirmed_browser(alice)
    secret, _ = pages.set_up_app(browser)
    browser.post(pages.MAKE_CODES)
    browser.post(pages.TURN_OFF)
    assert receivers_by_subject() == {
        "An authenticator app was set up": BOTH,
        "New recovery codes were created": BOTH,
        "Your authenticator app was removed": BOTH,
    }
    assert not [message for message in mail.outbox if secret in str(message.body)]


def test_reading_recovery_codes_and_confirming_are_not_notified(alice: User) -> None:
    TOTP.activate(alice, pages.SECRET)
    codes = RecoveryCodes.activate(alice).get_unused_codes()
    browser = logged_in(alice)
    browser.post(pages.CONFIRM_BY_CODE, {"code": codes[0]})
    assert browser.get(pages.CODES).status_code == 200
    assert not AccountMail.objects.exists()


def test_changes_work_without_an_address(bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(email="")
    assert pages.change_password(logged_in(bob), oldpassword="bob") == 302
    assert receivers_by_subject() == {}


def test_without_a_mail_server_every_address_is_notified(alice: User, settings: Settings) -> None:
    settings.MAIL_NEEDS_VERIFIED = False
    mails.notify(kind=mails.TOKEN_MADE, user=alice, now=timezone.now())
    assert receivers_by_subject() == {"An API token was created": [*BOTH, "third@example.org"]}
