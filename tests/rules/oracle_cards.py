"""The oracle's cards: faces, colours, points, decks and the shuffle.

Part of the second implementation in `oracle.py`; shares no code with `games.rules`. A card is a text, `light/dark` in
UNO Flip. A face is what one side of it shows: the whole text of a card of any other deck.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator
from functools import lru_cache
from typing import TypeVar

T = TypeVar("T")

LIGHT, DARK = ["r", "y", "g", "b"], ["o", "p", "u", "t"]
DRAW_VALUES = {"+1": 1, "+2": 2, "+4": 4, "+5": 5, "WR4": 4, "W6": 6, "W10": 10, "W4": 4, "W2": 2, "WD": 0}
# PAIR-1: tried in turn until no pair is excluded. More than a few hundred tries would be a bug.
MOST_PAIRINGS = 10_000


def colors_of(side: str | None) -> list[str]:
    return DARK if side == "dark" else LIGHT


def face(card: str, side: str | None) -> str:
    """Return the face in force of a card (FLIP-1)."""
    if side is None:
        return card
    return card.split("/")[0 if side == "light" else 1]


def is_wild(shown: str) -> bool:
    return shown.startswith("W")


def color_of(shown: str) -> str | None:
    """Return the colour of a face, or None for a wild or a buzzer."""
    return None if is_wild(shown) or shown == "BZ" else shown[0]


def symbol(shown: str) -> str:
    """Return the number or symbol of a coloured face, or the text of a wild or a buzzer."""
    return shown[1:] if color_of(shown) else shown


def is_number(shown: str) -> bool:
    return color_of(shown) is not None and symbol(shown).isdigit()


def is_draw_card(shown: str) -> bool:
    """Return True for a card that makes its victim draw. A Wild Draw Colour is one (BLUFF-5), a roulette is not."""
    return symbol(shown) in DRAW_VALUES


def matches(shown: str, top: str, color: str | None) -> bool:
    """Return True if a face may be played on the top face without a debt (TURN-2, TURN-3, TURN-8, BUZZ-1)."""
    if color is None or color_of(shown) is None:
        return True
    return color_of(shown) == color or symbol(shown) == symbol(top)


def points_of(shown: str, deck: str) -> int:
    """Return the points of a face (SCORE-1)."""
    if is_number(shown):
        return int(symbol(shown))
    if shown == "BZ":
        return 50
    if is_wild(shown):
        if deck == "flip112":
            return {"W": 40, "W2": 50, "WD": 60}[shown]
        return 50
    if symbol(shown) == "+1":
        return 10
    return 30 if symbol(shown) == "E" and deck == "flip112" else 20


# --- decks, in the order from which they are shuffled (docs/notation.md; DECK-2) -------------------------------------


def build(colors: list[str], coloured: list[tuple[str, int]], wilds: list[tuple[str, int]]) -> list[str]:
    cards: list[str] = []
    for color in colors:
        for text, count in coloured:
            cards += [color + text] * count
    for text, count in wilds:
        cards += [text] * count
    return cards


ONE_TO_NINE = [(number, 2) for number in "123456789"]
NO_MERCY = build(
    LIGHT,
    [("0", 2), *ONE_TO_NINE, ("S", 3), ("R", 3), ("E", 2), ("D", 3), ("+2", 3), ("+4", 2)],
    [("WC", 8), ("W6", 4), ("W10", 4), ("WR4", 8)],
)
CLASSIC = build(LIGHT, [("0", 1), *ONE_TO_NINE, ("S", 2), ("R", 2), ("+2", 2)], [("W", 4), ("W4", 4)])
LIGHT_FACES = build(LIGHT, [*ONE_TO_NINE, ("S", 2), ("R", 2), ("F", 2), ("+1", 2)], [("W", 4), ("W2", 4)])
DARK_FACES = build(DARK, [*ONE_TO_NINE, ("R", 2), ("E", 2), ("F", 2), ("+5", 2)], [("W", 4), ("WD", 4)])
DECKS = {
    "nomercy168": NO_MERCY,
    "nomercy172": NO_MERCY + ["W"] * 4,
    "classic108": CLASSIC,
    "flip112": LIGHT_FACES,  # how many cards there are; `paired` gives them their dark faces
}


def deck_size(deck: str, buzzers: str) -> int:
    return len(DECKS[deck]) + (8 if buzzers != "off" else 0)


def unshuffled(deck: str, buzzers: str, key: bytes) -> list[str]:
    if deck == "flip112":
        return paired(key)
    return DECKS[deck] + (["BZ"] * 8 if buzzers != "off" else [])


def excluded_pair(light: str, dark: str) -> bool:
    """Return True if both faces are wild, or both a Flip (PAIR-1)."""
    return (is_wild(light) and is_wild(dark)) or (symbol(light) == "F" and symbol(dark) == "F")


def paired(key: bytes) -> list[str]:
    """Return the cards of flip112 in the order of their light faces (PAIR-1)."""
    for attempt in range(MOST_PAIRINGS):
        pairs = list(zip(LIGHT_FACES, shuffled(DARK_FACES, key, f"p{attempt}"), strict=True))
        if not any(excluded_pair(light, dark) for light, dark in pairs):
            return [f"{light}/{dark}" for light, dark in pairs]
    raise AssertionError("no pairing found")


@lru_cache
def faces_of(deck: str, buzzers: str) -> frozenset[str]:
    """Return every face of a deck, those of both sides in UNO Flip."""
    dark = set(DARK_FACES) if deck == "flip112" else set()
    return frozenset({*DECKS[deck], *dark, *(["BZ"] if buzzers != "off" else [])})


def is_card(text: str, deck: str, buzzers: str) -> bool:
    """Return True if a text is a card of the deck, as positions write it."""
    if deck != "flip112":
        return text in faces_of(deck, buzzers)
    light, slash, dark = text.partition("/")
    return bool(slash) and light in LIGHT_FACES and dark in DARK_FACES and not excluded_pair(light, dark)


# --- the shuffle (docs/notation.md, "Shuffle") -----------------------------------------------------------------------


def words(key: bytes, stream: str) -> Iterator[int]:
    """Yield the 32-bit words of a stream: an epoch's number, or a name like `p0` or `b1`."""
    block = 0
    while True:
        digest = hmac.new(key, f"{stream}:{block}".encode("ascii"), hashlib.sha256).digest()
        for start in range(0, 32, 4):
            yield int.from_bytes(digest[start : start + 4], "big")
        block += 1


def shuffled(items: list[T], key: bytes, stream: str) -> list[T]:
    items = list(items)
    source = words(key, stream)
    for k in range(len(items) - 1, 0, -1):
        limit = 2**32 - 2**32 % (k + 1)
        word = next(source)
        while word >= limit:
            word = next(source)
        other = word % (k + 1)
        items[k], items[other] = items[other], items[k]
    return items
