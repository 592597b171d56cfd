"""Accept moves: `play_move` for people, `play_seat` for bots, `play_orders`. All save through `commit`.

Every accepted move is one transaction: lock the game row, check the request, apply the rules, append to the log, save
what changed and set the next deadline. Pages and workers are told after the transaction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from django.db import transaction

from common.say import N_
from games import queries, rules
from games.actions import seating, timeouts
from games.actions.commit import commit
from games.actions.next_round import deal_next
from games.actions.penalties import could_be_caught, only_penalties_since
from games.clocks import pausing
from games.locks import lock_game
from games.models import Game
from games.queries import Table, Viewer
from games.refusals import Denied, from_rules

if TYPE_CHECKING:
    from accounts.models import User

LONGEST_MOVE: Final = 40
"""The most characters of a move's text."""

MOST_STEPS: Final = 20
"""The most plays that can be sent together with a play."""

_TOKEN: Final = re.compile(r"[\x20-\x7e]{1,64}")


def play_move(
    *,
    code: str,
    viewer: Viewer[User],
    text: str,
    version: int | None,
    now: datetime,
    then: Sequence[str] = (),
    deal: int | None = None,
    token: str | None = None,
) -> Table:
    """Make a person's move and return the table after it.

    If the deadline has passed, the clock acts first, and the move is checked against the position after that. If the
    move ends a round of a match, the next round is dealt in a transaction of its own.

    :param text: the move in notation (docs/notation.md), without the seat.
    :param version: the version that the move was chosen on. Required for moves of the player on turn, and for plays
        out of turn. With a version, a catch that comes too late is `stale` and costs nothing (INT-5).
    :param then: further plays, which continue a straight after a play (RUN-6). Either all are made or none.
    :param deal: the number of the deal that the move was chosen on, if known. Staff can deal a round again without a
        move, which the version does not tell. In another deal, `leave` and moves that need a version are `stale`.
        Ignored for other moves.
    :param token: an idempotency token. The same token with the same moves changes nothing and returns the current
        table.
    :raises Denied: `malformed`, then as `_check_move`, then a refusal of the rules.
    """
    moves = [_parse(line) for line in (text, *then)]
    _check_shape(moves, version, token)
    check = partial(_check_move, viewer=viewer, moves=moves, version=version, deal=deal)
    return _check_and_save(moves, check, code=code, now=now, token=token)


def play_seat(
    *,
    game_id: int,
    seat: int,
    move: rules.Move,
    version: int,
    now: datetime,
    then: Sequence[rules.Move] = (),
    deal: int | None = None,
) -> Table:
    """Make a bot's move and return the table after it. Asks for no further bot moves; the caller does that.

    :param version: the version that the move was chosen on.
    :param then: further plays, as in `play_move`.
    :param deal: the number of the deal that the move was chosen on.
    :raises Denied: `not_found`, then as `_check_bot_move`, then a refusal of the rules.
    """
    check = partial(_check_bot_move, seat=seat, version=version, deal=deal)
    return _check_and_save([move, *then], check, game_id=game_id, now=now, wake=False)


def play_orders(
    *, game_id: int, moves: Sequence[rules.Move], orders_at: datetime, version: int, deal: int, now: datetime
) -> Table:
    """Make the moves of the standing orders of the player on turn and return the table after them. Wakes no bots.

    :param moves: from `standing_orders.turn_moves`.
    :param orders_at: `Game.orders_at` when they were found. It is another one, or null, if the player has changed or
        stopped the orders since.
    :param version: the version that they were found on. `deal` is the number of its deal.
    :raises Denied: `not_found`, `not_started`, `over`, `paused`, `stale`.
    """
    check = partial(_check_orders, orders_at=orders_at, version=version, deal=deal)
    return _check_and_save(moves, check, game_id=game_id, now=now, wake=False, by_order=True)


def _check_move(
    table: Table,
    *,
    clock_has_acted: bool,
    viewer: Viewer[User],
    moves: Sequence[rules.Move],
    version: int | None,
    deal: int | None,
) -> int | None:
    """Return the seat of a person who can make these moves now, or None if their token was used for them already.

    :raises Denied: the status and the code are at each line.
    """
    # The order is a promise (docs/api.md, "Errors"): of several faults the first is told. What is malformed comes
    # before them, what the rules of the game refuse after them.
    move = moves[0]
    queries.require_access(table, viewer)  # 404 not_found; 403 forbidden at a table without programs
    seat = queries.require_seat(table, viewer.user)  # 403 not_seated
    if _is_repeated(table, seat, moves):  # 422 token_reused, even if the game is over
        return None
    pausing.require_playing(table)  # 409 not_started, over
    if move.kind != "leave":  # players can always resign
        _require_not_paused(table)  # 409 paused
        seating.require_no_bot(table, seat=seat)  # 409 bot_plays
    if rules.KINDS[move.kind].of_turn:  # 409 stale, here and below
        _require_current(table, version, deal, clock_has_acted=clock_has_acted)
    elif move.kind == "catch":
        _require_no_late_catch(table, move, version)
    elif move.kind == "leave":
        _require_same_deal(table, deal)
    return seat


def _check_bot_move(table: Table, *, clock_has_acted: bool, seat: int, version: int, deal: int | None) -> int:
    """Return the seat of a bot that can move now. The order of the refusals is that of `_check_move`.

    :raises Denied: `not_started`, `over`, `paused`, `forbidden` if no bot plays the seat, `stale`.
    """
    pausing.require_playing(table)
    _require_not_paused(table)
    if not table.seats[seat].bot:
        raise Denied("forbidden", "A person plays this seat.", version=table.game.version)
    _require_current(table, version, deal, clock_has_acted=clock_has_acted)
    return seat


