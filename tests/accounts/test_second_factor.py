"""Secrets of second factors are stored encrypted, and each code of an app is accepted once."""

from __future__ import annotations

import io
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth import get_user
from django.core.cache import cache
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client
from pytest_django.fixtures import Settings
from structlog.testing import capture_logs

from accounts import actions, encryption
from accounts.adapter import OVERTAKEN
from accounts.models import User
from accounts.password_forms import replace_password
from tests.conftest import logged_in
from tests.support.codes import confirmed_browser, totp
from tests.support.pages import text_of

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
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
    browser = Client()
    browser.post("/accounts/login/", {"login": "alice", "password": "alice"})
    browser.post("/accounts/2fa/authenticate/", {"code": code})
    return get_user(browser).is_authenticated


def confirm(code: str) -> bool:
    """Confirm with this code in a session of Alice. Return True if it was accepted."""
    page = logged_in(User.objects.get(username="alice")).post(
        "/accounts/2fa/reauthenticate/?next=/about/", {"code": code}
    )
    return page.status_code == 302


def set_up(user: User) -> tuple[str, str]:
    """Set up an app through the pages. Return its secret and the code that was used."""
    browser = logged_in(user)
    browser.post("/accounts/reauthenticate/", {"password": user.username})
    secret = browser.get("/accounts/2fa/totp/activate/").context["form"].secret
    code = totp(secret)
    assert browser.post("/accounts/2fa/totp/activate/", {"code": code}).status_code == 302
    return secret, code


def stored() -> dict[str, dict[str, Any]]:
    """Return what is stored of Alice's factors, by their type."""
    return {factor.type: factor.data for factor in Authenticator.objects.filter(user__username="alice")}


