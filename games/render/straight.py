"""Straights that a player sends in one piece, where steps cannot be sent alone (RUN-6)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from games import rules
from games.queries import GameView

BETWEEN: Final = ","
"""Stands between the plays in the form field of a move, and between the cards in that of a chosen straight."""


def opening_cards(view: GameView) -> frozenset[str]:
    """Return the cards with which the reader can begin a straight that has a second card."""
    if not _sends_straights(view) or view.view is None:
        return frozenset()
    plays = [move for move in view.legal if move.kind == "play"]
    return frozenset(move.card for move in plays if move.card and rules.next_steps(view.view, [move]))


def chosen_plays(view: GameView, choose: str) -> list[rules.Move]:
    """Return the plays of the straight that the reader has chosen so far, or an empty list if it is none.

    `choose` has their texts in the notation, without "play". A drawn card is the first without being chosen.
    """
    seen = view.view
    if not _sends_straights(view) or seen is None:
        return []
    plays: list[rules.Move] = []
    legal: Sequence[rules.Move] = view.legal
    for text in (choose or seen.drawn or "").split(BETWEEN):
        play = next((move for move in legal if str(move).removeprefix("play ") == text), None)
        if play is None:
            return []
        plays.append(play)
        legal = rules.next_steps(seen, plays)
    return plays if legal or len(plays) > 1 else []


def _sends_straights(view: GameView) -> bool:
    return view.my_turn and view.options.straights and not view.terms.races
