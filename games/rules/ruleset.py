"""Lookup tables for a deck and the options that change its cards, worked out once.

The tables say which cards match, which can be stacked, what a play has to choose and what a card does. All other
options (penalties, limits, scoring) are read from ``Options`` where they are needed.
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
"""The effect of Discard All. It is not in ``EFFECTS``: it runs before the test for a last card (DISC-1)."""


class Plays(NamedTuple):
    """What a player has to choose when playing each card.

    ``asks`` has the field of the move that the player must fill in: ``"color"``, ``"target"``, or ``""`` for none.
    ``moves`` has every play of the card: one for each colour, or one for each of ``MAX_PLAYERS`` seats as a target.
    ``swaps`` are the cards that ask for a target.
    """

    asks: Mapping[Card, str]
    moves: Mapping[Card, tuple[Move, ...]]
    swaps: frozenset[Card]


@dataclass(frozen=True, slots=True)
class SideRules:
    """The rules of one side of a deck under the options of a table.

    ``matching`` maps the top card and the active colour (or None) to the cards that may be played (TURN-2, TURN-3).
    ``answers`` maps the value of the last draw card to the cards that may be stacked on it (STACK-1).
    ``of_color`` maps a colour to its cards, without wilds.
    ``sheds`` maps a Discard All to the cards that leave the hand with it (DISC-1).
    ``effects`` maps a card to the names of its other effects, in order.
    ``plays`` says what a play has to choose, and ``last_plays`` the same for a player's last card (END-1).
    ``name_color`` are the moves that name a colour (ROUL-1).
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
        """Return what a play from a hand has to choose: a last card is in ``last_plays``."""
        return self.plays if len(hand) > 1 else self.last_plays


class Ruleset(NamedTuple):
    """The deck of a table and the rules of each of its sides.

    ``side`` has the rules of the first side, the only one that the decks have so far.
    """

    deck: Deck
    sides: tuple[SideRules, ...]
    side: SideRules


@cache
def ruleset(deck_name: str, *, stacking: bool, zero_seven: bool, roulette_color: str) -> Ruleset:
    """Return the rules for a deck and these options, which ``OPTIONS`` explains. Cached.

    :raises KeyError: if there is no such deck.
    """
    deck = DECKS[deck_name]
    sides = tuple(_side_rules(side, stacking, zero_seven, roulette_color) for side in deck.sides)
    return Ruleset(deck, sides, sides[0])


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
"""What a last card asks for, by ``Face.asks``: a last 7 has no target, a last roulette no colour (END-1)."""


def _plays(asks: Mapping[Card, str], colors: Iterable[str]) -> Plays:
    moves = {card: _plays_of(card, asked, colors) for card, asked in asks.items()}
    return Plays(asks, moves, swaps=frozenset(card for card, asked in asks.items() if asked == "target"))


def _plays_of(card: Card, asked: str, colors: Iterable[str]) -> tuple[Move, ...]:
    if asked == "color":
        return tuple(Move("play", card, color) for color in colors)
    if asked == "target":
        return tuple(Move("play", card, target=seat) for seat in range(MAX_PLAYERS))
    return (Move("play", card),)
