"""The mark of a browser: a signed cookie of ours, set where somebody sits down, to see two accounts at one table.

It holds random bytes and nothing about the browser. What is stored is its hash, for 30 days.
"""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable
from functools import wraps
from typing import Concatenate, Final, ParamSpec

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import resolve
from django.utils import timezone

from games.actions.moderation import watch
from games.web.answers import SeeOther
from games.web.people import person

P = ParamSpec("P")
COOKIE: Final = "__Host-browser" if settings.HTTPS else "browser"
SALT: Final = "games.web.marks"
SECONDS: Final = 365 * 86_400


def marks(
    view: Callable[Concatenate[HttpRequest, P], HttpResponse],
) -> Callable[Concatenate[HttpRequest, P], HttpResponse]:
    """For views that seat whoever asks: when one answers with the way to the table, its browser is marked there."""

    @wraps(view)
    def handle(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        response = view(request, *args, **kwargs)
        user = person(request)
        if isinstance(response, SeeOther) and user is not None:
            match = resolve(response.url)
            if match.url_name == "game":
                mark = request.get_signed_cookie(COOKIE, default="", salt=SALT) or _mark(response)
                digest = hashlib.sha256(mark.encode()).hexdigest()
                watch.mark_browser(code=match.kwargs["code"], user_id=user.pk, mark=digest, now=timezone.now())
        return response

    return handle


def _mark(response: HttpResponse) -> str:
    mark = secrets.token_urlsafe(16)
    response.set_signed_cookie(
        COOKIE, mark, salt=SALT, max_age=SECONDS, secure=settings.HTTPS, httponly=True, samesite="Lax"
    )
    return mark
