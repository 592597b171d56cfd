"""Limits on passwords, codes, sign-ups and resets hold whatever happens to the cache."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from http.cookies import SimpleCookie
from typing import TYPE_CHECKING, Any

import pytest
from allauth.account.adapter import get_adapter
from allauth.mfa.totp.internal.auth import TOTP
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core.cache import caches
from django.core.exceptions import ValidationError
from django.db import connection
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts import known_browsers, tries
from accounts.backends import people_for_login
from accounts.models import CountedTry, User
from accounts.tries import Key
from common.limits import Limit, TooManyTries
from nomercy import celery
from tests.conftest import logged_in
from tests.support import account_pages as pages
from tests.support.account_pages import claim, confirmed, is_in, who
from tests.support.codes import confirmed_browser, totp

if TYPE_CHECKING:
    from django.test.client import _MonkeyPatchedWSGIResponse as Answer

NOON = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
THREE = Limit("three", "person", 3, 60, "tests")


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect every password that is compared with a stored one."""
    passwords: list[str] = []
    verify = MD5PasswordHasher.verify

    def count(self: MD5PasswordHasher, password: str, encoded: str) -> bool:
        passwords.append(password)
        return verify(self, password, encoded)

    monkeypatch.setattr(MD5PasswordHasher, "verify", count)
    return passwords


@pytest.fixture(autouse=True)
def limited(settings: Settings) -> None:
    settings.RATE_LIMITS = 100


def guess(number: int, *, login: str = "alice", browser: Client | None = None, address: str = "") -> Answer:
    """Try a wrong password, by default from a new network address."""
    answer: Answer = pages.log_in(
        browser or Client(REMOTE_ADDR=address or f"203.0.113.{number}"), login, f"guess {number}"
    )
    return answer


def guesses(number: int, **more: Any) -> list[int]:
    """Try this many wrong passwords, and return the status of each answer."""
    return [guess(n, **more).status_code for n in range(number)]


def known(name: str) -> Client:
    """Return a browser in which this person has logged in and out."""
    browser = Client(REMOTE_ADDR="198.51.100.1")
    pages.log_in(browser, name)
    browser.post(pages.LOG_OUT)
    assert not is_in(browser)
    return browser


def lock_out(name: str) -> None:
    """Use up the tries at this name, as strangers can."""
    assert guesses(6, login=name) == [200] * 5 + [429]


def clear_caches() -> None:
    for one in caches:
        caches[one].clear()


@pytest.mark.long
@pytest.mark.parametrize("by", ["junk tokens", "an empty cache"])
def test_counts_of_wrong_passwords_are_not_erased_by(alice: User, checked: list[str], by: str) -> None:
    program = Client()
    for n in range(20):
        guess(n)
        if by == "an empty cache":
            clear_caches()
        elif n == 4:
            for token in range(350):
                program.get("/api/v1/me", headers={"Authorization": f"Bearer {n}-{token}"})
    assert len(set(checked)) == 5


@pytest.mark.long
def test_an_address_has_ten_wrong_passwords_a_minute(db: None) -> None:
    answers = [guess(n, login=f"nobody{n}", address="203.0.113.1") for n in range(11)]
    assert [answer.status_code for answer in answers] == [200] * 10 + [429]
    assert 50 < int(answers[-1]["Retry-After"]) <= 60
    assert "wrong passwords and codes from your network" in answers[-1].content.decode()
    assert guess(11, login="nobody11", address="203.0.113.2").status_code == 200


@pytest.mark.long
@pytest.mark.parametrize("limit", ["name", "network", "browser", "forms"])
def test_each_limit_on_log_ins_says_how_long_to_wait(alice: User, settings: Settings, limit: str) -> None:
    browser = known("alice") if limit == "browser" else Client(REMOTE_ADDR="203.0.113.1")
    name = "alice" if limit in ("name", "browser") else "nobody{}"
    if limit == "forms":  # all forms of one address, right or wrong
        settings.RATE_LIMITS, browser = 1, Client(REMOTE_ADDR="203.0.113.9")
    refused = [guess(n, login=name.format(n), browser=browser) for n in range(11)][-1]
    assert refused.status_code == 429
    stated = re.search(r"Too many .*\. Try again in (\d+) (second|minute)s?\.", refused.content.decode())
    assert stated is not None
    wait = int(stated[1]) * (60 if stated[2] == "minute" else 1)
    assert 0 <= wait - int(refused["Retry-After"]) < 60
    if limit == "name":
        assert "Too many wrong passwords for this name. Try again in 5 minutes." in refused.content.decode()
        assert 240 < int(refused["Retry-After"]) <= 300


