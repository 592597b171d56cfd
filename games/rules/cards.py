"""Cards, faces and decks, as tables.

A card is its NOTATION text (``"r5"``, ``"W10"``). The cards and decks of a new variant are new rows here.
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import Final, NamedTuple

Card = str

COLORS: Final = ("r", "y", "g", "b")
_COLOR_NAMES: Final = {"r": "Red", "y": "Yellow", "g": "Green", "b": "Blue"}


class Symbol(NamedTuple):
    """What a symbol is and does in every colour. ``Face`` explains the fields."""

    text: str
    name: str
    kind: str
    points: int
    effects: tuple[str, ...] = ()
    value: int = 0
    asks: str = ""


class Face(NamedTuple):
    """One kind of card.

    ``color`` is empty for a wild. ``value`` is how many cards it makes others draw, 0 if it is not a draw card.
    ``asks`` is the choice that its player makes: ``"color"``, ``"swap"``, ``"roulette"`` or empty. ``effects`` are
    names of rows in ``EFFECTS`` (``effects.py``). The options of a table may switch ``asks`` and ``effects`` off: its
    ``Ruleset`` has those in force. ``points`` is what the card scores (SCORE-1). ``number`` is None without a number.
    ``rank`` is the place of the symbol in a sorted hand.
    """

    text: Card
    color: str
    symbol: str
    name: str
    kind: str
    value: int
    points: int
    effects: tuple[str, ...]
    asks: str
    number: int | None
    rank: int


class Side(NamedTuple):
    """One side of a deck: its colours and the face that each card shows.

    The order of the colours decides ties (CLOCK-1).
    """

    colors: tuple[str, ...]
    faces: Mapping[Card, Face]


class Deck(NamedTuple):
    """A deck. ``cards`` are in the order that the shuffle starts from (NOTATION, "Shuffle")."""

    name: str
    title: str
    cards: tuple[Card, ...]
    sides: tuple[Side, ...]

    @property
    def faces(self) -> Mapping[Card, Face]:
        """The face of each card on the side that a round begins with."""
        return self.sides[0].faces


_NUMBER_EFFECTS: Final = {0: ("pass_hands",), 7: ("swap_hands",)}
_NUMBER_ASKS: Final = {7: "swap"}

_SYMBOLS: Final = {
    row.text: row
    for row in (
        *(
            Symbol(str(n), str(n), "number", n, _NUMBER_EFFECTS.get(n, ()), asks=_NUMBER_ASKS.get(n, ""))
            for n in range(10)
        ),
        Symbol("S", "Skip", "skip", 20, ("skip_next",)),
        Symbol("R", "Reverse", "reverse", 20, ("reverse_direction", "skip_if_two_left")),
        Symbol("E", "Skip Everyone", "skip_everyone", 20, ("skip_everyone",)),
        Symbol("D", "Discard All", "discard_all", 20, ("shed_color",)),
        Symbol("+2", "Draw Two", "draw", 20, ("next_owes",), value=2),
        Symbol("+4", "Draw Four", "draw", 20, ("next_owes",), value=4),
        Symbol("W", "Wild", "wild", 50, asks="color"),
        Symbol("WC", "Wild Color Roulette", "roulette", 50, ("roulette",), asks="roulette"),
        Symbol("W4", "Wild Draw Four", "draw", 50, ("next_owes",), value=4, asks="color"),
        Symbol(
            "WR4",
            "Wild Reverse Draw Four",
            "draw",
            50,
            ("reverse_direction", "next_owes_after_reverse"),
            value=4,
            asks="color",
        ),
        Symbol("W6", "Wild Draw Six", "draw", 50, ("next_owes",), value=6, asks="color"),
        Symbol("W10", "Wild Draw Ten", "draw", 50, ("next_owes",), value=10, asks="color"),
    )
}
"""Every symbol, in the order in which hands are sorted."""

_RANKS: Final = {text: rank for rank, text in enumerate(_SYMBOLS)}


def _face(color: str, symbol: Symbol) -> Face:
    name = f"{_COLOR_NAMES[color]} {symbol.name}" if color else symbol.name
    number = int(symbol.text) if symbol.kind == "number" else None
    return Face(
        text=intern(color + symbol.text),
        color=color,
        symbol=symbol.text,
        name=name,
        kind=symbol.kind,
        value=symbol.value,
        points=symbol.points,
        effects=symbol.effects,
        asks=symbol.asks,
        number=number,
        rank=_RANKS[symbol.text],
    )


def _deck(name: str, title: str, colored: Mapping[str, int], wild: Mapping[str, int]) -> Deck:
    printed = [(_face(color, _SYMBOLS[text]), count) for color in COLORS for text, count in colored.items()]
    printed += [(_face("", _SYMBOLS[text]), count) for text, count in wild.items()]
    cards = tuple(face.text for face, count in printed for _ in range(count))
    side = Side(COLORS, {face.text: face for face, _ in printed})
    return Deck(name, title, cards, sides=(side,))


_TWO_OF_1_TO_9: Final = {str(n): 2 for n in range(1, 10)}

DECKS: Final[dict[str, Deck]] = {
    deck.name: deck
    for deck in (
        _deck(
            "nomercy168",
            "No Mercy, 168 cards",
            {"0": 2, **_TWO_OF_1_TO_9, "S": 3, "R": 3, "E": 2, "D": 3, "+2": 3, "+4": 2},
            {"WC": 8, "W6": 4, "W10": 4, "WR4": 8},
        ),
        _deck(
            "classic108",
            "Classic, 108 cards",
            {"0": 1, **_TWO_OF_1_TO_9, "S": 2, "R": 2, "+2": 2},
            {"W": 4, "W4": 4},
        ),
    )
}

FACES: Final[dict[Card, Face]] = {card: face for deck in DECKS.values() for card, face in deck.faces.items()}


def face_of(card: Card) -> Face:
    """Return the face of a card. Only its points may differ between decks.

    :raises KeyError: if no deck has the card.

    >>> face_of("r+4").value, face_of("r+4").color, face_of("WC").color
    (4, 'r', '')
    """
    return FACES[card]


def card_name(card: Card) -> str:
    """Return the name of a card in words.

    >>> card_name("r+4"), card_name("WR4")
    ('Red Draw Four', 'Wild Reverse Draw Four')
    """
    return FACES[card].name


def color_name(color: str) -> str:
    """Return the name of a colour.

    >>> color_name("r")
    'Red'
    """
    return _COLOR_NAMES[color]
