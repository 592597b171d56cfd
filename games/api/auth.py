"""Who calls: a bearer token, or the browser's session with its CSRF token."""

from __future__ import annotations

from typing import Any

import structlog
from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from ninja.security import APIKeyCookie, HttpBearer

from accounts.actions import use_token
from accounts.models import User
from games.refusals import suspended


class TokenAuth(HttpBearer):
    """`Authorization: Bearer <token>`."""

    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        return _welcome(owner_of(request, token))


def bearer_token(request: HttpRequest) -> str | None:
    """Return the token that this request brings, split off as `HttpBearer` does it; None if it brings none."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else None


def owner_of(request: HttpRequest, token: str) -> User | None:
    """Return the active owner of this token, or None. A request asks the database once, however often this is asked."""
    known: tuple[str, User | None] | None = getattr(request, "_token_owner", None)
    if known is None or known[0] != token:
        known = token, use_token(token=token, now=timezone.now())
        request._token_owner = known  # type: ignore[attr-defined]  # kept where it ends with the request
    return known[1]


class SessionAuth(APIKeyCookie):
    """The session of a logged-in browser; unsafe methods need the CSRF token too."""

    param_name = settings.SESSION_COOKIE_NAME

    def __call__(self, request: HttpRequest) -> Any:
        # Who is not logged in is told so, not that a CSRF token is missing.
        if not request.user.is_authenticated:
            return None
        return super().__call__(request)

    def authenticate(self, request: HttpRequest, key: str | None) -> User | None:
        user = request.user
        return _welcome(user if isinstance(user, User) and user.is_active else None)


def _welcome(user: User | None) -> User | None:
    """:raises Denied: `suspended`."""
    if user is not None and user.suspended(timezone.now()):
        raise suspended()
    if user is not None:
        structlog.contextvars.bind_contextvars(user=user.pk)  # a token's owner is known from here on
    return user
