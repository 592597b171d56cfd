"""Fixed SQL that reads which people staff took the seats of a table from, for the names in its log (decision 60)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final, NamedTuple

from accounts.models import name_sql
from common.fixed_sql import prepared_cursor
from games.models.moderation import MOVE_SEAT, REMOVE

OWNER_BEFORE: Final = f"CASE a.act WHEN '{REMOVE}' THEN a.person_id ELSE (a.details ->> 'before_id')::bigint END"
"""The number of the person that the act in the audit entry `a` took a seat from, null for a bot."""
CHANGES_OWNER: Final = f"a.act = ANY('{{{REMOVE},{MOVE_SEAT}}}') AND a.seat IS NOT NULL"
"""Whether the act in the audit entry `a` changed the owner of a seat."""
# It does not depend on the row of the statement that it is put into, so PostgreSQL runs it once.
OWNER_CHANGES: Final = f"""(
    SELECT json_agg(json_build_array(
        a.seat, a.version, a.at, {OWNER_BEFORE},
        CASE WHEN {OWNER_BEFORE} IS NULL THEN a.details ->> 'before' ELSE {name_sql("w")} END,
        a.act = '{REMOVE}', a.details @> '{{"bot": true}}'
    ) ORDER BY a.version, a.id)::text
    FROM games_auditentry a LEFT JOIN accounts_user w ON w.id = {OWNER_BEFORE}
    WHERE a.game_id = %s AND {CHANGES_OWNER}
)"""  # noqa: S608  # values of ours
"""A value for fixed SQL: the changes of owner at the table with this number, which `parse_changes` reads."""


class OwnerChange(NamedTuple):
    """An act of staff that took a seat from its owner after move `version`.

    `owner` is the number of the person who had the seat, None for a bot. `name` is their current name, None if they are
    gone, or the name of the bot. `removed`: staff removed the person. `bot`: a bot got the seat.
    """

    seat: int
    version: int
    at: datetime
    owner: int | None
    name: str | None
    removed: bool
    bot: bool


@lru_cache(maxsize=256)
def parse_changes(stored: str | None) -> Sequence[OwnerChange]:
    """Return the changes in this value of `OWNER_CHANGES`, oldest first."""
    return tuple(
        OwnerChange(seat, version, datetime.fromisoformat(at), *more)
        for seat, version, at, *more in json.loads(stored or "[]")
    )


_CHANGES_SQL: Final = f"SELECT {OWNER_CHANGES}"  # a statement of ours


def read_owner_changes(game_id: int) -> Sequence[OwnerChange]:
    """Return the changes of owner at the table with this number, oldest first. Runs one query."""
    with prepared_cursor() as cursor:
        cursor.execute(_CHANGES_SQL, [game_id])
        return parse_changes(cursor.fetchone()[0])
