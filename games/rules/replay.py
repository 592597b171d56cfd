"""Moves played one after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from games.rules.apply import apply
from games.rules.events import Event
from games.rules.moves import Move
from games.rules.options import Options
from games.rules.position import Position
from games.rules.shuffle import Shuffle


def replay(
    position: Position, moves: Iterable[tuple[int, Move]], options: Options, shuffle: Shuffle
) -> Iterator[tuple[Position, tuple[Event, ...]]]:
    """Play moves from a position. Yield the position after each move, and its events.

    ``moves`` are pairs of a seat and its move.

    :raises Refused: at the first move that is refused.
    """
    for seat, move in moves:
        position, events = apply(position, seat, move, options, shuffle)
        yield position, events
