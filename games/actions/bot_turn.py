"""The bots' moves: each bot sees only its own view, and moves through the same write path as a person."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Final

from django.db import connection, transaction
from django.db.models import BooleanField, ExpressionWrapper, Q

from games import announce, bots, queries, rules
from games.actions.next_round import deal_next
from games.actions.play import play_seat
from games.clocks.turn_clock import moment_of
from games.models import Game
from games.models.rows import ask_ahead
from games.queries import Table, due_bots
from games.refusals import Denied

EARLY: Final = timedelta(milliseconds=50)
"""How much too early a task may come: its countdown and the game's clock are not the same."""

AT_ONCE: Final = timedelta(milliseconds=200)
"""After this time a task begins no other move: others wait for the worker too."""

UNATTENDED_MOVES: Final = 5
"""The most moves that one task makes at a table where no person plays any more.

Such a table is not asked for again at once: the sweep takes a few of them each time. Otherwise somebody who makes many
tables full of bots and leaves them would keep the workers busy, and everybody else's bots waiting.
"""

NEWCOMERS_SHARE: Final = 1 / 3
"""The share of the tasks that move for newcomers while games of others wait too."""

NEWCOMER: Final = timedelta(days=1)
"""How long an account counts as a newcomer's. Guests always do."""


def play_some(*, game_id: int, clock: Callable[[], datetime], rng: random.Random) -> int:
    """Make some of the bots' moves that are due, at this game or at one that waits too; returns the number of moves.

    Somebody's many games must not delay other people's bots, so the work is shared out by host (`_drawn`). If any still
    wait at the end, the worker is asked for one more task (decision 99).
    """
    moves: int | None = None
    for games in _drawn(_waiting(game_id, clock()), rng):
        moves = play_bots(game_id=rng.choice(games), clock=clock, rng=rng)
        if moves is not None:
            break
    if not moves:  # a task in progress asks for the rest, and so does the sweep
        return 0
    now = clock()
    still = due_bots.newest_attended(_moment(now)).order_by("wake_at").values_list("pk", flat=True).first()
    if still is not None:
        announce.wake_bots(still, now)
    return moves


def _waiting(game_id: int, now: datetime) -> list[tuple[int, int | None, bool | None]]:
    """Return the games of which a task may play one, each with its host and whether that is a newcomer.

    They are the game that the task was asked for, if it is due, and those where people play.
    """
    moment = _moment(now)
    new = Q(host__is_guest=True) | Q(host__date_joined__gt=now - NEWCOMER)
    by_newcomer = ExpressionWrapper(new, output_field=BooleanField())
    found: set[tuple[int, int | None, bool | None]] = set()
    for games in (due_bots.due(moment).filter(pk=game_id), due_bots.newest_attended(moment)):
        found.update(games.annotate(by_newcomer=by_newcomer).values_list("pk", "host_id", "by_newcomer"))
    return sorted(found, key=itemgetter(0))


def _drawn(waiting: Sequence[tuple[int, int | None, bool | None]], rng: random.Random) -> list[list[int]]:
    """Return the waiting games of each host, in the order in which a task tries the hosts.

    One person can be any number of guests and of new accounts, so hosts are drawn in two steps. The first draws whether
    such newcomers come first: while others wait too, `NEWCOMERS_SHARE` is the chance of that. The second draws among
    the hosts of each kind, with a weight of one divided by the number of the host's games that wait.
    """
    known: dict[int | None, list[int]] = defaultdict(list)
    newcomers: dict[int | None, list[int]] = defaultdict(list)
    for pk, host_id, is_newcomer in waiting:
        (newcomers if is_newcomer else known)[host_id].append(pk)
    kinds = (newcomers, known) if rng.random() < NEWCOMERS_SHARE else (known, newcomers)
    drawn: list[list[int]] = []
    for hosts in kinds:
        # Sorting by u ** (1 / weight) draws without replacement by weight (Efraimidis and Spirakis, 2006).
        drawn += sorted(hosts.values(), key=lambda own: rng.random() ** len(own), reverse=True)
    return drawn


def _moment(now: datetime) -> datetime:
    """Return until when a game must have become due, by the database's clock, to be played at `now`."""
    return now + ask_ahead() + EARLY


def play_bots(*, game_id: int, clock: Callable[[], datetime], rng: random.Random, most: int = 500) -> int | None:
    """Make the bots' moves of a game that are due, and deal its next round if that is due.

    Goes on while bots are due at once (no pause, or nobody left in the round to watch), for at most `AT_ONCE` and at
    most `most` moves. Each move is chosen without a lock of the game and made on the version it was chosen on, so that
    of several workers at one game only one gets each move in.

    :returns: the number of moves; None if there was none because a move at a game of the same host is being chosen.
    """
    began, moves = clock(), 0
    while True:
        now = clock()
        with transaction.atomic():
            table = queries.find(game_id)
            if table is None or table.game.status != Game.Status.PLAYING or table.game.paused_at is not None:
                return moves
            game = table.game
            over = table.playing is not None and table.playing.over
            if not over and (game.wake_at is None or game.wake_at > moment_of(game, now) + EARLY):
                if moves and table.attended and game.wake_at is not None:
                    announce.wake_bots(game_id, game.wake_at - game.skew)
                return moves
            if moves >= (most if table.attended else min(most, UNATTENDED_MOVES)) or now - began >= AT_ONCE:
                return moves
            if not _claim_host(game.host_id):
                return moves or None
            choice = None if over else _choose(table, rng)
        if over:
            deal_next(game_id=game_id, now=now)
            continue
        try:
            moves += _make(table, choice, now)
        except Denied as denied:
            if denied.code not in ("stale", "over", "paused", "forbidden"):
                raise


def _claim_host(host_id: int | None) -> bool:
    """Return whether no other transaction chooses a move at a game of this host; none can until this one ends."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [f"bots of {host_id}"])
        claimed: bool = cursor.fetchone()[0]
    return claimed


def _choose(table: Table, rng: random.Random) -> tuple[int, rules.Move] | None:
    """Return the seat and the next move of some bot, calls and catches first; None when no bot wants to move."""
    position = table.started.position
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
            return seat.index, move
    return None


def _make(table: Table, choice: tuple[int, rules.Move] | None, now: datetime) -> int:
    """Make the move that was chosen at this table; returns 1, or 0 when no bot wanted to move."""
    game = table.game
    if choice is None:
        # Nobody wanted to catch: no bot is due again until the position changes, or a seat changes hands.
        Game.objects.filter(pk=game.pk, version=game.version, wake_at=game.wake_at).update(wake_at=None)
        return 0
    seat, move = choice
    number = table.started.round.number
    play_seat(game_id=game.pk, seat=seat, move=move, version=game.version, round_number=number, now=now)
    return 1
