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
        return _welcome(use_token(token=token, now=timezone.now()))


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
