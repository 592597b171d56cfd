"""Encryption of the secrets of second factors, with keys derived from `SECRET_KEY`.

The newest key encrypts. Keys in `SECRET_KEY_FALLBACKS` only decrypt, so that `SECRET_KEY` can be changed.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings
from django.core.exceptions import ValidationError

PREFIX: Final = "fernet1:"
"""The start of every encrypted text. Plain secrets have no colon: they are base32 (apps) or hexadecimal (codes)."""
SECRETS: Final = frozenset({"secret", "seed"})
"""The keys in `Authenticator.data` of an app's secret, and of the seed that recovery codes are made from."""
PURPOSE: Final = b"nomercy second factors 1"


class UnreadableSecret(ValidationError):
    """No key of this site decrypts the text. A form that asks for a code shows it as its error."""

    def __init__(self) -> None:
        super().__init__(
            "We can’t check your second factor, because the site’s secret key was changed. Tell the people who run this"
            " site: they can fix it.",
            code="unreadable_secret",
        )


def encrypt(text: str) -> str:
    """Return `PREFIX` and the text encrypted with a key derived from `SECRET_KEY`."""
    return PREFIX + _keys().encrypt(text.encode()).decode()


def decrypt(text: str) -> str:
    """Return the plain text. Text without `PREFIX` is returned unchanged: it was stored before secrets were encrypted.

    :raises UnreadableSecret: neither `SECRET_KEY` nor a fallback decrypts it.
    """
    if not is_encrypted(text):
        return text
    try:
        return _keys().decrypt(text.removeprefix(PREFIX)).decode()
    except InvalidToken:
        raise UnreadableSecret from None


def is_encrypted(text: str) -> bool:
    return text.startswith(PREFIX)


def change_secrets(data: Mapping[str, Any], change: Callable[[str], str]) -> dict[str, Any]:
    """Return a copy of an `Authenticator.data` with `change` applied to its secrets."""
    return {name: change(value) if name in SECRETS else value for name, value in data.items()}


def _keys() -> MultiFernet:
    return MultiFernet([_key(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


@lru_cache(maxsize=8)
def _key(secret: str) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
