"""A signed cookie that marks a browser, to detect two accounts of one person at a table.

It is set when somebody sits down or moves. It holds random bytes only. The database keeps its hash for 30 days.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Final

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from accounts.models import User
from games.staff import auto_reports

COOKIE: Final = "__Host-browser" if settings.HTTPS else "browser"
SALT: Final = "games.web.browser_marks"
SECONDS: Final = 365 * 86_400
CACHED_SECONDS: Final = 86_400
"""How long the cache remembers which browser of a person was stored last for a table."""


def mark_browser(request: HttpRequest, response: HttpResponse, *, code: str, user: User) -> None:
    """Store that this user plays this game in this browser. Runs at most one statement, usually none."""
    value = request.get_signed_cookie(COOKIE, default="", salt=SALT) or _new_mark(response)
    digest = hashlib.sha256(value.encode()).hexdigest()
    # If the cache has lost it, the database gets the same row again and ignores it. One key for all browsers, so that
    # a browser that sends no cookie does not fill the cache.
    key = f"mark:{code}:{user.pk}"
    if cache.get(key) != digest:
        auto_reports.store_browser_mark(code=code, user_id=user.pk, digest=digest, now=timezone.now())
        cache.set(key, digest, CACHED_SECONDS)


def _new_mark(response: HttpResponse) -> str:
    value = secrets.token_urlsafe(16)
    response.set_signed_cookie(
        COOKIE, value, salt=SALT, max_age=SECONDS, secure=settings.HTTPS, httponly=True, samesite="Lax"
    )
    return value
