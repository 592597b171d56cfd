"""The bots' moves: each bot sees only its own view, and moves through the same write path as a person."""

from __future__ import annotations

import random
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from games import announce, bots, queries, rules
from games.actions.clocks.timing import moment_of
from games.actions.next_round import deal_next
from games.actions.play import play_seat
from games.models import Game
from games.queries import Table
from games.refusals import Denied

EARLY: Final = timedelta(milliseconds=50)
"""How much too early a task may come: its countdown and the game's clock are not the same."""

UNATTENDED_MOVES: Final = 5
"""The most moves that one task makes at a table where no person plays any more.

Such a table is not asked for again at once: the sweep takes a few of them each time. Otherwise somebody who makes many
tables full of bots and leaves them would keep the workers busy, and everybody else's bots waiting.
"""


def play_bots(*, game_id: int, clock: Callable[[], datetime], rng: random.Random, most: int = 500) -> int:
    """Make the bots' moves of a game that are due, and deal its next round if that is due; gives the number of moves.

    Goes on while bots are due at once (no pause, or nobody left in the round to watch), at most `most` moves; what is
    left then is asked of the worker again, or left to the sweep if the table is unattended. Each move is chosen without
    a lock and made on the version it was chosen on, so that of several workers at one game only one gets each move in.
    """
    moves = 0
    attended = True
    while moves < (most if attended else min(most, UNATTENDED_MOVES)):
        now = clock()
        table = queries.find(game_id)
        if table is None:
            return moves
        game, attended = table.game, table.attended
        if game.status != Game.Status.PLAYING or game.paused_at is not None:
            return moves
        if table.position is not None and table.position.phase == "over":
            deal_next(game_id=game_id, now=now)
            continue
        if game.wake_at is None or game.wake_at > moment_of(game, now) + EARLY:
            if moves and attended and game.wake_at is not None:
                announce.wake_bots(game_id, game.wake_at - game.skew)
            return moves
        try:
            moves += _one_move(table, now=now, rng=rng)
        except Denied as denied:
            if denied.code not in ("stale", "over", "paused", "forbidden"):
                raise
    if attended:
        announce.wake_bots(game_id, clock())
    return moves


def _one_move(table: Table, *, now: datetime, rng: random.Random) -> int:
    """The next move of some bot, calls and catches first; gives 1, or 0 when no bot wants to move."""
    game, position = table.game, table.position
    assert position is not None
    bot_seats = [seat for seat in table.seats if seat.bot and seat.index not in position.out]
    rng.shuffle(bot_seats)
    bot_seats.sort(key=lambda seat: seat.index == position.turn)
    for seat in bot_seats:
        legal = rules.legal_moves(position, seat.index, table.options)
        if not legal:
            continue
        view = rules.view_for(position, seat.index, table.options)
        move = bots.BOTS[seat.bot].choose(view, legal, rng)
        if move is not None:
            play_seat(
                game_id=game.pk,
                seat=seat.index,
                move=move,
                version=game.version,
                round_number=table.playing[0].number,
                now=now,
            )
            return 1
    # Nobody wanted to catch: no bot is due again until the position changes, or a seat changes hands.
    Game.objects.filter(pk=game.pk, version=game.version, wake_at=game.wake_at).update(wake_at=None)
    return 0
