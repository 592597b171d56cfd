"""Authentication of calls: a bearer token, or the browser's session with its CSRF token."""

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
    """Authenticates by `Authorization: Bearer <token>`."""

    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        return _checked(owner_of(request, token))


def bearer_token(request: HttpRequest) -> str | None:
    """Return the bearer token of this request, parsed as `HttpBearer` does, or None."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else None


def owner_of(request: HttpRequest, token: str) -> User | None:
    """Return the active owner of this token, or None. Runs its query once for each request."""
    known: tuple[str, User | None] | None = getattr(request, "_token_owner", None)
    if known is None or known[0] != token:
        known = token, use_token(token=token, now=timezone.now())
        request._token_owner = known  # type: ignore[attr-defined]  # cached for this request
    return known[1]


class SessionAuth(APIKeyCookie):
    """Authenticates by the session of a logged-in browser. Unsafe methods also need the CSRF token."""

    param_name = settings.SESSION_COOKIE_NAME

    def __call__(self, request: HttpRequest) -> Any:
        # Without a login the error is "unauthorized", not a missing CSRF token.
        if not request.user.is_authenticated:
            return None
        return super().__call__(request)

    def authenticate(self, request: HttpRequest, key: str | None) -> User | None:
        user = request.user
        return _checked(user if isinstance(user, User) and user.is_active else None)


def _checked(user: User | None) -> User | None:
    """Return the user if they may use the API, and add them to the log lines of this request.

    :raises Denied: `suspended`.
    """
    if user is not None and user.suspended(timezone.now()):
        raise suspended()
    if user is not None:
        structlog.contextvars.bind_contextvars(user=user.pk)
    return user
