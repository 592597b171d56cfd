"""Read the texts that the operator of a site has written: contact, imprint and privacy."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

HEADING: Final = "# "
_EMPTY_LINES: Final = re.compile(r"\n\s*\n")


class Block(NamedTuple):
    """A paragraph or a heading."""

    text: str
    is_heading: bool


def blocks_of(text: str) -> list[Block]:
    """Return the paragraphs of a plain text, which empty lines separate. A line that begins with `# ` is a heading."""
    found: list[Block] = []
    for part in _EMPTY_LINES.split(text.strip()):
        lines: list[str] = []
        for line in part.splitlines():
            if line.startswith(HEADING):
                found += _paragraph(lines)
                lines = []
                found.append(Block(line.removeprefix(HEADING).strip(), is_heading=True))
            else:
                lines.append(line.rstrip())
        found += _paragraph(lines)
    return found


def _paragraph(lines: list[str]) -> list[Block]:
    return [Block("\n".join(lines), is_heading=False)] if lines else []
