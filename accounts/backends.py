"""Who may log in by what: Django's and allauth's own ways, which read the user of a session in fewer steps."""

from __future__ import annotations

from typing import Any

from allauth.account import app_settings
from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from accounts.models import User
from accounts.queries import claimants, holder_of, people_with_username, read_user


def holders_of(email: str) -> list[User]:
    """Return the people whom this mail address may log in.

    That is who has confirmed it. Where the site asks nobody to confirm, it is also the accounts that the address counts
    for. The password of each costs a hash, so they are few.
    """
    holder = holder_of(email)
    holders = [] if holder is None else [holder]
    if app_settings.EMAIL_VERIFICATION == app_settings.EmailVerificationMethod.NONE:
        return list(dict.fromkeys([*holders, *claimants(email)]))
    return holders


def people_called(login: str) -> list[User]:
    """Return the people whose passwords a log-in by this username or mail address tries."""
    found = {person.pk: person for person in (*people_with_username(login), *holders_of(login))}
    return list(found.values())


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

    def _authenticate_by_email(self, email: str, password: str) -> User | None:
        """Check the password of each account that this address may log in."""
        for holder in holders_of(email):
            if found := self._check_password(holder, password):
                user: User = found
                return user
        return None
