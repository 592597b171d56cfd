"""Encryption of stored secrets, with keys derived from `SECRET_KEY`.

The newest key encrypts. Keys in `SECRET_KEY_FALLBACKS` only decrypt, so that `SECRET_KEY` can be changed.
"""

from __future__ import annotations

import base64
from functools import lru_cache
from typing import Final

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

PREFIX: Final = "fernet1:"
"""The start of every encrypted text."""
PURPOSE: Final = b"nomercy second factors 1"
"""What the keys are derived for. They encrypt more than second factors, but another purpose would make other keys."""


class Undecryptable(Exception):
    """No key of this site decrypts the text."""


def encrypt(text: str) -> str:
    """Return `PREFIX` and the text encrypted with a key derived from `SECRET_KEY`."""
    return PREFIX + _keys().encrypt(text.encode()).decode()


def decrypt(text: str) -> str:
    """Return the plain text. Text without `PREFIX` is returned unchanged.

    :raises Undecryptable: neither `SECRET_KEY` nor a fallback decrypts it.
    """
    if not is_encrypted(text):
        return text
    try:
        return _keys().decrypt(text.removeprefix(PREFIX)).decode()
    except InvalidToken:
        raise Undecryptable from None


def is_encrypted(text: str) -> bool:
    return text.startswith(PREFIX)


def _keys() -> MultiFernet:
    return MultiFernet([_key(secret) for secret in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)])


@lru_cache(maxsize=8)
def _key(secret: str) -> Fernet:
    derived = HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(secret.encode())
    return Fernet(base64.urlsafe_b64encode(derived))
