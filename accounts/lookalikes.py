"""What a name looks like: invisible characters, marks, scripts, and skeletons as UTS 39 defines them.

The tables are Unicode's, as `confusable-homoglyphs` ships them; it has no skeleton function of its own.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections import defaultdict
from functools import cache
from importlib.resources import files
from string import ascii_uppercase
from typing import Final

from confusable_homoglyphs.categories import alias

_IGNORABLE: Final = (
    "\u00ad\u034f\u061c\u115f-\u1160\u17b4-\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Default_Ignorable_Code_Point, from DerivedCoreProperties.txt of Unicode 17. Python's `unicodedata` lacks it."""
_BLANK: Final = "\u2800\ufffc\U00013441-\U00013442\U00016fe4\U0001d159"
"""Characters that are not in that list but show nothing either, like the empty Braille pattern."""
IGNORABLE: Final = re.compile(f"[{_IGNORABLE}]")
INVISIBLE: Final = re.compile(f"[{_IGNORABLE}{_BLANK}]")

_PART_OF_LETTER: Final = frozenset({7, 24, 25, 240})
"""Combining classes of marks that make another letter: nukta, the dots of shin and sin, iota subscript."""
_SUBJOINED: Final = range(0x0F8D, 0x0FBD)
"""Tibetan letters that stand below another one."""
_STACKED: Final = re.compile("e|(?:^| )[mp]|(?:p*m){3}|[mp]{5}")
"""What `_kind` says of marks that no name needs: one that encloses a letter, one without a letter, more than two in a
row, or more than four with parts of letters (the limit of UTS 39, 5.4)."""

_NO_SCRIPT: Final = frozenset({"COMMON", "INHERITED"})
_BESIDE_LATIN: Final = frozenset({"BOPOMOFO", "HAN", "HANGUL", "HIRAGANA", "KATAKANA"})
"""Scripts that share words with Latin letters and with each other ("Highly Restrictive" in UTS 39, 5.2)."""

_LETTER_SHAPES: Final = (
    "LATIN LETTER SMALL CAPITAL",
    "NEGATIVE CIRCLED LATIN CAPITAL LETTER",
    "NEGATIVE SQUARED LATIN CAPITAL LETTER",
    "REGIONAL INDICATOR SYMBOL LETTER",
)
"""Latin letters in other shapes that NFKC leaves as they are."""
_LETTERS_LIKE_SIGNS: Final = re.compile("[\u01c3\u02b0-\u02ff\ua788-\ua78c]")
"""Characters that Unicode calls letters and readers take for signs: a click, apostrophes, colons."""
_NOT_IN_THE_TABLE: Final = {"\ua780": "l", "\ua781": "l"}
"""Letters that look like another one although Unicode does not list them: the turned L, in both cases."""
_LEFT_TO_RIGHT_MARK: Final = "\u200e"


def words(text: str) -> list[str]:
    """Return the runs of letters, marks and digits in a text, without what stands between them."""
    return "".join(" " if _is_sign(char) else char for char in text).split()


def _is_sign(char: str) -> bool:
    if unicodedata.category(char)[0] in "LMN":
        return _LETTERS_LIKE_SIGNS.match(char) is not None
    return unicodedata.category(skeleton(char)[:1] or " ")[0] not in "LMN"  # a bar stands for l


def plain_letters(text: str) -> str:
    """Return the text without what is invisible, and with letters for all that is only a letter in another shape."""
    return INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).translate(_shapes())


@cache
def _shapes() -> dict[int, str]:
    small_x = ("LATIN LETTER SMALL CAPITAL", "X")  # the only one that Unicode does not have
    pairs = [(shape, letter) for shape in _LETTER_SHAPES for letter in ascii_uppercase if (shape, letter) != small_x]
    return {ord(unicodedata.lookup(f"{shape} {letter}")): letter for shape, letter in pairs}


def stacks_marks(text: str) -> bool:
    """Return True if the text has marks that stand on no letter, or more than a letter needs."""
    return _STACKED.search("".join(map(_kind, unicodedata.normalize("NFD", text)))) is not None


def _kind(char: str) -> str:
    """Return a letter for what a character is: a mark, a mark as part of a letter, one that encloses, anything else."""
    match unicodedata.category(char):
        case "Me":
            return "e"
        case "Mn":
            part = unicodedata.combining(char) in _PART_OF_LETTER or ord(char) in _SUBJOINED
            return "p" if part else "m"
        case "Zs":
            return " "
    return "x"


def mixes_scripts(word: str) -> bool:
    """Return True if a word has letters of two scripts that no language writes in one word."""
    scripts = {alias(char) for char in word} - _NO_SCRIPT
    return len(scripts) > 1 and not scripts - {"LATIN"} <= _BESIDE_LATIN


def skeleton(text: str) -> str:
    """Return what a text looks like: texts that may be taken for each other have the same skeleton (UTS 39, section 4).

    To be compared, never to be shown.
    """
    plain = IGNORABLE.sub("", unicodedata.normalize("NFD", text))
    while True:  # ends: a prototype has no other prototype, and tests go through all of Unicode
        mapped = unicodedata.normalize("NFD", plain.translate(_prototypes()))
        if mapped == plain:
            return plain
        plain = mapped


@cache
def _prototypes() -> dict[int, str]:
    """Return the character or characters that each look-alike stands for. Takes 30 ms, once a process.

    The shipped table has each pair both ways, so a character and its prototype must be told apart: Unicode maps each
    look-alike to one prototype that is mapped no further. So what has several look-alikes, or is a sequence, is a
    prototype. Where a character has one look-alike that has no other, either may serve.
    """
    shipped = json.loads(files("confusable_homoglyphs").joinpath("confusables.json").read_text("utf-8"))
    alike: dict[str, set[str]] = defaultdict(set)
    for char, others in shipped.items():
        for other in others:
            # Unicode's file shows letters of right-to-left scripts between marks of direction.
            one, two = char.strip(_LEFT_TO_RIGHT_MARK), other["c"].strip(_LEFT_TO_RIGHT_MARK)
            alike[one].add(two)
            alike[two].add(one)
    table = {ord(char): other for char, other in _NOT_IN_THE_TABLE.items()}
    for char, (other, *more) in alike.items():
        if len(char) == 1 and not more and (len(other) > 1 or len(alike[other]) > 1 or other < char):
            table[ord(char)] = other
    return table
