"""Estimate who will win a round from a position.

The numbers were fitted by conditional logit to the winners of rounds among bots: those without a mercy limit to 7,500
rounds of two careful bots with the presets classic, playroom and flip.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from games.bots.evaluation import ROULETTE_CARDS
from games.rules import FACES, Card, Face, Options, Position

_COLOR_OF: Final = {card: face.color for card, face in FACES.items()}
_VALUE_OF: Final = {card: face.value for card, face in FACES.items()}
_NEXT_OWES_AFTER_REVERSE: Final = frozenset(
    card for card, face in FACES.items() if "next_owes_after_reverse" in face.effects
)


def win_chance(position: Position, seat: int, options: Options) -> float:
    """Return an estimate of the probability that a seat wins the round, 0 to 1. It is exact once the round is over."""
    if position.winner is not None:
        return 1.0 if position.winner == seat else 0.0
    if seat in position.out:
        return 0.0
    side = options.rules.sides[position.extra.side]
    strength = _strength_with_limit if options.mercy_limit else _strength_without_limit
    chances = [
        0.0 if other in position.out else math.exp(strength(position, other, side.show(hand), options))
        for other, hand in enumerate(position.hands)
    ]
    return chances[seat] / sum(chances)


def _power_with_limit(face: Face) -> float:
    """Return what a card in hand adds to the logarithm of the chance to win, with a mercy limit."""
    if face.kind == "roulette":
        return 0.15
    if not face.value:
        return 0.0
    if face.color:
        return 0.02
    return 0.1 if "next_owes_after_reverse" in face.effects else 0.4


_POWER_WITH_LIMIT: Final = {card: _power_with_limit(face) for card, face in FACES.items()}


def _strength_with_limit(position: Position, seat: int, hand: Sequence[Card], options: Options) -> float:
    """Return the logarithm of the chance of a seat, relative to the other seats, with a mercy limit.

    The number of cards matters less than without one, and strong cards more.
    """
    power = sum([_POWER_WITH_LIMIT[card] for card in hand])
    limit, cards = options.mercy_limit, len(hand)
    power += 0.3 * (cards == 1)
    pending = position.pending
    if pending is not None and seat == position.turn:
        cards += pending.total
        if cards >= limit:
            answers = any(_VALUE_OF[card] >= pending.value and card not in _NEXT_OWES_AFTER_REVERSE for card in hand)
            power -= 0.3 if answers else 0.9
    return power - 0.4 * math.log(len(hand) + 1) - 0.05 * max(0, cards - limit + 10)


_POWER_BY_KIND: Final = {"wild": 0.4, "draw": 0.25, "skip": 0.1, "reverse": 0.1, "skip_everyone": 0.1}
_POWER_WITHOUT_LIMIT: Final = {card: _POWER_BY_KIND.get(face.kind, 0.0) for card, face in FACES.items()}
_ON_TURN: Final = 0.1
_PLAYABLE: Final = 0.6  # for a hand that can be played whole on the top card
_EACH_COLOR: Final = -0.18  # the fewer colours a hand has, the more of it can be played one after another


def _strength_without_limit(position: Position, seat: int, hand: Sequence[Card], options: Options) -> float:
    """Return the logarithm of the chance of a seat, relative to the other seats, without a mercy limit.

    It counts how many cards the seat holds and owes, and how well the hand can be played.
    """
    strength = sum([_POWER_WITHOUT_LIMIT[card] for card in hand])
    cards: float = len(hand)
    if seat == position.turn:
        strength += _ON_TURN
        if position.pending is not None:
            cards += position.pending.total or ROULETTE_CARDS
    if hand:
        playable = options.rules.sides[position.extra.side].playable(position.top, position.color, None)
        strength += _PLAYABLE * sum([card in playable for card in hand]) / len(hand)
        strength += _EACH_COLOR * len({_COLOR_OF[card] for card in hand} - {""})
    return strength - math.log(cards + 1)
