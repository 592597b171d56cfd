"""Secrets of second factors are stored encrypted, and each code of an app is accepted once."""

from __future__ import annotations

import io
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection
from pytest_django.fixtures import Settings
from structlog.testing import capture_logs

from accounts import actions
from accounts.adapter import OVERTAKEN
from accounts.models import User
from accounts.password_forms import replace_password
from common import encryption
from tests.conftest import logged_in
from tests.support import account_pages as pages
from tests.support.account_pages import is_in, who
from tests.support.codes import confirmed_browser, totp
from tests.support.pages import text_of

SEED = "0123456789abcdef" * 5
OLD_KEY, NEW_KEY, THIRD_KEY = ("the old key of this site " * 2, "the new key of this site " * 2, "a third key " * 4)
NOW = 1_700_000_010.0


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The time by which codes are computed."""
    at = {"now": NOW}
    monkeypatch.setattr("time.time", lambda: at["now"])
    return at


def log_in(code: str) -> bool:
    """Log in as Alice with this code. Return True if it was accepted."""
    browser = pages.waiting_for_code()
    browser.post(pages.ENTER_CODE, {"code": code})
    return is_in(browser)


def confirm(code: str) -> bool:
    """Confirm with this code in a session of Alice. Return True if it was accepted."""
    browser = logged_in(User.objects.get(username="alice"))
    status: int = browser.post(f"{pages.CONFIRM_BY_CODE}?next=/about/", {"code": code}).status_code
    return status == 302


def stored() -> dict[str, dict[str, Any]]:
    """Return what is stored of Alice's factors, by their type."""
    return {factor.type: factor.data for factor in Authenticator.objects.filter(user__username="alice")}


