"""The key by which push services know the site (`mail.models.SiteKey`)."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

from common.encryption import decrypt, encrypt
from mail import web_push
from mail.models import SiteKey


def public() -> str:
    """Return the public half as browsers take it, in base64url."""
    return _row().public


def private() -> EllipticCurvePrivateKey:
    """Return the key.

    :raises Undecryptable: neither `SECRET_KEY` nor a fallback decrypts it.
    """
    return web_push.key_from_text(decrypt(_row().private))


def _row() -> SiteKey:
    """Return the row. The worker for mails makes it when it runs first, before anybody can set up a device."""
    found = SiteKey.objects.first()
    if found is None:
        key = web_push.new_key()
        public_text = web_push.to_base64url(web_push.public_bytes(key))
        made = SiteKey(pk=1, private=encrypt(web_push.key_to_text(key)), public=public_text)
        SiteKey.objects.bulk_create([made], ignore_conflicts=True)  # another process may have made one meanwhile
        found = SiteKey.objects.get()
    return found
