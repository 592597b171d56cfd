"""Where a move is saved: one `commit` for people, bots and the clock alike."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Final

from django.db import connection
from django.db.models import Model

from accounts.rows import prepared
from games import announce, rules
from games.actions import handover, rounds
from games.actions.clocks.timing import CLOCK_FIELDS, Due, moment_of, schedule, set_clock
from games.actions.notices import tell
from games.models import Game, Hand, Move, Round, Seat
from games.queries import Table
from games.refusals import from_rules

Line = tuple[str, list[dict[str, object]]]
"""A line of the log: the move as the notation writes it, and what it did."""


def commit(
    table: Table,
    seat: int,
    moves: Sequence[rules.Move],
    *,
    now: datetime,
    token: str | None = None,
    wake: bool = True,
    by_person: bool = True,
) -> None:
    """Apply and save one or more moves of a seat; `table` then holds what was saved. The caller holds the lock.

    `wake`: ask the worker for the bots that are due then. `by_person`: whoever has the seat has made the moves, and so
    has seen the table; the clock's never are.

    :raises Denied: a refusal of the rules; nothing is saved then.
    """
    before, (position, log, happened) = table.playing[2], _applied(table, seat, moves)
    exposed = {event.seat for event in happened if event.kind == "uno_due"}
    new_turn = rules.ends_turn(before, moves[-1], position)
    counted = _count_misses(table.seats[seat], moves[-1])
    due = schedule(table, position, new_turn=new_turn, exposed=exposed, now=now)
    changed = _changed_hands(table, position, exposed, moment_of(table.game, now))
    table.position = position
    _save(table, changed, due, counted, seat=seat, log=log, now=now, token=token)
    left = moves[-1].kind == "leave"
    if left:
        table.seats[seat].left = True
        Seat.objects.filter(pk=table.seats[seat].pk).update(left=True)
    if position.phase == "over":
        rounds.finish(table, now=now)
    if left:
        handover.voters_changed(table, now=now)
    own = by_person and not moves[-1].clock
    tell.move(table, happened, seat=seat, own=own, new_turn=new_turn, now=now)
    announce.after_commit(table.game, wake=wake)


def _applied(
    table: Table, seat: int, moves: Sequence[rules.Move]
) -> tuple[rules.Position, list[Line], list[rules.Event]]:
    """The position after these moves, their lines of the log, and all that they did; nothing is changed yet.

    :raises Denied: a refusal of the rules.
    """
    round_, _, position = table.playing
    shuffle = rules.Shuffler(bytes(round_.secret)).shuffle
    log: list[Line] = []
    happened: list[rules.Event] = []
    for move in moves:
        try:
            position, events = rules.apply(position, seat, move, table.options, shuffle)
        except rules.Refused as refused:
            raise from_rules(refused, table.game.version) from refused
        log.append((str(move), [event.to_json() for event in events]))
        happened.extend(events)
    return position, log, happened


def _count_misses(seat: Seat, move: rules.Move) -> Seat | None:
    """Count a turn that the clock played, forget the count at any move of one's own (CLOCK-3); None if it stays."""
    before = seat.misses
    if not move.clock:
        seat.misses = 0
    elif rules.KINDS[move.kind].of_turn:
        seat.misses += 1
    return None if seat.misses == before else seat


def _changed_hands(table: Table, position: rules.Position, exposed: Collection[int], moment: datetime) -> list[Hand]:
    """The hand rows that `position` changes, already set to it; a window that opens now has its own time (CLOCK-2)."""
    _, hands, _ = table.playing
    window = moment + timedelta(seconds=table.game.terms.callout)
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
_GAME_COLUMNS: Final = ("version", "wake_at", *CLOCK_FIELDS)


def _typed(model: type[Model], names: Sequence[str]) -> str:
    """These fields of a model as columns of a record."""
    fields = map(model._meta.get_field, names)
    return ", ".join(f"{name} {field.db_type(connection)}" for name, field in zip(names, fields, strict=True))