def everything_stored() -> str:
    """Return everybody's factors, as their table has them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(row::text, ' ') FROM mfa_authenticator row")
        return str(cursor.fetchone()[0])


# A log-in that waits for a code


@pytest.mark.parametrize("by", ["a reset", "the page", "closing"])
def test_a_log_in_begun_before_a_new_password_or_the_closing_cannot_be_completed(alice: User, by: str) -> None:
    TOTP.activate(alice, pages.SECRET)
    waiting = pages.waiting_for_code()
    if by == "closing":
        User.objects.filter(pk=alice.pk).update(is_active=False)
    elif by == "a reset":
        replace_password(user=alice, password=pages.PASSWORD)
    else:
        assert pages.change_password(confirmed_browser(alice)) == 302
    code = {"code": totp(pages.SECRET)}
    answer = waiting.post(pages.ENTER_CODE, code)
    assert answer.headers["Location"] == ("/accounts/inactive/" if by == "closing" else pages.LOG_IN)
    User.objects.filter(pk=alice.pk).update(is_active=True)
    assert not is_in(waiting)
    if by != "closing":
        assert OVERTAKEN in text_of(waiting.get(pages.LOG_IN))
        # The password step is forgotten too, so another code is of no use.
        assert waiting.post(pages.ENTER_CODE, code).headers["Location"] == pages.LOG_IN


# Each code once


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("door", [log_in, confirm])
def test_the_code_of_the_set_up_is_not_accepted_again(alice: User, door: Any, clock: dict[str, float]) -> None:
    secret, _ = pages.set_up_app(confirmed_browser(alice))
    code = totp(secret)
    for later in (0, 29, 59):
        clock["now"] = NOW + later
        cache.clear()
        assert not door(code), later
    assert door(totp(secret, clock["now"]))


@pytest.mark.long
@pytest.mark.parametrize("door", [log_in, confirm])
def test_a_code_is_accepted_only_once(alice: User, door: Any, clock: dict[str, float]) -> None:
    TOTP.activate(alice, pages.SECRET)
    ahead = totp(pages.SECRET, NOW + 30)  # of an app whose clock is a little fast: good for 90 seconds
    assert door(ahead)
    for later in (0, 31, 59):
        clock["now"] = NOW + later
        cache.clear()
        assert not door(ahead), later
    clock["now"] = NOW + 60
    assert door(totp(pages.SECRET, clock["now"]))


def test_a_code_older_than_the_last_one_is_refused(alice: User, clock: dict[str, float]) -> None:
    TOTP.activate(alice, pages.SECRET)
    assert log_in(totp(pages.SECRET, NOW))
    assert not log_in(totp(pages.SECRET, NOW - 30))


@pytest.mark.long
def test_a_used_code_counts_as_a_wrong_one_and_its_refusal_says_to_wait(alice: User, settings: Settings) -> None:
    """Sending a used code between guesses does not give more guesses."""
    settings.RATE_LIMITS = 100
    TOTP.activate(alice, pages.SECRET)
    code = totp(pages.SECRET)
    assert log_in(code)
    browser = pages.waiting_for_code()
    answers = [
        browser.post(pages.ENTER_CODE, {"code": sent}) for sent in ("111111", code, "222222", code, "333333", code)
    ]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429]
    assert "This code was used already. Wait until your app shows the next one." in answers[1].content.decode()


def test_a_code_sent_twice_at_once_is_accepted_once(alice: User) -> None:
    assert actions.use_totp_step(user_id=alice.pk, step=7)
    assert not actions.use_totp_step(user_id=alice.pk, step=7)
    assert not actions.use_totp_step(user_id=alice.pk, step=6)
    assert actions.use_totp_step(user_id=alice.pk, step=8)


# A guest who has an account


def test_a_guest_logs_in_to_an_account_with_a_second_factor(alice: User) -> None:
    TOTP.activate(alice, pages.SECRET)
    guest = actions.create_guest()
    browser = logged_in(guest)
    answer = pages.log_in(browser)
    page = browser.get(answer.headers["Location"])
    assert page.status_code == 200
    assert 'form="logout-from-stage">Cancel' not in page.content.decode()  # that would end the guest
    assert who(browser) == guest.username
    assert browser.post(pages.ENTER_CODE, {"code": "000000x"}).status_code == 200
    assert who(browser) == guest.username
    done = browser.post(pages.ENTER_CODE, {"code": totp(pages.SECRET)})
    assert done.headers["Location"] == pages.MOVE_SEATS
    assert who(browser) == "alice"
    assert browser.session["left_guest"] == guest.pk


def test_a_guest_without_a_pending_log_in_is_sent_to_the_log_in_page(db: None) -> None:
    answer = logged_in(actions.create_guest()).get(pages.ENTER_CODE)
    assert answer.headers["Location"] == pages.LOG_IN


# Encryption


@pytest.mark.django_db(transaction=True)
def test_secrets_and_seeds_are_stored_encrypted(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RecoveryCodes, "generate_seed", classmethod(lambda cls: SEED))
    secret, _ = pages.set_up_app(confirmed_browser(alice))
    kept = stored()
    assert kept["totp"]["secret"].startswith("fernet1:")
    assert kept["recovery_codes"]["seed"].startswith("fernet1:")
    assert secret not in everything_stored()
    assert SEED not in everything_stored()


def test_the_secret_of_an_app_that_is_being_set_up_is_encrypted_in_the_session(alice: User) -> None:
    browser = confirmed_browser(alice)
    secret = browser.get(pages.SET_UP).context["form"].secret
    assert secret not in str(dict(browser.session))
    assert encryption.decrypt(browser.session["mfa.totp.secret"]) == secret


def test_encrypted_and_plain_texts_are_distinguished_and_no_two_are_equal(db: None) -> None:
    for plain in (pages.SECRET, SEED):
        encrypted = encryption.encrypt(plain)
        assert [encryption.is_encrypted(text) for text in (plain, encrypted)] == [False, True]
        assert encryption.decrypt(plain) == encryption.decrypt(encrypted) == plain
        assert encrypted != encryption.encrypt(plain)


@pytest.mark.long
def test_an_old_key_still_decrypts(alice: User, settings: Settings) -> None:
    settings.SECRET_KEY = OLD_KEY
    TOTP.activate(alice, pages.SECRET)
    codes = RecoveryCodes.activate(alice).get_unused_codes()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW_KEY, [THIRD_KEY, OLD_KEY]
    assert log_in(totp(pages.SECRET))
    assert log_in(codes[0])
    assert not log_in(codes[0])


@pytest.fixture
def unreadable(alice: User, settings: Settings) -> None:
    """Give Alice an app and recovery codes that were encrypted with a key that the site has no more."""
    settings.SECRET_KEY = OLD_KEY
    TOTP.activate(alice, pages.SECRET)
    RecoveryCodes.activate(alice)
    settings.SECRET_KEY = NEW_KEY


def test_a_wrong_key_is_explained_and_logged(unreadable: None) -> None:
    browser = pages.waiting_for_code()
    with capture_logs() as lines:
        answer = browser.post(pages.ENTER_CODE, {"code": totp(pages.SECRET)})
    assert answer.status_code == 200
    assert "We can’t check your second factor" in answer.content.decode()
    assert not is_in(browser)
    errors = [line["event"] for line in lines if line["log_level"] == "error"]
    assert errors == ["a second factor cannot be decrypted: is an old SECRET_KEY missing in SECRET_KEY_FALLBACKS?"]


def test_a_wrong_key_is_explained_on_the_pages_of_recovery_codes(alice: User, unreadable: None) -> None:
    browser = confirmed_browser(alice)
    for page in (pages.FACTORS, pages.CODES, f"{pages.CODES}download/", pages.MAKE_CODES):
        answer = browser.get(page)
        assert answer.status_code == 503, page
        assert "We can’t check your second factor" in answer.content.decode()


# Changing the key


def reencrypt(*arguments: str) -> str:
    printed = io.StringIO()
    call_command("reencrypt_factors", *arguments, stdout=printed)
    return printed.getvalue()


def test_after_reencrypting_the_old_key_is_not_needed(alice: User, settings: Settings) -> None:
    of_the_site, settings.SECRET_KEY = settings.SECRET_KEY, OLD_KEY
    TOTP.activate(alice, pages.SECRET)
    codes = RecoveryCodes.activate(alice)
    unused = codes.get_unused_codes()
    assert codes.validate_code(unused[0])
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW_KEY, [OLD_KEY, of_the_site]
    assert reencrypt().startswith("2 second factors encrypted with SECRET_KEY.\n")
    settings.SECRET_KEY_FALLBACKS = []
    assert log_in(totp(pages.SECRET))
    assert RecoveryCodes.activate(alice).get_unused_codes() == unused[1:]


def test_unreadable_factors_are_named_and_deleted_only_on_request(
    alice: User, bob: User, charlie: User, settings: Settings
) -> None:
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = OLD_KEY
    TOTP.activate(alice, pages.SECRET)
    RecoveryCodes.activate(bob)
    settings.SECRET_KEY = NEW_KEY
    RecoveryCodes.activate(alice)
    TOTP.activate(bob, pages.SECRET)
    TOTP.activate(charlie, pages.SECRET)
    with pytest.raises(CommandError, match=r"No key decrypts the second factors of alice, bob\. Add the key"):
        reencrypt()
    assert Authenticator.objects.count() == 5
    assert "second factors of alice, bob," in reencrypt("--drop-unreadable")
    left = {(factor.user.username, factor.type) for factor in Authenticator.objects.all()}
    assert left == {("bob", "totp"), ("charlie", "totp")}  # Alice's codes were those of an app that is gone
    assert reencrypt().startswith("2 second factors encrypted with SECRET_KEY.\n")
