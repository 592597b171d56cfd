"""What the clock does for a player whose time has run out (CLOCK-1)."""

from __future__ import annotations

from collections.abc import Iterable

from games.rules.cards import COLORS, FACES, Card
from games.rules.errors import Refused
from games.rules.moves import Move
from games.rules.options import Options
from games.rules.position import CHOOSE_COLOR, OVER, Position


def most_held(cards: Iterable[Card]) -> str:
    """Return the colour most held; ties, or none held: the first of r, y, g, b.

    >>> most_held(["b1", "g2", "b3", "W6"]), most_held(["W6"])
    ('b', 'r')
    """
    held = [FACES[card].color for card in cards]
    return max(COLORS, key=held.count)


def default_move(position: Position, seat: int, options: Options) -> Move:
    """Return the move the clock would make now; raises Refused if the seat is not on turn."""
    if position.phase == OVER:
        raise Refused("over")
    if seat != position.turn:
        raise Refused("not_your_turn")
    hand = position.hands[seat]
    if position.phase == CHOOSE_COLOR:
        return Move("color", color=most_held(hand), clock=True)
    if position.pending is not None:
        return Move("take", clock=True)
    if position.drawn is None:
        return Move("draw", clock=True)
    if not options.drawn_must_play:
        return Move("pass", clock=True)
    return _play(position, seat, position.drawn, options)


def _play(position: Position, seat: int, card: Card, options: Options) -> Move:
    rest = list(position.hands[seat])
    rest.remove(card)
    asks = FACES[card].asks
    color = target = None
    if asks == "color" or (asks == "roulette" and options.roulette_color == "player" and rest):
        color = most_held(rest)
    elif asks == "swap" and options.zero_seven and rest:
        target = _fewest_cards(position, seat)
    return Move("play", card, color, target, clock=True)


def _fewest_cards(position: Position, seat: int) -> int:
    others = []
    other = position.next_seat(seat)
    while other != seat:
        others.append(other)
        other = position.next_seat(other)
    return min(others, key=lambda other: len(position.hands[other]))
