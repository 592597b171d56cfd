"""Test what names look like: skeletons, invisible characters, marks, scripts."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from accounts.lookalikes import INVISIBLE, mixes_scripts, plain_letters, prototypes, skeleton, stacks_marks, words
from accounts.names import name_skeletons

EVERYTHING = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
SAMPLES = "aIl1i0Oo\u0430\u0410\u03bd\u039d\u0131\u0130\u00dfmrn\u0301\u0323\u05d5\u0647\u5c71\uac00\u1d00\ufdfa"
texts = st.text(st.one_of(st.characters(codec="utf-8"), st.sampled_from(SAMPLES)), max_size=12)


def look_alike(*names: str) -> bool:
    """Return True if all these names share a skeleton."""
    return bool(frozenset.intersection(*map(name_skeletons, names)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("paypal", "\u0440\u0430\u0443\u0440\u0430l"), ("scope", "\u0455\u0441\u043e\u0440\u0435"),  # Cyrillic
        ("A", "\u13aa"), ("A", "\ua4ee"),  # Cherokee, Lisu
        ("modern", "rnodern"), ("l", "1"), ("O", "0"), ("a\u034fb", "ab"), ("\ua78c", "'"),
        ("\u05f2", "''"),  # a prototype that is a sequence
    ],
)  # fmt: skip
def test_look_alikes_have_one_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


@pytest.mark.parametrize(("one", "other"), [("a", "b"), ("zoe", "zo\u00eb"), ("a", "A"), ("i", "l"), ("b", "\u0431")])
def test_different_looks_have_different_skeletons(one: str, other: str) -> None:
    assert skeleton(one) != skeleton(other)


@pytest.mark.long
def test_every_look_alike_has_a_stable_skeleton() -> None:
    """The loops of `skeleton` end for each character that has a prototype or another case."""
    changing = [char for char in EVERYTHING if ord(char) in prototypes() or char.casefold() != char]
    assert len(changing) > 5000
    assert [char for char in changing if skeleton(skeleton(char)) != skeleton(char)] == []
    assert all(map(name_skeletons, changing))


@given(texts)
def test_a_skeleton_is_its_own_skeleton(text: str) -> None:
    once = skeleton(text)
    assert skeleton(once) == once
    assert unicodedata.normalize("NFD", once) == once


@given(texts, st.sampled_from(sorted(set("\u034f\u115f\u1160\u17b4\u17b5\u180b\u200b\u3164\ufe0f\uffa0\U000e0100"))))
def test_invisible_characters_do_not_change_the_skeleton(text: str, invisible: str) -> None:
    assert skeleton(text + invisible) == skeleton(text)
    assert look_alike(text, text + invisible)


@pytest.mark.parametrize(
    "other",
    [
        "Alice", "ALICE", "aIice", "al1ce", "ALlCE", "a|ice", "\uff41\uff4c\uff49\uff43\uff45", "\U0001d4b6lice",
        "\u24d0lice",
        "\u0430\u04cf\u0456\u0441\u0435", "\u1d00lice", "\U0001f170lice", "alice.", "_alice_", "alice \u2728",
        "alice\u02bc",
        "alice\u01c3", "a\u034flice", "alice\ufe0f", "a\u17b4lice", "a\u200dlice", "\u3164alice", "al\u0131ce",
        "ali\u0307ce", "al\u0131\u0307ce",
    ],
)  # fmt: skip
def test_a_disguised_name_has_the_skeleton_of_the_name(other: str) -> None:
    assert look_alike("alice", other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\u0412\u041e\u0412", "bob"),  # capitals of another alphabet
        ("\u0412\u041e\u0412", "\u0432\u043e\u0432"),  # and the same name in small letters
        ("\u039d\u0399\u039a\u039f\u03a3", "\u03bd\u03b9\u03ba\u03bf\u03c2"),
        ("STRASSE", "stra\u00dfe"), ("O\u2019Neil", "o'neil"), ("mary_ann", "Mary Ann"), ("mary_ann", "MaryAnn"),
        ("alice-cooper", "A\ua781ice Cooper"), ("\u272a Alice Cooper", "Alice  Cooper!"),
        ("\u0639\u0644\u06cc\u200c\u0631\u0636\u0627", "\u0639\u0644\u06cc\u0631\u0636\u0627"),
        ("\u0dc1\u0dca\u200d\u0dbb\u0dd3", "\u0dc1\u0dca\u0dbb\u0dd3"),
    ],
)  # fmt: skip
def test_case_punctuation_and_joiners_do_not_distinguish_names(one: str, other: str) -> None:
    assert look_alike(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("zoe", "zo\u00eb"), ("jurgen", "j\u00fcrgen"), ("alice", "malice"), ("player-1-11", "player-11-1"),
        ("\u5c71\u7530", "\u5c71\u672c"), ("\uae40\ucca0\uc218", "\uae40\uc601\ud76c"),
        ("\u05e8\u05d5\u05e0\u05d9", "\u05e8\u05d5\u05df"),
        ("\u041e\u043b\u044f", "\u042e\u043b\u044f"), ("ann", "anna"), ("r2", "d2"),
    ],
)  # fmt: skip
def test_different_names_have_different_skeletons(one: str, other: str) -> None:
    assert not look_alike(one, other)


def test_invisible_characters_are_detected() -> None:
    invisible = (
        "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180e\u180f\u200b\u200d\u202e\u2060\u2065\u2069\u2800\u3164"
        "\ufe00\ufe0f\ufeff\uffa0\ufff0\ufffc\U00013441\U0001bca0\U0001d159\U0001d173\U000e0001\U000e0100\U000e0fff"
    )
    assert [char for char in invisible if not INVISIBLE.search(f"a{char}b")] == []


def test_all_format_characters_known_to_python_are_detected() -> None:
    """Python lacks the Unicode property, but most of its characters have the category Cf (format)."""
    formats = {char for char in EVERYTHING if unicodedata.category(char) == "Cf" and not INVISIBLE.search(char)}
    prepended = {
        char for char in formats if "ARABIC" in unicodedata.name(char, "") or "KAITHI" in unicodedata.name(char, "")
    }
    others = {f"{ord(char):04X}" for char in formats - prepended}
    # These are visible: signs before numbers, interlinear notes, and how hieroglyphs are joined. None may be in a name.
    assert others <= {"070F", "08E2", "FFF9", "FFFA", "FFFB", *(f"{n:X}" for n in range(0x13430, 0x13440))}


@pytest.mark.parametrize(
    "text",
    [
        "e\u0301\u0302\u0303", "\u1ec5\u0301", "a" + "\u0301" * 25, "\u0301a", "a \u0301b", "a\u20dd", "\u0301",
        "\u0e01\u0e31\u0e31\u0e31", "\u05e9\u05c1\u05c1\u05c1\u05c1\u05c1", "\u0f62\u0f90\u0f90\u0f90\u0f90\u0f90",
    ],
)  # fmt: skip
def test_stacked_marks_are_detected(text: str) -> None:
    assert stacks_marks(text)


def test_mixed_scripts_are_detected() -> None:
    mixed = ["\u0430lice", "\u03b1lice", "\u13aalice", "\u0430\u03b1", "\u05d0b", "\u5c71\u0430"]
    assert [text for text in mixed if not mixes_scripts(text)] == []
    alone = ["alice", "\u5c71Taro", "\u305f\u308d\u3046\u592a\u90ceA", "\uae40A1", "e\u0301t\u00e9", "2\u00d7"]
    assert [text for text in alone if mixes_scripts(text)] == []


def test_signs_separate_words() -> None:
    assert words("Zo\u00eb O\u2019Neil, a.k.a. \u2728 x_2") == ["Zo\u00eb", "O", "Neil", "a", "k", "a", "x", "2"]


def test_letters_in_other_shapes_are_read_as_letters() -> None:
    assert plain_letters("\uff21\U0001d400\u24b6\U0001f130\U0001f150\U0001f170\U0001f1e6\u1d00") == "A" * 8
