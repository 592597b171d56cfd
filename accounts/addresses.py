"""Mail addresses: which ones mail can be sent to, and how their domains are spelled."""

from __future__ import annotations

from contextlib import suppress

from django.core.exceptions import ValidationError
from django.core.validators import validate_email


def validate_address(value: str) -> None:
    """Refuse what is no mail address, or one that mail from here cannot reach. Raises ValidationError.

    Other letters than ASCII before the @ need a mail server that speaks SMTPUTF8 (RFC 6531) and a sender that does,
    which Django's is not: it would write to a mailbox that does not exist.
    """
    before, at, domain = value.rpartition("@")
    if at and not before.isascii():
        raise ValidationError(
            "Give an address that has only a to z, digits and signs before the @: mail from here reaches no other.",
            code="letters",
        )
    validate_email(value)
    try:
        domain.encode("idna")
    except UnicodeError:
        raise ValidationError(validate_email.message, code=validate_email.code) from None


def spellings(address: str) -> list[str]:
    """An address as it is given, and with its domain in letters and in what stands for them on the wire (IDNA)."""
    before, at, domain = address.rpartition("@")
    domains = [domain]
    with suppress(UnicodeError):  # no domain: then there is one spelling
        domains.append(domain.lower().encode("idna").decode("ascii"))
    with suppress(UnicodeError):
        domains.append(domain.lower().encode("idna").decode("idna"))
    return list(dict.fromkeys(before + at + spelled for spelled in domains))
