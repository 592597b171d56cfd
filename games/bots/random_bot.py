"""The bot that picks by chance."""

from __future__ import annotations

import random
from collections.abc import Sequence

from games.bots.calls import catches, own_call, turn_moves, with_call
from games.rules import Move, View

NOTICES = 0.5
"""How often it notices that it may call or catch."""


class Random:
    """Any legal move, each as likely as the others."""

    name = "random"
    label = "Random"
    help = "Plays any card that fits, and often overlooks an UNO."

    def choose(self, view: View, legal: Sequence[Move], rng: random.Random) -> Move | None:
        """Return any move of the turn; or a call, when it notices."""
        calls = [move for move in (own_call(legal), *catches(view, legal)) if move is not None]
        if calls and rng.random() < NOTICES:
            return rng.choice(calls)
        moves = turn_moves(legal)
        if not moves:
            return None
        move = rng.choice(moves)
        return with_call(view, move) if rng.random() < NOTICES else move
