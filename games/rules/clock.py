"""The moves that the clock makes for a player whose time has run out, one function a phase (CLOCK-1)."""

from __future__ import annotations

from collections.abc import Iterable

from games.rules.cards import COLORS, FACES
from games.rules.moves import Move
from games.rules.options import Options
from games.rules.position import Position


def most_held(cards: Iterable[str], colors: tuple[str, ...] = COLORS) -> str:
    """Return the colour that most of the cards have: the first of ``colors`` if several do (CLOCK-1, FLIP-7).

    ``cards`` are texts of faces.

    >>> most_held(["b1", "g2", "b3", "W6"]), most_held(["W6"])
    ('b', 'r')
    """
    held = [FACES[card].color for card in cards]
    return max(colors, key=held.count)


def name_color(position: Position, seat: int, options: Options) -> Move:
    """Return the clock's move for a seat that has to name the colour of a roulette."""
    side = options.rules.sides[position.extra.side]
    return Move("color", color=most_held(side.show(position.hands[seat]), side.colors), clock=True)


def take_or_draw(position: Position, seat: int, options: Options) -> Move:
    """Return the clock's move for a seat that can play: take the stack, or draw if there is none."""
    return Move("draw" if position.pending is None else "take", clock=True)


def play_or_keep(position: Position, seat: int, options: Options) -> Move:
    """Return the clock's move for a drawn playable card: keep it if the options allow that, or play it."""
    if not options.drawn_must_play:
        return Move("pass", clock=True)
    side = options.rules.sides[position.extra.side]
    card = side.show_card(position.drawn or "")
    rest = list(side.show(position.hands[seat]))
    asks = side.plays_from(position.hands[seat]).asks[card]
    rest.remove(card)
    color = most_held(rest, side.colors) if asks == "color" else None
    target = fewest_cards(position, seat) if asks == "target" else None
    return Move("play", card, color, target, clock=True)


def end_race(position: Position, seat: int, options: Options) -> Move:
    """Return the clock's move in a buzzer race: end it (BUZZ-2)."""
    return Move("buzz", clock=True)


def fewest_cards(position: Position, seat: int) -> int:
    """Return the other seat still in with the fewest cards, the first after ``seat`` of several (CLOCK-1)."""
    others = []
    other = position.next_seat(seat)
    while other != seat:
        others.append(other)
        other = position.next_seat(other)
    return min(others, key=lambda other: len(position.hands[other]))
