"""What a mail server means that does not take mail for an address: that the address is no good, or something else."""

from __future__ import annotations

import re
from typing import Final

_DETAIL: Final = re.compile(rb"(?<![\d.])[245]\.(\d{1,3}\.\d{1,3})(?!\.?\d)")
"""The subject and detail of an enhanced status code (RFC 3463), wherever it stands."""
_NO_GOOD: Final = frozenset({b"1.0", b"1.1", b"1.2", b"1.3", b"1.4", b"1.6", b"1.10", b"2.1"})
"""Of the addressee: no such mailbox or host, moved without a trace, or closed. What is wrong with the sender's address
(1.7, 1.8), a full mailbox and every policy are not among them.
"""
_NOT_FOUND: Final = frozenset({550, 551, 553})
"""The replies of RFC 5321 that an unknown address gets from a server that says no more."""
_OF_THE_SITE: Final = re.compile(rb"relay|authenticat|not permitted|denied", re.IGNORECASE)
"""What servers without enhanced codes say to a site that they do not serve."""


def is_about_the_address(code: int, said: bytes) -> bool:
    """Whether this answer to RCPT says that no mail will ever arrive at the address."""
    if code < 500:
        return False
    detail = _DETAIL.search(said)
    if detail is not None:
        return detail[1] in _NO_GOOD
    return code in _NOT_FOUND and not _OF_THE_SITE.search(said)
