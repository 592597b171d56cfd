"""Devices that get notices by web push."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ec import (
    ECDH,
    EllipticCurvePrivateKey,
    EllipticCurvePublicKey,
    generate_private_key,
)
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.utils import timezone

from accounts.models import Session, User
from mail.models import PushSubscription, note_reached
from mail.web_push import AUTH_LENGTH, CURVE, public_bytes
from tests.conftest import logged_in
from tests.support.receiver import Received

AUTH = bytes(range(AUTH_LENGTH))


@dataclass
class Phone:
    """A browser with a subscription, which can read what it is sent."""

    key: EllipticCurvePrivateKey = field(default_factory=lambda: generate_private_key(CURVE))
    auth: bytes = AUTH

    def told(self, sent: Received) -> Any:
        """Return what a message that the push service got says to this browser."""
        return json.loads(self.read(sent.body))

    def read(self, body: bytes) -> bytes:
        """Return what a body says to this browser, as RFC 8188 and RFC 8291 decrypt it."""
        salt, own, encrypted = body[:16], body[21 : 21 + body[20]], body[21 + body[20] :]
        shared = self.key.exchange(ECDH(), EllipticCurvePublicKey.from_encoded_point(CURVE, own))
        about = b"WebPush: info\0" + public_bytes(self.key) + own
        secret = HKDF(algorithm=SHA256(), length=32, salt=self.auth, info=about).derive(shared)

        def part(name: bytes, length: int) -> bytes:
            info = b"Content-Encoding: " + name + b"\0"
            return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(secret)

        plain = AESGCM(part(b"aes128gcm", 16)).decrypt(part(b"nonce", 12), encrypted, None)
        return plain.rstrip(b"\0").removesuffix(b"\2")


def set_up(user: User, endpoint: str = "https://push.example/1", phone: Phone | None = None, **columns: Any) -> Phone:
    """Notify this person in a new browser of theirs, where they are logged in. Return the browser."""
    phone = phone or Phone()
    here = str(logged_in(user).session.session_key)
    columns = {"label": "Firefox, Android", "created_at": timezone.now(), "session": Session(here), **columns}
    digest = sha256(endpoint.encode()).hexdigest()
    public = public_bytes(phone.key)
    PushSubscription.objects.create(
        user=user, endpoint=endpoint, digest=digest, public=public, auth=phone.auth, **columns
    )
    note_reached([user.pk])
    user.has_push = True
    return phone
