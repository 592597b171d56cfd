"""Who may log in by what: Django's and allauth's own ways, which read the user of a session in fewer steps."""

from __future__ import annotations

from typing import Any

from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from accounts.models import User
from accounts.rows import read_user


class _FixedRead(ModelBackend):
    """Reads the user of every request by a fixed statement; the session's hash is checked by Django after that."""

    def get_user(self, user_id: int) -> User | None:
        user = read_user(user_id)
        return user if user is not None and self.user_can_authenticate(user) else None


class ByUsername(_FixedRead, ModelBackend):
    """Username and password."""


class ByAllauth(_FixedRead, AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """Whatever allauth takes, email address and password among them."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:  # type: ignore[override]
        """allauth gives an address as username too, and would check the password of its owner twice: the time tells."""
        if credentials.get("email"):
            credentials.pop("username", None)
        found: User | None = super().authenticate(request, **credentials)
        return found
