"""Mail addresses: validation, spellings of one address, and the mailbox that limits count."""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from email.errors import MessageError
from typing import Final

from django.core.exceptions import ValidationError
from django.core.mail.message import sanitize_address
from django.core.validators import validate_email

from common.readers_language import say

LONGEST_ADDRESS: Final = 254
"""The longest mail address (RFC 5321), and the length of the columns for addresses."""

GMAIL: Final = ("gmail.com", "googlemail.com")


def validate_address(value: str) -> None:
    """Refuse text that is no mail address, or an address that mail from this site cannot reach.

    :raises ValidationError:
    """
    before, at, domain = value.rpartition("@")
    # Letters beyond ASCII before the @ need SMTPUTF8 (RFC 6531), which Django's sender does not speak.
    if at and not before.isascii():
        raise ValidationError(
            say.text(
                "error",
                "Use an address with only unaccented letters, digits and signs before the @. We can’t send to others.",
            ),
            code="letters",
        )
    validate_email(value)
    # Nobody uses quotes or an IP address, and with them one mailbox has too many spellings to be counted.
    if before.startswith('"') or domain.startswith("["):
        raise ValidationError(validate_email.message, code=validate_email.code)
    if not is_sent_as_written(value):
        raise ValidationError(validate_email.message, code=validate_email.code)
    if not _keeps_letters(domain):
        raise ValidationError(
            say.text(
                "error",
                "We can’t send to a domain with this letter. Write the domain as xn--…, or use another address.",
            ),
            code="domain",
        )


def is_sent_as_written(address: str) -> bool:
    """Return False if Django would send a mail for this address to another one, or to none.

    Django decodes encoded words (RFC 2047), so mail to `=?utf-8?q?d=6fra?=@example.org` goes to `dora@example.org`,
    which has any number of such spellings. A domain may be written in any way of IDNA, but not with a last dot.
    """
    before, at, domain = address.rpartition("@")
    try:
        ascii_domain = domain.encode("idna").decode("ascii")
    except UnicodeError:
        return False
    return _as_sent(address) == before + at + ascii_domain and not ascii_domain.endswith(".")


def _keeps_letters(domain: str) -> bool:
    """Return False if mail to this domain would go to another one, like to strasse.example for straße.example.

    Python knows IDNA 2003 (RFC 3490), which replaces ß, ς and two signs that are not seen. Both domains can exist.
    """
    written = f"@{unicodedata.normalize('NFKC', domain).lower()}"
    return written.isascii() or canonical(written) == written


def _as_sent(address: str) -> str:
    """Return the address that Django gives to the mail server, or "" if it refuses to send to this one."""
    if not _may_be_address(address):
        return ""
    try:
        return str(sanitize_address(address, "utf-8"))
    except (ValueError, IndexError, MessageError):  # what Python's parser of addresses raises
        return ""


def spellings(address: str) -> list[str]:
    """Return the address as given, and with its domain as Unicode and as ASCII (IDNA).

    Return an empty list for text without an @, or longer than any address.
    """
    if not _may_be_address(address):
        return []
    before, at, domain = address.rpartition("@")
    domains = [domain]
    with suppress(UnicodeError):  # not a domain: only one spelling
        domains.append(domain.lower().encode("idna").decode("ascii"))
    with suppress(UnicodeError):
        domains.append(domain.lower().encode("idna").decode("idna"))
    return list(dict.fromkeys(before + at + spelled for spelled in domains))


def canonical(address: str) -> str:
    """Return the canonical spelling of an address: small letters, and the domain as Unicode.

    A domain can also be written in capitals, in full-width letters or as `xn--…`. Text that is no address is returned
    in small letters.
    """
    if not _may_be_address(address):
        return address.lower()
    before, at, domain = address.lower().rpartition("@")
    with suppress(UnicodeError):  # not a domain: keep it
        domain = domain.encode("idna").decode("ascii")
        domain = domain.encode("ascii").decode("idna")
    return before + at + domain


def _may_be_address(text: str) -> bool:
    # The time that IDNA takes grows with the square of the length: seconds for 60,000 characters.
    return "@" in text and len(text) <= LONGEST_ADDRESS


def mailbox_of(address: str) -> str:
    """Return the mailbox that mails to this address are counted for: the address without `+` and what follows it.

    Most mail servers deliver such addresses to the same person. Gmail also ignores dots and has two domains. An address
    that is not sent as it is written counts for the mailbox that would get the mail.
    """
    before, at, domain = canonical(_as_sent(address) or address).rpartition("@")
    domain = domain.removesuffix(".")
    before = before.partition("+")[0] or before
    if domain in GMAIL:
        before, domain = before.replace(".", ""), GMAIL[0]
    return before + at + domain
