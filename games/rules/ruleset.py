"""Lookup tables for a deck and the options that change its cards, worked out once.

The tables say which cards match, which can be stacked, what a play has to choose and what a card does. All other
options (penalties, limits, scoring) are read from ``Options`` where they are needed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

from games.rules.cards import DECKS, Card, Deck, Effect, Face, Side, with_buzzers
from games.rules.moves import MAX_PLAYERS, Move
from games.rules.position import Pending
from games.rules.stacking import STACKING

_BUZZER_EFFECTS: Final[dict[str, tuple[Effect, ...]]] = {"race": ("buzzer_race",), "lottery": ("buzzer_lottery",)}
"""What a buzzer does, by the option ``buzzers`` (BUZZ-2, BUZZ-3)."""


@dataclass(frozen=True, slots=True)
class Plays:
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

    All tables have the texts of faces, not cards: ``show`` turns cards into them (FLIP-1).

    ``matching`` maps the top card and the active colour (or None) to what may be played (TURN-2, TURN-3, TURN-8).
    ``answers`` maps the symbol and the value of a debt to the draw cards that answer it (RESP-1).
    ``passing`` are the other cards of both sides that may be played while cards are owed, if they match (RESP-3).
    ``ending`` are those of this side that end the debt (RESP-4).
    ``of_color`` maps a colour to its cards, without wilds.
    ``sheds`` maps a Discard All to the cards that leave the hand with it (DISC-1).
    ``effects`` maps a card to its other effects, in order. ``debt_effects`` has those of the cards that
    may be played while cards are owed.
    ``plays`` says what a play has to choose, and ``last_plays`` the same for a player's last card (END-1).
    ``name_color`` are the moves that name a colour (ROUL-1).
    """

    name: str | None
    colors: tuple[str, ...]
    faces: Mapping[str, Face]
    shown: Mapping[Card, str] | None
    matching: Mapping[tuple[str, str | None], frozenset[str]]
    answers: Mapping[tuple[str, int], frozenset[str]]
    passing: frozenset[str]
    ending: frozenset[str]
    of_color: Mapping[str, frozenset[str]]
    sheds: Mapping[str, frozenset[str]]
    effects: Mapping[str, tuple[Effect, ...]]
    debt_effects: Mapping[str, tuple[Effect, ...]]
    plays: Plays
    last_plays: Plays
    name_color: tuple[Move, ...]

    def show(self, cards: tuple[Card, ...]) -> tuple[str, ...]:
        """Return the text of the face that each card shows on this side."""
        shown = self.shown
        return cards if shown is None else tuple([shown[card] for card in cards])

    def show_card(self, card: Card) -> str:
        """Return the text of the face that a card shows on this side."""
        return card if self.shown is None else self.shown[card]

    def plays_from(self, hand: tuple[Card, ...]) -> Plays:
        """Return what a play from a hand has to choose: a last card is in ``last_plays``."""
        return self.plays if len(hand) > 1 else self.last_plays

    def playable(self, top: Card, color: str | None, pending: Pending | None) -> frozenset[str]:
        """Return what may be played on a top card, or on a debt if there is one (TURN-2, RESP-1, RESP-3, RESP-4)."""
        if pending is None:
            return self.matching[top if self.shown is None else self.shown[top], color]
        answers = self.answers[pending.by, pending.value]
        if not (self.passing and pending.value):
            return answers
        return answers | (self.passing & self.matching[self.show_card(top), color])


@dataclass(frozen=True, slots=True)
class Ruleset:
    """The deck of a table and the rules of each of its sides, by the name of the side.

    ``first`` has the rules of the side that a round begins with.
    """

    deck: Deck
    sides: Mapping[str | None, SideRules]
    first: SideRules

    def other_side(self, name: str | None) -> str | None:
        """Return the name of the side that a Flip brings up (FLIP-2)."""
        return next(other for other in self.sides if other != name)


