"""Authentication backends: by username, and by whatever allauth accepts."""

from __future__ import annotations

from typing import Any

from allauth.account import app_settings
from allauth.account.auth_backends import AuthenticationBackend
from django.contrib.auth.backends import ModelBackend
from django.http import HttpRequest

from accounts.models import User
from accounts.queries import claimants, holder_of, people_with_username, read_user


def holders_of(email: str) -> list[User]:
    """Return the people who may log in by this mail address.

    That is the one who has confirmed it. On a site that asks nobody to confirm, it is also each of `claimants`, who are
    few because checking the password of each costs a hash.
    """
    holder = holder_of(email)
    holders = [] if holder is None else [holder]
    if app_settings.EMAIL_VERIFICATION == app_settings.EmailVerificationMethod.NONE:
        return list(dict.fromkeys([*holders, *claimants(email)]))
    return holders


def people_for_login(login: str) -> list[User]:
    """Return the people whose passwords are checked in a log-in by this username or mail address."""
    found = {person.pk: person for person in (*people_with_username(login), *holders_of(login))}
    return list(found.values())


class _ReadsUserByFixedStatement(ModelBackend):
    """Reads the user of a request by a fixed statement. Django checks the session's hash afterwards."""

    def get_user(self, user_id: int) -> User | None:
        user = read_user(user_id)
        return user if user is not None and self.user_can_authenticate(user) else None


class ByUsername(_ReadsUserByFixedStatement, ModelBackend):
    """Logs in by username and password."""


class ByAllauth(_ReadsUserByFixedStatement, AuthenticationBackend):  # type: ignore[misc]  # allauth has no types
    """Logs in by what allauth accepts, such as email address and password."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> User | None:  # type: ignore[override]
        # allauth passes an address as the username, too. Checking its owner's password twice would show in the time.
        if credentials.get("email"):
            credentials.pop("username", None)
        found: User | None = super().authenticate(request, **credentials)
        return found

    def _authenticate_by_email(self, email: str, password: str) -> User | None:
        """Return the first account that this address may log in and whose password this is."""
        for holder in holders_of(email):
            if found := self._check_password(holder, password):
                user: User = found
                return user
        return None
