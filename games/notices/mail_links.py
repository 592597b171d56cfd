"""Links in mails. They are signed, work without logging in, and can do one thing each.

A token is valid for one purpose, one person and one target, until its lifetime is over. Some tokens contain the
person's mail key and become invalid when that key changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.core import signing
from django.urls import reverse

OPEN: Final = "mail-open"
STOP: Final = "mail-stop"
WORKS: Final = "mail-works"
"""The purposes: open a game, stop mails, say that an address works again. Each is also the name of its URL."""

LIFETIMES: Final = {OPEN: timedelta(days=30), STOP: timedelta(days=365), WORKS: timedelta(days=3)}
SALT: Final = "nomercy"
LONGEST: Final = 512
"""The most characters of a token. A longer one is refused without checking its signature."""


class BadLink(Exception):
    """A token that is too old or is not valid: forged, cut short, or made for another purpose."""

    def __init__(self, *, expired: bool) -> None:
        super().__init__("expired" if expired else "forged")
        self.expired = expired


@dataclass(frozen=True, slots=True)
class MailLink:
    """The contents of a token."""

    user_id: int
    target: str  # the game's code, the kind of notice, or the mail address, by purpose
    key: str  # the person's mail key, or ""


def link_url(purpose: str, *, user_id: int, target: str, key: str = "") -> str:
    """Return the absolute URL of a link. Parameters are as in `MailLink`."""
    token = _signer(purpose).sign_object([user_id, target, key])
    return settings.SITE_URL + reverse(purpose, args=[token])


def read(purpose: str, token: str) -> MailLink:
    """Return the contents of a token.

    :raises BadLink: if the token is not valid for this purpose, or too old.
    """
    if len(token) > LONGEST:
        raise BadLink(expired=False)
    try:
        contents: Any = _signer(purpose).unsign_object(token, max_age=LIFETIMES[purpose])
    except signing.SignatureExpired as error:
        raise BadLink(expired=True) from error
    except signing.BadSignature as error:
        raise BadLink(expired=False) from error
    user_id, target, key = contents
    return MailLink(user_id, target, key)


def _signer(purpose: str) -> signing.TimestampSigner:
    return signing.TimestampSigner(salt=f"{SALT}.{purpose}", sep=".")
