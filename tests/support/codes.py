"""Codes of authenticator apps (RFC 6238), and logged-in browsers of staff."""

from __future__ import annotations

import base64
import hashlib
import hmac
import struct
import time

from allauth.account.internal.flows.login import _AUTHENTICATION_METHODS_USER_SESSION_KEY as RECORDS_OF
from allauth.account.internal.flows.login import AUTHENTICATION_METHODS_SESSION_KEY as RECORDS
from allauth.mfa.models import Authenticator
from django.contrib.sessions.backends.base import SessionBase
from django.test import Client

from accounts.models import User
from tests.conftest import logged_in


def totp(secret: str, at: float | None = None) -> str:
    """Return the six digits for a base32 secret, at a time in seconds since the epoch or now."""
    key = base64.b32decode(secret + "=" * (-len(secret) % 8))
    digest = hmac.new(key, struct.pack(">Q", int((time.time() if at is None else at) // 30)), hashlib.sha1).digest()
    start = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[start : start + 4])[0] & 0x7FFFFFFF) % 1_000_000:06d}"


def staff_browser(user: User) -> Client:
    """Return a browser logged in as a member of staff, with the second factor confirmed."""
    browser = logged_in(user)
    show_factor(browser.session, user)
    return browser


def confirmed_browser(user: User) -> Client:
    """Return a browser logged in as a person who has just confirmed the password."""
    browser = logged_in(user)
    session = browser.session
    session[RECORDS] = [{"method": "password", "at": time.time(), "reauthenticated": True}]
    session[RECORDS_OF] = str(user.pk)
    session.save()
    return browser


def show_factor(session: SessionBase, user: User, *, ago: float = 0) -> None:
    """Record in a session that the second factor was confirmed `ago` seconds ago. Give the user one if needed."""
    factor, _ = Authenticator.objects.get_or_create(user=user, type=Authenticator.Type.TOTP, defaults={"data": {}})
    shown = {"method": "mfa", "at": time.time() - ago, "type": factor.type, "id": factor.pk, "reauthenticated": True}
    session[RECORDS] = [shown]
    session[RECORDS_OF] = str(user.pk)
    session.save()
