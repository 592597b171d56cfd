"""The question before a move, for readers who are asked about every press (`User.Confirm.ALWAYS`)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

from games import rules
from games.queries import GameView
from games.render.straight import opening_cards

_ASKED: Final = rules.TURN_MOVES - {"color"}
_LEAST_TIME: Final = timedelta(minutes=1)


def move_in(view: GameView, text: str) -> rules.Move | None:
    """Return the legal move that a page can ask about with this notation, with its call of UNO; None if it is none."""
    if not view.my_turn:
        return None
    move = next((move for move in view.legal if str(move) == text.removesuffix(" uno")), None)
    if move is None or move.kind not in _ASKED:
        return None
    return replace(move, uno=True) if text.endswith(" uno") else move


def asks_first(view: GameView, text: str, now: datetime) -> bool:
    """Return True if the page asks before it makes this move, and its player has the time to answer.

    Whoever has chosen the colour or the player for a card, or the cards of a straight, has been asked already.
    """
    move = move_in(view, text)
    if move is None or view.terms.live or view.view is None:
        return False
    if view.deadline is not None and view.deadline - now < _LEAST_TIME:
        return False
    if move.card is None or view.view.drawn is not None:
        return True
    return len(view.plays[move.card]) == 1 and move.card not in opening_cards(view)
