"""The bot that plays as a sensible person does."""

from __future__ import annotations

import random
from collections.abc import Sequence

from games.bots.calls import catches, own_call, turn_moves, with_call
from games.bots.judgement import Judge
from games.rules import Move, View

FORGETS = 0.1
"""How often it does not call UNO with the play."""

REMEMBERS = 0.5
"""How often, once asked again, it calls before it is caught."""

OVERLOOKS = 0.15
"""How often it does not see that somebody can be caught."""


class Careful:
    """The move of the best judgement, without looking ahead."""

    name = "careful"
    label = "Careful"
    help = "Sheds wisely and keeps draw cards for defence; now and then it forgets to call UNO."

    def choose(self, view: View, legal: Sequence[Move], rng: random.Random) -> Move | None:
        """Return the call it remembers, else the move it judges best; None if there is nothing to say."""
        call = own_call(legal)
        if call is not None and rng.random() < REMEMBERS:
            return call
        hits = catches(view, legal)
        if hits and rng.random() >= OVERLOOKS:
            return hits[0]
        moves = turn_moves(legal)
        if not moves:
            return None
        judge = Judge(view)
        best = max(moves, key=lambda move: (judge.worth(move), rng.random()))
        return best if rng.random() < FORGETS else with_call(view, best)
