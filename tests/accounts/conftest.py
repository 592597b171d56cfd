"""Fixtures of the tests of accounts."""

from __future__ import annotations

import pytest
from pytest_django.fixtures import Settings

from accounts.models import User
from tests.support.account_pages import claim, confirmed
from tests.support.openid import DORA, Provider, linked


@pytest.fixture
def addresses(alice: User) -> None:
    """Let Alice have confirmed two addresses and claim a third."""
    confirmed(alice)
    claim(alice, "second@example.org", verified=True)
    claim(alice, "third@example.org")


@pytest.fixture
def dora(provider: Provider) -> User:
    """Return Dora, who has made an account with the provider, and has no password."""
    user: User = User.objects.create_user("dora", DORA["email"])
    confirmed(user)
    linked(user, provider)
    return user


@pytest.fixture
def optional(settings: Settings) -> None:
    """Let people confirm their addresses if they like to, which is the default with a mail server."""
    settings.ACCOUNT_EMAIL_VERIFICATION = "optional"
