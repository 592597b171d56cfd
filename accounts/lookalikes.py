"""What a text looks like: invisible characters, marks, scripts, and skeletons as Unicode's UTS 39 defines them.

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

import idna
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
_JOINERS: Final = re.compile("[\u200c\u200d]")
_SKIN_TONES: Final = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff"

_PART_OF_LETTER: Final = frozenset({7, 24, 25, 240})
"""Combining classes of marks that make another letter: nukta, the dots of shin and sin, iota subscript."""
_SUBJOINED: Final = range(0x0F8D, 0x0FBD)
"""Tibetan letters that stand below another one."""
_STACKED: Final = re.compile("e|(?:^| )[mp]|(?:p*m){3}|[mp]{5}")
"""Matches the codes of `_kind` for marks that no name needs: a mark that encloses a letter, one without a letter, more
than two in a row, or more than four together with parts of letters (the limit of UTS 39, 5.4)."""

_NO_SCRIPT: Final = frozenset({"COMMON", "INHERITED"})
_BESIDE_LATIN: Final = frozenset({"BOPOMOFO", "HAN", "HANGUL", "HIRAGANA", "KATAKANA"})
"""Scripts that may stand in one word with Latin letters and each other ("Highly Restrictive" in UTS 39, 5.2)."""

_LETTER_SHAPES: Final = (
    "LATIN LETTER SMALL CAPITAL",
    "NEGATIVE CIRCLED LATIN CAPITAL LETTER",
    "NEGATIVE SQUARED LATIN CAPITAL LETTER",
    "REGIONAL INDICATOR SYMBOL LETTER",
)
"""Unicode names of Latin letters in other shapes, which NFKC does not change."""
_LETTERS_LIKE_SIGNS: Final = re.compile("[\u01c3\u02b0-\u02ff\ua788-\ua78c]")
"""Characters that Unicode calls letters but look like punctuation: a click, apostrophes, colons."""
_NOT_IN_THE_TABLE: Final = {"\ua780": "l", "\ua781": "l"}
"""Look-alikes that Unicode does not list: the turned L, in both cases."""
_LEFT_TO_RIGHT_MARK: Final = "\u200e"


def words(text: str) -> list[str]:
    """Return the runs of letters, marks and digits in a text."""
    return "".join(" " if _is_sign(char) else char for char in text).split()


def _is_sign(char: str) -> bool:
    if unicodedata.category(char)[0] in "LMN":
        return _LETTERS_LIKE_SIGNS.match(char) is not None
    # A vertical bar looks like l, so it is not a sign.
    return unicodedata.category(skeleton(char)[:1] or " ")[0] not in "LMN"


def plain_letters(text: str) -> str:
    """Return the text without invisible characters, and with plain letters for letters in other shapes."""
    return INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).translate(_shapes())


@cache
def _shapes() -> dict[int, str]:
    small_x = ("LATIN LETTER SMALL CAPITAL", "X")  # the only one that Unicode does not have
    pairs = [(shape, letter) for shape in _LETTER_SHAPES for letter in ascii_uppercase if (shape, letter) != small_x]
    return {ord(unicodedata.lookup(f"{shape} {letter}")): letter for shape, letter in pairs}


def without_joiners(text: str) -> str:
    """Return the text without the zero-width joiner and non-joiner."""
    return _JOINERS.sub("", text)


def misplaced_joiner(text: str) -> str:
    """Return the first zero-width joiner or non-joiner that changes no letter or emoji beside it, or "".

    It is in place in a Persian word between two letters that would join, in Sinhala and other scripts of India after
    the sign that takes the vowel away (the rules of RFC 5892, appendix A), and between the emoji of a family.

    :param text: a text whose characters are all printable, except joiners.
    """
    found = (match.start() for match in _JOINERS.finditer(text))
    return next((text[at] for at in found if not (idna.valid_contextj(text, at) or _joins_emoji(text, at))), "")


def _joins_emoji(text: str, at: int) -> bool:
    neighbours = text[:at].rstrip(_SKIN_TONES)[-1:] + text[at + 1 : at + 2]
    return text[at] == "\u200d" and [unicodedata.category(char) for char in neighbours] == ["So", "So"]


def stacks_marks(text: str) -> bool:
    """Return True if the text has marks without a letter, or more marks than a letter needs."""
    return _STACKED.search("".join(map(_kind, unicodedata.normalize("NFD", text)))) is not None


def _kind(char: str) -> str:
    """Return "e" for an enclosing mark, "p" for a part of a letter, "m" for another mark, " " for a space, else "x"."""
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
    """Return the skeleton of a text. Texts that can be mistaken for each other have the same one (UTS 39, section 4).

    Compare skeletons, but never show one.
    """
    plain = IGNORABLE.sub("", unicodedata.normalize("NFD", text))
    while True:  # ends, because a prototype has no other prototype: a test tries all of Unicode
        mapped = unicodedata.normalize("NFD", plain.translate(prototypes()))
        if mapped == plain:
            return plain
        plain = mapped


@cache
def prototypes() -> dict[int, str]:
    """Return the prototypes of look-alikes as a table for `str.translate`. Takes 30 ms, once a process.

    The shipped table has each pair both ways, so it does not say which of the two is the prototype. In Unicode's file
    each look-alike has one prototype, which has no other. So a character with several look-alikes is a prototype, and
    so is a sequence. Of two characters that only look like each other, either may be the prototype.
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
