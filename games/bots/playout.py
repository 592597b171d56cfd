"""Playing a world on with a quick and simple player in every seat, and judging how it then stands.

The numbers were tuned on games of bots against bots: the quick player's by what wins, those of ``standing`` by a
conditional logit fit of who won from where.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Final

from games.rules import COLORS, DECKS, TURN_MOVES, Card, Face, Move, Options, Position, Shuffle, legal_moves, push

_FACES: Final = {card: face for deck in DECKS.values() for card, face in deck.faces.items()}
_COLOR_OF: Final = {card: face.color for card, face in _FACES.items()}
_VALUE_OF: Final = {card: face.value for card, face in _FACES.items()}


def _with_effect(name: str) -> frozenset[Card]:
    return frozenset(card for card, face in _FACES.items() if name in face.effects)


_SHEDS: Final = _with_effect("shed_color")
_REBOUNDS: Final = _with_effect("rebound_owes")
_PASSES: Final = _with_effect("pass_hands")
_ROULETTES: Final = _with_effect("roulette")
_ROULETTE_CARDS: Final = 5

_EAGER: Final = {"discard_all": 3.0, "skip_everyone": 3.0, "skip": 2.5, "reverse": 2.5, "number": 0.8, "roulette": 0.6}


def _eagerness(face: Face) -> float:
    """How gladly the quick player parts with a card: wild and strong ones late."""
    if face.value:
        return (1.0 if face.color else 0.7) - 0.2 * face.value
    return _EAGER.get(face.kind, 0.5)


_EAGERNESS: Final = {card: _eagerness(face) for card, face in _FACES.items()}

_DRAW: Final = -1.0
_TAKE: Final = -3.0
_LOSE: Final = -50.0
_WIN: Final = 20.0
_STACK: Final = 3.0
_KNOCK_OUT: Final = 4.0
_STOP_THE_LAST_CARDS: Final = 2.4
_SUIT: Final = 0.3
_SHED: Final = 1.0
_SWAP: Final = 0.5
_SELF_HARM: Final = -8.0


class _Table:
    """What the quick player looks at: little, and once a move."""

    __slots__ = ("favorite", "hand", "held", "limit", "next_count", "position", "total", "two_left", "zero_seven")

    def __init__(self, position: Position, options: Options) -> None:
        seat = position.turn
        self.position = position
        self.hand = hand = position.hands[seat]
        colors = [_COLOR_OF[card] for card in hand]
        self.held = held = {color: colors.count(color) for color in COLORS}
        self.favorite = max(COLORS, key=held.__getitem__)
        self.two_left = len(position.hands) - len(position.out) == 2
        self.total = position.pending.total if position.pending else 0
        self.limit = options.mercy_limit or math.inf
        self.next_count = len(position.hands[position.next_seat(seat)])
        self.zero_seven = options.zero_seven

    def worth(self, move: Move) -> float:
        """What a move of the turn is worth, chance left aside."""
        card = move.card
        if card is None:
            return self._no_play(move)
        if move.color is not None and move.color != self.favorite:
            return _LOSE
        worth = _EAGERNESS[card] + (_WIN if len(self.hand) == 1 else 0.0)
        suit = _COLOR_OF[card]
        if suit:
            worth += (_SHED if card in _SHEDS else _SUIT) * self.held[suit]
        if _VALUE_OF[card]:
            return worth + self._attack(card)
        if move.target is not None:
            return worth + _SWAP * (len(self.hand) - 1 - len(self.position.hands[move.target]))
        if card in _PASSES and self.zero_seven:
            arriving = self.position.hands[self.position.seat_before(self.position.turn)]
            return worth + _SWAP * (len(self.hand) - 1 - len(arriving))
        return worth + self._threat(_ROULETTE_CARDS) if card in _ROULETTES else worth

    def _no_play(self, move: Move) -> float:
        if move.kind == "color":
            return float(self.held[move.color or ""])
        if move.kind == "take":
            return _LOSE if self.position.going_out else _TAKE
        return _DRAW

    def _attack(self, card: Card) -> float:
        worth = _STACK if self.total else 0.0
        if not (self.two_left and card in _REBOUNDS):
            return worth + self._threat(self.total + _VALUE_OF[card])
        value = _VALUE_OF[card]
        answered = any(_VALUE_OF[other] >= value and other not in _REBOUNDS for other in self.hand)
        return worth + (1.0 if answered else _SELF_HARM)

    def _threat(self, cards: int) -> float:
        if self.next_count + cards >= self.limit:
            return _KNOCK_OUT
        return _STOP_THE_LAST_CARDS if self.next_count <= 2 else 0.0


def quick_move(position: Position, options: Options, rng: Random) -> Move:
    """Return a sensible move of the player on turn; calls are left out of play-outs."""
    legal = legal_moves(position, position.turn, options)
    if len(legal) == 1:
        return legal[0]
    worth = _Table(position, options).worth
    random = rng.random
    best, most = legal[-1], -math.inf
    for move in legal:
        if move.kind in TURN_MOVES:
            this = worth(move) + random()
            if this > most:
                best, most = move, this
    return best


def shuffle_of(rng: Random) -> Shuffle:
    """Return a shuffle for worlds: any order, by ``rng``."""

    def shuffle(cards: Sequence[Card], _stream: str) -> list[Card]:
        return rng.sample(cards, len(cards))

    return shuffle


def play_out(position: Position, options: Options, plies: int, rng: Random) -> tuple[Position, int]:
    """Play on for at most ``plies`` moves or to the end; returns the last position and the moves made."""
    shuffle = shuffle_of(rng)
    made = 0
    while made < plies and position.phase != "over":
        position, _ = push(position, position.turn, quick_move(position, options, rng), options, shuffle)
        made += 1
    return position, made


def _power(face: Face) -> float:
    """What holding a card adds to the logarithm of its holder's chances."""
    if face.kind == "roulette":
        return 0.15
    if not face.value:
        return 0.0
    if face.color:
        return 0.02
    return 0.1 if "rebound_owes" in face.effects else 0.4


_POWER: Final = {card: _power(face) for card, face in _FACES.items()}


def standing(position: Position, seat: int, options: Options) -> float:
    """Return the chance, roughly, that a seat wins the round: 1 once it has, 0 once another has."""
    if position.winner is not None:
        return 1.0 if position.winner == seat else 0.0
    if seat in position.out:
        return 0.0
    chances = [
        0.0 if other in position.out else _chances(position, other, hand, options)
        for other, hand in enumerate(position.hands)
    ]
    return chances[seat] / sum(chances)


def _chances(position: Position, seat: int, hand: Sequence[Card], options: Options) -> float:
    """A seat's chances in proportion to the others'. Where mercy rules, few cards count for less than strong ones."""
    power = sum([_POWER[card] for card in hand])
    limit = options.mercy_limit
    if not limit:
        return math.exp(power - 1.3 * math.log(len(hand) + 1))
    cards = len(hand)
    power += 0.3 * (cards == 1)
    pending = position.pending
    if pending is not None and seat == position.turn:
        cards += pending.total
        if cards >= limit:
            answers = any(_VALUE_OF[card] >= pending.value and card not in _REBOUNDS for card in hand)
            power -= 0.3 if answers else 0.9
    return math.exp(power - 0.4 * math.log(len(hand) + 1) - 0.05 * max(0, cards - limit + 10))
