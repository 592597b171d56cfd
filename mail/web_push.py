"""Web push: a message is encrypted for one browser (RFC 8291) and posted to its push service (RFC 8030).

The push service knows us by a signature (RFC 8292).
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from urllib.parse import urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    SECP256R1,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    derive_private_key,
    generate_private_key,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

CURVE: Final = SECP256R1()
PUBLIC_LENGTH: Final = 65
AUTH_LENGTH: Final = 16
SALT_LENGTH: Final = 16
RECORD_SIZE: Final = 4096
"""The bytes of the only record, at most, and so of a message with its header (RFC 8291, section 4)."""
LAST_RECORD: Final = b"\x02"
TOKEN_LIFE: Final = timedelta(hours=12)
"""How long our signature counts. Push services refuse one of more than a day."""


class Browser(NamedTuple):
    """Where a browser gets messages: the address at its push service, its public key and its secret."""

    endpoint: str
    public: bytes
    auth: bytes


def read_browser(endpoint: str, public: str, auth: str) -> Browser:
    """Return the browser of a subscription with these base64url texts.

    :raises ValueError: the key is no point of the curve, or something has the wrong length.
    """
    browser = Browser(endpoint, urlsafe_base64_decode(public), urlsafe_base64_decode(auth))
    if len(browser.public) != PUBLIC_LENGTH or len(browser.auth) != AUTH_LENGTH:
        raise ValueError("a key or a secret of another length")
    EllipticCurvePublicKey.from_encoded_point(CURVE, browser.public)
    return browser


def encrypted(message: bytes, browser: Browser, *, sender: EllipticCurvePrivateKey, salt: bytes) -> bytes:
    """Return the body that only this browser can read (RFC 8291, section 3.4).

    :param sender: a key that is used for this message only.
    :param salt: random bytes.
    """
    shared = sender.exchange(ECDH(), EllipticCurvePublicKey.from_encoded_point(CURVE, browser.public))
    own = public_bytes(sender)
    secret = _derived(shared, salt=browser.auth, info=b"WebPush: info\x00" + browser.public + own, length=32)
    key = _derived(secret, salt=salt, info=b"Content-Encoding: aes128gcm\x00", length=16)
    nonce = _derived(secret, salt=salt, info=b"Content-Encoding: nonce\x00", length=12)
    header = salt + RECORD_SIZE.to_bytes(4, "big") + len(own).to_bytes(1, "big") + own
    body = header + AESGCM(key).encrypt(nonce, message + LAST_RECORD, None)
    assert len(body) <= RECORD_SIZE
    return body


def new_key() -> EllipticCurvePrivateKey:
    return generate_private_key(CURVE)


def public_bytes(key: EllipticCurvePrivateKey) -> bytes:
    return key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)


def key_to_text(key: EllipticCurvePrivateKey) -> str:
    return urlsafe_base64_encode(key.private_numbers().private_value.to_bytes(32, "big"))


def key_from_text(text: str) -> EllipticCurvePrivateKey:
    return derive_private_key(int.from_bytes(urlsafe_base64_decode(text), "big"), CURVE)


def origin_of(endpoint: str) -> str:
    """Return the origin of the push service that has this address."""
    parts = urlsplit(endpoint)
    return f"{parts.scheme}://{parts.netloc}"


def authorization(origin: str, *, key: EllipticCurvePrivateKey, contact: str, now: datetime) -> str:
    """Return the header `Authorization` by which the push service of this origin knows us (RFC 8292).

    :param key: the key of the site, whose public half the browser subscribed with.
    :param contact: an https or mailto address of whoever runs the site.
    """
    claims = {"aud": origin, "exp": int((now + TOKEN_LIFE).timestamp()), "sub": contact}
    return f"vapid t={jwt.encode(claims, key, algorithm='ES256')}, k={urlsafe_base64_encode(public_bytes(key))}"


def headers(*, authorization: str, life: timedelta, urgent: bool, topic: str) -> Mapping[str, str]:
    """Return the headers of a message (RFC 8030).

    :param life: how long the push service keeps it while the browser cannot be reached.
    :param topic: it replaces an undelivered message with the same topic, at most 32 characters of base64url.
    """
    return {
        "Authorization": authorization,
        "Content-Encoding": "aes128gcm",
        "Content-Type": "application/octet-stream",
        "TTL": str(int(life.total_seconds())),
        "Topic": topic,
        "Urgency": "high" if urgent else "normal",
    }


def _derived(secret: bytes, *, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)