def test_all_spellings_of_a_name_share_a_count(alice: User) -> None:
    lock_out("alice")
    for login in ("ALICE", " alice ", "Alice"):
        assert guess(9, login=login).status_code == 429, login


SPELLINGS = (
    "alice@b\u00fccher.example",
    "ALICE@B\u00dcCHER.EXAMPLE",
    "alice@xn--bcher-kva.example",
    "alice@b\u00fc\u00adcher.example",  # a soft hyphen
    "alice@\uff42\u00fccher.example",  # a full-width b
    "alice@bu\u0308cher.example",
    "alice@b\u00fccher\u3002example",
)
"""Spellings of one address that the look-up treats alike."""


@pytest.mark.long
def test_all_spellings_of_an_address_share_a_count(optional: None, alice: User) -> None:
    claim(alice, SPELLINGS[0], verified=True, primary=True)
    lock_out(SPELLINGS[0])
    for login in SPELLINGS:
        assert people_for_login(login) == [alice], ascii(login)
        assert guess(9, login=login).status_code == 429, ascii(login)


@pytest.mark.long
@pytest.mark.parametrize("verification", ["optional", "none"])
def test_claiming_an_address_does_not_clear_its_count(settings: Settings, alice: User, verification: str) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = verification
    confirmed(alice)
    eve = User.objects.create_user(username="eve", password="eve", email=alice.email)
    claim(eve, primary=True)
    lock_out(alice.email)
    assert pages.change_password(logged_in(eve), oldpassword="eve") == 302
    assert guess(9, login=alice.email).status_code == 429


@pytest.mark.long
def test_after_a_new_password_its_owner_can_log_in_at_once_by_name_and_confirmed_address(
    optional: None, alice: User
) -> None:
    claim(alice, SPELLINGS[0], verified=True)
    for locked in ("alice", SPELLINGS[1]):
        lock_out(locked)
        CountedTry.objects.filter(key__startswith="wrong-address").delete()
    assert pages.change_password(logged_in(alice), [SPELLINGS[0]]) == 302
    for login in ("alice", SPELLINGS[2]):
        assert pages.log_in(Client(REMOTE_ADDR="203.0.113.99"), login, pages.PASSWORD).status_code == 302


@pytest.mark.long
def test_a_right_password_uses_no_try_up_and_refused_tries_lengthen_no_wait(alice: User) -> None:
    for _ in range(12):
        assert pages.log_in(Client()).status_code == 302
    lock_out("alice")
    before = list(CountedTry.objects.order_by("pk").values())
    for n in range(10, 20):
        assert guess(n).status_code == 429
    assert list(CountedTry.objects.order_by("pk").values()) == before


def test_stored_counts_name_nobody(alice: User) -> None:
    guess(1)
    kept = [row.key for row in CountedTry.objects.all()]
    assert {key.partition(":")[0] for key in kept} == {"wrong-address", "wrong-name"}
    assert not any("alice" in key or "203.0" in key for key in kept)


def test_known_and_unknown_names_cost_the_same(alice: User) -> None:
    costs = []
    for name in ("alice", "nobody"):
        with CaptureQueriesContext(connection) as done:
            guess(1, login=name)
        costs.append(len(done))
    assert costs[0] == costs[1]


@pytest.mark.long
def test_a_new_password_does_not_clear_the_count_of_wrong_codes(alice: User) -> None:
    ask = wrong_code(alice)
    for number in range(5):
        assert ask(number).status_code == 200
    get_adapter().set_password(alice, "alice")
    assert ask(5).status_code == 429


@pytest.mark.long
def test_without_limits_nothing_is_counted(settings: Settings, alice: User) -> None:
    settings.RATE_LIMITS = 0
    assert {guess(n).status_code for n in range(12)} == {200}
    assert not CountedTry.objects.exists()


def wrong_code(user: User) -> Callable[[int], Answer]:
    TOTP.activate(user, pages.SECRET)

    def ask(number: int) -> Answer:
        browser = Client(REMOTE_ADDR=f"203.0.113.{number}")
        pages.log_in(browser, user.username)
        return browser.post(pages.ENTER_CODE, {"code": f"00000x{number}"})

    return ask


def wrong_again(user: User) -> Callable[[int], Answer]:
    return lambda number: logged_in(user).post(f"{pages.CONFIRM}?next=/", {"password": f"guess {number}"})


def wrong_change(user: User) -> Callable[[int], Answer]:
    return lambda number: logged_in(user).post(pages.CHANGE, {"oldpassword": f"guess {number}", **pages.NEW_PASSWORD})


