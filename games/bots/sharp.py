"""The bot that looks ahead by Monte Carlo search.

It deals the hidden cards at random several times. Each deal is a world (a determinization), which it plays on for some
moves.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Final

from games.bots.calls import catches, late_call, press, turn_moves, with_call
from games.bots.evaluation import Evaluator
from games.bots.playout import play_out, random_shuffle
from games.bots.winning import win_chance
from games.bots.worlds import sample_world, unseen_cards
from games.rules import Card, Move, View, push

CANDIDATES: Final = 6
"""How many moves are tried in play-outs: those with the highest values."""

BUDGET: Final = 900
"""How many moves all play-outs of one choice may make. A count and not a time, so that a choice can be repeated."""

WORLD_COST: Final = 3
"""What dealing a world costs, in moves."""

HORIZON: Final = 6
"""After how many moves a play-out is evaluated."""

PRIOR: Final = 1.0
"""Before the first play-out, a move has this many won play-outs for each point of its value.

A choice has 40 to 100 worlds, in which chance alone can make the worse of two moves win a few more play-outs.
"""

MOST_PRIOR: Final = 5.0
"""Larger values, positive or negative, count as this much before the first play-out."""


class Sharp:
    """Plays the move that does best in play-outs."""

    name = "sharp"
    label = "Sharp"
    help = "Thinks ahead, never forgets to call UNO and catches everyone who does."

    def __init__(self, budget: int = BUDGET) -> None:
        self._budget = budget

    def choose(self, view: View, legal: Sequence[Move], rng: random.Random) -> Move | None:
        """Return a call or a catch if there is one, or the best turn move by play-outs. See ``Bot.choose``."""
        pressed = press(legal)
        if pressed is not None:
            return pressed
        calls = [move for move in (late_call(legal), *catches(view, legal)) if move is not None]
        if calls:
            return calls[0]
        moves = turn_moves(legal)
        if not moves:
            return None
        if view.turn != view.you:
            return _out_of_turn(view, moves)
        return with_call(view, moves[0] if len(moves) == 1 else _best(view, moves, self._budget, rng))


def _out_of_turn(view: View, moves: Sequence[Move]) -> Move | None:
    """Return the best play of a player who is not on turn, or None if waiting is better."""
    evaluator = Evaluator(view)
    best = max(moves, key=evaluator.value_of)
    return with_call(view, best) if evaluator.value_of(best) >= 0 else None


def _best(view: View, moves: Sequence[Move], budget: int, rng: random.Random) -> Move:
    """Return the best move by play-outs.

    All candidates are tried in the same worlds. The weaker half is dropped each time a third of the budget is spent.
    """
    evaluator = Evaluator(view)
    values = {move: evaluator.value_of(move) for move in moves}
    candidates = sorted(moves, key=values.__getitem__, reverse=True)[:CANDIDATES]
    cards = unseen_cards(view)
    scores = {move: PRIOR * max(-MOST_PRIOR, min(MOST_PRIOR, values[move])) for move in candidates}
    spent, share = 0, budget // 3
    while len(candidates) > 1 and spent < budget:
        limit = spent + share
        while spent < limit:
            spent += _play_world(view, candidates, cards, scores, rng)
        candidates.sort(key=scores.__getitem__, reverse=True)
        if len(candidates) > 2:
            candidates = candidates[: (len(candidates) + 1) // 2]
    return candidates[0]


def _play_world(
    view: View, candidates: list[Move], cards: list[Card], scores: dict[Move, float], rng: random.Random
) -> int:
    """Deal one world, play it on after each candidate and add the results to ``scores``. Return the cost in moves."""
    seat = view.turn
    world = sample_world(view, cards, rng)
    shuffle = random_shuffle(rng)
    spent = WORLD_COST
    for move in candidates:
        position, _ = push(world, seat, move, view.options, shuffle)
        end, moves_made = play_out(position, view.options, HORIZON, rng)
        scores[move] += win_chance(end, seat, view.options)
        spent += 1 + moves_made
    return spent
