"""A device with passkeys, in software: it signs what a browser would ask it to sign."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import Any, Final

from allauth.mfa.models import Authenticator
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from fido2.cose import ES256, CoseKey
from fido2.utils import sha256, websafe_decode, websafe_encode
from fido2.webauthn import Aaguid, AttestationObject, AttestedCredentialData, AuthenticatorData, CollectedClientData

from accounts.models import User

FLAG: Final = AuthenticatorData.FLAG
CHECKED: Final = FLAG.UP | FLAG.UV
"""The owner was present, and was recognised."""


@dataclass
class Device:
    """A device with at most one passkey.

    `origin` is the address of the page as the browser sees it. `flags` say what the device has checked of its owner.
    """

    origin: str
    flags: AuthenticatorData.FLAG = CHECKED
    credential_id: bytes = field(default_factory=lambda: secrets.token_bytes(32))
    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    user_handle: str = ""
    public: CoseKey | None = None
    """The public key that the device tells, if not that of its key."""

    def add(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a page's `creation_options`."""
        wanted = options["publicKey"]
        self.user_handle = wanted["user"]["id"]
        public: ES256 = ES256.from_cryptography_key(self.key.public_key())  # type: ignore[no-untyped-call]
        stored = AttestedCredentialData.create(Aaguid.NONE, self.credential_id, self.public or public)
        about = AuthenticatorData.create(sha256(wanted["rp"]["id"].encode()), self.flags | FLAG.AT, 0, stored)
        signed = self._signed_data(CollectedClientData.TYPE.CREATE, wanted)
        return self._answer({
            "clientDataJSON": websafe_encode(signed),
            "attestationObject": websafe_encode(AttestationObject.create("none", about, {})),
        })  # fmt: skip

    def use(self, options: dict[str, Any]) -> dict[str, Any]:
        """Return the answer to a page's `request_options`."""
        wanted = options["publicKey"]
        about = AuthenticatorData.create(sha256(wanted["rpId"].encode()), self.flags, 0)
        signed = self._signed_data(CollectedClientData.TYPE.GET, wanted)
        return self._answer({
            "clientDataJSON": websafe_encode(signed),
            "authenticatorData": websafe_encode(about),
            "signature": websafe_encode(self.key.sign(about + signed.hash, ec.ECDSA(SHA256()))),
            "userHandle": self.user_handle,
        })  # fmt: skip

    def _signed_data(self, kind: str, wanted: dict[str, Any]) -> CollectedClientData:
        return CollectedClientData.create(kind, websafe_decode(wanted["challenge"]), self.origin)

    def _answer(self, response: dict[str, Any]) -> dict[str, Any]:
        name = websafe_encode(self.credential_id)
        results = {"credProps": {"rk": True}} if "attestationObject" in response else {}
        return {
            "id": name,
            "rawId": name,
            "type": "public-key",
            "response": response,
            "clientExtensionResults": results,
        }


def store_passkey(user: User, device: Device, *, host: str = "cards.example.org") -> Authenticator:
    """Store the passkey of this device for a user, as the page for a new one does."""
    asked = {"rp": {"id": host}, "user": {"id": ""}, "challenge": websafe_encode(secrets.token_bytes(32))}
    data = {"name": "Phone", "credential": device.add({"publicKey": asked})}
    return Authenticator.objects.create(user=user, type=Authenticator.Type.WEBAUTHN, data=data)
