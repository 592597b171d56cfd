"""Play a world on with a fast, simple player in every seat. Its numbers were tuned by what wins games among bots."""

from __future__ import annotations

import math
from collections.abc import Sequence
from random import Random
from typing import Final

from games.rules import FACES, TURN_MOVES, Card, Effect, Face, Move, Options, Position, Shuffle, legal_moves, push

_COLOR_OF: Final = {card: face.color for card, face in FACES.items()}
_VALUE_OF: Final = {card: face.value for card, face in FACES.items()}


def _with_effect(name: Effect) -> frozenset[Card]:
    return frozenset(card for card, face in FACES.items() if name in face.effects)


_SHEDS: Final = _with_effect("shed_color")
_NEXT_OWES_AFTER_REVERSE: Final = _with_effect("next_owes_after_reverse")
_PASSES: Final = _with_effect("pass_hands")
_ROULETTES: Final = _with_effect("roulette")
_ROULETTE_CARDS: Final = 5  # about how many cards a roulette turns over

_PRIORITY_BY_KIND: Final = {
    "discard_all": 3.0,
    "skip_everyone": 3.0,
    "skip": 2.5,
    "reverse": 2.5,
    "number": 0.8,
    "roulette": 0.6,
}


def _play_priority(face: Face) -> float:
    """Return how early the simple player plays a card: wild and strong cards last."""
    if face.value:
        return (1.0 if face.color else 0.7) - 0.2 * face.value
    return _PRIORITY_BY_KIND.get(face.kind, 0.5)


_PLAY_PRIORITY: Final = {card: _play_priority(face) for card, face in FACES.items()}

# What the simple player adds to the value of a move. `_LOSE` also rules out every colour except the one most held.
_DRAW: Final = -1.0
_TAKE: Final = -3.0
_CHALLENGE: Final = -5.5
_CHALLENGE_PER_CARD: Final = 1.0  # the more cards the other player holds, the likelier it was a bluff
_LOSE: Final = -50.0
_WIN: Final = 20.0
_STACK: Final = 3.0
_KNOCK_OUT: Final = 4.0
_STOP_THE_LAST_CARDS: Final = 2.4
_SAME_COLOR: Final = 0.3
_SHED: Final = 1.0
_SWAP: Final = 0.5
_SELF_HARM: Final = -8.0


class _MoveValues:
    """Rates the moves of the simple player. What all moves of a position share is computed once."""

    __slots__ = ("favorite", "hand", "held", "limit", "next_count", "position", "total", "two_left", "zero_seven")

    def __init__(self, position: Position, options: Options) -> None:
        seat = position.turn
        self.position = position
        side = options.rules.sides[position.extra.side]
        self.hand = hand = side.show(position.hands[seat])
        colors = [_COLOR_OF[card] for card in hand]
        self.held = held = {color: colors.count(color) for color in side.colors}
        self.favorite = max(side.colors, key=held.__getitem__)
        self.two_left = len(position.hands) - len(position.out) == 2
        self.total = position.pending.total if position.pending else 0
        self.limit = options.mercy_limit or math.inf
        self.next_count = len(position.hands[position.next_seat(seat)])
        self.zero_seven = options.zero_seven

    def value(self, move: Move) -> float:
        """Return the value of a turn move, without the random part."""
        card = move.card
        if card is None:
            return self._no_play(move)
        if move.color is not None and move.color != self.favorite:
            return _LOSE
        value = _PLAY_PRIORITY[card] + (_WIN if len(self.hand) == 1 else 0.0)
        color = _COLOR_OF[card]
        if color:
            value += (_SHED if card in _SHEDS else _SAME_COLOR) * self.held[color]
        if _VALUE_OF[card]:
            return value + self._attack(card)
        if move.target is not None:
            return value + _SWAP * (len(self.hand) - 1 - len(self.position.hands[move.target]))
        if card in _PASSES and self.zero_seven:
            arriving = self.position.hands[self.position.previous_seat(self.position.turn)]
            return value + _SWAP * (len(self.hand) - 1 - len(arriving))
        return value + self._threat(_ROULETTE_CARDS) if card in _ROULETTES else value

    def _no_play(self, move: Move) -> float:
        if move.kind == "color":
            return float(self.held[move.color or ""])
        if move.kind == "take":
            return _LOSE if self.position.going_out else _TAKE
        if move.kind == "challenge":
            claim = self.position.extra.challenge
            cards = len(self.position.hands[claim.seat]) if claim is not None else 0
            return _CHALLENGE + _CHALLENGE_PER_CARD * cards
        return _DRAW

    def _attack(self, card: Card) -> float:
        value = _STACK if self.total else 0.0
        if not (self.two_left and card in _NEXT_OWES_AFTER_REVERSE):
            return value + self._threat(self.total + _VALUE_OF[card])
        draw_value = _VALUE_OF[card]
        answered = any(_VALUE_OF[other] >= draw_value and other not in _NEXT_OWES_AFTER_REVERSE for other in self.hand)
        return value + (1.0 if answered else _SELF_HARM)

    def _threat(self, cards: int) -> float:
        if self.next_count + cards >= self.limit:
            return _KNOCK_OUT
        return _STOP_THE_LAST_CARDS if self.next_count <= 2 else 0.0


def simple_move(position: Position, options: Options, rng: Random) -> Move:
    """Return the simple player's turn move. Nobody calls UNO or catches in play-outs."""
    legal = legal_moves(position, position.turn, options)
    if len(legal) == 1:
        return legal[0]
    value = _MoveValues(position, options).value
    random = rng.random
    best, highest = legal[-1], -math.inf
    for move in legal:
        if move.kind in TURN_MOVES:
            move_value = value(move) + random()
            if move_value > highest:
                best, highest = move, move_value
    return best


def _next_move(position: Position, options: Options, rng: Random) -> tuple[int, Move]:
    """Return the seat that moves next in a play-out, and its move. In a race everybody is equally fast (BUZZ-2)."""
    buzz = position.extra.buzz
    if buzz is None:
        return position.turn, simple_move(position, options, rng)
    seats = [seat for seat in position.still_in() if seat not in buzz.pressed]
    return rng.choice(seats), Move("buzz")


def random_shuffle(rng: Random) -> Shuffle:
    """Return a shuffle function that takes its randomness from ``rng`` and ignores the stream."""

    def shuffle(cards: Sequence[Card], _stream: str) -> list[Card]:
        return rng.sample(cards, len(cards))

    return shuffle


def play_out(position: Position, options: Options, plies: int, rng: Random) -> tuple[Position, int]:
    """Play on for at most ``plies`` moves or to the end of the round.

    Return the last position and the number of moves made.
    """
    shuffle = random_shuffle(rng)
    made = 0
    while made < plies and position.phase != "over":
        seat, move = _next_move(position, options, rng)
        position, _ = push(position, seat, move, options, shuffle)
        made += 1
    return position, made
