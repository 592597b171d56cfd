"""The Message-IDs of the site's mails. They tell whether a delivery report is about a mail that was really sent."""

from __future__ import annotations

import re
from collections.abc import Sequence
from hashlib import sha256
from typing import Final

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from mail.addresses import canonical
from mail.models import Delivery

SALT: Final = "accounts.message_ids"  # the module's former name: reports about mails that were sent then still count
MADE_HERE: Final = re.compile(r"<([\w.]{1,200})\.([0-9a-f]{32})@[^<>@\s]{1,255}>", re.ASCII)


def name_of_mail(rows: Sequence[Delivery]) -> str:
    """Return a name for the mail about these rows, for its Message-ID: always the same for the same rows.

    It is also another one than before a restore, after which the numbers of rows are given again.
    """
    made = " ".join(f"{row.pk} {row.created_at.isoformat()}" for row in rows)
    return f"{rows[0].pk}.{sha256(made.encode()).hexdigest()[:16]}"


def message_id(unique: str, *, to: str, host: str) -> str:
    """Return the Message-ID of the mail with this name to this address.

    It is always the same for the same mail, and cannot be guessed by those who do not get the mail.
    """
    return f"<{unique}.{_proof(unique, to, settings.SECRET_KEY)}@{host}>"


def is_of_mail_to(address: str, found: str) -> bool:
    """Return True if the site has made this Message-ID for a mail to this address, with any key that it accepts."""
    made = MADE_HERE.fullmatch(found)
    if made is None:
        return False
    keys = (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS)
    return any(constant_time_compare(made[2], _proof(made[1], address, key)) for key in keys)


def _proof(unique: str, to: str, key: str) -> str:
    return salted_hmac(SALT, f"{unique} {canonical(to)}", secret=key, algorithm="sha256").hexdigest()[:32]
