"""Helpers for what bots do besides their turns: calls, catches, buzzers and cards played out of turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from games.rules import TURN_MOVES, Move, View, cards_after


def turn_moves(legal: Sequence[Move]) -> list[Move]:
    """Return the turn moves, and the plays of a player who is not on turn (RUN-2, INT-1)."""
    return [move for move in legal if move.kind in TURN_MOVES]


def late_call(legal: Sequence[Move]) -> Move | None:
    """Return the UNO call of a player who can be caught, or None."""
    return next((move for move in legal if move.kind == "uno"), None)


def catches(view: View, legal: Sequence[Move]) -> list[Move]:
    """Return the catches of players who can be caught.

    With the option ``false_catch_penalty`` other catches are legal too.
    """
    return [move for move in legal if move.kind == "catch" and move.target in view.exposed]


def press(legal: Sequence[Move]) -> Move | None:
    """Return the press of an open buzzer race, or None (BUZZ-2)."""
    return next((move for move in legal if move.kind == "buzz"), None)


def with_call(view: View, move: Move) -> Move:
    """Return the move with an UNO call added if it is a play that leaves one card."""
    return replace(move, uno=True) if move.kind == "play" and cards_after(view, move) == 1 else move
