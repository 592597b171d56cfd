"""Isolation of names in right-to-left scripts inside English sentences.

Without it, words and numbers next to such a name change places: of "محمد 7, علی 9" a browser shows the 7 on the wrong
side. All text in these scripts comes from names, so we can find it in the finished sentence.
"""

from __future__ import annotations

import re
from typing import Final

# The blocks that Unicode sets aside for right-to-left scripts (DerivedBidiClass.txt).
_LETTERS: Final = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff"
_NAME: Final = re.compile(f"[{_LETTERS}](?:[{_LETTERS}\\d ._'\u2019\u200d-]*[{_LETTERS}])?")
FIRST_STRONG_ISOLATE: Final = "\u2068"
POP_ISOLATE: Final = "\u2069"


def has_right_to_left(text: str) -> bool:
    """Return True if there are right-to-left letters in the text."""
    return not text.isascii() and _NAME.search(text) is not None


def isolate(text: str, begin: str = FIRST_STRONG_ISOLATE, end: str = POP_ISOLATE) -> str:
    """Return the text with `begin` and `end` around each run of right-to-left letters."""
    return text if text.isascii() else _NAME.sub(lambda found: f"{begin}{found[0]}{end}", text)
