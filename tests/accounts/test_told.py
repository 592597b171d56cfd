"""Every confirmed address of an account is notified of each change to its security settings."""

from __future__ import annotations

from datetime import UTC, datetime

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
from tests.accounts.test_stolen_session import NEW, change, reset, reset_link
from tests.conftest import logged_in
from tests.support.codes import confirmed_browser, totp
from tests.support.mail import deliver_now

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
BOTH = ["alice@example.org", "second@example.org"]
EMAIL = "/accounts/email/"


@pytest.fixture(autouse=True)
def addresses(alice: User, settings: Settings) -> None:
    """Alice has confirmed two addresses and claims a third. The site mails only to confirmed ones."""
    settings.MAIL_NEEDS_VERIFIED = True
    for name, verified in (("alice", True), ("second", True), ("third", False)):
        EmailAddress.objects.create(user=alice, email=f"{name}@example.org", verified=verified, primary=name == "alice")


def receivers_by_subject() -> dict[str, list[str]]:
    """The receivers of each mail, by its subject."""
    found: dict[str, list[str]] = {}
    for message in deliver_now():
        found.setdefault(message.subject, []).extend(message.to)
    return {subject: sorted(to) for subject, to in found.items()}


def text() -> str:
    """The text of the first mail that was sent."""
    return str(mail.outbox[0].body)


def test_adding_an_address_is_notified(alice: User) -> None:
    confirmed_browser(alice).post(EMAIL, {"action_add": "", "email": "thief@example.org"})
    assert receivers_by_subject() == {
        "Confirm your email address": ["thief@example.org"],
        "An email address was added": BOTH,
    }
    notice = next(str(message.body) for message in mail.outbox if message.to == ["second@example.org"])
    assert "The email address thief@example.org was added to your account." in notice
    assert "choose a new password now" in notice
    assert "http://127.0.0.1:8000/accounts/password/reset/" in notice


@pytest.mark.parametrize("removed", ["second", "third"])
def test_removing_an_address_is_notified(alice: User, removed: str) -> None:
    confirmed_browser(alice).post(EMAIL, {"action_remove": "", "email": f"{removed}@example.org"})
    # The address that is gone gets one too, if it was confirmed.
    assert receivers_by_subject() == {"An email address was removed": BOTH}
    assert f"The email address {removed}@example.org was removed from your account." in text()


@pytest.mark.parametrize("needs_verified", [True, False])
def test_an_unconfirmed_address_is_not_notified_of_its_removal(
    bob: User, settings: Settings, needs_verified: bool
) -> None:
    settings.MAIL_NEEDS_VERIFIED = needs_verified
    User.objects.filter(pk=bob.pk).update(email="")
    bob.refresh_from_db()
    browser = confirmed_browser(bob)
    browser.post(EMAIL, {"action_add": "", "email": "stranger@example.org"})
    AccountMail.objects.all().delete()
    browser.post(EMAIL, {"action_remove": "", "email": "stranger@example.org"})
    assert not EmailAddress.objects.filter(user=bob, email="stranger@example.org").exists()
    assert receivers_by_subject() == {}


@pytest.mark.parametrize(
    ("sender", "contact"), [("No Mercy <help@cards.example>", ": help@cards.example"), ("no-reply@cards.example", ".")]
)
def test_a_removed_address_is_told_what_it_can_do(alice: User, settings: Settings, sender: str, contact: str) -> None:
    settings.DEFAULT_FROM_EMAIL = sender
    confirmed_browser(alice).post(EMAIL, {"action_remove": "", "email": "second@example.org"})
    texts = {message.to[0]: str(message.body) for message in deliver_now()}
    removed, kept = texts["second@example.org"], texts["alice@example.org"]
    assert "ask for a new password now, using another address of your account" in removed
    assert "second@example.org cannot be used for that." in removed
    assert "http://127.0.0.1:8000/accounts/login/" in removed
    assert "If it was not you, choose a new password now." in kept
    assert all(f"contact this site’s operators{contact}\n" in text for text in texts.values())


def test_changing_the_primary_address_is_notified(alice: User) -> None:
    confirmed_browser(alice).post(EMAIL, {"action_primary": "", "email": "second@example.org"})
    assert receivers_by_subject() == {"Your email address was changed": BOTH}
    assert "changed from alice@example.org to second@example.org." in text()


