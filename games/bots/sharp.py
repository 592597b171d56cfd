"""The bot that looks ahead: it deals out the hidden cards by chance and plays the worlds on."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from games.bots.calls import catches, own_call, turn_moves, with_call
from games.bots.judgement import Judge
from games.bots.playout import play_out, shuffle_of, standing
from games.bots.worlds import imagine, unseen
from games.rules import Card, Move, View, push

OPTIONS_KEPT: Final = 6
"""Moves that are tried in play-outs: the best by judgement."""

BUDGET: Final = 900
"""Moves played in all play-outs of one choice: counted, not timed, so that a choice can be repeated."""

WORLD_COST: Final = 3
"""What dealing out a world costs, in moves: most of a choice where every play-out ends at once."""

HORIZON: Final = 6
"""Moves after which a play-out is judged as it stands."""


class Sharp:
    """The move that does best in play-outs."""

    name = "sharp"
    label = "Sharp"
    help = "Thinks ahead, never forgets to call UNO and catches everybody who does."

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget

    def choose(self, view: View, legal: Sequence[Move], rng: random.Random) -> Move | None:
        """Return a call or catch at once, else the move that wins most of the worlds the view allows."""
        calls = [move for move in (own_call(legal), *catches(view, legal)) if move is not None]
        if calls:
            return calls[0]
        moves = turn_moves(legal)
        if not moves:
            return None
        return with_call(view, moves[0] if len(moves) == 1 else _best(view, moves, self._budget, rng))


def _best(view: View, moves: Sequence[Move], budget: int, rng: random.Random) -> Move:
    """Try the likeliest moves in the same worlds; the weaker half drops out as the budget is spent."""
    judge = Judge(view)
    tried = sorted(moves, key=judge.worth, reverse=True)[:OPTIONS_KEPT]
    cards = unseen(view)
    scores = dict.fromkeys(tried, 0.0)
    spent, share = 0, budget // 3
    while len(tried) > 1 and spent < budget:
        limit = spent + share
        while spent < limit:
            spent += _try_all(view, tried, cards, scores, rng)
        tried.sort(key=scores.__getitem__, reverse=True)
        if len(tried) > 2:
            tried = tried[: (len(tried) + 1) // 2]
    return tried[0]


def _try_all(view: View, tried: list[Move], cards: list[Card], scores: dict[Move, float], rng: random.Random) -> int:
    """Play one world on after each of the moves; returns what that cost."""
    seat = view.turn
    world = imagine(view, cards, rng)
    shuffle = shuffle_of(rng)
    spent = WORLD_COST
    for move in tried:
        position, _ = push(world, seat, move, view.options, shuffle)
        end, made = play_out(position, view.options, HORIZON, rng)
        scores[move] += standing(end, seat, view.options)
        spent += 1 + made
    return spent
