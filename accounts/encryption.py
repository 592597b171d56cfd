"""Encryption of the secrets of second factors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.core.exceptions import ValidationError

from common import encryption
from common.encryption import Undecryptable

SECRETS: Final = frozenset({"secret", "seed"})
"""The keys in `Authenticator.data` of an app's secret, and of the seed that recovery codes are made from."""


class UnreadableSecret(ValidationError):
    """No key of this site decrypts the text. A form that asks for a code shows it as its error."""

    def __init__(self) -> None:
        super().__init__(
            "We can’t check your second factor, because the site’s secret key was changed. Tell the people who run this"
            " site: they can fix it.",
            code="unreadable_secret",
        )


def decrypt(text: str) -> str:
    """Return the plain text. A secret that is not encrypted was stored before secrets were, and is returned unchanged.

    :raises UnreadableSecret: neither `SECRET_KEY` nor a fallback decrypts it.
    """
    try:
        return encryption.decrypt(text)
    except Undecryptable:
        raise UnreadableSecret from None


def change_secrets(data: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """Return a copy of an `Authenticator.data` with `change` applied to its secrets."""
    return {name: change(value) if name in SECRETS else value for name, value in data.items()}
