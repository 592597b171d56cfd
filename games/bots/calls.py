"""Calling UNO and catching: the moves that need no turn."""

from __future__ import annotations

from collections.abc import Sequence

from games.rules import TURN_MOVES, Move, View, face_of


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


def cards_after(view: View, move: Move) -> int:
    """Return how many cards a play leaves its player, a swap and a pass of hands included (UNO-1, UNO-4)."""
    hand, face = view.hand or (), face_of(move.card or "")
    if "shed_color" in face.effects:
        left = sum(1 for card in hand if face_of(card).color != face.color)
    else:
        left = len(hand) - 1
    if not left or not view.options.zero_seven:
        return left
    if "swap_hands" in face.effects and move.target is not None:
        return view.counts[move.target]
    if "pass_hands" in face.effects:
        return view.counts[neighbor(view, -view.direction)]
    return left


def neighbor(view: View, direction: int) -> int:
    """Return the first seat still in from the viewer's, in a direction; the viewer's own if nobody else is."""
    players = len(view.counts)
    seat = ((view.you or 0) + direction) % players
    while seat in view.out:
        seat = (seat + direction) % players
    return seat
