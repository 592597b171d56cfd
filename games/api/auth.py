"""Authentication of calls: a bearer token, or the browser's session with its CSRF token."""

from __future__ import annotations

from typing import Any, Final

import structlog
from django.conf import settings
from django.http import HttpRequest
from django.utils import timezone
from ninja.security import APIKeyCookie, HttpBearer

from accounts.actions import use_token
from accounts.models import ApiToken, User
from games.refusals import Denied, suspended

TO_BE_DELETED: Final = (
    "The owner of this token has asked for the deletion of the account. The token works again when they log in, or as a"
    " guest press the button on the account page that keeps the account."
)


class TokenAuth(HttpBearer):
    """Authenticates by `Authorization: Bearer <token>`."""

    def authenticate(self, request: HttpRequest, token: str) -> User | None:
        known = token_of(request, token)
        if known is not None and known.user.deletes_at is not None:
            raise Denied("unauthorized", TO_BE_DELETED)
        owner = _checked(None if known is None else known.user)
        if owner is not None and known is not None and known.scope == ApiToken.Scope.READ and _writes(request):
            raise Denied("forbidden", "This token can only read. Create another one on your account page to play with.")
        request.by_token = owner is not None  # type: ignore[attr-defined]  # for `routes`
        return owner


def bearer_token(request: HttpRequest) -> str | None:
    """Return the bearer token of this request, parsed as `HttpBearer` does, or None."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else None


def owner_of(request: HttpRequest, token: str) -> User | None:
    """Return the active owner of this token, or None. Runs its query once for each request."""
    known = token_of(request, token)
    return None if known is None else known.user


def token_of(request: HttpRequest, token: str) -> ApiToken | None:
    """Return the row of this token if it works, with its active owner, or None. One query for each request."""
    known: tuple[str, ApiToken | None] | None = getattr(request, "_token", None)
    if known is None or known[0] != token:
        known = token, use_token(token=token, now=timezone.now())
        request._token = known  # type: ignore[attr-defined]  # cached for this request
    return known[1]


def _writes(request: HttpRequest) -> bool:
    return request.method not in ("GET", "HEAD")


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
