"""Tell whether a mail server's refusal of a recipient is about the address, and so permanent."""

from __future__ import annotations

import re
from typing import Final

_DETAIL: Final = re.compile(rb"(?<![\d.])[245]\.(\d{1,3}\.\d{1,3})(?!\.?\d)")
"""The subject and detail of an enhanced status code (RFC 3463), anywhere in the reply."""
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
