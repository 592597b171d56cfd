"""What the card does that is turned up to start the discard pile: a row for each kind of card (FIRST-1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from games.rules.cards import Face
from games.rules.moves import TAKE
from games.rules.options import Options
from games.rules.position import Pending, Position
from games.rules.shuffle import Shuffle
from games.rules.turn import Turn


def _first_player_is_skipped(position: Position, face: Face) -> None:
    position.turn = position.next_seat(position.turn)


def _dealer_begins_the_other_way_round(position: Position, face: Face) -> None:
    position.direction = -1
    position.turn = position.next_seat(position.turn)  # the dealer, or the seat before a dealer who has left the match


def _first_player_owes(position: Position, face: Face) -> None:
    position.pending = Pending(face.value, face.value, face.symbol)


def _nothing(position: Position, face: Face) -> None:
    pass


_ACTS: Final[dict[str, Callable[[Position, Face], None]]] = {
    "number": _nothing,
    "wild": _nothing,
    "skip": _first_player_is_skipped,
    "reverse": _dealer_begins_the_other_way_round,
    "draw": _first_player_owes,
}


def may_start(face: Face, options: Options) -> bool:
    """Return True if the round may start with this face on the discard pile (SETUP-3, FIRST-1)."""
    if options.first_discard == "number":
        return face.kind == "number"
    return face.kind in _ACTS and not (face.kind == "draw" and not face.color)


def start_round(position: Position, face: Face, options: Options, shuffle: Shuffle) -> Position:
    """Return the position after the first discard has acted. ``position`` may be changed.

    A debt that nobody can answer is paid at once (PAY-1).
    """
    if options.first_discard == "number":
        return position
    _ACTS[face.kind](position, face)
    if position.pending is None or options.stacking != "off":
        return position
    turn = Turn(position, position.turn, TAKE, options, shuffle)
    turn.pay_and_go_on(position.turn)
    return turn.position
