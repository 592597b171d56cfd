"""Recognise a browser that has logged in before, by a signed cookie with an entry for each account.

Strangers can use up the tries at a username from anywhere. A known browser has tries of its own, so they cannot lock
the owner out (decision 84). The cookie never replaces a password or a code.

An entry is `<person>.<random id>`, signed with a salt that contains the stored password and `User.session_mark`. It is
valid for that person only, and until one of them changes.
"""

from __future__ import annotations

import secrets
from typing import Final

from django.conf import settings
from django.core.signing import BadSignature, TimestampSigner
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from accounts.models import User

COOKIE: Final = "__Host-known" if settings.HTTPS else "known"
SALT: Final = "accounts.browsers"
SECONDS: Final = 365 * 86_400
PEOPLE: Final = 5  # accounts that one browser is known to
SEPARATOR: Final = "|"
LONGEST: Final = 200  # characters of an entry, more than a signed one has


def remember(request: HttpRequest, response: HttpResponseBase, user: User) -> None:
    """Set the cookie that marks this browser as known to `user`, who has just logged in or ended all other sessions."""
    others = [entry for entry in _entries(request) if _person(entry) != user.pk]
    entry = _signer(user).sign(f"{user.pk}.{secrets.token_urlsafe(12)}")
    value = SEPARATOR.join([entry, *others][:PEOPLE])
    response.set_cookie(COOKIE, value, max_age=SECONDS, secure=settings.HTTPS, httponly=True, samesite="Lax")


def known_as(request: HttpRequest, user: User) -> str | None:
    """Return the random id of this browser's entry for `user`, or None if there is no valid one."""
    for entry in _entries(request):
        if _person(entry) == user.pk:
            try:
                return _signer(user).unsign(entry, max_age=SECONDS)
            except BadSignature:
                continue
    return None


def may_be_known(request: HttpRequest) -> bool:
    """Return True if this browser sent such a cookie, valid or not. Runs no query."""
    return bool(_entries(request))


def _signer(user: User) -> TimestampSigner:
    return TimestampSigner(salt=f"{SALT}:{user.password}{user.session_mark}")


def _entries(request: HttpRequest) -> list[str]:
    entries = request.COOKIES.get(COOKIE, "").split(SEPARATOR, PEOPLE)[:PEOPLE]
    return [entry for entry in entries if _person(entry) is not None and len(entry) <= LONGEST]


def _person(entry: str) -> int | None:
    number = entry.partition(".")[0]
    return int(number) if number.isascii() and number.isdecimal() and len(number) < 20 else None
