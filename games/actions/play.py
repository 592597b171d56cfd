"""Moves come in here: `play_move` for people, `play_seat` for bots; both end in the one `commit`.

Every accepted move is one transaction: lock the game row, look again, apply the rules, append to the log, save what
changed, set the next deadline, and speak only after the commit.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Final

from django.db import transaction

from games import queries, rules
from games.actions import seating, timeouts
from games.actions.commit import commit
from games.actions.next_round import deal_next
from games.clocks import pausing
from games.locks import lock_game
from games.models import Game
from games.queries import Table, Viewer
from games.refusals import Denied, from_rules, not_found

if TYPE_CHECKING:
    from accounts.models import User

LONGEST_MOVE: Final = 40
"""Characters that the text of a move may have."""

_TOKEN: Final = re.compile(r"[\x20-\x7e]{1,64}")


def play_move(
    *,
    code: str,
    viewer: Viewer[User],
    text: str,
    version: int | None,
    now: datetime,
    round_number: int | None = None,
    token: str | None = None,
) -> Table:
    """A person's move, as the notation writes it but for the seat; gives the table as it is afterwards.

    `round_number`, if given, is the round it was chosen in, for staff may deal a round anew without a move. The same
    `token` with the same move again moves nothing and gives the table as it is now. A match whose round this
    move ends has its next round dealt at once, in a transaction of its own. A move that comes after a deadline lets the
    clock act first, and is judged on what is then.

    :raises Denied: `malformed`, `not_found`, `not_seated`, `not_started`, `over`, `paused`, `bot_plays`,
        `token_reused`, `stale`, or a refusal of the rules.
    """
    move = _parse(text)
    _check_shape(move, version, token)
    for clock_has_acted in (False, True):
        with transaction.atomic():
            table = queries.load(lock_game(code=code), token=token)
            if not queries.may_see(table, viewer):
                raise not_found()
            seat = queries.require_seat(table, viewer.user)
            if _seen_before(table, seat, move):
                return table
            pausing.require_playing(table)
            if move.kind != "leave":
                _require_clock(table)
                seating.require_no_bot(table, seat=seat)
            if rules.KINDS[move.kind].of_turn:
                _require_version(table, version, round_number, late=clock_has_acted)
            if clock_has_acted or not timeouts.is_due(table, now):
                commit(table, seat, [move], now=now, token=token)
                break
        timeouts.run_out(game_id=table.game.pk, now=now)
    return _next_round(table, now)


def play_seat(
    *, game_id: int, seat: int, move: rules.Move, version: int, now: datetime, round_number: int | None = None
) -> Table:
    """A bot's move for its seat, chosen on `version` in that round; the caller sees to it that the bots go on.

    :raises Denied: `not_found`, `not_started`, `over`, `paused`, `stale`, `forbidden` if no bot holds the seat, or a
        refusal of the rules.
    """
    for clock_has_acted in (False, True):
        with transaction.atomic():
            table = queries.load(lock_game(pk=game_id))
            pausing.require_playing(table)
            _require_clock(table)
            _require_version(table, version, round_number)
            if not table.seats[seat].bot:
                raise Denied("forbidden", "A person holds this seat.", version=table.game.version)
            if clock_has_acted or not timeouts.is_due(table, now):
                commit(table, seat, [move], now=now, wake=False)
                break
        timeouts.run_out(game_id=game_id, now=now)
    return _next_round(table, now)


def _next_round(table: Table, now: datetime) -> Table:
    """Deal the next round if this move ended one of a match; the sweep does it if we die in between."""
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
        raise Denied("malformed", "Only the clock makes moves that begin with the word clock.")
    return move


def _check_shape(move: rules.Move, version: int | None, token: str | None) -> None:
    if rules.KINDS[move.kind].of_turn and version is None:
        raise Denied("malformed", "A move of the player on turn needs the version it was chosen on.")
    if token is not None and not _TOKEN.fullmatch(token):
        raise Denied("malformed", "A token is 1 to 64 printable characters.")


def _require_clock(table: Table) -> None:
    if table.game.paused_at is not None:
        raise Denied("paused", "The game is paused: nobody moves until it goes on.", version=table.game.version)


def _require_version(table: Table, version: int | None, round_number: int | None, *, late: bool = False) -> None:
    current = table.game.version
    moved_on = version != current or round_number not in (None, table.started.round.number)
    if moved_on and late:
        message = "Your time had run out, and the clock has played for you. This is how the game stands now."
        raise Denied("stale", message, rule="CLOCK-1", version=current)
    if moved_on:
        raise Denied("stale", "The game has moved on. This is how it stands now: choose again.", version=current)


def _seen_before(table: Table, seat: int, move: rules.Move) -> bool:
    earlier = table.said[seat] if table.said else None
    if earlier is None:
        return False
    if earlier != str(move):
        raise Denied("token_reused", "This token was used for another move.", version=table.game.version)
    return True