def wrong_setup(user: User) -> Callable[[int], Answer]:
    browser = confirmed_browser(user)
    browser.get(pages.SET_UP)
    return lambda number: browser.post(pages.SET_UP, {"code": f"00000x{number}"})


@pytest.mark.long
@pytest.mark.parametrize("door", [wrong_code, wrong_again, wrong_change, wrong_setup])
def test_every_check_of_a_secret_refuses_after_five_tries(
    alice: User, door: Callable[[User], Callable[[int], Answer]]
) -> None:
    ask = door(alice)
    answers = []
    for number in range(7):
        answers.append(ask(number))
        clear_caches()
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 2
    assert 240 < int(answers[-1]["Retry-After"]) <= 300


def test_a_right_code_uses_no_try_up(alice: User) -> None:
    TOTP.activate(alice, pages.SECRET)
    browser = Client()
    pages.log_in(browser)
    browser.post(pages.ENTER_CODE, {"code": totp(pages.SECRET)})
    assert who(browser) == "alice"
    assert not CountedTry.objects.filter(count__gt=0).exists()


@pytest.mark.long
def test_an_address_can_create_twenty_accounts_a_minute(db: None) -> None:
    def sign_up(number: int, **more: str) -> int:
        status: int = pages.sign_up(Client(REMOTE_ADDR="203.0.113.1"), f"dora{number}", **more).status_code
        return status

    assert {sign_up(n, password2="another word") for n in range(5)} == {200}
    assert [sign_up(n) for n in range(21)] == [302] * 20 + [429]
    assert User.objects.filter(username__startswith="dora").count() == 20


