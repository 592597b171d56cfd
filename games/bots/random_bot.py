"""The bot that plays at random."""

from __future__ import annotations

import random
from collections.abc import Sequence

from games.bots.calls import catches, late_call, press, turn_moves, with_call
from games.rules import Move, View

NOTICES = 0.5
"""The probability that it notices a call, a catch or a card that it can play out of turn."""


class Random:
    """Plays any legal move, all with the same probability."""

    name = "random"
    label = "Random"
    help = "Plays any card that matches and often forgets UNO."

    def choose(self, view: View, legal: Sequence[Move], rng: random.Random) -> Move | None:
        """Return a call or a catch that it notices, or any turn move. See ``Bot.choose``."""
        pressed = press(legal)
        if pressed is not None:
            return pressed
        calls = [move for move in (late_call(legal), *catches(view, legal)) if move is not None]
        if calls and rng.random() < NOTICES:
            return rng.choice(calls)
        moves = turn_moves(legal)
        if not moves or (view.turn != view.you and rng.random() >= NOTICES):
            return None
        move = rng.choice(moves)
        return with_call(view, move) if rng.random() < NOTICES else move
