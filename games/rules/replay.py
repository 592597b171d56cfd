"""Replay moves from a position."""

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
    """Carry out moves one after another. Yield the position after each move, and the events of the move.

    ``moves`` are pairs of a seat and its move.

    :raises Refused: at the first move that is not legal.
    """
    for seat, move in moves:
        position, events = apply(position, seat, move, options, shuffle)
        yield position, events
