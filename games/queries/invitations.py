"""The invitations that wait for a person's answer, as fixed SQL: the front page reads them each time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from accounts.models import name_sql
from common.fixed_sql import Columns, prepared_cursor
from games.models import Game
from games.queries.tables import readable
from games.queries.views import GameView, view_of

if TYPE_CHECKING:
    from accounts.models import User

MOST: Final = 12
"""How many are read, the newest first."""

_COLUMNS: Final = Columns({Game: "g"}, number="i.id", game="g.id", host=name_sql("h"), taken="s.taken")
_WAITING: Final = f"""
SELECT {_COLUMNS}
FROM games_invitation i JOIN games_game g ON g.id = i.game_id JOIN accounts_user h ON h.id = g.host_id
    JOIN LATERAL (
        SELECT count(*) AS taken, bool_or(t.user_id = i.user_id) AS mine FROM games_seat t WHERE t.game_id = g.id
    ) s ON s.taken < g.players AND s.mine IS NOT TRUE
WHERE i.user_id = %s AND i.state = 'waiting' AND g.status = 'open' AND (g.programs OR NOT %s)
ORDER BY i.at DESC, i.id DESC LIMIT {MOST}
"""  # noqa: S608  # columns of models


class Invited(NamedTuple):
    """An invitation: its number, the name of the host, and the table without its seats, with how many are taken.

    `rematch`: the table is a rematch of a game that the person has played.
    """

    number: int
    host: str
    rematch: bool
    view: GameView
    taken: int


def waiting_for(user: User) -> list[Invited]:
    """Return the newest invitations that a person has not answered, to tables where they can sit down. Runs one query.

    A program is not invited to tables without programs.
    """
    with prepared_cursor() as cursor:
        cursor.execute(_WAITING, [user.pk, user.is_program])
        rows = {row["game"]: row for row in _COLUMNS.fetch_all(cursor)}
    tables = readable([(row.instance(Game), [], None) for row in rows.values()])
    found = []
    for table in tables:
        row, rematch = rows[table.game.pk], table.game.rematch_of_id is not None
        found.append(Invited(row["number"], row["host"], rematch, view_of(table, user), row["taken"]))
    return found