# As many different tables as a site may have in use at once. A table that has fallen out is made again in about 2 ms.
@lru_cache(maxsize=256)
def ruleset(
    deck_name: str,
    *,
    buzzers: str,
    stacking: str,
    advanced_stacking: bool,
    zero_seven: bool,
    roulette_color: str,
    bluff: str,
) -> Ruleset:
    """Return the rules for a deck and these options, which ``OPTIONS`` explains. Cached.

    :raises KeyError: if there is no such deck.
    """
    deck = DECKS[deck_name] if buzzers == "off" else with_buzzers(DECKS[deck_name])
    switched = Switched(buzzers, stacking, advanced_stacking, zero_seven, roulette_color, bluff)
    passing = frozenset(text for side in deck.sides for text, face in side.faces.items() if face.answer)
    sides = {side.name: _side_rules(side, switched, passing) for side in deck.sides}
    return Ruleset(deck, sides, sides[deck.sides[0].name])


class Switched(NamedTuple):
    """The options that change what the cards of a deck do."""

    buzzers: str
    stacking: str
    advanced_stacking: bool
    zero_seven: bool
    roulette_color: str
    bluff: str


def _side_rules(side: Side, options: Switched, passing: frozenset[str]) -> SideRules:
    faces = side.faces.values()
    of_color = {color: frozenset(face.text for face in faces if face.color == color) for color in side.colors}
    asks = {face.text: _asks(face, options) for face in faces}
    effects = {face.text: _effects(face, options) for face in faces}
    draw_cards = {face.text: effects[face.text] for face in faces if face.kind == "draw"}
    answer_cards = {face.text: face.answer for face in faces if face.answer and options.advanced_stacking}
    ending = frozenset(text for text, answer in answer_cards.items() if "end_debt" in answer)
    return SideRules(
        name=side.name,
        colors=side.colors,
        faces=side.faces,
        shown=side.shown,
        matching={
            (face.text, color): _matching(face.symbol, color, faces) for face in faces for color in (*side.colors, None)
        },
        answers=_answers(faces, options.stacking),
        passing=passing if options.advanced_stacking else frozenset(),
        ending=ending,
        of_color=of_color,
        sheds={face.text: of_color[face.color] for face in faces if "shed_color" in face.effects},
        effects=effects,
        debt_effects=draw_cards
        | {text: tuple(name for name in answer if name != "end_debt") for text, answer in answer_cards.items()},
        plays=_plays(asks, side.colors),
        last_plays=_plays({card: _LAST_ASKS[side.faces[card].asks] for card in asks}, side.colors),
        name_color=tuple(Move("color", color=color) for color in side.colors),
    )


def _matching(symbol: str, color: str | None, faces: Iterable[Face]) -> frozenset[str]:
    return frozenset(
        face.text for face in faces if color is None or not face.color or face.color == color or face.symbol == symbol
    )


def _answers(faces: Iterable[Face], stacking: str) -> dict[tuple[str, int], frozenset[str]]:
    """Return the draw cards that answer a debt, by its symbol and its value (RESP-1).

    Nothing answers a debt of the value 0, which is a Wild Draw Colour's (RESP-6).
    """
    values = {face.value for face in faces if face.value}
    draw_cards = [face for face in faces if face.value]
    by_symbol = {face.symbol: face for face in faces}
    fits = STACKING[stacking]
    answers = {
        (symbol, value): frozenset(card.text for card in draw_cards if fits(card, by, value))
        for symbol, by in by_symbol.items()
        for value in values
    }
    return answers | {(symbol, 0): frozenset() for symbol in by_symbol}


def _effects(face: Face, options: Switched) -> tuple[Effect, ...]:
    if face.kind == "number" and not options.zero_seven:
        return ()
    if face.kind == "roulette" and options.roulette_color == "player":
        return ("roulette_at_once",)
    if face.kind == "buzzer":
        return _BUZZER_EFFECTS[options.buzzers]
    left_out = {"shed_color"} if options.bluff != "off" else {"shed_color", "allow_challenge"}
    return tuple(name for name in face.effects if name not in left_out)


def _asks(face: Face, options: Switched) -> str:
    if face.asks == "swap":
        return "target" if options.zero_seven else ""
    if face.asks == "roulette":
        return "color" if options.roulette_color == "player" else ""
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
