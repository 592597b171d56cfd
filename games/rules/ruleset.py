"""What the options of a table come to, worked out once: the tables that the rules look things up in.

Everything here follows from a deck and from the options that change what its cards match, ask for and do. Options that
are plain numbers or that concern no card (penalties, limits, scoring) are read from ``Options`` where they count.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Final, NamedTuple

from games.rules.cards import DECKS, Card, Deck, Face, Side
from games.rules.moves import MAX_PLAYERS, Move
from games.rules.stacking import STACKING

SHED: Final = "shed_color"
"""The one effect that comes before the test for a last card: it may empty the hand (DISC-1)."""


class Plays(NamedTuple):
    """What playing a card asks for.

    ``asks`` has the field of a move that a play of the card must name: ``"color"``, ``"target"``, or ``""`` for none.
    ``moves`` has the plays of the card, each colour and each seat as a target spelled out. ``swaps`` are the cards that
    ask for a target.
    """

    asks: Mapping[Card, str]
    moves: Mapping[Card, tuple[Move, ...]]
    swaps: frozenset[Card]


@dataclass(frozen=True, slots=True)
class SideRules:
    """One side of a deck, as a table plays it.

    ``matching`` has, for a top card and a colour in force (or None), the cards that may be played (TURN-2, TURN-3).
    ``answers`` has, for the value of the last draw card, the cards that may be played on the stack (STACK-1).
    ``of_color`` has the cards of a colour; wilds are of none. ``sheds`` has, for a card that takes others along out of
    the hand, those others (DISC-1); ``effects`` has the names of what a card does after that, in order. ``plays`` is
    what a play asks for; ``last_plays`` is the same for a player's last card (END-1). ``name_color`` are the moves that
    name a colour.
    """

    colors: tuple[str, ...]
    faces: Mapping[Card, Face]
    matching: Mapping[tuple[Card, str | None], frozenset[Card]]
    answers: Mapping[int, frozenset[Card]]
    of_color: Mapping[str, frozenset[Card]]
    sheds: Mapping[Card, frozenset[Card]]
    effects: Mapping[Card, tuple[str, ...]]
    plays: Plays
    last_plays: Plays
    name_color: tuple[Move, ...]

    def plays_from(self, hand: tuple[Card, ...]) -> Plays:
        """Return what a play from a hand asks for."""
        return self.plays if len(hand) > 1 else self.last_plays


class Ruleset(NamedTuple):
    """The deck of a table and the rules of each of its sides.

    ``side`` is the one in force: each deck so far has one, and no card turns it over.
    """

    deck: Deck
    sides: tuple[SideRules, ...]
    side: SideRules


@cache
def ruleset(deck: str, *, stacking: bool, zero_seven: bool, roulette_color: str) -> Ruleset:
    """Return the rules that these options come to; ``OPTIONS`` says what each of them means."""
    box = DECKS[deck]
    sides = tuple(_side_rules(side, stacking, zero_seven, roulette_color) for side in box.sides)
    return Ruleset(box, sides, sides[0])


def _side_rules(side: Side, stacking: bool, zero_seven: bool, roulette_color: str) -> SideRules:
    faces = side.faces.values()
    of_color = {color: frozenset(face.text for face in faces if face.color == color) for color in side.colors}
    asks = {face.text: _asks(face, zero_seven, roulette_color) for face in faces}
    return SideRules(
        colors=side.colors,
        faces=side.faces,
        matching={
            (face.text, color): _matching(face.symbol, color, faces) for face in faces for color in (*side.colors, None)
        },
        answers={value: STACKING[stacking](value, faces) for value in {face.value for face in faces if face.value}},
        of_color=of_color,
        sheds={face.text: of_color[face.color] for face in faces if SHED in face.effects},
        effects={face.text: _effects(face, zero_seven, roulette_color) for face in faces},
        plays=_plays(asks, side.colors),
        last_plays=_plays({card: _LAST_ASKS[side.faces[card].asks] for card in asks}, side.colors),
        name_color=tuple(Move("color", color=color) for color in side.colors),
    )


def _matching(symbol: str, color: str | None, faces: Iterable[Face]) -> frozenset[Card]:
    return frozenset(face.text for face in faces if not face.color or face.color == color or face.symbol == symbol)


def _effects(face: Face, zero_seven: bool, roulette_color: str) -> tuple[str, ...]:
    if face.kind == "number" and not zero_seven:
        return ()
    if face.kind == "roulette" and roulette_color == "player":
        return ("roulette_at_once",)
    return tuple(name for name in face.effects if name != SHED)


def _asks(face: Face, zero_seven: bool, roulette_color: str) -> str:
    if face.asks == "swap":
        return "target" if zero_seven else ""
    if face.asks == "roulette":
        return "color" if roulette_color == "player" else ""
    return face.asks


_LAST_ASKS: Final = {"": "", "color": "color", "swap": "", "roulette": ""}
"""What a last card asks for, by what its face asks: a last 7 names no target, a last roulette no colour (END-1)."""


def _plays(asks: Mapping[Card, str], colors: Iterable[str]) -> Plays:
    ways = {card: _ways(card, asked, colors) for card, asked in asks.items()}
    return Plays(asks, ways, swaps=frozenset(card for card, asked in asks.items() if asked == "target"))


def _ways(card: Card, asked: str, colors: Iterable[str]) -> tuple[Move, ...]:
    if asked == "color":
        return tuple(Move("play", card, color) for color in colors)
    if asked == "target":
        return tuple(Move("play", card, target=seat) for seat in range(MAX_PLAYERS))
    return (Move("play", card),)
