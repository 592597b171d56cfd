"""Where a move is saved: one `commit` for people, bots and the clock alike."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import connection

from games import announce, rules
from games.actions import notices, rounds
from games.actions.timing import CLOCK_FIELDS, Due, schedule, set_clock
from games.models import Hand, Seat
from games.queries import Table
from games.refusals import from_rules

TURN_MOVES: Final = frozenset({"play", "draw", "take", "color", "pass"})
"""Moves of the seat on turn: they must be made on the current version. Calls, catches and leaving need not."""


def commit(
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
    happened: list[rules.Event] = []
    exposed: set[int] = set()
    for move in moves:
        try:
            position, events = rules.apply(position, seat, move, table.options, shuffle)
        except rules.Refused as refused:
            raise from_rules(refused, table.game.version) from refused
        log.append((str(move), json.dumps([event.to_json() for event in events])))
        happened.extend(events)
        exposed.update(event.seat for event in events if event.kind == "uno_due")
    played_on = moves[-1].kind in TURN_MOVES and position.phase != "drawn"
    new_turn = played_on or position.turn != before.turn or position.phase == "over"
    counted = _count_misses(table.seats[seat], moves[-1])
    due = schedule(table, position, new_turn=new_turn, exposed=exposed, now=now)
    changed = _changed_hands(table, position, exposed, now)
    table.position = position
    _save(table, changed, due, counted, seat=seat, log=log, now=now, token=token)
    if moves[-1].kind == "leave":
        table.seats[seat].left = True
        Seat.objects.filter(pk=table.seats[seat].pk).update(left=True)
        if table.game.pause_votes:
            table.game.pause_votes = []  # who is still in has changed
            table.game.save(update_fields=["pause_votes"])
    if position.phase == "over":
        rounds.finish(table, now=now)
    notices.tell_move(table, happened, seat=seat, clock=moves[-1].clock, new_turn=new_turn, now=now)
    announce.after_commit(table.game, wake=wake)


def _count_misses(seat: Seat, move: rules.Move) -> Seat | None:
    """Count a turn that the clock played, forget the count at any move of one's own (CLOCK-3); None if it stays."""
    before = seat.misses
    if not move.clock:
        seat.misses = 0
    elif move.kind in TURN_MOVES:
        seat.misses += 1
    return None if seat.misses == before else seat


def _changed_hands(table: Table, position: rules.Position, exposed: Collection[int], now: datetime) -> list[Hand]:
    """The hand rows that `position` changes, already set to it; a window that opens now has its own time (CLOCK-2)."""
    _, hands, _ = table.playing
    window = now + timedelta(seconds=table.game.terms.callout)
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
), seats AS (
    UPDATE games_seat SET bank = s.bank, misses = s.misses
    FROM unnest(%(seat_ids)s::bigint[], %(banks)s::int[], %(misses)s::smallint[]) AS s (id, bank, misses)
    WHERE games_seat.id = s.id
), position AS (
    UPDATE games_round SET {", ".join(f"{c} = %({c})s{_CASTS.get(c, '')}" for c in _ROUND_COLUMNS)}
    WHERE id = %(round)s
)
UPDATE games_game
SET version = %(new_version)s, wake_at = %(wake_at)s, {", ".join(f"{field} = %({field})s" for field in CLOCK_FIELDS)}
WHERE id = %(game)s
"""  # noqa: S608  # columns of a table of our own


def _save(
    table: Table,
    changed: Sequence[Hand],
    due: Due,
    counted: Seat | None,
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
    seats = list({one.pk: one for one in (due.banked, counted) if one is not None}.values())
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
        "seat_ids": [one.pk for one in seats],
        "banks": [one.bank for one in seats],
        "misses": [one.misses for one in seats],
        "wake_at": due.wake_at,
        **{field: getattr(due.clock, field) for field in CLOCK_FIELDS},
    }
    with connection.cursor() as cursor:
        cursor.execute(_SAVE, parameters)
    for name, value in columns.items():
        setattr(round_, name, value)
    game.version += len(log)
    game.wake_at = due.wake_at
    set_clock(game, due.clock)