def test_creating_an_api_token_is_notified(alice: User) -> None:
    confirmed_browser(alice).post("/accounts/me/tokens/", {"name": "see https://evil.example"})
    assert receivers_by_subject() == {"An API token was created": BOTH}
    assert "evil" not in text()


@pytest.mark.long
def test_a_notice_that_still_waits_is_not_queued_again(alice: User) -> None:
    browser = confirmed_browser(alice)
    for _ in range(4):
        browser.post("/accounts/me/tokens/", {"name": "mine"})
    assert ApiToken.objects.count() == 4
    assert sorted(AccountMail.objects.values_list("address", flat=True)) == BOTH
    assert receivers_by_subject() == {"An API token was created": BOTH}
    browser.post("/accounts/me/tokens/", {"name": "mine"})
    assert receivers_by_subject() == {"An API token was created": sorted(BOTH * 2)}


def test_a_notice_that_stands_for_several_has_the_time_of_the_last(alice: User) -> None:
    for minute in (10, 20):
        mails.notify(kind=mails.TOKEN_MADE, user=alice, now=datetime(2026, 7, 1, 12, minute, tzinfo=UTC))
    assert receivers_by_subject() == {"An API token was created": BOTH}
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
    assert browser.post("/accounts/me/tokens/", {"name": "mine"}).status_code == 500
    assert not ApiToken.objects.exists()


def test_changing_the_password_is_notified(alice: User) -> None:
    assert change(logged_in(alice)) == 302
    assert receivers_by_subject() == {"Your password was changed": BOTH}


def test_resetting_the_password_is_notified(alice: User) -> None:
    assert reset(Client(), reset_link(alice)) == 302
    assert receivers_by_subject() == {"Your password was changed": BOTH}
    assert "A new password was set using the link in an email to you." in text()


def test_a_refused_password_is_not_notified(alice: User) -> None:
    browser = logged_in(alice)
    change(browser, oldpassword="wrong")
    change(browser, password2=f"{NEW}!")
    assert receivers_by_subject() == {}


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_changes_of_the_second_factor_are_notified(alice: User) -> None:
    browser = confirmed_browser(alice)
    secret = browser.get("/accounts/2fa/totp/activate/").context["form"].secret
    browser.post("/accounts/2fa/totp/activate/", {"code": totp(secret)})
    browser.post("/accounts/2fa/recovery-codes/generate/")
    browser.post("/accounts/2fa/totp/deactivate/")
    assert receivers_by_subject() == {
        "An authenticator app was set up": BOTH,
        "New recovery codes were created": BOTH,
        "Your authenticator app was removed": BOTH,
    }
    assert not [message for message in mail.outbox if secret in str(message.body)]


def test_reading_recovery_codes_and_confirming_are_not_notified(alice: User) -> None:
    TOTP.activate(alice, SECRET)
    codes = RecoveryCodes.activate(alice).get_unused_codes()
    browser = logged_in(alice)
    browser.post("/accounts/2fa/reauthenticate/", {"code": codes[0]})
    assert browser.get("/accounts/2fa/recovery-codes/").status_code == 200
    assert not AccountMail.objects.exists()


def test_changes_work_without_an_address(bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(email="")
    form = {"oldpassword": "bob", "password1": NEW, "password2": NEW}
    assert logged_in(bob).post("/accounts/password/change/", form).status_code == 302
    assert receivers_by_subject() == {}


def test_without_a_mail_server_every_address_is_notified(alice: User, settings: Settings) -> None:
    settings.MAIL_NEEDS_VERIFIED = False
    mails.notify(kind=mails.TOKEN_MADE, user=alice, now=timezone.now())
    assert receivers_by_subject() == {"An API token was created": [*BOTH, "third@example.org"]}


def test_an_address_that_is_not_kept_with_a_new_password_is_told(alice: User) -> None:
    change(logged_in(alice), ["alice@example.org"])
    assert receivers_by_subject() == {
        "An email address was removed": BOTH,
        "Your password was changed": ["alice@example.org"],
    }
    assert "second@example.org was removed from your account." in text()
