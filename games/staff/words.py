"""The words of pages for staff and of commands, which are always English."""

from __future__ import annotations


def counted(count: int, one: str, many: str = "") -> str:
    """Return `1 game` or `3 games`. Give `many` where the plural is not `one` with an s."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"