def everything_stored() -> str:
    """Return everybody's factors, as their table has them."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT string_agg(row::text, ' ') FROM mfa_authenticator row")
        return str(cursor.fetchone()[0])


# A log-in that waits for a code


@pytest.mark.parametrize("by", ["a reset", "the page"])
def test_a_log_in_begun_with_an_old_password_cannot_be_completed(alice: User, by: str) -> None:
    TOTP.activate(alice, SECRET)
    waiting = Client()
    waiting.post("/accounts/login/", {"login": "alice", "password": "alice"})
    if by == "a reset":
        replace_password(user=alice, password="a long way to Bergen")
    else:
        form = {"oldpassword": "alice", "password1": "a long way to Bergen", "password2": "a long way to Bergen"}
        assert confirmed_browser(alice).post("/accounts/password/change/", form).status_code == 302
    answer = waiting.post("/accounts/2fa/authenticate/", {"code": totp(SECRET)})
    assert (answer.status_code, answer.headers["Location"]) == (302, "/accounts/login/")
    assert not get_user(waiting).is_authenticated
    assert OVERTAKEN in text_of(waiting.get("/accounts/login/"))
    # The password step is forgotten too, so another code is of no use.
    assert waiting.post("/accounts/2fa/authenticate/", {"code": totp(SECRET)}).headers["Location"] == "/accounts/login/"


def test_a_log_in_cannot_be_completed_once_the_account_is_closed(alice: User) -> None:
    TOTP.activate(alice, SECRET)
    waiting = Client()
    waiting.post("/accounts/login/", {"login": "alice", "password": "alice"})
    User.objects.filter(pk=alice.pk).update(is_active=False)
    answer = waiting.post("/accounts/2fa/authenticate/", {"code": totp(SECRET)})
    assert answer.headers["Location"] == "/accounts/inactive/"
    User.objects.filter(pk=alice.pk).update(is_active=True)
    assert not get_user(waiting).is_authenticated


# Each code once


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("door", [log_in, confirm])
def test_the_code_of_the_set_up_is_not_accepted_again(alice: User, door: Any, clock: dict[str, float]) -> None:
    secret, code = set_up(alice)
    for later in (0, 29, 59):
        clock["now"] = NOW + later
        cache.clear()
        assert not door(code), later
    assert door(totp(secret, clock["now"]))


@pytest.mark.long
@pytest.mark.parametrize("door", [log_in, confirm])
def test_a_code_is_accepted_only_once(alice: User, door: Any, clock: dict[str, float]) -> None:
    TOTP.activate(alice, SECRET)
    ahead = totp(SECRET, NOW + 30)  # of an app whose clock is a little fast: good for 90 seconds
    assert door(ahead)
    for later in (0, 31, 59):
        clock["now"] = NOW + later
        cache.clear()
        assert not door(ahead), later
    clock["now"] = NOW + 60
    assert door(totp(SECRET, clock["now"]))


def test_a_code_older_than_the_last_one_is_refused(alice: User, clock: dict[str, float]) -> None:
    TOTP.activate(alice, SECRET)
    assert log_in(totp(SECRET, NOW))
    assert not log_in(totp(SECRET, NOW - 30))


def test_the_refusal_of_a_used_code_says_to_wait(alice: User) -> None:
    TOTP.activate(alice, SECRET)
    code = totp(SECRET)
    assert log_in(code)
    page = logged_in(alice).post("/accounts/2fa/reauthenticate/", {"code": code}).content.decode()
    assert "This code was used already. Wait until your app shows the next one." in page


@pytest.mark.long
def test_a_used_code_counts_as_a_wrong_one(alice: User, settings: Settings) -> None:
    """Sending a used code between guesses does not give more guesses."""
    settings.RATE_LIMITS = 100
    TOTP.activate(alice, SECRET)
    code = totp(SECRET)
    assert log_in(code)
    browser = Client()
    browser.post("/accounts/login/", {"login": "alice", "password": "alice"})
    answers = [
        browser.post("/accounts/2fa/authenticate/", {"code": sent}).status_code
        for sent in ("111111", code, "222222", code, "333333", code)
    ]
    assert answers == [200] * 5 + [429]


def test_a_code_sent_twice_at_once_is_accepted_once(alice: User) -> None:
    assert actions.use_totp_step(user_id=alice.pk, step=7)
    assert not actions.use_totp_step(user_id=alice.pk, step=7)
    assert not actions.use_totp_step(user_id=alice.pk, step=6)
    assert actions.use_totp_step(user_id=alice.pk, step=8)


# A guest who has an account


def test_a_guest_logs_in_to_an_account_with_a_second_factor(alice: User) -> None:
    TOTP.activate(alice, SECRET)
    guest = actions.create_guest()
    browser = logged_in(guest)
    answer = browser.post("/accounts/login/", {"login": "alice", "password": "alice"})
    page = browser.get(answer.headers["Location"])
    assert page.status_code == 200
    assert 'form="logout-from-stage">Cancel' not in page.content.decode()  # that would end the guest
    assert get_user(browser) == guest
    assert browser.post("/accounts/2fa/authenticate/", {"code": "000000x"}).status_code == 200
    assert get_user(browser) == guest
    done = browser.post("/accounts/2fa/authenticate/", {"code": totp(SECRET)})
    assert done.headers["Location"] == "/move-seats/"
    assert get_user(browser) == alice
    assert browser.session["left_guest"] == guest.pk


def test_a_guest_without_a_pending_log_in_is_sent_to_the_log_in_page(db: None) -> None:
    answer = logged_in(actions.create_guest()).get("/accounts/2fa/authenticate/")
    assert answer.headers["Location"] == "/accounts/login/"


# Encryption


@pytest.mark.django_db(transaction=True)
def test_secrets_and_seeds_are_stored_encrypted(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(RecoveryCodes, "generate_seed", classmethod(lambda cls: SEED))
    secret, _ = set_up(alice)
    kept = stored()
    assert kept["totp"]["secret"].startswith("fernet1:")
    assert kept["recovery_codes"]["seed"].startswith("fernet1:")
    assert secret not in everything_stored()
    assert SEED not in everything_stored()


def test_the_secret_of_an_app_that_is_being_set_up_is_encrypted_in_the_session(alice: User) -> None:
    browser = logged_in(alice)
    browser.post("/accounts/reauthenticate/", {"password": "alice"})
    secret = browser.get("/accounts/2fa/totp/activate/").context["form"].secret
    assert secret not in str(dict(browser.session))
    assert encryption.decrypt(browser.session["mfa.totp.secret"]) == secret


def test_the_same_secret_is_stored_differently_each_time(db: None) -> None:
    assert encryption.encrypt(SECRET) != encryption.encrypt(SECRET)


@pytest.mark.parametrize("plain", [SECRET, SEED])
def test_encrypted_and_plain_texts_are_distinguished(plain: str) -> None:
    assert not encryption.is_encrypted(plain)
    assert encryption.is_encrypted(encryption.encrypt(plain))
    assert encryption.decrypt(plain) == encryption.decrypt(encryption.encrypt(plain)) == plain


@pytest.mark.long
def test_an_old_key_still_decrypts(alice: User, settings: Settings) -> None:
    settings.SECRET_KEY = OLD_KEY
    TOTP.activate(alice, SECRET)
    codes = RecoveryCodes.activate(alice).get_unused_codes()
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW_KEY, [THIRD_KEY, OLD_KEY]
    assert log_in(totp(SECRET))
    assert log_in(codes[0])
    assert not log_in(codes[0])


def test_a_wrong_key_is_explained_and_logged(alice: User, settings: Settings) -> None:
    settings.SECRET_KEY = OLD_KEY
    TOTP.activate(alice, SECRET)
    RecoveryCodes.activate(alice)
    settings.SECRET_KEY = NEW_KEY
    browser = Client()
    browser.post("/accounts/login/", {"login": "alice", "password": "alice"})
    with capture_logs() as lines:
        answer = browser.post("/accounts/2fa/authenticate/", {"code": totp(SECRET)})
    assert answer.status_code == 200
    assert "We can’t check your second factor" in answer.content.decode()
    assert not get_user(browser).is_authenticated
    errors = [line["event"] for line in lines if line["log_level"] == "error"]
    assert errors == ["a second factor cannot be decrypted: is an old SECRET_KEY missing in SECRET_KEY_FALLBACKS?"]


@pytest.mark.parametrize("page", ["", "recovery-codes/", "recovery-codes/download/", "recovery-codes/generate/"])
def test_a_wrong_key_is_explained_on_the_pages_of_recovery_codes(alice: User, settings: Settings, page: str) -> None:
    settings.SECRET_KEY = OLD_KEY
    TOTP.activate(alice, SECRET)
    RecoveryCodes.activate(alice)
    settings.SECRET_KEY = NEW_KEY
    answer = confirmed_browser(alice).get(f"/accounts/2fa/{page}")
    assert answer.status_code == 503
    assert "We can’t check your second factor" in answer.content.decode()


# Changing the key


def reencrypt(*arguments: str) -> str:
    printed = io.StringIO()
    call_command("reencrypt_factors", *arguments, stdout=printed)
    return printed.getvalue()


def test_after_reencrypting_the_old_key_is_not_needed(alice: User, settings: Settings) -> None:
    settings.SECRET_KEY = OLD_KEY
    TOTP.activate(alice, SECRET)
    codes = RecoveryCodes.activate(alice)
    unused = codes.get_unused_codes()
    assert codes.validate_code(unused[0])
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW_KEY, [OLD_KEY]
    assert reencrypt() == "2 second factors encrypted with SECRET_KEY.\n"
    settings.SECRET_KEY_FALLBACKS = []
    assert log_in(totp(SECRET))
    assert RecoveryCodes.activate(alice).get_unused_codes() == unused[1:]


def test_unreadable_factors_are_named_and_deleted_only_on_request(
    alice: User, bob: User, charlie: User, settings: Settings
) -> None:
    settings.SECRET_KEY = OLD_KEY
    TOTP.activate(alice, SECRET)
    RecoveryCodes.activate(bob)
    settings.SECRET_KEY = NEW_KEY
    RecoveryCodes.activate(alice)
    TOTP.activate(bob, SECRET)
    TOTP.activate(charlie, SECRET)
    with pytest.raises(CommandError, match=r"No key decrypts the second factors of alice, bob\. Add the key"):
        reencrypt()
    assert Authenticator.objects.count() == 5
    assert "second factors of alice, bob," in reencrypt("--drop-unreadable")
    left = {(factor.user.username, factor.type) for factor in Authenticator.objects.all()}
    assert left == {("bob", "totp"), ("charlie", "totp")}  # Alice's codes were those of an app that is gone
    assert reencrypt() == "2 second factors encrypted with SECRET_KEY.\n"
