"""Read delivery reports (RFC 3464), which anybody can send to the site.

A report counts only if it returns a mail that the site has sent to the address that failed
(docs/decisions/0089-account-mails-go-through-the-outbox.md).
"""

from __future__ import annotations

import re
from email import message_from_bytes
from email.message import Message
from email.parser import BytesHeaderParser
from typing import Final

from mail.message_ids import is_of_mail_to
from mail.smtp_replies import is_permanent_failure

LONGEST: Final = 256 * 1024
"""The most bytes of a report."""
MOST_PARTS: Final = 50
"""The most parts of a report, those of the returned mail included. Deep nesting takes Python's parser long."""
PART: Final = re.compile(rb"^content-type[ \t]*:", re.IGNORECASE | re.MULTILINE)


class BadReport(Exception):
    """A text is no report that counts. The message is a sentence that repeats nothing of it."""


def failed_address(report: bytes) -> str:
    """Return the address, according to this report on a mail of this site, that does not exist.

    :raises BadReport: the report does not show that.
    """
    if len(report) > LONGEST or len(PART.findall(report)) > MOST_PARTS:
        raise BadReport(f"A report has at most {LONGEST // 1024} kB and {MOST_PARTS} parts.")
    parts = _parts(message_from_bytes(report))
    recipients = [
        fields
        for part in parts
        if part.get_content_type() == "message/delivery-status"
        for fields in _parts(part)
        if fields["Final-Recipient"] is not None
    ]
    if not any(_has_failed(fields) for fields in recipients):
        raise BadReport(
            "This is not a report (RFC 3464) that an address does not exist. A full mailbox or a policy does not count."
        )
    if len(recipients) > 1:
        raise BadReport("The report is about several addresses, but each mail of this site goes to one.")
    found = next(filter(None, map(_returned_id, parts)), "")
    if not found:
        raise BadReport("The report does not return the mail that failed, with its Message-ID.")
    # If the mail was forwarded, only the original recipient is the address that the site knows.
    for address in (_address(recipients[0], "Original-Recipient"), _address(recipients[0], "Final-Recipient")):
        if is_of_mail_to(address, found):
            return address
    raise BadReport("The mail that the report returns is not one of this site to the address that failed.")


def _parts(message: Message) -> list[Message]:
    """Return the direct parts of a message, or no parts."""
    found = message.get_payload() if message.is_multipart() else []
    assert isinstance(found, list)
    return [part for part in found if isinstance(part, Message)]


def _has_failed(fields: Message) -> bool:
    status, diagnostic = (_text(fields, name).encode(errors="replace") for name in ("Status", "Diagnostic-Code"))
    return _text(fields, "Action").lower() == "failed" and is_permanent_failure(status, diagnostic)


def _returned_id(part: Message) -> str:
    """Return the Message-ID of the mail, or of its headers, in this part of a report; "" if there is none."""
    match part.get_content_type():
        case "message/rfc822":
            return next((_text(returned, "Message-ID") for returned in _parts(part)), "")
        case "text/rfc822-headers":
            headers = part.get_payload(decode=True)
            return _text(BytesHeaderParser().parsebytes(headers), "Message-ID") if isinstance(headers, bytes) else ""
    return ""


def _address(fields: Message, name: str) -> str:
    """Return the address in a field that says its type first, as in `rfc822; ann@example.org`."""
    return _text(fields, name).split(";")[-1].strip().strip("<>")


def _text(fields: Message, name: str) -> str:
    # A field with bytes beyond ASCII is an object, not a text.
    return str(fields.get(name, "")).strip()
