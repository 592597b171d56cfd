"""The sweep's heartbeat. If the sweep did not run, that time is given back to every clock that ran meanwhile."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any, Final, NamedTuple

import structlog
from django.db import connection, transaction
from django.db.models import F, Q

from games.batch import for_each_game
from games.clocks.turn_clock import clock_of, set_clock, with_quiet_hours
from games.models import Game, Heartbeat, Seat, rows
from games.models.paces import LIMITS, PACES

log = structlog.get_logger(__name__)

HEARTBEAT_EVERY: Final = timedelta(seconds=5)
"""The heartbeat is written this often at most, so that most idle sweeps write nothing."""

# Each clock gets back the part of the outage during which it ran: not the time before its turn or in a vacation
# (`GREATEST` ignores nulls). The same holds for callout windows, which can open during an outage
# (`turn_clock.window_start`). `LEAST` and `GREATEST` clip an invalid stored callout, so that it cannot fail the whole
# statement. Rows are locked in the order of their ids, to avoid deadlocks.
_GIVE_BACK: Final = """
WITH part AS (
    SELECT id FROM games_game WHERE id > %(after)s AND status = 'playing' ORDER BY id LIMIT %(batch)s FOR NO KEY UPDATE
), clocks AS (
    UPDATE games_game g
    SET deadline = deadline + (%(to)s - GREATEST(turn_since, vacation_counted_until, %(from)s)),
        remind_at = remind_at + (%(to)s - GREATEST(turn_since, vacation_counted_until, %(from)s)),
        turn_since = turn_since + (%(to)s - GREATEST(turn_since, vacation_counted_until, %(from)s)),
        revision = revision + 1
    FROM part
    WHERE g.id = part.id AND deadline IS NOT NULL AND GREATEST(turn_since, vacation_counted_until, %(from)s) < %(to)s
    RETURNING g.id
), windows AS (
    UPDATE games_hand h SET callout_until = callout_until + (%(to)s - GREATEST(callout_until - g.callout, %(from)s))
    FROM (
        SELECT round_id, make_interval(secs => COALESCE(
            CASE WHEN jsonb_typeof(custom_pace -> 'callout') = 'number'
            THEN LEAST(GREATEST((custom_pace ->> 'callout')::numeric, %(least)s), %(most)s) END,
            (%(callouts)s::jsonb ->> pace)::numeric
        )::double precision) AS callout
        FROM games_game JOIN part USING (id) WHERE paused_at IS NULL
    ) g
    WHERE h.round_id = g.round_id AND callout_until > %(from)s
      AND GREATEST(callout_until - g.callout, %(from)s) < %(to)s
)
SELECT (SELECT max(id) FROM part), (SELECT count(*) FROM part), ARRAY(SELECT id FROM clocks)
"""

_LEAST, _MOST = LIMITS["callout"]
_CALLOUTS: Final = {
    "callouts": json.dumps({pace.name: pace.callout for pace in PACES.values()}), "least": _LEAST, "most": _MOST
}  # fmt: skip


class HeartbeatResult(NamedTuple):
    """The result of `heartbeat`."""

    may_act: bool  # whether clocks may act on what is due
    skew: timedelta  # how far the database's clock is ahead of this process's


def heartbeat(*, now: datetime, grace: timedelta, batch: int = 500) -> HeartbeatResult:
    """Store that the sweep is running; return whether clocks may act on what is due by `now`, and the clocks' skew.

    After an absence longer than `grace`, clocks may not act until its time has been given back to all games. Each call
    gives it to the next `batch` games in one transaction, so a crash neither skips a game nor serves one twice. The
    absence is measured by the database's clock.
    """
    at, giving, skew = _last()
    now += skew
    if at is not None and not giving and at > now - HEARTBEAT_EVERY:
        return HeartbeatResult(may_act=True, skew=skew)
    with transaction.atomic():
        Heartbeat.objects.bulk_create([Heartbeat(pk=1)], ignore_conflicts=True)
        row = Heartbeat.objects.select_for_update().get(pk=1)
        if row.given_from is not None and row.given_to is not None:
            give_time_back(row, row.given_from, row.given_to, batch)
        elif row.at is not None and now - row.at > grace:
            log.warning("the sweep did not run", seconds=round((now - row.at).total_seconds()))
            row.given_from, row.given_to, row.given_through = row.at, now, 0
        # If giving time back is interrupted, the time since then counts as another absence.
        if row.at is None or now - row.at <= grace or row.given_to == now:
            row.at = max(row.at or now, now)
        row.save(update_fields=["at", "given_from", "given_to", "given_through"])
        return HeartbeatResult(may_act=row.given_from is None and now - row.at <= grace, skew=skew)


def note_tried(*, through: datetime) -> None:
    """Store that the sweep has tried every turn that was due by `through`, by the database's clock.

    The health check uses this to tell a game that fails each time from clocks that do not act at all.
    """
    Heartbeat.objects.filter(pk=1).update(tried_through=through)


_LAST: Final = """
SELECT h.at, h.given_from IS NOT NULL, statement_timestamp()
FROM (VALUES (1)) AS one (id) LEFT JOIN games_heartbeat h USING (id)
"""


def _last() -> tuple[datetime | None, bool, timedelta]:
    """Return the last heartbeat, whether time is being given back, and how far the database's clock is ahead."""
    asked_at = datetime.now(UTC)
    with connection.cursor() as cursor:
        cursor.execute(_LAST)
        at, giving, moment = cursor.fetchone()
    return at, giving, rows.skew_between(asked_at, moment)


def give_time_back(row: Heartbeat, start: datetime, end: datetime, batch: int) -> None:
    """Give the time from `start` to `end` to the next `batch` games, and store how far that got in `row`."""
    with connection.cursor() as cursor:
        part: dict[str, Any] = {"from": start, "to": end, "after": row.given_through, "batch": batch}
        cursor.execute(_GIVE_BACK, part | _CALLOUTS)
        last, count, given = cursor.fetchone()
    _apply_quiet_hours(given, end)
    if last is not None:
        row.given_through = last
    if count < batch:
        row.given_from = row.given_to = None


def _apply_quiet_hours(games: list[int], now: datetime) -> None:
    """Move the new deadlines of these games out of quiet hours, and set reminders again that were sent before.

    A game that cannot be read is skipped, so that it does not stop the others. The caller holds the games' locks.
    """
    seats = Seat.objects.filter(game__in=games, index=F("game__round__turn"), bot="", user__isnull=False)
    seats = seats.filter(Q(user__quiet_from__isnull=False) | Q(game__remind_at=None))
    on_turn = {seat.game_id: seat for seat in seats.select_related("user", "game")}
    changed: list[Game] = []

    def apply_to(game_id: int) -> bool:
        seat = on_turn[game_id]
        game, before = seat.game, clock_of(seat.game)
        seat.time_off = seat.user.time_off if seat.user is not None else None
        set_clock(game, with_quiet_hours(game, seat, before, now=now))
        if clock_of(game) == before:
            return False
        changed.append(game)
        return True

    for_each_game(on_turn, apply_to, failed="a deadline got its time back but was not moved out of quiet hours")
    Game.objects.bulk_update(changed, ["deadline", "remind_at", "quiet_seconds_added"], batch_size=100)
