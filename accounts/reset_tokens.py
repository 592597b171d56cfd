"""The tokens of the links that set a new password."""

from typing import Any

from allauth.account.models import EmailAddress
from django.contrib.auth.tokens import PasswordResetTokenGenerator


class ResetTokenGenerator(PasswordResetTokenGenerator):
    """Makes and checks the tokens. Once an account has a confirmed address, its earlier tokens are invalid.

    Those may have been sent to an address that was mistyped.
    """

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        from allauth.account.forms import EmailAwarePasswordResetTokenGenerator  # noqa: PLC0415  # imports this module

        value = str(EmailAwarePasswordResetTokenGenerator()._make_hash_value(user, timestamp))
        confirmed = EmailAddress.objects.filter(user=user, verified=True).exists()
        return value if confirmed else f"{value}|unconfirmed"
