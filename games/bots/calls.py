"""Calling UNO and catching: the moves that need no turn."""

from __future__ import annotations

from collections.abc import Sequence

from games.rules import TURN_MOVES, Move, View, cards_after


def turn_moves(legal: Sequence[Move]) -> list[Move]:
    """Return the moves of the player on turn; none if it is somebody else's."""
    return [move for move in legal if move.kind in TURN_MOVES]


def own_call(legal: Sequence[Move]) -> Move | None:
    """Return the late call of a player who can be caught."""
    return next((move for move in legal if move.kind == "uno"), None)


def catches(view: View, legal: Sequence[Move]) -> list[Move]:
    """Return the catches that hit somebody; where false catches cost cards, the rules list those too."""
    return [move for move in legal if move.kind == "catch" and move.target in view.exposed]


def with_call(view: View, move: Move) -> Move:
    """Return a play with UNO called if it leaves its player one card, else the move as it is."""
    return move._replace(uno=True) if move.kind == "play" and cards_after(view, move) == 1 else move
