"""The tokens in the links of reset mails. Each belongs to an account and to the address that the mail went to."""

from __future__ import annotations

from typing import Any

from allauth.account.models import EmailAddress
from django.contrib.auth.tokens import PasswordResetTokenGenerator

from accounts import queries
from accounts.models import User
from mail.addresses import canonical


class ResetTokens(PasswordResetTokenGenerator):
    """Makes and checks the tokens for one address: it is part of what the token signs."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self._address = canonical(address)

    def _make_hash_value(self, user: Any, timestamp: int) -> str:
        return f"{super()._make_hash_value(user, timestamp)} {self._address}"


class AnyAddress:
    """Checks tokens for allauth (ACCOUNT_PASSWORD_RESET_TOKEN_GENERATOR)."""

    def check_token(self, user: User | None, token: str | None) -> bool:
        """Return True if the token is valid and a mail to its address can still reset this account's password."""
        return user is not None and token is not None and address_of_token(user, token) is not None


def address_of_token(user: User, token: str) -> str | None:
    """Return the address of the account that the token was mailed to, or None if the token is not valid any more."""
    addresses: set[str] = {user.email, *EmailAddress.objects.filter(user=user).values_list("email", flat=True)} - {""}
    for address in sorted(addresses):
        if ResetTokens(address).check_token(user, token) and user in queries.accounts_of(address):
            return address
    return None
