"""Visitors cannot find out whether a mail address has an account, with any EMAIL_VERIFICATION."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth import get_user
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from accounts import actions, queries
from accounts.models import AccountMail, User
from tests.conftest import logged_in
from tests.support.codes import confirmed_browser
from tests.support.mail import deliver_now

pytestmark = pytest.mark.long

WORD = "a long way to Bergen"
FREE, CLAIMED, CONFIRMED = "free@example.org", "claimed@example.org", "alice@example.org"


@pytest.fixture(params=["optional", "none", "mandatory"])
def asks(request: pytest.FixtureRequest, settings: Settings) -> str:
    """The values of EMAIL_VERIFICATION. The first is the default with a mail server."""
    settings.ACCOUNT_EMAIL_VERIFICATION = request.param
    must = "*" if request.param == "mandatory" else ""
    settings.ACCOUNT_SIGNUP_FIELDS = ["username*", f"email{must}", "password1*", "password2*"]
    return str(request.param)


@pytest.fixture
def people(alice: User, bob: User) -> None:
    """Alice has confirmed her address; Bob claims one that he has not confirmed."""
    EmailAddress.objects.create(user=alice, email=CONFIRMED, verified=True, primary=True)
    EmailAddress.objects.create(user=bob, email=CLAIMED, verified=False, primary=True)


@pytest.fixture
def hashed(db: None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Collect each password that is hashed. With Argon2 each takes long enough to be measured remotely."""
    passwords: list[str] = []
    encode = MD5PasswordHasher.encode

    def count(self: MD5PasswordHasher, password: str, salt: str) -> str:
        passwords.append(password)
        return encode(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", count)
    sign_up(Client(), "first@example.org", passwords)  # what is asked once a process is asked before it counts
    return passwords


@dataclass(frozen=True)
class Seen:
    """What a visitor sees of a response, and the work it took. `mails` are the queued mails."""

    status: int
    location: str
    body: str
    hashes: int
    statements: int
    mails: int


def plain(text: str, *names: str) -> str:
    for name in names:
        text = text.replace(name, "…")
    text = re.sub(r"avatars\.svg#\w+", "", text)  # goes by the number of the account
    text = re.sub(r'(data-now|data-reader)="[^"]*"', "", text)  # when the list of games was made, and for whom
    return re.sub(r'(name="(?:csrfmiddlewaretoken|form)" value=")[^"]*', r"\1", text)


def posted(client: Client, path: str, form: dict[str, str], hashed: list[str]) -> Seen:
    hashed.clear()
    asked = AccountMail.objects.count()
    cache.clear()
    with CaptureQueriesContext(connection) as done:
        answer = client.post(path, form)
    body = plain(answer.content.decode(), *form.values())
    location = answer.headers.get("Location", "")
    return Seen(answer.status_code, location, body, len(hashed), len(done), AccountMail.objects.count() - asked)


def name_for(address: str) -> str:
    return f"dora-{address.removesuffix('@example.org')}"


def sign_up(client: Client, address: str, hashed: list[str]) -> Seen:
    username = name_for(address)
    form = {"username": username, "email": address, "password1": WORD, "password2": WORD}
    return posted(client, "/accounts/signup/", form, hashed)


def test_signing_up_looks_and_costs_the_same(asks: str, people: None, hashed: list[str]) -> None:
    seen = {address: sign_up(Client(), address, hashed) for address in (FREE, CLAIMED, CONFIRMED)}
    assert seen[FREE].status == 302
    assert seen[FREE].hashes == 1
    assert seen[FREE] == seen[CLAIMED] == seen[CONFIRMED]
    assert seen[FREE].mails == (asks != "none")
    assert len([a for a in seen if queries.person_named(name_for(a))]) == 3


def test_signing_up_as_a_guest_looks_and_costs_the_same(asks: str, people: None, hashed: list[str]) -> None:
    seen = [sign_up(logged_in(actions.create_guest()), address, hashed) for address in (FREE, CLAIMED, CONFIRMED)]
    assert seen[0].status == 302
    assert seen[0] == seen[1] == seen[2]


def test_a_refused_sign_up_looks_and_costs_the_same(asks: str, people: None, hashed: list[str]) -> None:
    seen = []
    for address in (FREE, CLAIMED, CONFIRMED):
        form = {"username": "dora", "email": address, "password1": "short", "password2": "another"}
        seen.append(posted(Client(), "/accounts/signup/", form, hashed))
    assert seen[0].status == 200
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("asks", ["optional", "none"], indirect=True)
def test_every_page_after_signing_up_looks_and_costs_the_same(asks: str, people: None, hashed: list[str]) -> None:
    """With mandatory confirmation there are no further pages."""
    seen = []
    for address in (FREE, CLAIMED, CONFIRMED):
        browser, username = Client(), name_for(address)
        sign_up(browser, address, hashed)
        pages = [plain(browser.get(path).content.decode(), address, username) for path in ("/", "/accounts/email/")]
        again = posted(browser, "/accounts/email/", {"action_send": "", "email": address}, hashed)
        own = posted(Client(), "/accounts/login/", {"login": address, "password": WORD}, hashed)
        by_name = posted(Client(), "/accounts/login/", {"login": username, "password": WORD}, hashed)
        pages.append(plain(browser.get("/accounts/email/").content.decode(), address, username))
        seen.append((pages, again.status, again.mails, own.status, own.body, by_name.status))
    assert seen[0][-1] == 302
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("asks", ["optional", "mandatory"], indirect=True)
def test_an_address_logs_in_one_account_at_the_same_cost(asks: str, people: None, hashed: list[str]) -> None:
    """The time of wrong passwords does not show who else has claimed the address."""
    for address in (CLAIMED, CONFIRMED):
        sign_up(Client(), address, hashed)
    seen = {}
    for address in (FREE, CLAIMED, CONFIRMED):
        seen[address] = posted(Client(), "/accounts/login/", {"login": address, "password": "wrong"}, hashed)
    assert seen[FREE] == seen[CLAIMED]
    assert seen[FREE].hashes == seen[CONFIRMED].hashes
    assert (seen[FREE].status, seen[FREE].body) == (seen[CONFIRMED].status, seen[CONFIRMED].body)
    client = Client()
    client.post("/accounts/login/", {"login": CONFIRMED, "password": "alice"})
    assert get_user(client) == queries.person_named("alice")


def test_asking_for_a_new_password_looks_and_costs_the_same(asks: str, people: None, hashed: list[str]) -> None:
    seen = {
        address: posted(Client(), "/accounts/password/reset/", {"email": address}, hashed)
        for address in (FREE, CLAIMED, CONFIRMED)
    }
    assert seen[FREE].status == 302
    assert seen[FREE].mails == 1
    assert seen[FREE] == seen[CLAIMED] == seen[CONFIRMED]
    assert sorted(letter.to[0] for letter in deliver_now() if "/reset/key/" in letter.body) == [CONFIRMED, CLAIMED]


def test_adding_an_address_looks_the_same(asks: str, people: None, charlie: User, hashed: list[str]) -> None:
    browser = confirmed_browser(charlie)
    User.objects.filter(pk=charlie.pk).update(email="zebra@example.org")  # stays last in the list
    EmailAddress.objects.create(user=charlie, email="zebra@example.org", verified=True, primary=True)
    seen = []
    for address in (FREE, CLAIMED, CONFIRMED):
        added = posted(browser, "/accounts/email/", {"action_add": "", "email": address}, hashed)
        page = plain(browser.get("/accounts/email/").content.decode(), address)
        seen.append((added, page))
        EmailAddress.objects.filter(user=charlie, primary=False).delete()
    assert seen[0][0].status == 302
    assert seen[0][0].mails == 2  # to the new address, and to the one that is confirmed
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("asks", ["optional", "mandatory"], indirect=True)
def test_the_owner_of_a_confirmed_address_is_told_about_their_account(
    asks: str, people: None, hashed: list[str]
) -> None:
    sign_up(Client(), CONFIRMED, hashed)
    letter = next(sent for sent in deliver_now() if sent.to != ["first@example.org"])
    assert letter.to == [CONFIRMED]
    text = str(letter.body)
    assert "your email address, alice@example.org" in text
    assert "Its username is alice" in text
    assert "/accounts/login/" in text
    assert "/accounts/password/reset/" in text
    assert "confirm-email" not in text
    assert "dora" not in text
    assert EmailAddress.objects.get(email=CONFIRMED, verified=True).user.username == "alice"


def test_the_first_account_to_confirm_an_address_gets_it(settings: Settings, people: None, hashed: list[str]) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "optional"
    browser = Client()
    sign_up(browser, CLAIMED, hashed)
    letter = next(sent for sent in deliver_now() if sent.to == [CLAIMED])
    link = re.search(r"http://\S+(/accounts/confirm-email/\S+)", str(letter.body))
    assert link is not None
    browser.post(link[1])
    assert EmailAddress.objects.get(email=CLAIMED, verified=True).user.username == name_for(CLAIMED)
    answer = Client().post("/accounts/login/", {"login": CLAIMED, "password": "bob"})
    assert "once you have confirmed it" in answer.content.decode()


def test_without_confirmation_everybody_can_log_in_by_their_address(
    settings: Settings, people: None, hashed: list[str]
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "none"
    sign_up(Client(), CONFIRMED, hashed)
    for password, name in ((WORD, name_for(CONFIRMED)), ("alice", "alice")):
        client = Client()
        client.post("/accounts/login/", {"login": CONFIRMED, "password": password})
        assert get_user(client) == queries.person_named(name)
    answer = Client().post("/accounts/login/", {"login": CONFIRMED, "password": "wrong"}).content.decode()
    assert "are not correct" in answer
    assert "confirmed" not in answer
