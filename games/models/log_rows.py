"""Fixed SQL (common/fixed_sql.py) that reads the log of a table, the acts of staff and the table's events."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final, NamedTuple

from accounts.models import name_sql
from common.fixed_sql import Columns, prepared_cursor
from games import rules
from games.models.moderation import MOVE_SEAT, REMOVE
from games.models.owner_changes import OWNER_CHANGES, OwnerChange, parse_changes

_MOVE: Final = {
    "n": "m.n",
    "round": "r.number",
    "seat": "m.seat",
    "text": "m.text",
    "at": "m.at",
    "events": "m.events",
    "over": "r.ended_at IS NOT NULL",
    "by_bot": "m.by_bot",
    "by_order": "m.by_order",
}
_LOG: Final = Columns({}, **_MOVE, changes=OWNER_CHANGES)
_LOG_SQL: Final = f"""
SELECT {_LOG}
FROM games_move m JOIN games_round r ON r.id = m.round_id
WHERE m.game_id = %s AND m.n > %s AND m.n <= %s ORDER BY m.n DESC LIMIT %s
"""  # noqa: S608  # columns of ours
_LAST: Final = Columns({}, game_id="m.game_id", **_MOVE, changes=OWNER_CHANGES.replace("%s", "m.game_id"))
_LAST_SQL: Final = f"""
SELECT {_LAST}
FROM unnest(%s::bigint[], %s::integer[]) AS asked (game_id, version)
JOIN LATERAL (
    SELECT * FROM games_move WHERE game_id = asked.game_id AND n <= asked.version ORDER BY n DESC LIMIT 1
) m ON true
JOIN games_round r ON r.id = m.round_id
"""  # noqa: S608  # columns of ours


@lru_cache(maxsize=8192)
def _events(stored: str) -> tuple[rules.Event, ...]:
    # Cached, because a page shows mostly the moves that the page before it showed.
    return tuple(map(rules.Event.from_json, json.loads(stored)))


class LogRow(NamedTuple):
    """A move of the log.

    `over` is True if its round is over. `by_bot` is True if a bot made the move for the owner of the seat, and
    `by_order` if the standing orders of the seat made it. `changes` are all changes of owner at the table.
    """

    n: int
    round: int
    seat: int
    text: str
    at: datetime
    events: tuple[rules.Event, ...]
    over: bool
    by_bot: bool
    by_order: bool
    changes: Sequence[OwnerChange]


def read_log(game_id: int, after: int, until: int, last: int | None) -> list[LogRow]:
    """Return the moves after version `after` up to version `until`, oldest first. Runs one query.

    At most the `last` newest moves are returned; None is no limit.
    """
    with prepared_cursor() as cursor:
        cursor.execute(_LOG_SQL, [game_id, game_id, after, until, last])
        rows = reversed(_LOG.fetch_all(cursor))
    return [_log_row(row.values()) for row in rows]


def read_last_moves(versions: Mapping[int, int]) -> dict[int, LogRow]:
    """Return the newest move of each game up to its version, by the game's id. Runs one query.

    `versions` has the version of each game by its id. A game without a move is left out.
    """
    with prepared_cursor() as cursor:
        cursor.execute(_LAST_SQL, [list(versions), list(versions.values())])
        rows = [row.values() for row in _LAST.fetch_all(cursor)]
    return {row.pop("game_id"): _log_row(row) for row in rows}


def _log_row(values: Mapping[str, Any]) -> LogRow:
    return LogRow(**{**values, "events": _events(values["events"]), "changes": parse_changes(values["changes"])})


# The current name. The entry has the name of its time, which staff may have taken away since.
_NAME_TODAY: Final = "CASE WHEN {0} IS NOT NULL THEN COALESCE({1}, '') END"
# The owner before. If that was a bot that staff had given the seat to, it is the person who had lost the seat.
_BEFORE: Final = f"""CASE WHEN a.act = '{MOVE_SEAT}' THEN COALESCE(
    CAST(a.details->>'before_id' AS bigint),
    (SELECT r.person_id FROM games_auditentry r
     WHERE r.game_id = a.game_id AND r.seat = a.seat AND r.act = '{REMOVE}' AND r.id < a.id ORDER BY r.id DESC LIMIT 1)
) END"""  # noqa: S608  # values of ours
# Acts and events are read in one statement, because pages show both.
_ACT: Final = Columns(
    {},
    is_act="true",
    id="a.id",
    kind="a.act",
    version="a.version",
    at="a.at",
    person=_NAME_TODAY.format("a.person_id", name_sql("p")),
    before=_NAME_TODAY.format(_BEFORE, name_sql("b")),
    person_id="a.person_id",
    before_id=_BEFORE,
    details="a.details",
    seat="NULL::smallint",
    changes="NULL",
)
_EVENT: Final = Columns(
    {},
    is_act="false",
    id="e.id",
    kind="e.kind",
    version="e.version",
    at="e.at",
    person="NULL",
    before="NULL",
    person_id="NULL",
    before_id="NULL",
    details="NULL",
    seat="e.seat",
    changes=OWNER_CHANGES,
)
_BETWEEN_MOVES: Final = f"""
(SELECT {_ACT}
FROM games_auditentry a LEFT JOIN accounts_user p ON p.id = a.person_id LEFT JOIN accounts_user b ON b.id = {_BEFORE}
WHERE a.game_id = %s AND a.version BETWEEN %s AND %s AND a.act <> ALL(%s) ORDER BY a.id DESC LIMIT %s)
UNION ALL
(SELECT {_EVENT}
FROM games_tableevent e
WHERE e.game_id = %s AND e.version BETWEEN %s AND %s ORDER BY e.id DESC LIMIT %s)
"""  # noqa: S608  # parts of ours


class ActRow(NamedTuple):
    """An act of staff at a table.

    `person` is who it was about, and `before` is who it took a seat from, themselves or a bot in their place. Both are
    current names: empty if the person is gone, None if the act has no such person.
    """

    act: str
    version: int
    at: datetime
    person: str | None
    before: str | None
    person_id: int | None
    before_id: int | None
    details: dict[str, Any]


class EventRow(NamedTuple):
    """An event at a table, after move `version` of its log. `seat` is the seat that it is about, or None.

    `changes` are all changes of owner at the table.
    """

    kind: str
    version: int
    at: datetime
    seat: int | None
    changes: Sequence[OwnerChange]


def read_between_moves(
    game_id: int, since: int, until: int, *, without: Sequence[str], last: int | None
) -> tuple[list[ActRow], list[EventRow]]:
    """Return the acts of staff and the events at a table, each oldest first. Runs one query.

    They are from version `since` to version `until`, both included. The acts named in `without` are left out. At most
    the `last` newest of each are returned; None is no limit.
    """
    with prepared_cursor() as cursor:
        of_acts: list[Any] = [game_id, since, until, list(without), last]
        cursor.execute(_BETWEEN_MOVES, [*of_acts, game_id, game_id, since, until, last])
        rows = sorted(_ACT.fetch_all(cursor), key=itemgetter("id"))
    done = [
        ActRow(
            act=row["kind"],
            version=row["version"],
            at=row["at"],
            person=row["person"],
            before=row["before"],
            person_id=row["person_id"],
            before_id=row["before_id"],
            details=json.loads(row["details"]),
        )
        for row in rows
        if row["is_act"]
    ]
    events = [
        EventRow(row["kind"], row["version"], row["at"], row["seat"], parse_changes(row["changes"]))
        for row in rows
        if not row["is_act"]
    ]
    return done, events
