"""`manage.py remove_addresses`: the last step when a person asks for deletion (docs/operations.md)."""

from __future__ import annotations

import io

import pytest
from allauth.account.models import EmailAddress
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts.models import User
from games.models import NoticeSettings

pytestmark = pytest.mark.django_db


def told(*name: str) -> str:
    said = io.StringIO()
    call_command("remove_addresses", *name, stdout=said)
    return said.getvalue()


def refusal(*name: str) -> str:
    with pytest.raises(CommandError) as refused:
        told(*name)
    return str(refused.value)


@pytest.fixture
def closed(alice: User) -> User:
    """Return Alice, who has closed her account, two addresses, and one that mails came back from."""
    User.objects.filter(pk=alice.pk).update(is_active=False)
    for email, primary in ((alice.email, True), ("second@example.org", False)):
        EmailAddress.objects.create(user=alice, email=email, primary=primary)
    NoticeSettings.objects.create(user=alice, bounced=alice.email, bounced_at=timezone.now())
    return alice


def test_a_closed_account_keeps_no_address(closed: User, bob: User) -> None:
    assert told("Alice") == "Removed from alice: alice@example.org, second@example.org.\n"
    closed.refresh_from_db()
    assert closed.email == ""
    assert not EmailAddress.objects.exists()
    assert User.objects.get(pk=bob.pk).email == "bob@example.org"
    settings = NoticeSettings.objects.get(user=closed)
    assert (settings.bounced, settings.bounced_at) == ("", None)
    assert told("alice") == "alice has no mail address. Nothing was changed.\n"


def test_the_name_is_asked_for(closed: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("builtins.input", lambda question: "alice ")
    assert told().startswith("Removed from alice: ")


def test_nobody_to_ask_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert refusal() == "Give the username of the closed account. Nothing was changed."


def test_an_unknown_name_and_an_open_account_are_refused(alice: User) -> None:
    assert refusal("alise") == "No account has the username alise. Nothing was changed."
    assert refusal("alice") == (
        "The account of alice is open. Close it on the person's page first, which ends its sessions. Nothing was"
        " changed."
    )
    assert User.objects.get(pk=alice.pk).email == "alice@example.org"
