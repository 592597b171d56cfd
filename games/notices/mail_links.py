"""The links in mails: signed, so that they work without logging in, and limited in what they can do.

A token names its reader and one thing. It is worth nothing with another purpose, after its time, or, where it carries
the person's mail key, once that key is a new one.
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
"""The purposes, which are the names of their pages too: to the game, stop such mails, the address works again."""

LIFETIMES: Final = {OPEN: timedelta(days=30), STOP: timedelta(days=365), WORKS: timedelta(days=3)}
LONGEST: Final = 512


class BadLink(Exception):
    """A token that is not one of ours (forged, cut short, of another purpose), or too old."""

    def __init__(self, *, expired: bool) -> None:
        super().__init__("expired" if expired else "forged")
        self.expired = expired


@dataclass(frozen=True, slots=True)
class Link:
    """What a token says: whose it is, and the game's code, the kind of notice, or the address."""

    user_id: int
    what: str
    key: str


def address_of(purpose: str, *, user_id: int, what: str, key: str = "") -> str:
    """The absolute address of a link in a mail."""
    token = _signer(purpose).sign_object([user_id, what, key])
    return settings.SITE_URL + reverse(purpose, args=[token])


def read(purpose: str, token: str) -> Link:
    """What a token says.

    :raises BadLink:
    """
    if len(token) > LONGEST:
        raise BadLink(expired=False)
    try:
        said: Any = _signer(purpose).unsign_object(token, max_age=LIFETIMES[purpose])
    except signing.SignatureExpired as error:
        raise BadLink(expired=True) from error
    except signing.BadSignature as error:
        raise BadLink(expired=False) from error
    user_id, what, key = said
    return Link(user_id, what, key)


def _signer(purpose: str) -> signing.TimestampSigner:
    return signing.TimestampSigner(salt=f"nomercy.{purpose}", sep=".")
