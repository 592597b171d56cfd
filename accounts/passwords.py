"""The forms about passwords that have limits, as allauth's views use them (ACCOUNT_FORMS)."""

from __future__ import annotations

from typing import Any

from allauth.account.forms import ChangePasswordForm, ResetPasswordForm
from allauth.core import context
from django.http import HttpRequest
from django.utils import timezone

from accounts import guards, tries
from accounts.limits import RESETS_BY_ADDRESS, RESETS_BY_EMAIL
from accounts.origin import address_of
from accounts.tries import Key


class ChangePassword(ChangePasswordForm):  # type: ignore[misc]  # allauth ships no types
    """Asks for the password of now and a new one."""

    def clean_oldpassword(self) -> str:
        """Check the password of now, and count a wrong one.

        :raises TooManyTries:
        """
        keys = guards.password_again(context.request, self.user)
        checked: str = tries.check(keys, timezone.now(), super().clean_oldpassword)
        return checked


class AskForNewPassword(ResetPasswordForm):  # type: ignore[misc]  # allauth ships no types
    """Asks for the mail that leads to a new password."""

    def save(self, request: HttpRequest, **options: Any) -> str:
        """Count the request, and send the mail.

        :raises TooManyTries:
        """
        email = self.cleaned_data["email"].lower()
        tries.count(
            [Key.of(RESETS_BY_ADDRESS, address_of(request)), Key.of(RESETS_BY_EMAIL, email)],
            timezone.now(),
        )
        asked: str = super().save(request, **options)
        return asked
