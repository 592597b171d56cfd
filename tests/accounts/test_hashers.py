"""Passwords are hashed with little memory, and few at once."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
from django.contrib.auth.hashers import Argon2PasswordHasher, PBKDF2PasswordHasher
from django.contrib.auth.hashers import make_password as hashed
from django.test import Client
from pytest_django.fixtures import Settings

import nomercy.settings as site_settings
from accounts import actions
from accounts.hashers import AT_ONCE, SmallArgon2
from accounts.models import User
from tests.conftest import person

pytestmark = [pytest.mark.django_db, pytest.mark.long]
WORD = "a long way to Bergen"


@pytest.fixture(autouse=True)
def hashers_of_the_site(settings: Settings) -> None:
    settings.PASSWORD_HASHERS = site_settings.PASSWORD_HASHERS


def log_in(word: str = WORD) -> int:
    return Client().post("/accounts/login/", {"login": "alice", "password": word}).status_code


def with_hash(hasher: Argon2PasswordHasher | PBKDF2PasswordHasher) -> User:
    """Return Alice, with a password hashed in another way."""
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
    assert log_in() == 302
    alice.refresh_from_db()
    assert "$m=19456,t=2,p=1$" in alice.password
    new = alice.password
    assert log_in() == 302
    alice.refresh_from_db()
    assert alice.password == new


def test_a_replaced_hash_keeps_working() -> None:
    with_hash(Argon2PasswordHasher())
    browser = Client()
    browser.post("/accounts/login/", {"login": "alice", "password": WORD})
    assert browser.get("/accounts/me/").status_code == 200


def test_confirming_a_password_does_not_replace_its_hash() -> None:
    """It would log the person out, because sessions hold a keyed hash of the stored password."""
    alice = with_hash(Argon2PasswordHasher())
    browser = Client()
    browser.force_login(alice, backend="accounts.backends.ByUsername")
    assert browser.post("/accounts/reauthenticate/", {"password": WORD}).status_code == 302
    assert browser.get("/accounts/me/").status_code == 200


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
