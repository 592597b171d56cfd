"""Cards, faces and decks, as tables.

A card is its text in the notation (``"r5"``, ``"W10"``). The cards and decks of a new variant are new rows here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from sys import intern
from typing import Final, Literal, NamedTuple

from common.say import ENGLISH, N_, Say

Card = str

Effect = Literal[
    "skip_next",
    "skip_everyone",
    "reverse_direction",
    "skip_if_two_left",
    "pass_hands",
    "swap_hands",
    "next_owes",
    "next_owes_after_reverse",
    "allow_challenge",
    "roulette",
    "roulette_at_once",
    "pass_debt_on",
    "end_debt",
    "shed_color",
    "flip",
    "buzzer",
    "buzzer_race",
    "buzzer_lottery",
]
"""What a card can do. ``EFFECTS`` (``effects.py``) has a function for each of them except three.

Discard All's ``shed_color`` runs before the test for a last card (DISC-1). ``end_debt`` is read where a debt ends
(RESP-4). The option ``buzzers`` turns ``buzzer`` into one of the two below it.
"""

COLORS: Final = ("r", "y", "g", "b")
DARK_COLORS: Final = ("o", "p", "u", "t")
_COLOR_NAMES: Final = {
    "r": N_("Red"),
    "y": N_("Yellow"),
    "g": N_("Green"),
    "b": N_("Blue"),
    "o": N_("Orange"),
    "p": N_("Pink"),
    "u": N_("Purple"),
    "t": N_("Teal"),
}
_COLOR_WORDS: Final = {
    "r": N_("red"),
    "y": N_("yellow"),
    "g": N_("green"),
    "b": N_("blue"),
    "o": N_("orange"),
    "p": N_("pink"),
    "u": N_("purple"),
    "t": N_("teal"),
}
"""The names of the colours inside of a sentence."""

LIGHT: Final = "light"
DARK: Final = "dark"

BUZZERS: Final = 8
"""How many buzzers the option ``buzzers`` adds to a deck."""


class Symbol(NamedTuple):
    """What a symbol is and does in every colour. ``Face`` explains the fields."""

    text: str
    name: str
    kind: str
    points: int
    effects: tuple[Effect, ...] = ()
    value: int = 0
    asks: str = ""
    answer: tuple[Effect, ...] = ()


@dataclass(frozen=True, slots=True)
class Face:
    """One kind of card.

    ``color`` is empty for a wild. ``value`` is how many cards it makes others draw, 0 if it names no number.
    ``asks`` is the choice that its player makes: ``"color"``, ``"swap"``, ``"roulette"`` or empty. ``effects`` are what
    it does, and ``answer`` the same for a card that is played while cards are owed. The options of a table may switch
    ``asks``, ``effects`` and ``answer`` off: its ``Ruleset`` has those in force. ``points`` is what the card scores
    (SCORE-1). ``number`` is None without a number. ``rank`` is the place of the symbol in a sorted hand.
    """

    text: Card
    color: str
    symbol: str
    name: str
    kind: str
    value: int
    points: int
    effects: tuple[Effect, ...]
    answer: tuple[Effect, ...]
    asks: str
    number: int | None
    rank: int


class Side(NamedTuple):
    """One side of a deck: its name, its colours and its faces.

    ``name`` is None if the deck has one side. The order of the colours decides ties (CLOCK-1, FLIP-7). ``printed`` has
    the text of the face of every card, in the order that the shuffle starts from (DECK-2). ``faces`` has each face by
    its text. ``shown`` is the text of the face that each card shows, or None if a card is its face.
    """

    name: str | None
    colors: tuple[str, ...]
    printed: tuple[str, ...]
    faces: Mapping[str, Face]
    shown: Mapping[Card, str] | None = None


class Deck(NamedTuple):
    """A deck.

    ``meaning`` is a sentence about it for the option ``deck``. ``is_no_mercy`` is True for the decks of No Mercy.
    ``cards`` are in the order that the shuffle starts from (DECK-2). A deck of two sides has none: its cards are pairs
    of faces, made in each deal (PAIR-1).
    """

    name: str
    title: str
    meaning: str
    cards: tuple[Card, ...]
    sides: tuple[Side, ...]
    is_no_mercy: bool = False

    @property
    def faces(self) -> Mapping[str, Face]:
        """The faces of the side that a round begins with, by their texts."""
        return self.sides[0].faces

    @property
    def size(self) -> int:
        """The number of cards."""
        return len(self.sides[0].printed)


_NUMBER_EFFECTS: Final[dict[int, tuple[Effect, ...]]] = {0: ("pass_hands",), 7: ("swap_hands",)}
_NUMBER_ASKS: Final = {7: "swap"}

_SYMBOLS: Final = {
    row.text: row
    for row in (
        *(
            Symbol(str(n), str(n), "number", n, _NUMBER_EFFECTS.get(n, ()), asks=_NUMBER_ASKS.get(n, ""))
            for n in range(10)
        ),
        Symbol("S", "Skip", "skip", 20, ("skip_next",), answer=("pass_debt_on",)),
        Symbol(
            "R",
            "Reverse",
            "reverse",
            20,
            ("reverse_direction", "skip_if_two_left"),
            answer=("reverse_direction", "pass_debt_on"),
        ),
        Symbol("E", "Skip Everyone", "skip_everyone", 20, ("skip_everyone",), answer=("end_debt", "skip_everyone")),
        Symbol("D", "Discard All", "discard_all", 20, ("shed_color",), answer=("end_debt",)),
        Symbol("F", "Flip", "flip", 20, ("flip",)),
        Symbol("+1", "Draw One", "draw", 10, ("next_owes",), value=1),
        Symbol("+2", "Draw Two", "draw", 20, ("next_owes",), value=2),
        Symbol("+4", "Draw Four", "draw", 20, ("next_owes",), value=4),
        Symbol("+5", "Draw Five", "draw", 20, ("next_owes",), value=5),
        Symbol("W", "Wild", "wild", 50, asks="color", answer=("pass_debt_on",)),
        Symbol("WC", "Wild Color Roulette", "roulette", 50, ("roulette",), asks="roulette"),
        Symbol("W4", "Wild Draw Four", "draw", 50, ("next_owes", "allow_challenge"), value=4, asks="color"),
        Symbol("W2", "Wild Draw Two", "draw", 50, ("next_owes", "allow_challenge"), value=2, asks="color"),
        Symbol("WD", "Wild Draw Colour", "draw", 60, ("next_owes", "allow_challenge"), asks="color"),
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
        Symbol("BZ", "Buzzer", "buzzer", 50, ("buzzer",)),
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
        answer=symbol.answer,
        asks=symbol.asks,
        number=number,
        rank=_RANKS[symbol.text],
    )


class _Faces(NamedTuple):
    """The faces of a side: ``each`` once, and ``printed`` as often as they are in the deck (DECK-2)."""

    each: tuple[Face, ...]
    printed: tuple[str, ...]


def _faces(colors: tuple[str, ...], colored: Mapping[str, int], wild: Mapping[str, int], *changed: Symbol) -> _Faces:
    """Return the faces of a side from how often each symbol is in it.

    ``colored`` are the counts in each colour, ``wild`` those in all. ``changed`` are the symbols that differ from
    those in ``_SYMBOLS``.
    """
    symbols = _SYMBOLS | {row.text: row for row in changed}
    counted = [(_face(color, symbols[text]), count) for color in colors for text, count in colored.items()]
    counted += [(_face("", symbols[text]), count) for text, count in wild.items()]
    return _Faces(tuple(face for face, _ in counted), tuple(face.text for face, count in counted for _ in range(count)))


def _deck(
    name: str,
    title: str,
    meaning: str,
    colored: Mapping[str, int],
    wild: Mapping[str, int],
    *,
    is_no_mercy: bool = False,
) -> Deck:
    """Return a deck whose cards have one side."""
    faces = _faces(COLORS, colored, wild)
    return Deck(name, title, meaning, faces.printed, (_side(None, COLORS, faces),), is_no_mercy)


def _two_sided_deck(name: str, title: str, meaning: str, light: _Faces, dark: _Faces) -> Deck:
    """Return a deck whose cards have a light and a dark side (PAIR-1)."""
    pairs = [
        (pair_text(above.text, below.text), above.text, below.text)
        for above in light.each
        for below in dark.each
        if may_be_paired(above, below)
    ]
    sides = (
        _side(LIGHT, COLORS, light, {card: above for card, above, _ in pairs}),
        _side(DARK, DARK_COLORS, dark, {card: below for card, _, below in pairs}),
    )
    return Deck(name, title, meaning, (), sides)


def _side(name: str | None, colors: tuple[str, ...], faces: _Faces, shown: Mapping[Card, str] | None = None) -> Side:
    return Side(name, colors, faces.printed, {face.text: face for face in faces.each}, shown)


def pair_text(light: str, dark: str) -> Card:
    """Return the card with these two faces.

    >>> pair_text("r5", "o2")
    'r5/o2'
    """
    return intern(f"{light}/{dark}")


def may_be_paired(light: Face, dark: Face) -> bool:
    """Return False if two faces are both wild or both Flip cards: no card has these (PAIR-1)."""
    return bool(light.color or dark.color) and not (light.kind == dark.kind == "flip")


_TWO_OF_1_TO_9: Final = {str(n): 2 for n in range(1, 10)}
_NO_MERCY_COLORED: Final = {"0": 2, **_TWO_OF_1_TO_9, "S": 3, "R": 3, "E": 2, "D": 3, "+2": 3, "+4": 2}
_NO_MERCY_WILD: Final = {"WC": 8, "W6": 4, "W10": 4, "WR4": 8}
_FLIP_WILD: Final = _SYMBOLS["W"]._replace(points=40)
# In this deck a Skip Everyone does not end a debt (RESP-4).
_FLIP_SKIP_EVERYONE: Final = _SYMBOLS["E"]._replace(points=30, answer=())

DECKS: Final[dict[str, Deck]] = {
    deck.name: deck
    for deck in (
        _deck(
            "nomercy168",
            "No Mercy, 168 cards",
            "The deck is that of No Mercy: 168 cards.",
            _NO_MERCY_COLORED,
            _NO_MERCY_WILD,
            is_no_mercy=True,
        ),
        _deck(
            "nomercy172",
            "No Mercy with plain Wilds, 172 cards",
            "The deck is that of No Mercy with four more plain Wilds: 172 cards.",
            _NO_MERCY_COLORED,
            {**_NO_MERCY_WILD, "W": 4},
            is_no_mercy=True,
        ),
        _deck(
            "classic108",
            "Classic, 108 cards",
            "The deck is the classic one: 108 cards.",
            {"0": 1, **_TWO_OF_1_TO_9, "S": 2, "R": 2, "+2": 2},
            {"W": 4, "W4": 4},
        ),
        _two_sided_deck(
            "flip112",
            "Flip, 112 cards with two sides",
            "The deck is that of Flip: 112 cards with two sides.",
            _faces(COLORS, {**_TWO_OF_1_TO_9, "S": 2, "R": 2, "F": 2, "+1": 2}, {"W": 4, "W2": 4}, _FLIP_WILD),
            _faces(
                DARK_COLORS,
                {**_TWO_OF_1_TO_9, "R": 2, "E": 2, "F": 2, "+5": 2},
                {"W": 4, "WD": 4},
                _FLIP_WILD,
                _FLIP_SKIP_EVERYONE,
            ),
        ),
    )
}
"""Every deck, by name."""


def with_buzzers(deck: Deck) -> Deck:
    """Return a deck with eight buzzers more. A deck of two sides has none, and is returned as it is (OPT-1)."""
    if len(deck.sides) > 1:
        return deck
    side = deck.sides[0]
    face = _face("", _SYMBOLS["BZ"])
    printed = (*side.printed, *(BUZZERS * (face.text,)))
    return deck._replace(cards=printed, sides=(side._replace(printed=printed, faces={**side.faces, face.text: face}),))


FACES: Final[dict[str, Face]] = {
    text: face for deck in map(with_buzzers, DECKS.values()) for side in deck.sides for text, face in side.faces.items()
}
"""Every face of every deck, by its text. Only the points of a face differ between decks."""


def face_of(card: Card) -> Face:
    """Return the face with this text. Only its points may differ between decks.

    :raises KeyError: if no deck has the card.

    >>> face_of("r+4").value, face_of("r+4").color, face_of("WC").color
    (4, 'r', '')
    """
    return FACES[card]


def card_name(card: Card, say: Say = ENGLISH) -> str:
    """Return the name of a face in words. ``say`` says it in a language.

    :raises KeyError: if no deck has the face. A card with two faces is none, so its hidden face is never told.

    >>> card_name("r+4"), card_name("WR4")
    ('Red Draw Four', 'Wild Reverse Draw Four')
    """
    return say.text("card", FACES[card].name)


def names_of_both_faces(card: Card) -> str:
    """Return the name of a card, or the names of both faces of a card that has two.

    >>> names_of_both_faces("r5"), names_of_both_faces("r5/o2")
    ('Red 5', 'Red 5 / Orange 2')
    """
    return " / ".join(card_name(face) for face in card.split("/"))


def color_name(color: str, say: Say = ENGLISH) -> str:
    """Return the name of a colour that stands alone.

    >>> color_name("r")
    'Red'
    """
    return say.text("colour", _COLOR_NAMES[color])


def color_word(color: str, say: Say = ENGLISH) -> str:
    """Return the name of a colour inside of a sentence.

    >>> color_word("r")
    'red'
    """
    return say.text("colour in a sentence", _COLOR_WORDS[color])


def symbol_name(symbol: str, say: Say = ENGLISH) -> str:
    """Return the name of a symbol in every colour, by its text in the notation.

    >>> symbol_name("S")
    'Skip'
    """
    return say.text("card", _SYMBOLS[symbol].name)
