"""Accept moves: `play_move` for people, `play_seat` for bots. Both save through `commit`.

Every accepted move is one transaction: lock the game row, check the request, apply the rules, append to the log, save
what changed and set the next deadline. Pages and workers are told after the transaction.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db import transaction

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
    :raises Denied: `malformed`, `not_found`, `not_seated`, `not_started`, `over`, `paused`, `bot_plays`,
        `token_reused`, `stale`, or a refusal of the rules.
    """
    moves = [_parse(line) for line in (text, *then)]
    _check_shape(moves, version, token)
    move = moves[0]
    for clock_has_acted in (False, True):
        with transaction.atomic():
            table = queries.load(lock_game(code=code), token=token)
            queries.require_access(table, viewer)
            seat = queries.require_seat(table, viewer.user)
            if _is_repeated(table, seat, moves):
                return table
            pausing.require_playing(table)
            if move.kind != "leave":
                _require_not_paused(table)
                seating.require_no_bot(table, seat=seat)
            if rules.KINDS[move.kind].of_turn:
                _require_version(table, version, deal, clock_has_acted=clock_has_acted)
            if version is not None and version < table.game.version and _is_late_catch(table, move, version):
                message = "You were too late: nobody can catch them any more. That costs you nothing."
                raise Denied("stale", message, rule="INT-5", version=table.game.version)
            if move.kind == "leave" and deal not in (None, table.started.round.number):
                message = "You have not resigned, because another deal is played now. To resign from it, ask again."
                raise Denied("stale", message, version=table.game.version)
            if clock_has_acted or not timeouts.is_due(table, now):
                _save(table, seat, moves, now=now, token=token)
                break
        timeouts.run_out(game_id=table.game.pk, now=now)
    return _next_round(table, now)


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
    :raises Denied: `not_found`, `not_started`, `over`, `paused`, `stale`, `forbidden` if no bot plays the seat, or a
        refusal of the rules.
    """
    for clock_has_acted in (False, True):
        with transaction.atomic():
            table = queries.load(lock_game(pk=game_id))
            pausing.require_playing(table)
            _require_not_paused(table)
            _require_version(table, version, deal)
            if not table.seats[seat].bot:
                raise Denied("forbidden", "A person plays this seat.", version=table.game.version)
            if clock_has_acted or not timeouts.is_due(table, now):
                _save(table, seat, [move, *then], now=now, wake=False)
                break
        timeouts.run_out(game_id=game_id, now=now)
    return _next_round(table, now)


def _save(
    table: Table,
    seat: int,
    moves: Sequence[rules.Move],
    *,
    now: datetime,
    token: str | None = None,
    wake: bool = True,
) -> None:
    """Check what the table allows, and commit. Parameters are as in `commit`.

    :raises Denied: `not_your_turn`, `nobody_to_catch`, or another refusal of the rules. Nothing is saved.
    """
    queries.require_allowed(table, table.started.position, seat, moves[0])
    commit(table, seat, moves, now=now, check_next=queries.require_step, token=token, wake=wake)


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
        raise Denied("malformed", f"At most {MOST_STEPS} plays can follow a play.")
    if len(moves) > 1 and any(move.kind != "play" for move in moves):
        raise Denied("malformed", "Only plays can be sent together: a play, and those that follow it.")
    if token is not None and not _TOKEN.fullmatch(token):
        raise Denied("malformed", "A token must be 1 to 64 printable ASCII characters.")


def _is_late_catch(table: Table, move: rules.Move, version: int) -> bool:
    """Return True for a catch that would be fined now, and was right at the version that it was chosen on."""
    if move.kind != "catch" or move.target is None or not table.options.false_catch_penalty:
        return False
    return move.target not in table.started.position.exposed and could_be_caught(table, move.target, version)


def _require_not_paused(table: Table) -> None:
    if table.game.paused_at is not None:
        raise Denied("paused", "The game is paused: nobody can move until it resumes.", version=table.game.version)


def _require_version(table: Table, version: int | None, deal: int | None, *, clock_has_acted: bool = False) -> None:
    current = table.game.version
    moved_on = deal not in (None, table.started.round.number)
    if version != current:
        moved_on = moved_on or version is None or not only_penalties_since(table, version)
    if moved_on and clock_has_acted:
        message = "Your time ran out and the clock played for you. This is the game now."
        raise Denied("stale", message, rule="CLOCK-1", version=current)
    if moved_on:
        raise Denied("stale", "The game has moved on. This is the game now: choose again.", version=current)


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
