"""Plays rounds among bots in memory, for tests, benchmarks and experiments."""

from __future__ import annotations

import random
from collections.abc import Sequence

from games.bots.bot import Bot
from games.rules import Move, Options, Position, Shuffler, apply, deal, key_from_seed, legal_moves, view_for


def play_round(bots: Sequence[Bot], options: Options, seed: str, *, dealer: int | None = None) -> Position:
    """Play one round with one bot a seat and return its last position. The same ``seed`` gives the same round.

    :raises ValueError: if the bot on turn chooses no move.
    """
    rng = random.Random(seed)  # noqa: S311  # games of bots must be repeatable
    shuffle = Shuffler(key_from_seed(seed)).shuffle
    position = deal(options, len(bots), shuffle, dealer=dealer)
    while position.phase != "over":
        seat, move = next_move(bots, position, options, rng)
        position, _ = apply(position, seat, move, options, shuffle)
    return position


def next_move(bots: Sequence[Bot], position: Position, options: Options, rng: random.Random) -> tuple[int, Move]:
    """Return the seat that moves next, and its move.

    While seats that are not on turn may have moves, their bots are asked first, in random order.

    :raises ValueError: if the bot on turn chooses no move.
    """
    others_may_move = position.exposed or position.phase == "buzz" or options.plays_out_of_turn
    others = [seat for seat in range(len(bots)) if seat != position.turn] if others_may_move else []
    rng.shuffle(others)
    for seat in (*others, position.turn):
        legal = legal_moves(position, seat, options)
        move = bots[seat].choose(view_for(position, seat, options), legal, rng) if legal else None
        if move is not None:
            return seat, move
    raise ValueError(f"{bots[position.turn].name} is on turn but chose no move")
