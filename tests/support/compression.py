"""Compressed answers, and people who may see secrets."""

from __future__ import annotations

from typing import Final

from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal.auth import TOTP
from django.http import HttpResponseBase
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games.actions import lobby
from games.models import Game
from tests.conftest import logged_in
from tests.support.codes import show_factor

GZIP: Final = {"accept-encoding": "gzip, deflate, br"}


def body_of(answer: HttpResponseBase) -> bytes:
    """Return the body as it was sent."""
    return b"".join(answer) if answer.streaming else getattr(answer, "content", b"")


def is_compressed(answer: HttpResponseBase) -> bool:
    return answer.get("Content-Encoding") == "gzip"


def private_table(host: User) -> Game:
    options = lobby.TableChoices(public=False)
    return lobby.create_table(user=host, choices=options, now=timezone.now()).game


def with_factor(user: User) -> Client:
    """Return a browser that has just confirmed the second factor of this person, who has recovery codes."""
    TOTP.activate(user, "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP")
    RecoveryCodes.activate(user)
    browser = logged_in(user)
    show_factor(browser.session, user)
    return browser
