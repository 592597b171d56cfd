"""Read content types before Django does, whose requests fail on some of them before any code of ours runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.utils.http import parse_header_parameters

LONGEST: Final = 256
"""The most characters of a content type. Python takes a time that grows with the square of the length to parse it."""
UNREADABLE: Final = "application/octet-stream; charset=unreadable"


def readable(content_type: str) -> str:
    """Return this content type, or `UNREADABLE` if Django cannot parse it or it says that its text is not in UTF-8.

    Django would decode the URL's query and the form with any codec of Python that is named. Some are no encodings of
    text.
    """
    if len(content_type) > LONGEST:
        return UNREADABLE
    try:
        _, parameters = parse_header_parameters(content_type)
    except (LookupError, ValueError):
        return UNREADABLE
    return content_type if is_utf8(parameters) else UNREADABLE


def is_utf8(parameters: Mapping[str, str] | None) -> bool:
    """Return True unless these parameters of a content type name another encoding than UTF-8."""
    return (parameters or {}).get("charset", "utf-8").lower() in ("utf-8", "utf8")