@cache
def _statement() -> str:
    """What saves a move: one round trip instead of five; a data-modifying CTE runs whole or not at all.

    Its parameters always have the same types, JSON as text: PostgreSQL keeps one plan (docs/decisions/0034). Hands and
    seats are found by their round and game: of such a list the planner expects a hundred rows, and would read it all.
    """
    return f"""
WITH lines AS (
    INSERT INTO games_move (game_id, round_id, n, seat, text, at, events, token, by_bot)
    SELECT %(game)s, %(round)s, l.n, %(seat)s, l.text, l.at, l.events, l.token, %(by_bot)s
    FROM jsonb_to_recordset(%(lines)s::jsonb) AS l ({_typed(Move, ("n", "text", "at", "events", "token"))})
), hands AS (
    UPDATE games_hand SET cards = h.cards, callout_until = h.callout_until
    FROM jsonb_to_recordset(%(hands)s::jsonb) AS h ({_typed(Hand, ("id", "cards", "callout_until"))})
    WHERE games_hand.id = h.id AND games_hand.round_id = %(round)s
), seats AS (
    UPDATE games_seat SET bank = s.bank, misses = s.misses
    FROM jsonb_to_recordset(%(seats)s::jsonb) AS s ({_typed(Seat, ("id", "bank", "misses"))})
    WHERE games_seat.id = s.id AND games_seat.game_id = %(game)s
), position AS (
    UPDATE games_round SET {", ".join(f"{name} = p.{name}" for name in _ROUND_COLUMNS)}
    FROM jsonb_to_record(%(position)s::jsonb) AS p ({_typed(Round, _ROUND_COLUMNS)})
    WHERE games_round.id = %(round)s
)
UPDATE games_game SET {", ".join(f"{name} = g.{name}" for name in _GAME_COLUMNS)}
FROM jsonb_to_record(%(changes)s::jsonb) AS g ({_typed(Game, _GAME_COLUMNS)})
WHERE games_game.id = %(game)s
"""  # noqa: S608  # columns of tables of our own


def _plain(value: datetime | timedelta) -> str:
    return value.isoformat() if isinstance(value, datetime) else f"{value.total_seconds()} s"


_json: Final = partial(json.dumps, default=_plain)


def _save(
    table: Table,
    changed: Sequence[Hand],
    due: Due,
    counted: Seat | None,
    *,
    seat: int,
    log: Sequence[Line],
    now: datetime,
    token: str | None,
) -> None:
    """Write the log lines and all that they changed; the rows of `table` are brought up to date as well."""
    game = table.game
    round_, _, position = table.playing
    columns = rounds.position_columns(position)
    seats = list({one.pk: one for one in (due.banked, counted) if one is not None}.values())
    lines = [
        {"n": n, "text": text, "at": now, "events": events, "token": token if n == game.version + 1 else None}
        for n, (text, events) in enumerate(log, game.version + 1)
    ]
    changes = {"version": game.version + len(log), "wake_at": due.wake_at}
    parameters: dict[str, int | str] = {
        "game": game.pk,
        "round": round_.pk,
        "seat": seat,
        "by_bot": table.seats[seat].held_for_owner and log[-1][0] != "leave",
        "lines": _json(lines),
        "hands": _json([{"id": one.pk, "cards": one.cards, "callout_until": one.callout_until} for one in changed]),
        "seats": _json([{"id": one.pk, "bank": one.bank, "misses": one.misses} for one in seats]),
        "position": _json(columns),
        "changes": _json(changes | {field: getattr(due.clock, field) for field in CLOCK_FIELDS}),
    }
    with prepared() as cursor:
        cursor.execute(_statement(), parameters)
    for name, value in columns.items():
        setattr(round_, name, value)
    game.version += len(log)
    game.wake_at = due.wake_at
    set_clock(game, due.clock)
