"""Passwords are hashed with little memory, and few at once."""

from __future__ import annotations

import threading
import time
import unicodedata
from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher
from django.contrib.auth.hashers import make_password as hashed
from django.core.management import call_command
from django.test import Client
from pytest_django.fixtures import Settings

import nomercy.settings as site_settings
from accounts import actions
from accounts.hashers import AT_ONCE, SmallArgon2
from accounts.models import User
from tests.conftest import person
from tests.support import account_pages as pages

pytestmark = [pytest.mark.django_db, pytest.mark.long]
WORD = pages.PASSWORD


@pytest.fixture(autouse=True)
def hashers_of_the_site(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = site_settings.PASSWORD_HASHERS


def log_in(word: str = WORD) -> int:
    status: int = pages.log_in(Client(), "alice", word).status_code
    return status


def with_hash(hasher: Argon2PasswordHasher | PBKDF2PasswordHasher) -> User:
    """Return Alice, with a password hashed in another way, which takes little time."""
    if isinstance(hasher, PBKDF2PasswordHasher):
        hasher.iterations = 1000
    else:
        hasher.memory_cost = 1024
    alice = person("alice")
    alice.password = hasher.encode(WORD, hasher.salt())
    alice.save()
    return alice


def test_a_hash_takes_19_megabytes() -> None:
    assert "$m=19456,t=2,p=1$" in hashed(WORD)


@pytest.mark.parametrize("hasher", [Argon2PasswordHasher, PBKDF2PasswordHasher])
def test_an_old_hash_works_and_is_replaced(hasher: Callable[[], Argon2PasswordHasher | PBKDF2PasswordHasher]) -> None:
    alice = with_hash(hasher())
    assert log_in("wrong") == 200
    old = alice.password
    alice.refresh_from_db()
    assert alice.password == old
    browser = Client()
    assert pages.log_in(browser, "alice", WORD).status_code == 302
    alice.refresh_from_db()
    assert "$m=19456,t=2,p=1$" in alice.password
    assert browser.get(pages.ACCOUNT).status_code == 200
    new = alice.password
    assert log_in() == 302
    alice.refresh_from_db()
    assert alice.password == new


def test_confirming_a_password_does_not_replace_its_hash() -> None:
    """It would log the person out, because sessions hold a keyed hash of the stored password."""
    alice = with_hash(Argon2PasswordHasher())
    browser = Client()
    browser.force_login(alice, backend="accounts.backends.ByUsername")
    assert browser.post(pages.CONFIRM, {"password": WORD}).status_code == 302
    assert browser.get(pages.ACCOUNT).status_code == 200


def test_replacing_a_hash_does_not_undo_a_password_change() -> None:
    slow = with_hash(Argon2PasswordHasher())
    other = User.objects.get(pk=slow.pk)
    other.set_password("another word for it")
    other.save()
    actions.renew_hash(user=slow, password=WORD)
    other.refresh_from_db()
    assert other.check_password("another word for it")


@pytest.mark.parametrize("method", ["encode", "verify"])
def test_only_two_passwords_are_hashed_at_once(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entered, go_on = threading.Semaphore(0), threading.Event()

    def wait(self: object, password: str, other: str) -> None:
        entered.release()
        go_on.wait(timeout=20)

    monkeypatch.setattr(Argon2PasswordHasher, method, wait)
    threads = [threading.Thread(target=getattr(SmallArgon2(), method), args=(WORD, "salt")) for _ in range(AT_ONCE + 1)]
    for thread in threads:
        thread.start()
    try:
        assert all(entered.acquire(timeout=20) for _ in range(AT_ONCE))
        assert not entered.acquire(timeout=0.1)
    finally:
        go_on.set()
        for thread in threads:
            thread.join()
    assert entered.acquire(timeout=20)


# One password has several spellings in Unicode: a phone and a laptop may send different ones.

NFC, NFD = (unicodedata.normalize(form, "Grüße aus Bergen, ﬁnally") for form in ("NFC", "NFD"))


@pytest.mark.parametrize(("given", "typed"), [(NFC, NFD), (NFD, NFC), ("ﬁnally in Bergen", "finally in Bergen")])
def test_a_password_is_the_same_in_each_form(given: str, typed: str) -> None:
    alice = person("alice")
    alice.set_password(given)
    alice.save()
    stored = alice.password
    assert (log_in(typed), log_in(given), log_in(f"{given}!")) == (302, 302, 200)
    alice.refresh_from_db()
    assert alice.password == stored
    browser = Client()
    browser.force_login(alice, backend="accounts.backends.ByUsername")
    assert browser.post(pages.CONFIRM, {"password": typed}).status_code == 302


@pytest.mark.parametrize("hasher", [Argon2PasswordHasher, PBKDF2PasswordHasher])
def test_a_hash_of_the_raw_form_works_and_is_replaced(
    hasher: Callable[[], Argon2PasswordHasher | PBKDF2PasswordHasher],
) -> None:
    alice, old = person("alice"), hasher()
    if isinstance(old, Argon2PasswordHasher):  # with the parameters of today, so that only the form is outdated
        old.memory_cost, old.time_cost, old.parallelism = 19_456, 2, 1
    else:
        old.iterations = 1000
    alice.password = old.encode(NFD, old.salt())
    alice.save()
    assert (log_in(NFC), log_in(NFD), log_in(NFC)) == (200, 302, 302)


def test_a_log_in_takes_as_many_hashes_for_unknown_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise the time would show whether somebody has an account, or one without a password."""
    hashed = []
    for name in ("encode", "verify"):
        method = getattr(Argon2PasswordHasher, name)

        def counted(self: object, password: str, other: str, method: Any = method) -> Any:
            hashed.append(password)
            return method(self, password, other)

        monkeypatch.setattr(Argon2PasswordHasher, name, counted)
    alice, charlie = person("alice"), person("charlie")
    alice.set_password(NFC)
    alice.save()
    charlie.set_unusable_password()
    charlie.save()
    counts = []
    for typed in ("Not it", NFD.replace("G", "g")):
        for name in ("alice", "charlie", "nobody"):
            hashed.clear()
            pages.log_in(Client(), name, typed)
            counts.append(len(hashed))
    ascii_, other = counts[:3], counts[3:]
    assert ascii_ == ascii_[:1] * 3
    assert other == [2 * ascii_[0]] * 3


def test_a_long_password_is_taken_as_it_is_typed() -> None:
    typed = "a" + "\u0301" * 50_000 + "\u0323" * 50_000  # takes 20 seconds to normalise
    started = time.process_time()
    assert not SmallArgon2().verify(typed, hashed(WORD))
    assert time.process_time() - started < 3
    assert SmallArgon2().verify(typed, hashed(typed))


@pytest.mark.parametrize("command", ["createsuperuser", "changepassword"])
def test_the_commands_store_the_same_form(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if command == "changepassword":
        person("alice")
        monkeypatch.setattr("getpass.getpass", lambda *_: NFD)
        call_command("changepassword", "alice")
    else:
        monkeypatch.setenv("DJANGO_SUPERUSER_PASSWORD", NFD)
        call_command("createsuperuser", "--noinput", username="alice", email="alice@example.org")
    assert User.objects.get(username="alice").check_password(NFC)


def test_a_common_password_is_refused_in_each_form() -> None:
    common = dict.fromkeys(("password1", "password2"), "ｐａｓｓｗｏｒｄ")
    assert "too common" in pages.sign_up(Client(), "alice", **common).content.decode()
