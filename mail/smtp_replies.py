"""Tell whether a mail server says that an address is bad for good, in its reply or in a delivery report (RFC 3464)."""

from __future__ import annotations

import re
from typing import Final

_DETAIL: Final = re.compile(rb"(?<![\d.])[245]\.(\d{1,3}\.\d{1,3})(?!\.?\d)")
"""The subject and detail of an enhanced status code (RFC 3463), anywhere in the reply."""
_REPLY: Final = re.compile(rb"smtp\s*;\s*(\d{3})\b(.*)", re.IGNORECASE | re.DOTALL)
"""A reply to SMTP that a report quotes as its `Diagnostic-Code`."""
_UNDEFINED: Final = b"0.0"
"""The detail that a report has if it quotes a reply without one."""
_BAD_ADDRESS: Final = frozenset({b"1.0", b"1.1", b"1.2", b"1.3", b"1.4", b"1.6", b"1.10", b"2.1"})
"""No such mailbox or host, moved, or disabled. Leaves out bad sender addresses (1.7, 1.8), full mailboxes, policies."""
_NOT_FOUND: Final = frozenset({550, 551, 553})
"""The codes for an unknown address (RFC 5321) from servers that send no enhanced code."""
_ABOUT_THE_SITE: Final = re.compile(rb"relay|authenticat|not permitted|denied", re.IGNORECASE)
"""What servers without enhanced codes reply to a site that may not send mail through them."""


def is_permanent(code: int, reply: bytes) -> bool:
    """Return True if this RCPT reply says that the address does not exist, so it can be marked as bounced."""
    if code < 500:
        return False
    detail = _DETAIL.search(reply)
    if detail is not None:
        return detail[1] in _BAD_ADDRESS
    return code in _NOT_FOUND and not _ABOUT_THE_SITE.search(reply)


def is_permanent_failure(status: bytes, diagnostic: bytes) -> bool:
    """Return True if a report with this `Status` and this `Diagnostic-Code`, or b"", says the same as such a reply."""
    detail = _DETAIL.match(status)
    if detail is None or not status.startswith(b"5."):
        return False
    if detail[1] != _UNDEFINED:
        return detail[1] in _BAD_ADDRESS
    quoted = _REPLY.match(diagnostic)
    return quoted is not None and is_permanent(int(quoted[1]), quoted[2])