def _check_orders(table: Table, *, clock_has_acted: bool, orders_at: datetime, version: int, deal: int) -> int:
    """Return the seat on turn if its standing orders can play now. The order of the refusals is that of `_check_move`.

    :raises Denied: `not_started`, `over`, `paused`, `stale`.
    """
    pausing.require_playing(table)
    _require_not_paused(table)
    if table.game.orders_at != orders_at:
        raise Denied("stale", "The standing orders have changed.", version=table.game.version)
    _require_current(table, version, deal, clock_has_acted=clock_has_acted)
    return table.on_turn.index


class _Check(Protocol):
    """A function that refuses a move with `Denied`, or returns its seat, or None if there is nothing to do."""

    def __call__(self, table: Table, *, clock_has_acted: bool) -> int | None: ...


def _check_and_save(
    moves: Sequence[rules.Move],
    check: _Check,
    *,
    code: str | None = None,
    game_id: int | None = None,
    now: datetime,
    token: str | None = None,
    wake: bool = True,
    by_order: bool = False,
) -> Table:
    """Check moves and save them, and return the table after them. Deals the next round if they end one of a match.

    If a deadline or a callout window has passed, the clock acts first, in a transaction of its own, and the moves are
    checked once more, from the first check on.

    :param code: the game's, or `game_id` is given.
    :param token: as in `commit`, like `wake` and `by_order`.
    :raises Denied: `not_found`, then as `check`, then a refusal of the rules.
    """
    for clock_has_acted in (False, True):
        with transaction.atomic():
            table = queries.load(lock_game(code=code, pk=game_id), token=token)
            seat = check(table, clock_has_acted=clock_has_acted)
            if seat is None:
                return table
            if clock_has_acted or not timeouts.is_due(table, now):
                queries.require_allowed(table, table.started.position, seat, moves[0])
                check_next = None if by_order else queries.require_step
                commit(table, seat, moves, now=now, check_next=check_next, token=token, wake=wake, by_order=by_order)
                break
        timeouts.run_out(game_id=table.game.pk, now=now)
    return _next_round(table, now)


def _next_round(table: Table, now: datetime) -> Table:
    """Deal the next round if this move ended one of a match. If the process dies before that, the sweep deals it."""
    if table.game.status != Game.Status.PLAYING or not table.started.over:
        return table
    return deal_next(game_id=table.game.pk, now=now) or table


def _parse(text: str) -> rules.Move:
    if len(text) > LONGEST_MOVE:
        raise Denied("malformed", "That is not a move of this game.")
    try:
        move = rules.parse_move(text)
    except rules.Refused as refused:
        raise from_rules(refused, None) from refused
    if move.clock:
        raise Denied("malformed", "Moves that start with “clock” are made by the clock only.")
    return move


def _check_shape(moves: Sequence[rules.Move], version: int | None, token: str | None) -> None:
    if rules.KINDS[moves[0].kind].of_turn and version is None:
        raise Denied("malformed", "A move of the player on turn needs a version.")
    if len(moves) - 1 > MOST_STEPS:
        raise Denied("malformed", "At most {most} plays can follow a play.", most=MOST_STEPS)
    if len(moves) > 1 and any(move.kind != "play" for move in moves):
        raise Denied("malformed", "Only plays can be sent together: a play, and those that follow it.")
    if token is not None and not _TOKEN.fullmatch(token):
        raise Denied("malformed", "A token must be 1 to 64 printable ASCII characters.")


def _require_not_paused(table: Table) -> None:
    if table.game.paused_at is not None:
        raise Denied("paused", "The game is paused: nobody can move until it resumes.", version=table.game.version)


def _require_current(table: Table, version: int | None, deal: int | None, *, clock_has_acted: bool) -> None:
    """Refuse a move that was chosen in another deal, or on an older version if more than penalties came after it."""
    current = table.game.version
    moved_on = deal not in (None, table.started.round.number)
    if version != current:
        moved_on = moved_on or version is None or not only_penalties_since(table, version)
    if moved_on and clock_has_acted:
        sentence = N_("Your time ran out and the clock played for you. This is the game now.")
        raise Denied("stale", sentence, rule="CLOCK-1", version=current)
    if moved_on:
        raise Denied("stale", "The game has moved on. This is the game now: choose again.", version=current)


def _require_no_late_catch(table: Table, move: rules.Move, version: int | None) -> None:
    """Refuse a catch that would be fined now, and was right at the version that it was chosen on (INT-5)."""
    current = table.game.version
    if version is None or version >= current or move.target is None or not table.options.false_catch_penalty:
        return
    if move.target not in table.started.position.exposed and could_be_caught(table, move.target, version):
        sentence = N_("You were too late: nobody can catch them any more. That costs you nothing.")
        raise Denied("stale", sentence, rule="INT-5", version=current)


def _require_same_deal(table: Table, deal: int | None) -> None:
    """Refuse to resign from another deal than the one on the page that asked whether to resign."""
    if deal not in (None, table.started.round.number):
        sentence = N_("You have not resigned, because another deal is played now. To resign from it, ask again.")
        raise Denied("stale", sentence, version=table.game.version)


def _is_repeated(table: Table, seat: int, moves: Sequence[rules.Move]) -> bool:
    """Return True if this request's token was used for the same moves already.

    :raises Denied: `token_reused` if it was used for another move.
    """
    earlier = table.sent_before[seat] if table.sent_before else None
    if earlier is None:
        return False
    if earlier != [str(move) for move in moves]:
        raise Denied("token_reused", "This token was used for another move.", version=table.game.version)
    return True
