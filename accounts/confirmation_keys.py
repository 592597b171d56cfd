"""The keys in the links that confirm an address."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from allauth.account import app_settings
from allauth.account.models import EmailAddress
from django.core import signing
from django.utils.crypto import constant_time_compare, salted_hmac

from accounts.models import User

SALT: Final = "accounts.confirmation_keys"


def key_of(claim: EmailAddress) -> str:
    """Return the key that confirms this address. A new password of its account makes it invalid.

    Somebody who knew the old password may have added the address.
    """
    return signing.dumps([claim.pk, _digest_of_password(claim.user)], salt=SALT)


def claim_of(key: str) -> EmailAddress | None:
    """Return the unconfirmed address of an active account that this key confirms, or None if the key is not valid."""
    age = timedelta(days=app_settings.EMAIL_CONFIRMATION_EXPIRE_DAYS)
    try:
        number, digest = signing.loads(key, salt=SALT, max_age=age)
    except signing.BadSignature:
        return None
    claims = EmailAddress.objects.filter(pk=number, verified=False, user__is_active=True)
    claim: EmailAddress | None = claims.select_related("user").first()
    return claim if claim is not None and constant_time_compare(digest, _digest_of_password(claim.user)) else None


def _digest_of_password(user: User) -> str:
    return salted_hmac(SALT, user.password).hexdigest()[:32]
