"""Bad input on the pages of accounts gets an answer that says what to do, and changes nothing."""

from __future__ import annotations

from encodings import idna

import pytest
from allauth.account.models import EmailAddress
from django.test import Client

from accounts import queries
from accounts.models import AccountMail, User
from mail import addresses
from tests.conftest import logged_in
from tests.support import account_pages as pages
from tests.support.account_pages import is_in
from tests.support.codes import confirmed_browser

pytestmark = pytest.mark.django_db

ON_EVERY_FORM = ("http://[bad", "javascript:alert(1)")
NOT_ADDRESSES = (
    *ON_EVERY_FORM,
    "//[bad",
    "http://[::1",
    "https://[bad]/x",
    "http://user@[bad/",
    "\\\\[bad",
    "http://[bad]:port/",
    "http:///evil.example",
)


@pytest.mark.long
@pytest.mark.parametrize("where", NOT_ADDRESSES)
@pytest.mark.parametrize("by", ["address", "form"])
def test_a_malformed_next_url_is_ignored(alice: User, where: str, by: str) -> None:
    forms: dict[str, dict[str, str]] = {
        pages.LOG_IN: {"login": "alice", "password": "alice"},
        pages.SIGN_UP: {"username": "dora", **pages.NEW_PASSWORD},
        pages.LOG_OUT: {},
        pages.RESET: {"email": "alice@example.org"},
        pages.CONFIRM: {"password": "alice"},
        pages.CHANGE: {"oldpassword": "alice", **pages.NEW_PASSWORD},
    }
    for path, form in forms.items() if where in ON_EVERY_FORM else [(pages.LOG_IN, forms[pages.LOG_IN])]:
        browser = logged_in(alice) if path.split("/")[2] in ("logout", "reauthenticate", "password") else Client()
        assert browser.get(path, {"next": where}).status_code in (200, 302)
        if by == "address":
            answer = browser.post(path, form, query_params={"next": where})
        else:
            answer = browser.post(path, form | {"next": where})
        assert answer.status_code == 302, path
        assert answer.headers["Location"].startswith("/")
        assert not answer.headers["Location"].startswith(("//", "/\\"))
        assert "bad" not in answer.headers["Location"]


@pytest.mark.parametrize("length", [254, 255, 5000])
def test_an_address_longer_than_its_column_is_refused(alice: User, length: int) -> None:
    end = "@" + "long." * 10 + "example.org"
    address = "a" * (length - len(end)) + end
    assert len(address) == length
    fits = length == 254
    forms: tuple[tuple[Client, str, dict[str, str]], ...] = (
        (confirmed_browser(alice), pages.EMAIL, {"action_add": ""}),
        (Client(), pages.SIGN_UP, {"username": "dora", **pages.NEW_PASSWORD}),
        (Client(), pages.RESET, {}),
    )
    for browser, path, form in forms:
        answer = browser.post(path, {**form, "email": address})
        assert answer.status_code == (302 if fits else 200), path
        if not fits:
            assert "at most 254 characters" in answer.content.decode()
    assert User.objects.filter(username="dora", email=address).exists() == fits
    assert EmailAddress.objects.filter(email=address).count() == (2 if fits else 0)
    assert AccountMail.objects.exists() == fits


def test_an_unknown_address_cannot_be_selected(alice: User) -> None:
    browser = confirmed_browser(alice)
    for action in ("send", "remove", "primary"):
        for address in ("a" * 300 + "@example.org", "x" * 5000, "", "\x00", "not an address"):
            answer = pages.change_address(browser, action, address)
            assert (answer.status_code, answer.headers["Location"]) == (302, pages.EMAIL), (action, address)


def test_a_log_in_with_a_malformed_name_is_refused(alice: User) -> None:
    browser = Client()
    for login in ("a" * 300 + "@example.org", "x" * 5000, "\x00", "[bad"):
        assert pages.log_in(browser, login, "alice").status_code == 200, login
        assert not is_in(browser)


@pytest.fixture
def labels(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that collects each domain label that IDNA encodes, because its time grows quadratically."""
    found: list[str] = []
    convert = idna.ToASCII

    def count(label: str) -> bytes:
        found.append(label)
        return convert(label)

    monkeypatch.setattr(idna, "ToASCII", count)
    return found


TOO_LONG = "a@" + "\u00e9." * 2000 + "com"


@pytest.mark.parametrize(
    ("path", "form"),
    [
        (pages.LOG_IN, {"login": TOO_LONG, "password": "alice"}),
        (pages.LOG_IN, {"login": TOO_LONG.replace("@", ""), "password": "alice"}),
        (pages.SIGN_UP, {"username": "dora", "email": TOO_LONG, **pages.NEW_PASSWORD}),
        (pages.RESET, {"email": TOO_LONG}),
        (pages.EMAIL, {"action_add": "", "email": TOO_LONG}),
        (pages.EMAIL, {"action_send": "", "email": TOO_LONG}),
        (pages.EMAIL, {"action_remove": "", "email": TOO_LONG}),
        (pages.EMAIL, {"action_primary": "", "email": TOO_LONG}),
    ],
)
def test_an_overlong_address_is_refused_cheaply(
    alice: User, labels: list[str], path: str, form: dict[str, str]
) -> None:
    browser = confirmed_browser(alice) if path == pages.EMAIL else Client()
    # A known browser looks up the accounts of the name before anything is counted.
    browser.cookies["known"] = "1.x"
    labels.clear()
    answer = browser.post(path, form)
    assert answer.status_code == (302 if path == pages.EMAIL and "action_add" not in form else 200)
    assert labels == []
    if answer.status_code == 200:
        assert "at most 254 characters" in answer.content.decode()


@pytest.mark.parametrize("text", [TOO_LONG, "\u00e9." * 2000, "alice", ""])
def test_text_that_is_no_address_has_no_spellings(alice: User, labels: list[str], text: str) -> None:
    User.objects.filter(pk=alice.pk).update(email="")
    assert addresses.spellings(text) == []
    assert addresses.canonical(text.upper()) == text.upper().lower()
    assert queries.holder_of(text) is None
    assert queries.claimants(text) == queries.accounts_of(text) == []
    assert labels == []
