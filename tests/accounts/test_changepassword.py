"""`manage.py changepassword`: a new password ends all sessions and tokens."""

from __future__ import annotations

import io
from collections.abc import Iterator

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth import get_user
from django.core.management import CommandError, call_command
from django.utils import timezone

from accounts import actions
from accounts.models import AccountMail, User
from tests.conftest import api_token, logged_in

pytestmark = pytest.mark.django_db

NEW = "a long way to Bergen"


def type_passwords(monkeypatch: pytest.MonkeyPatch, *words: str, username: str = "alice") -> str:
    """Type these passwords at the prompts, and return the errors of the command."""
    answers: Iterator[str] = iter(words)
    monkeypatch.setattr("getpass.getpass", lambda prompt="": next(answers))
    output = io.StringIO()
    call_command("changepassword", username, stdout=io.StringIO(), stderr=output)
    assert next(answers, None) is None
    return output.getvalue()


def test_it_ends_sessions_and_tokens_and_notifies_the_owner(
    monkeypatch: pytest.MonkeyPatch, alice: User, bob: User
) -> None:
    EmailAddress.objects.create(user=alice, email=alice.email, verified=True, primary=True)
    tokens = {alice: api_token(alice), bob: api_token(bob)}
    browsers = {alice: logged_in(alice), bob: logged_in(bob)}
    type_passwords(monkeypatch, NEW, NEW)
    for who, left in ((alice, False), (bob, True)):
        assert get_user(browsers[who]).is_authenticated is left
        assert (actions.use_token(token=tokens[who], now=timezone.now()) is not None) is left
    alice.refresh_from_db()
    assert alice.check_password(NEW)
    assert [mail.kind for mail in AccountMail.objects.filter(user=alice)] == ["account/email/password_changed"]


def test_it_keeps_changes_made_while_the_password_was_typed(monkeypatch: pytest.MonkeyPatch, alice: User) -> None:
    def think(prompt: str = "") -> str:
        User.objects.filter(pk=alice.pk).update(is_active=False)
        return NEW

    monkeypatch.setattr("getpass.getpass", think)
    call_command("changepassword", "alice", stdout=io.StringIO())
    alice.refresh_from_db()
    assert (alice.is_active, alice.check_password(NEW)) == (False, True)


def test_it_asks_again(monkeypatch: pytest.MonkeyPatch, alice: User) -> None:
    output = type_passwords(monkeypatch, NEW, "another", "short", "short", NEW, NEW)
    assert "The passwords differ" in output
    assert "too short" in output
    alice.refresh_from_db()
    assert alice.check_password(NEW)


def test_it_gives_up(monkeypatch: pytest.MonkeyPatch, alice: User) -> None:
    token = api_token(alice)
    with pytest.raises(CommandError, match="not changed"):
        type_passwords(monkeypatch, *["short"] * 6)
    for nobody in ("dora", actions.create_guest().username):
        with pytest.raises(CommandError, match="No account"):
            type_passwords(monkeypatch, username=nobody)
    alice.refresh_from_db()
    assert alice.check_password("alice")
    assert actions.use_token(token=token, now=timezone.now()) is not None
