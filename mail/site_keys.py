"""The key by which push services know the site (`mail.models.SiteKey`)."""

from __future__ import annotations

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from django.apps import apps
from django.apps.registry import Apps
from django.utils.http import urlsafe_base64_encode

from common.encryption import decrypt, encrypt
from mail import web_push
from mail.models import SiteKey


def make(apps: Apps = apps, **_: object) -> None:
    """Make the key if there is none. Each `migrate` does, so nobody has set up a device before.

    :param apps: the models that there are after a migration, perhaps to an earlier release.
    """
    if "sitekey" not in apps.all_models["mail"] or SiteKey.objects.exists():
        return
    key = web_push.new_key()
    public_text = urlsafe_base64_encode(web_push.public_bytes(key))
    SiteKey.objects.create(pk=1, private=encrypt(web_push.key_to_text(key)), public=public_text)


def public() -> str:
    """Return the public half as browsers take it, in base64url."""
    return SiteKey.objects.get().public


def private() -> EllipticCurvePrivateKey:
    """Return the key.

    :raises Undecryptable: neither `SECRET_KEY` nor a fallback decrypts it.
    """
    return web_push.key_from_text(decrypt(SiteKey.objects.get().private))
