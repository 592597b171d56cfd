"""Where a move is saved: `play_move` for people, `play_seat` for bots, one `_commit` for everybody.

Every accepted move is one transaction: lock the game row, look again, apply the rules, append to the log, save what
changed, set the next deadline, and speak only after the commit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import connection, transaction

from games import announce, queries, rules
from games.actions import rounds
from games.actions.locks import lock_game
from games.actions.timing import Due, pace_of, schedule
from games.models import Game, Hand, Seat
from games.models.rows import read_token
from games.queries import Table
from games.refusals import Denied, from_rules, not_found

if TYPE_CHECKING:
    from accounts.models import User

TURN_MOVES: Final = frozenset({"play", "draw", "take", "color", "pass"})
"""Moves of the seat on turn: they must be made on the current version. Calls, catches and leaving need not."""

_TOKEN: Final = re.compile(r"[\x20-\x7e]{1,64}")


def play_move(
    *,
    code: str,
    user: User,
    text: str,
    version: int | None,
    now: datetime,
    token: str | None = None,
    links: Collection[str] = (),
) -> Table:
    """A person's move, as NOTATION writes it but for the seat; gives the table as it is afterwards.

    The same `token` with the same move again moves nothing and gives the table as it is now. A match whose round this
    move ends has its next round dealt at once, in a transaction of its own.

    :raises Denied: `malformed`, `not_found`, `not_seated`, `not_started`, `over`, `token_reused`, `stale`, or a
        refusal of the rules.
    """
    move = _parse(text)
    _check_shape(move, version, token)
    with transaction.atomic():
        table = queries.load(lock_game(code=code))
        if not queries.may_see(table, user, links):
            raise not_found()
        seat = queries.require_seat(table, user)
        if token is not None and _seen_before(table, seat, move, token):
            return table
        _require_running(table)
        if move.kind in TURN_MOVES:
            _require_version(table, version)
        _commit(table, seat, [move], now=now, token=token)
    return _next_round(table, now)


def play_seat(*, game_id: int, seat: int, move: rules.Move, version: int, now: datetime) -> Table:
    """A bot's move for its seat, chosen on `version`; the caller sees to it that the bots go on.

    :raises Denied: `not_found`, `not_started`, `over`, `stale`, `forbidden` if no bot holds the seat, or a refusal of
        the rules.
    """
    with transaction.atomic():
        table = queries.load(lock_game(pk=game_id))
        _require_running(table)
        _require_version(table, version)
        if not table.seats[seat].bot:
            raise Denied("forbidden", "A person holds this seat.", version=table.game.version)
        _commit(table, seat, [move], now=now, wake=False)
    return _next_round(table, now)


def _next_round(table: Table, now: datetime) -> Table:
    """Deal the next round if this move ended one of a match; the sweep does it if we die in between."""
    _, _, position = table.playing
    if table.game.status != Game.Status.PLAYING or position.phase != "over":
        return table
    return rounds.deal_next(game_id=table.game.pk, now=now) or table


def _parse(text: str) -> rules.Move:
    try:
        move = rules.parse_move(text)
    except rules.Refused as refused:
        raise from_rules(refused, None) from refused
    if move.clock:
        raise Denied("malformed", "Only the clock makes moves that begin with the word clock.")
    return move


def _check_shape(move: rules.Move, version: int | None, token: str | None) -> None:
    if move.kind in TURN_MOVES and version is None:
        raise Denied("malformed", "A move of the player on turn needs the version it was chosen on.")
    if token is not None and not _TOKEN.fullmatch(token):
        raise Denied("malformed", "A token is 1 to 64 printable characters.")


def _require_running(table: Table) -> None:
    status, version = table.game.status, table.game.version
    if status == Game.Status.OPEN:
        raise Denied("not_started", "The game has not started yet.", version=version)
    if status != Game.Status.PLAYING:
        raise Denied("over", "The game is over.", rule="END-1", version=version)


def _require_version(table: Table, version: int | None) -> None:
    current = table.game.version
    if version != current:
        raise Denied("stale", "The game has moved on. This is how it stands now: choose again.", version=current)


def _seen_before(table: Table, seat: int, move: rules.Move, token: str) -> bool:
    earlier = read_token(table.game.pk, seat, token)
    if earlier is None:
        return False
    if earlier != str(move):
        raise Denied("token_reused", "This token was used for another move.", version=table.game.version)
    return True


def _commit(
    table: Table,
    seat: int,
    moves: Sequence[rules.Move],
    *,
    now: datetime,
    token: str | None = None,
    wake: bool = True,
) -> None:
    """Apply and save one or more moves of a seat; `table` then holds what was saved. The caller holds the lock.

    `wake`: ask the worker for the bots that are due then.

    :raises Denied: a refusal of the rules; nothing is saved then.
    """
    round_, _, before = table.playing
    shuffle = rules.Shuffler(bytes(round_.secret)).shuffle
    position, log = before, []
    exposed: set[int] = set()
    for move in moves:
        try:
            position, events = rules.apply(position, seat, move, table.options, shuffle)
        except rules.Refused as refused:
            raise from_rules(refused, table.game.version) from refused
        log.append((str(move), json.dumps([event.to_json() for event in events])))
        exposed.update(event.seat for event in events if event.kind == "uno_due")
    played_on = moves[-1].kind in TURN_MOVES and position.phase != "drawn"
    new_turn = played_on or position.turn != before.turn or position.phase == "over"
    due = schedule(table, position, new_turn=new_turn, exposed=exposed, now=now)
    changed = _changed_hands(table, position, exposed, now)
    table.position = position
    _save(table, changed, due, seat=seat, log=log, now=now, token=token)
    if moves[-1].kind == "leave":
        table.seats[seat].left = True
        Seat.objects.filter(pk=table.seats[seat].pk).update(left=True)
    if position.phase == "over":
        rounds.finish(table, now=now)
    announce.after_commit(table.game, wake=wake)


def _changed_hands(table: Table, position: rules.Position, exposed: Collection[int], now: datetime) -> list[Hand]:
    """The hand rows that `position` changes, already set to it; a window that opens now has its own time (CLOCK-2)."""
    _, hands, _ = table.playing
    window = now + timedelta(seconds=pace_of(table).callout)
    changed = []
    for n, hand in enumerate(hands):
        cards = " ".join(position.hands[n])
        until = None
        if n in position.exposed:
            until = window if n in exposed else hand.callout_until or window
        if (cards, until) != (hand.cards, hand.callout_until):
            hand.cards, hand.callout_until = cards, until
            changed.append(hand)
    return changed


_ROUND_COLUMNS: Final = (
    "turn", "direction", "draw_pile", "discard_pile", "color", "pending_total", "pending_value", "phase", "drawn",
    "set_aside", "out", "declared", "exposed", "going_out", "reshuffles", "winner", "points",
)  # fmt: skip

_CASTS: Final = {"points": "::jsonb"} | dict.fromkeys(("out", "declared", "exposed", "going_out"), "::smallint[]")

# One round trip instead of five; a data-modifying CTE runs whole or not at all.
_SAVE: Final = f"""
WITH lines AS (
    INSERT INTO games_move (game_id, round_id, n, seat, text, at, events, token)
    SELECT %(game)s, %(round)s, %(version)s + l.i, %(seat)s, l.text, %(now)s, l.events::jsonb,
           CASE WHEN l.i = 1 THEN %(token)s::text END
    FROM unnest(%(texts)s::text[], %(events)s::text[]) WITH ORDINALITY AS l (text, events, i)
), hands AS (
    UPDATE games_hand SET cards = h.cards, callout_until = h.callout_until
    FROM unnest(%(hand_ids)s::bigint[], %(hand_cards)s::text[], %(callouts)s::timestamptz[])
         AS h (id, cards, callout_until)
    WHERE games_hand.id = h.id
), bank AS (
    UPDATE games_seat SET bank = %(bank)s WHERE id = %(bank_seat)s
), position AS (
    UPDATE games_round SET {", ".join(f"{c} = %({c})s{_CASTS.get(c, '')}" for c in _ROUND_COLUMNS)}
    WHERE id = %(round)s
)
UPDATE games_game SET version = %(new_version)s, deadline = %(deadline)s, wake_at = %(wake_at)s WHERE id = %(game)s
"""  # noqa: S608  # columns of a table of our own


def _save(
    table: Table,
    changed: Sequence[Hand],
    due: Due,
    *,
    seat: int,
    log: Sequence[tuple[str, str]],
    now: datetime,
    token: str | None,
) -> None:
    """Write the log lines and all that they changed; the rows of `table` are brought up to date as well."""
    game = table.game
    round_, _, position = table.playing
    columns = rounds.position_columns(position)
    parameters: dict[str, Any] = columns | {
        "points": None if position.points is None else json.dumps(columns["points"]),
        "game": game.pk,
        "round": round_.pk,
        "version": game.version,
        "new_version": game.version + len(log),
        "seat": seat,
        "now": now,
        "token": token,
        "texts": [text for text, _ in log],
        "events": [events for _, events in log],
        "hand_ids": [hand.pk for hand in changed],
        "hand_cards": [hand.cards for hand in changed],
        "callouts": [hand.callout_until for hand in changed],
        "bank": due.banked.bank if due.banked else 0,
        "bank_seat": due.banked.pk if due.banked else None,
        "deadline": due.deadline,
        "wake_at": due.wake_at,
    }
    with connection.cursor() as cursor:
        cursor.execute(_SAVE, parameters)
    for name, value in columns.items():
        setattr(round_, name, value)
    game.version += len(log)
    game.deadline, game.wake_at = due.deadline, due.wake_at
