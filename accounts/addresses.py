"""Mail addresses: which ones mail can be sent to, and how their domains are spelled."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

from django.core.exceptions import ValidationError
from django.core.validators import validate_email

LONGEST_ADDRESS: Final = 254
"""The longest mail address there is (RFC 5321), and what the columns for addresses hold."""

GMAIL: Final = ("gmail.com", "googlemail.com")


def validate_address(value: str) -> None:
    """Refuse what is no mail address, or one that mail from here cannot reach. Raises ValidationError.

    Other letters than ASCII before the @ need a mail server that speaks SMTPUTF8 (RFC 6531) and a sender that does,
    which Django's is not: it would write to a mailbox that does not exist.

    Quoted parts before the @ and IP addresses after it are refused too. Nobody has such an address, and with them one
    mailbox can be written in any number of ways, so that mails to it could not be counted.
    """
    before, at, domain = value.rpartition("@")
    if at and not before.isascii():
        raise ValidationError(
            "Give an address that has only a to z, digits and signs before the @: mail from here reaches no other.",
            code="letters",
        )
    validate_email(value)
    if before.startswith('"') or domain.startswith("["):
        raise ValidationError(validate_email.message, code=validate_email.code)
    try:
        domain.encode("idna")
    except UnicodeError:
        raise ValidationError(validate_email.message, code=validate_email.code) from None


def spellings(address: str) -> list[str]:
    """Return an address as it is given, and with its domain in letters and in IDNA's ASCII form.

    Return an empty list for text that has no @ or is longer than any address.
    """
    if not _may_be_address(address):
        return []
    before, at, domain = address.rpartition("@")
    domains = [domain]
    with suppress(UnicodeError):  # no domain: then there is one spelling
        domains.append(domain.lower().encode("idna").decode("ascii"))
    with suppress(UnicodeError):
        domains.append(domain.lower().encode("idna").decode("idna"))
    return list(dict.fromkeys(before + at + spelled for spelled in domains))


def canonical(address: str) -> str:
    """Return the one spelling that stands for all spellings of an address that mail servers treat alike.

    A domain can be written in many ways, as in capitals, in full-width letters or as `xn--…`. What is no address is
    returned in small letters.
    """
    if not _may_be_address(address):
        return address.lower()
    before, at, domain = address.lower().rpartition("@")
    with suppress(UnicodeError):  # no domain: it stays as it is
        domain = domain.encode("idna").decode("ascii")
        domain = domain.encode("ascii").decode("idna")
    return before + at + domain


def _may_be_address(text: str) -> bool:
    # The time that IDNA takes grows with the square of the length: seconds for 60,000 characters.
    return "@" in text and len(text) <= LONGEST_ADDRESS


def mailbox_of(address: str) -> str:
    """Return the name under which mails to the mailbox of this address are counted.

    What follows a `+` before the @ is left out: most mail servers deliver to the same person whatever it is. Gmail
    ignores dots too, and has two domains.
    """
    before, at, domain = canonical(address).rpartition("@")
    before = before.partition("+")[0] or before
    if domain in GMAIL:
        before, domain = before.replace(".", ""), GMAIL[0]
    return before + at + domain
