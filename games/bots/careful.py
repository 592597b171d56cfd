"""The bot that plays like a sensible person."""

from __future__ import annotations

import random
from collections.abc import Sequence

from games.bots.calls import catches, late_call, press, turn_moves, with_call
from games.bots.evaluation import Evaluator
from games.rules import Move, View

FORGETS = 0.1
"""The probability that it does not call UNO with the play."""

REMEMBERS = 0.5
"""The probability that it makes a late call when it is asked again."""

OVERLOOKS = 0.15
"""The probability that it does not notice a player who can be caught, or a card that it can play out of turn."""


class Careful:
    """Plays the move with the highest value, without looking ahead."""

    name = "careful"
    label = "Careful"
    help = "Plays sensibly and keeps draw cards for defence. Sometimes forgets to call UNO."

    def choose(self, view: View, legal: Sequence[Move], rng: random.Random) -> Move | None:
        """Return a call or a catch that it notices, or the turn move with the highest value. See ``Bot.choose``."""
        pressed = press(legal)
        if pressed is not None:
            return pressed
        call = late_call(legal)
        if call is not None and rng.random() < REMEMBERS:
            return call
        hits = catches(view, legal)
        if hits and rng.random() >= OVERLOOKS:
            return hits[0]
        moves = turn_moves(legal)
        if not moves:
            return None
        evaluator = Evaluator(view)
        best = max(moves, key=lambda move: (evaluator.value_of(move), rng.random()))
        if view.turn != view.you and (evaluator.value_of(best) < 0 or rng.random() < OVERLOOKS):
            return None
        return best if rng.random() < FORGETS else with_call(view, best)
