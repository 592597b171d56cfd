"""Make the bots' moves, and those of standing orders on their player's turn, by the write path of a person's moves.

A bot sees only its own view.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from operator import itemgetter
from typing import Final, NamedTuple

from django.db import connection, transaction
from django.db.models import BooleanField, ExpressionWrapper, Q

from accounts.models import NEW_ACCOUNT_FOR
from games import announce, bots, queries, rules
from games.actions.next_round import deal_next
from games.actions.play import MOST_STEPS, play_orders, play_seat
from games.actions.standing_orders import turn_moves
from games.clocks.bot_times import BOT_FIELDS, is_reaction, moves_are_due, without_asked
from games.clocks.turn_clock import moment_of
from games.models import Game, Move, Seat
from games.models.rows import database_skew
from games.queries import Table, due_bots
from games.refusals import Denied

EARLY: Final = timedelta(milliseconds=50)
"""How early a task may run, because its countdown and the game's clock may differ."""

TASK_TIME: Final = timedelta(milliseconds=200)
"""A task starts no further move after this time, so that other work gets the worker."""

UNATTENDED_MOVES: Final = 5
"""The most moves that one task makes at a table where no person plays any more.

Such a table gets no follow-up task; each sweep takes a few of them instead. Otherwise a person could keep the workers
busy, and everyone else's bots waiting, by making many tables full of bots and leaving them.
"""

MOST_BY_ORDER: Final = 200
"""After this many moves by standing orders in a row the player has to choose, because orders could go on for ever."""

NEW_ACCOUNTS_SHARE: Final = 1 / 3
"""The share of the tasks that play for new accounts while other people's games wait too."""


def play_due_bots(*, game_id: int, clock: Callable[[], datetime], rng: random.Random) -> int:
    """Make due bot moves in this game, or in another game that waits for bots; return the number of moves.

    The work is shared out by host (`_draw_hosts`), so that one person's many games do not delay other people's bots. If
    games still wait at the end, the worker is asked for one more task (decision 99).
    """
    moves: int | None = None
    for games in _draw_hosts(_waiting(game_id, clock()), rng):
        moves = play_bots(game_id=rng.choice(games), clock=clock, rng=rng)
        if moves is not None:
            break
    if not moves:  # another task is at work, and it or the sweep will ask for the rest
        return 0
    now = clock()
    next_game = due_bots.newest_attended(_due_until(now)).order_by("wake_at").values_list("pk", flat=True).first()
    if next_game is not None:
        announce.wake_bots(next_game, now)
    return moves


def _waiting(game_id: int, now: datetime) -> list[tuple[int, int | None, bool | None]]:
    """Return the games that a task may choose from, as rows of game, host and whether the host has a new account.

    These are the game that the task was asked for, if it is due, and due games where people play.
    """
    moment = _due_until(now)
    # As in `User.is_new_account`.
    new = Q(host__is_guest=True) | Q(host__date_joined__gt=now - NEW_ACCOUNT_FOR)
    by_new_account = ExpressionWrapper(new, output_field=BooleanField())
    found: set[tuple[int, int | None, bool | None]] = set()
    for games in (due_bots.due(moment).filter(pk=game_id), due_bots.newest_attended(moment)):
        found.update(games.annotate(by_new_account=by_new_account).values_list("pk", "host_id", "by_new_account"))
    return sorted(found, key=itemgetter(0))


def _draw_hosts(waiting: Sequence[tuple[int, int | None, bool | None]], rng: random.Random) -> list[list[int]]:
    """Return the waiting games of each host, in a random order in which a task tries the hosts.

    One person can have any number of guests and new accounts, so hosts are drawn in two steps. The first step puts
    new accounts before the others with a probability of `NEW_ACCOUNTS_SHARE`. The second step orders the hosts of each
    kind, each with a weight of 1 / number of the host's waiting games.
    """
    known: dict[int | None, list[int]] = defaultdict(list)
    new: dict[int | None, list[int]] = defaultdict(list)
    for pk, host_id, is_new in waiting:
        (new if is_new else known)[host_id].append(pk)
    kinds = (new, known) if rng.random() < NEW_ACCOUNTS_SHARE else (known, new)
    drawn: list[list[int]] = []
    for hosts in kinds:
        # Sorting by u ** (1 / weight) draws without replacement by weight (Efraimidis and Spirakis, 2006).
        drawn += sorted(hosts.values(), key=lambda own: rng.random() ** len(own), reverse=True)
    return drawn


def _due_until(now: datetime) -> datetime:
    """Return the moment, by the database's clock, by which a game must be due to be played at `now`."""
    return now + database_skew() + EARLY


def play_bots(*, game_id: int, clock: Callable[[], datetime], rng: random.Random, most: int = 500) -> int | None:
    """Make the due moves of bots and of standing orders in a game, and deal its next round if that is due.

    Continues while a bot is due immediately (no pause, or no person left in the round to watch), for at most
    `TASK_TIME` and `most` moves. Each move is chosen without locking the game and saved only if the version is still
    the same, so of several workers at one game only one gets each move in.

    :returns: the number of moves; None if none was made because another worker is choosing a move for the same host.
    """
    began, moves, asked = clock(), 0, False
    while True:
        now = clock()
        with transaction.atomic():
            table = queries.find(game_id)
            if table is None or table.game.status != Game.Status.PLAYING or table.game.paused_at is not None:
                return moves
            game = table.game
            over = table.playing is not None and table.playing.over
            if not over and (game.wake_at is None or game.wake_at > moment_of(game, now) + EARLY):
                if (moves or asked) and table.attended and game.wake_at is not None:
                    announce.wake_bots(game_id, game.wake_at - game.skew)
                return moves
            if moves >= (most if table.attended else min(most, UNATTENDED_MOVES)) or now - began >= TASK_TIME:
                return moves
            if not claim_host(game.host_id):
                return moves or None
            choice = None if over else _choose(table, moment_of(game, now) + EARLY, rng)
        if over:
            deal_next(game_id=game_id, now=now)
            continue
        asked = True
        if choice is None:
            _wait_for_next(table.game, moment_of(game, now) + EARLY)
            continue
        try:
            moves += _play(table, choice, clock())
        except Denied as denied:
            if denied.code not in ("stale", "over", "paused", "forbidden"):
                raise