def test_an_address_has_a_limit_of_accounts_an_hour(db: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("accounts.address_forms.SIGN_UPS_IN_AN_HOUR", Limit("sign-ups-hour", "address", 2, 3600))
    assert [pages.sign_up(Client(), f"dora{n}").status_code for n in range(3)] == [302, 302, 429]
    CountedTry.objects.filter(until__lt=timezone.now() + timedelta(minutes=30)).delete()  # the minute's are over
    assert pages.sign_up(Client(), "dora2").status_code == 429
    assert pages.sign_up(Client(REMOTE_ADDR="10.1.1.1"), "dora2").status_code == 302


@pytest.mark.long
def test_resets_are_counted_by_network_address(alice: User) -> None:
    def ask(email: str, number: int) -> Answer:
        return Client(REMOTE_ADDR=f"203.0.113.{number}").post(pages.RESET, {"email": email})

    answers = [ask(f"nobody{n}@example.org", 99) for n in range(21)]
    assert [answer.status_code for answer in answers] == [302] * 20 + [429]
    assert 0 < int(answers[-1]["Retry-After"]) <= 60
    # Limits on requests for one address are applied when mails are sent: tests/accounts/test_mails.py.
    assert [ask("alice@example.org", n).status_code for n in range(6)] == [302] * 6


# Known browsers


@pytest.mark.parametrize("by", ["name", "confirmed address", "network"])
def test_strangers_cannot_lock_out_a_known_browser(optional: None, alice: User, by: str) -> None:
    confirmed(alice)
    browser, login = known("alice"), alice.email if by == "confirmed address" else "alice"
    other = Client()
    if by == "network":
        other = Client(REMOTE_ADDR="198.51.100.1")
        for n in range(11):
            guess(n, login=f"nobody{n}", address="198.51.100.1")
    else:
        lock_out(login)
    assert pages.log_in(other, login, "alice").status_code == 429
    assert pages.log_in(browser, login, "alice").status_code == 302


@pytest.mark.long
def test_a_known_browser_has_five_wrong_tries_of_its_own(alice: User, checked: list[str]) -> None:
    browser = known("alice")
    checked.clear()
    answers = [guess(n, browser=browser) for n in range(20)]
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 15
    assert "in this browser" in answers[-1].content.decode()
    assert len(set(checked)) == 5
    assert pages.log_in(Client()).status_code == 302  # the count of other browsers is as it was


@pytest.mark.long
def test_wrong_codes_of_strangers_do_not_lock_a_known_browser_out(alice: User) -> None:
    browser = known("alice")
    ask = wrong_code(alice)
    assert [ask(n).status_code for n in range(6)] == [200] * 5 + [429]
    pages.log_in(browser)
    assert browser.post(pages.ENTER_CODE, {"code": totp(pages.SECRET)}).status_code == 302
    assert who(browser) == "alice"


def test_a_browser_becomes_known_for_a_year_after_the_second_factor(alice: User) -> None:
    TOTP.activate(alice, pages.SECRET)
    browser = Client()
    pages.log_in(browser)
    assert known_browsers.COOKIE not in browser.cookies
    browser.post(pages.ENTER_CODE, {"code": totp(pages.SECRET)})
    cookie = browser.cookies[known_browsers.COOKIE]
    assert cookie["httponly"]
    assert (cookie["samesite"], cookie["path"]) == ("Lax", "/")
    assert int(cookie["max-age"]) == 365 * 86_400


def test_a_known_browser_is_unknown_after_a_new_password(alice: User) -> None:
    browser = known("alice")
    alice.set_password(pages.PASSWORD)
    alice.save()
    lock_out("alice")
    assert pages.log_in(browser, "alice", pages.PASSWORD).status_code == 429


@pytest.mark.long
def test_known_browsers_share_one_count_of_wrong_codes(alice: User) -> None:
    browsers = [known("alice") for _ in range(4)]
    ask = wrong_code(alice)
    answers = []
    for number in range(8):
        browser = browsers[number % 4]
        pages.log_in(browser)
        answers.append(browser.post(pages.ENTER_CODE, {"code": f"00000x{number}"}))
    assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 3
    assert "wrong codes in browsers that you have used before" in answers[-1].content.decode()
    assert ask(9).status_code == 200  # other browsers have a count of their own


@pytest.mark.long
@pytest.mark.parametrize("end", ["an app is set up", "log out everywhere else"])
def test_what_ends_other_sessions_makes_other_browsers_unknown(alice: User, end: str) -> None:
    before, owner = [known("alice") for _ in range(3)], known("alice")
    pages.log_in(owner)
    owner.post(f"{pages.CONFIRM}?next=/", {"password": "alice"})
    if end == "an app is set up":
        assert pages.set_up_app(owner)[1].status_code == 302
    else:
        assert owner.post(pages.LOG_INS, {"end": "others"}).status_code == 303
    alice.refresh_from_db()
    assert [is_known(browser, alice) for browser in (owner, *before)] == [True, False, False, False]


def is_known(browser: Client, user: User) -> bool:
    request = RequestFactory().get("/")
    request.COOKIES[known_browsers.COOKIE] = browser.cookies[known_browsers.COOKIE].value
    return known_browsers.known_as(request, user) is not None


@pytest.mark.long
def test_a_browser_of_one_person_is_not_known_to_another(alice: User, bob: User) -> None:
    browser = known("bob")
    lock_out("alice")
    assert pages.log_in(browser).status_code == 429


@pytest.mark.long
def test_a_forged_cookie_does_not_make_a_browser_known(alice: User, bob: User) -> None:
    entry = known("bob").cookies[known_browsers.COOKIE].value
    lock_out("alice")
    for forged in (
        entry.replace(entry.partition(".")[0], str(alice.pk), 1),
        *(f"{alice.pk}.{more}" for more in (entry, "x:1:y", "", "x" * 5000)),
        "|".join([f"{alice.pk}.x"] * 1000),
        "99999999999999999999999999.x:y:z|²|-1.x",
    ):
        browser = Client()
        browser.cookies = SimpleCookie({known_browsers.COOKIE: forged})
        assert pages.log_in(browser).status_code == 429, forged[:50]


@pytest.mark.long
def test_a_shared_address_gives_no_extra_tries_at_other_accounts(settings: Settings, alice: User, bob: User) -> None:
    """Without confirmation a log-in by an address that many have claimed checks the passwords of all."""
    settings.ACCOUNT_EMAIL_VERIFICATION = "none"
    for person in (alice, bob):
        claim(person, "family@example.org", primary=True)
    statuses = [guess(n, login="family@example.org", browser=known("bob")).status_code for n in range(7)]
    assert statuses == [200] * 5 + [429] * 2


@pytest.mark.long
def test_one_browser_is_known_to_several_people(alice: User, bob: User) -> None:
    browser = known("alice")
    pages.log_in(browser, "bob")
    browser.post(pages.LOG_OUT)
    for name in ("alice", "bob"):
        lock_out(name)
        assert pages.log_in(browser, name).status_code == 302
        browser.post(pages.LOG_OUT)


# The counting itself


@pytest.fixture
def key() -> Key:
    return Key.of(THREE, "somebody")


def counted(key: Key) -> int:
    return sum(CountedTry.objects.filter(key=key.text).values_list("count", flat=True))


def test_a_window_begins_with_the_first_try_and_says_when_it_ends(db: None, key: Key) -> None:
    for n in range(3):
        tries.count([key], NOON + timedelta(seconds=10 * n))
    for _ in range(3):  # refused tries change nothing
        with pytest.raises(TooManyTries) as refused:
            tries.count([key], NOON + timedelta(seconds=30))
        assert refused.value.wait == 30
    for n in range(3):
        tries.count([key], NOON + timedelta(seconds=60 + n))
    with pytest.raises(TooManyTries) as refused:
        tries.count([key], NOON + timedelta(seconds=63))
    assert refused.value.wait == 57
    assert CountedTry.objects.count() == 1


def test_a_try_refused_by_one_limit_counts_for_no_other(db: None, key: Key) -> None:
    others = [Key.of(Limit(name, "person", 3), "somebody") for name in ("a", "z")]
    for _ in range(3):
        tries.count([key], NOON)
    with pytest.raises(TooManyTries):
        tries.count([*others, key], NOON)
    assert [counted(other) for other in others] == [0, 0]


def test_a_wrong_try_counts_and_a_right_or_broken_one_is_given_back(db: None, key: Key) -> None:
    def wrong() -> None:
        raise ValidationError("wrong")

    with pytest.raises(ValidationError, match="wrong"):
        tries.check([key], NOON, wrong)
    assert tries.check([key], NOON, lambda: "right") == "right"
    with pytest.raises(ZeroDivisionError), tries.begin([key], NOON):
        1 / 0  # noqa: B018
    assert counted(key) == 1


def test_a_try_is_given_back_to_its_own_window_only(db: None, key: Key) -> None:
    with tries.begin([key], NOON):
        tries.count([key], NOON + timedelta(seconds=60))
    assert counted(key) == 1


def test_only_old_counts_are_deleted(db: None, key: Key) -> None:
    tries.count([key], NOON)
    tries.count([Key.of(THREE, "else")], NOON + timedelta(seconds=30))
    assert tries.delete_expired(NOON + timedelta(seconds=61)) == 1
    assert tries.delete_expired(NOON + timedelta(seconds=61)) == 0
    assert CountedTry.objects.count() == 1
    assert celery.BEAT["accounts.tasks.forget_tries"] <= 600


def at_once(ask: Callable[[int], object]) -> list[Any]:
    """Call `ask` in 32 threads at the same time."""
    return pages.sent_at_once(partial(ask, number) for number in range(32))


@pytest.mark.long
def test_of_32_wrong_passwords_at_once_five_are_checked(transactional_db: None, checked: list[str]) -> None:
    User.objects.create_user(username="alice", password="alice")
    answers = at_once(guess)
    assert sorted(answer.status_code for answer in answers) == [200] * 5 + [429] * 27
    assert len(set(checked)) == 5


@pytest.mark.long
def test_right_and_wrong_tries_at_once_never_check_more_than_the_limit(transactional_db: None) -> None:
    """In rounds, so that some are given back while others are counted."""
    key, lock = Key.of(THREE, "somebody"), threading.Lock()
    wrong: list[int] = []
    inside: set[int] = set()
    most = [0]

    def ask(number: int) -> None:
        for _ in range(20):
            try:
                with tries.begin([key], NOON) as one:
                    with lock:
                        inside.add(number)
                        most.append(len(inside) + len(wrong))
                    if number % 2:
                        one.count()
                    with lock:
                        inside.remove(number)
                        wrong.extend([number] * one.counts)
            except TooManyTries:
                continue

    at_once(ask)
    assert len(wrong) == counted(key) == max(most) == 3


@pytest.mark.long
def test_right_passwords_at_once_use_no_tries_up(transactional_db: None) -> None:
    User.objects.create_user(username="alice", password="alice")
    at_once(lambda n: pages.log_in(Client(REMOTE_ADDR=f"203.0.113.{n}")))
    assert not CountedTry.objects.filter(count__gt=0).exists()


@pytest.mark.long
def test_tries_with_the_same_keys_in_any_order_and_deletions_at_once_do_not_deadlock(transactional_db: None) -> None:
    keys = [Key.of(Limit("many", "person", 40), n) for n in range(4)]
    tries.count(keys, NOON)
    now = NOON + timedelta(minutes=2)

    def ask(number: int) -> None:
        if number % 8 == 0:
            tries.delete_expired(now)
        elif number % 8 == 1:
            with tries.begin(keys, now):
                pass
        else:
            tries.count(keys if number % 2 else keys[::-1], now)

    at_once(ask)
    assert [counted(key) for key in keys] == [24] * 4
