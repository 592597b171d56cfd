"""Visitors cannot find out whether a mail address has an account, with any EMAIL_VERIFICATION."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django.fixtures import Settings

from accounts import actions, queries
from accounts.models import AccountMail, User
from tests.conftest import logged_in
from tests.support import account_pages as pages
from tests.support.account_pages import claim, confirmed, who
from tests.support.codes import confirmed_browser

pytestmark = pytest.mark.long

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
    confirmed(alice)
    claim(bob, CLAIMED, primary=True)


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


def sign_up(client: Client, address: str, hashed: list[str], **more: str) -> Seen:
    form = {"username": name_for(address), "email": address, **pages.NEW_PASSWORD, **more}
    return posted(client, pages.SIGN_UP, form, hashed)


ACTS: Final[dict[str, tuple[int, Callable[[str, list[str]], Seen]]]] = {
    "signing up": (302, lambda address, hashed: sign_up(Client(), address, hashed)),
    "signing up as a guest": (302, lambda address, hashed: sign_up(logged_in(actions.create_guest()), address, hashed)),
    "a refused sign-up": (
        200,
        lambda address, hashed: sign_up(Client(), address, hashed, username="dora", password1="short"),
    ),
    "asking for a new password": (
        302,
        lambda address, hashed: posted(Client(), pages.RESET, {"email": address}, hashed),
    ),
}


@pytest.mark.parametrize("what", ACTS)
def test_it_looks_and_costs_the_same(asks: str, people: None, hashed: list[str], what: str) -> None:
    status, act = ACTS[what]
    free, claimed, confirmed = (act(address, hashed) for address in (FREE, CLAIMED, CONFIRMED))
    assert free.status == status
    assert free == claimed == confirmed
    if what == "signing up":
        assert (free.hashes, free.mails) == (1, asks != "none")
        assert all(queries.person_named(name_for(address)) for address in (FREE, CLAIMED, CONFIRMED))
    elif what == "asking for a new password":
        assert free.mails == 1
        assert sorted(one.to[0] for one in pages.new_mails() if "/reset/key/" in one.body) == [CONFIRMED, CLAIMED]


@pytest.mark.parametrize("asks", ["optional", "none"], indirect=True)
def test_every_page_after_signing_up_looks_and_costs_the_same(asks: str, people: None, hashed: list[str]) -> None:
    """With mandatory confirmation there are no further pages."""
    seen = []
    for address in (FREE, CLAIMED, CONFIRMED):
        browser, username = Client(), name_for(address)
        sign_up(browser, address, hashed)
        shown = [plain(browser.get(path).content.decode(), address, username) for path in ("/", pages.EMAIL)]
        again = posted(browser, pages.EMAIL, {"action_send": "", "email": address}, hashed)
        own = posted(Client(), pages.LOG_IN, {"login": address, "password": pages.PASSWORD}, hashed)
        by_name = posted(Client(), pages.LOG_IN, {"login": username, "password": pages.PASSWORD}, hashed)
        shown.append(plain(browser.get(pages.EMAIL).content.decode(), address, username))
        seen.append((shown, again.status, again.mails, own.status, own.body, by_name.status))
    assert seen[0][-1] == 302
    assert seen[0] == seen[1] == seen[2]


@pytest.mark.parametrize("asks", ["optional", "mandatory"], indirect=True)
def test_an_address_logs_in_one_account_at_the_same_cost(asks: str, people: None, hashed: list[str]) -> None:
    """The time of wrong passwords does not show who else has claimed the address."""
    for address in (CLAIMED, CONFIRMED):
        sign_up(Client(), address, hashed)
    seen = {}
    for address in (FREE, CLAIMED, CONFIRMED):
        seen[address] = posted(Client(), pages.LOG_IN, {"login": address, "password": "wrong"}, hashed)
    assert seen[FREE] == seen[CLAIMED]
    assert seen[FREE].hashes == seen[CONFIRMED].hashes
    assert (seen[FREE].status, seen[FREE].body) == (seen[CONFIRMED].status, seen[CONFIRMED].body)
    client = Client()
    pages.log_in(client, CONFIRMED, "alice")
    assert who(client) == "alice"


def test_adding_an_address_looks_the_same(asks: str, people: None, charlie: User, hashed: list[str]) -> None:
    browser = confirmed_browser(charlie)
    User.objects.filter(pk=charlie.pk).update(email="zebra@example.org")  # stays last in the list
    confirmed(charlie, "zebra@example.org")
    seen = []
    for address in (FREE, CLAIMED, CONFIRMED):
        added = posted(browser, pages.EMAIL, {"action_add": "", "email": address}, hashed)
        page = plain(browser.get(pages.EMAIL).content.decode(), address)
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
    letter = next(sent for sent in pages.new_mails() if sent.to != ["first@example.org"])
    assert letter.to == [CONFIRMED]
    text = str(letter.body)
    assert "your email address, alice@example.org" in text
    assert "Its username is alice" in text
    assert pages.LOG_IN in text
    assert pages.RESET in text
    assert "confirm-email" not in text
    assert "dora" not in text
    assert EmailAddress.objects.get(email=CONFIRMED, verified=True).user.username == "alice"


def test_the_first_account_to_confirm_an_address_gets_it(settings: Settings, people: None, hashed: list[str]) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "optional"
    browser = Client()
    sign_up(browser, CLAIMED, hashed)
    letter = next(sent for sent in pages.new_mails() if sent.to == [CLAIMED])
    (link,) = pages.links_to("confirm-email", letter)
    browser.post(link)
    assert EmailAddress.objects.get(email=CLAIMED, verified=True).user.username == name_for(CLAIMED)
    answer = pages.log_in(Client(), CLAIMED, "bob")
    assert "once you have confirmed it" in answer.content.decode()


def test_without_confirmation_everybody_can_log_in_by_their_address(
    settings: Settings, people: None, hashed: list[str]
) -> None:
    settings.ACCOUNT_EMAIL_VERIFICATION = "none"
    sign_up(Client(), CONFIRMED, hashed)
    for password, name in ((pages.PASSWORD, name_for(CONFIRMED)), ("alice", "alice")):
        client = Client()
        pages.log_in(client, CONFIRMED, password)
        assert who(client) == name
    answer = pages.log_in(Client(), CONFIRMED, "wrong").content.decode()
    assert "are not correct" in answer
    assert "confirmed" not in answer