def claim_host(host_id: int | None) -> bool:
    """Try to lock this host's bots until the transaction ends; return False if another transaction has the lock."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(hashtextextended(%s, 0))", [f"bots of {host_id}"])
        claimed: bool = cursor.fetchone()[0]
    return claimed


class _Choice(NamedTuple):
    """A move of a bot, and the steps of a straight that it sends with it.

    If standing orders chose it, `orders_at` is their time, and `then` has what follows a draw.
    """

    seat: int
    move: rules.Move
    then: list[rules.Move]
    orders_at: datetime | None = None


def _choose(table: Table, until: datetime, rng: random.Random) -> _Choice | None:
    """Return the move of a bot or of standing orders that is due `until` then, or None if there is none.

    Reactions come first, the earliest first. Of the other moves those of bots that are not on turn come first, so that
    calls and catches come before plays. Standing orders come last.
    """
    position, react_at = table.started.position, table.game.react_at
    for _, index in sorted((at, index) for index, at in enumerate(react_at) if at is not None and at <= until):
        move = _ask(table, table.seats[index], rng, reaction=True)
        if move is not None:
            return _Choice(index, move, [])
    bot_seats = [seat for seat in table.seats if seat.bot and seat.index not in position.out]
    if not moves_are_due(table.game, until):
        bot_seats = []
    rng.shuffle(bot_seats)
    bot_seats.sort(key=lambda seat: seat.index == position.turn)
    for seat in bot_seats:
        move = _ask(table, seat, rng, reaction=False)
        if move is not None:
            return _Choice(seat.index, move, _steps(table, seat, move, rng))
    return _of_orders(table, until)


def _of_orders(table: Table, until: datetime) -> _Choice | None:
    """Return what the standing orders of the player on turn play, if they are due `until` then."""
    orders_at = table.game.orders_at
    if orders_at is None or orders_at > until or not (moves := turn_moves(table)) or _nobody_chose(table.game):
        return None
    return _Choice(table.on_turn.index, moves[0], moves[1:], orders_at)


def _nobody_chose(game: Game) -> bool:
    """Return True if the last `MOST_BY_ORDER` moves were all by standing orders."""
    lines = Move.objects.filter(game=game, n__gt=game.version - MOST_BY_ORDER)
    return game.version >= MOST_BY_ORDER and not lines.filter(by_order=False).exists()


def _ask(table: Table, seat: Seat, rng: random.Random, *, reaction: bool) -> rules.Move | None:
    """Return the bot's choice among its reactions or among its other moves; None if it wants none of them."""
    position = table.started.position
    legal = queries.legal_moves(table, position, seat.index)
    offered = [move for move in legal if is_reaction(position, seat.index, move) == reaction]
    if not seat.bot or not offered:
        return None
    return bots.BOTS[seat.bot].choose(rules.view_for(position, seat.index, table.options), offered, rng)


def _steps(table: Table, seat: Seat, move: rules.Move, rng: random.Random) -> list[rules.Move]:
    """Return the steps of a straight that a bot sends with a play, where they cannot be sent alone (RUN-2, RUN-6).

    The bot chooses each step from what it would see after the play and the steps before.
    """
    steps: list[rules.Move] = []
    if not table.options.straights or table.game.terms.races:
        return steps
    options, index = table.options, seat.index
    shuffle = rules.Shuffler(bytes(table.started.round.secret)).shuffle
    position, _ = rules.apply(table.started.position, index, move, options, shuffle)
    while len(steps) < MOST_STEPS and position.phase != "over" and position.turn != index:
        legal = [
            step
            for step in rules.legal_moves(position, index, options)
            if step.kind == "play" and rules.is_step(position, index, step.card or "", options)
        ]
        if not legal:
            break
        step = bots.BOTS[seat.bot].choose(rules.view_for(position, index, options), legal, rng)
        if step is None:
            break
        steps.append(step)
        position, _ = rules.apply(position, index, step, options, shuffle)
    return steps


def _play(table: Table, choice: _Choice, now: datetime) -> int:
    """Save the chosen move and what follows it, and return the number of moves."""
    version, deal = table.game.version, table.started.round.number
    if choice.orders_at is not None:
        moves = [choice.move, *choice.then]
        play_orders(game_id=table.game.pk, moves=moves, orders_at=choice.orders_at, version=version, deal=deal, now=now)
        return len(moves)
    play_seat(
        game_id=table.game.pk,
        seat=choice.seat,
        move=choice.move,
        then=choice.then,
        version=version,
        deal=deal,
        now=now,
    )
    return 1 + len(choice.then)


def _wait_for_next(game: Game, until: datetime) -> None:
    """Store when bots are due next, after all that were due `until` then have been asked and none wanted to move.

    Changes nothing if the position, the owner of a seat or the orders of the player on turn have changed since `game`
    was read.
    """
    times = without_asked(game, until)
    columns = {name: getattr(times, name) for name in BOT_FIELDS}
    same = Game.objects.filter(pk=game.pk, version=game.version, wake_at=game.wake_at, orders_at=game.orders_at)
    same.update(**columns)
