"""Fixed SQL (common/fixed_sql.py) for the reads of every move and every page. They return model instances."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple

from django.db import connection
from django.db.models import Model

from accounts.avatars import avatar_of
from accounts.models import name_sql
from accounts.time_off import TimeOff
from common.fixed_sql import Columns, Row, prepared_cursor
from games.models.play import Hand, Round
from games.models.tables import Game, Seat

_NOW: Final = "statement_timestamp()"
_GAME: Final = Columns({Game: "g"}, now=_NOW)
_GAME_SQL: Final = f"SELECT {_GAME} FROM games_game g WHERE "  # noqa: S608  # columns of a model
Key = Literal["pk", "code", "invite"]
_WHERE: Final[dict[Key, str]] = {"pk": "g.id = %s", "code": "g.code = %s", "invite": "g.invite_key = %s"}
_TEXT: Final = re.compile(r"[-\w]+", re.ASCII)


def lock_row(by: Key, value: int | str | None) -> Game | None:
    """Lock the row of a game (`FOR NO KEY UPDATE`) until the transaction ends, and return it; None if there is none.

    Sets `Game.skew` and `Game.waited`.
    """
    return None if _is_no_key(value) else _one_game(_GAME_SQL + _WHERE[by] + " FOR NO KEY UPDATE", [value])


def _is_no_key(value: int | str | None) -> bool:
    """Return True for text that is no code or key. PostgreSQL raises an error for some of it, such as a zero byte."""
    return isinstance(value, str) and _TEXT.fullmatch(value) is None


_DUE: Final = (
    "g.deadline <= %s AND (g.deadline, g.id) > (%s, %s) AND g.status = 'playing'"
    " ORDER BY g.deadline, g.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED"
)


def claim_due(now: datetime, after: tuple[datetime, int]) -> Game | None:
    """Lock the running game with the earliest deadline that has passed, and return it; None if there is none.

    Games that are locked elsewhere are skipped. `after` is the deadline and the number of a game: only later ones are
    taken, so that a game that fails cannot block the others.
    """
    return _one_game(_GAME_SQL + _DUE, [now, *after])


def claim_game(game_id: int) -> Game | None:
    """Lock a game and return it; None if it is locked elsewhere. The holder of the lock then does what is due."""
    return _one_game(_GAME_SQL + _WHERE["pk"] + " FOR NO KEY UPDATE SKIP LOCKED", [game_id])


def database_time() -> datetime:
    """Return the time of the database's clock, which all processes share. Runs one query."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


def skew_between(asked_at: datetime, moment: datetime) -> timedelta:
    """Return how far the database's clock is ahead of this process's.

    `asked_at` is this process's time when the database was asked, and `moment` is its answer.
    """
    return moment - asked_at


def database_skew() -> timedelta:
    """Ask the database how far its clock is ahead of this process's. Runs one query.

    Use it only where no game is read: a game that was read has `skew`.
    """
    asked_at = datetime.now(UTC)
    return skew_between(asked_at, database_time())


def _one_game(statement: str, parameters: list[Any]) -> Game | None:
    asked_at = datetime.now(UTC)
    with prepared_cursor() as cursor:
        cursor.execute(statement, parameters)
        row = _GAME.fetch_one(cursor)
    if row is None:
        return None
    game = _game(row, asked_at)
    game.waited = datetime.now(UTC) - asked_at
    return game


def _game(row: Row, asked_at: datetime) -> Game:
    game = row.instance(Game)
    # `now` is when the statement arrived, so that waiting for a lock does not count as skew.
    game.skew = skew_between(asked_at, row["now"])
    return game


# The statement that reads the hands also reads what a move or a page needs next: for each seat the moves that it made
# with the token, if any, and with the first seat the results of earlier rounds.
_SENT_BEFORE: Final = """(
    SELECT ARRAY(
        SELECT l.text::text FROM games_move l
        WHERE l.game_id = m.game_id AND l.n BETWEEN m.n AND m.n + m.further ORDER BY l.n
    ) FROM games_move m WHERE m.game_id = s.game_id AND m.seat = s."index" AND m.token = %s::text
)"""
_EARLIER_RESULTS: Final = """
    CASE WHEN s."index" = 0 AND r.number > 1 THEN (
        SELECT json_agg(json_build_array(e.number, e.winner, e.points) ORDER BY e.number)::text
        FROM games_round e
        WHERE e.game_id = r.game_id AND e.number < r.number AND e.ended_at IS NOT NULL AND e.winner IS NOT NULL
    ) END
"""
# When the sweep last looked after the game. While the time of an outage is given back, that is before the outage for
# the games that have not got it yet.
_SWEPT_AT: Final = """
    CASE WHEN s."index" = 0 THEN (
        SELECT CASE WHEN b.given_through < r.game_id THEN COALESCE(b.given_from, b.at) ELSE b.at END
        FROM games_heartbeat b
    ) END
"""
_TIME_OFF: Final = {"zone": "u.time_zone"} | {
    name: f"u.{name}"
    for name in (
        "quiet_from", "quiet_to", "vacation_from", "vacation_until", "auto_vacation", "quiet_since", "shows_sleep",
    )
}  # fmt: skip
_MODELS: Final[dict[type[Model], str]] = {Hand: "h", Seat: "s", Round: "r"}
_EXTRA_COLUMNS: Final = {
    "results": _EARLIER_RESULTS,
    "swept_at": _SWEPT_AT,
    "name": f"COALESCE({name_sql('u')}, s.name)",
    "username": "u.username",
    "avatar": "u.avatar",
    "is_program": "u.is_program",
    "has_hook": "u.has_hook",
    **_TIME_OFF,
}
# Two statements, because one is far cheaper without a token, and PostgreSQL would then not keep its plan.
_HANDS: Final = Columns(_MODELS, **_EXTRA_COLUMNS, sent_before="NULL::text[]")
_HANDS_AND_MOVES: Final = Columns(_MODELS, **_EXTRA_COLUMNS, sent_before=_SENT_BEFORE)
_OF_HANDS: Final = (
    "FROM games_hand h JOIN games_seat s ON s.id = h.seat_id JOIN games_round r ON r.id = h.round_id"
    " LEFT JOIN accounts_user u ON u.id = s.user_id"
    ' WHERE h.round_id = %s ORDER BY s."index"'
)
_TABLE: Final = Columns({Game: "g", **_MODELS}, **_EXTRA_COLUMNS, sent_before="NULL::text[]", now=_NOW)
_TABLE_SQL: Final = (
    f"SELECT {_TABLE}"  # noqa: S608  # columns of models
    " FROM games_game g LEFT JOIN games_round r ON r.id = g.round_id LEFT JOIN games_hand h ON h.round_id = r.id"
    " LEFT JOIN games_seat s ON s.id = h.seat_id LEFT JOIN accounts_user u ON u.id = s.user_id"
    ' WHERE {} ORDER BY s."index"'
)
# The tables of a list of games. A table that has not been dealt has seats and no hands. Games and rounds have many
# columns, so once a table has been dealt they are sent with the first seat only.
_TABLES: Final = Columns(
    {Game: "g", **_MODELS},
    **_EXTRA_COLUMNS,
    sent_before="NULL::text[]",
    now=f"CASE WHEN g.id IS NOT NULL THEN {_NOW} END",
    game_id="l.id",
    seat_id="s.id",
)
_TABLES_SQL: Final = (
    f"SELECT {_TABLES}"  # noqa: S608  # columns of models
    " FROM unnest(ARRAY({listed})) WITH ORDINALITY AS l (id, n) JOIN games_game t ON t.id = l.id"
    " LEFT JOIN games_seat s ON s.game_id = t.id"
    ' LEFT JOIN LATERAL (SELECT t.* WHERE s."index" = 0 OR t.round_id IS NULL) g ON true'
    " LEFT JOIN games_round r ON r.id = g.round_id"
    " LEFT JOIN games_hand h ON h.round_id = t.round_id AND h.seat_id = s.id"
    " LEFT JOIN accounts_user u ON u.id = s.user_id"
    ' ORDER BY l.n, s."index"'
)


class Result(NamedTuple):
    """The end of a round: its number, the winner's seat, and the points of the winner or of each seat."""

    number: int
    winner: int
    points: int | list[int]


class Loaded(NamedTuple):
    """The hands of a round in the order of the seats. Each has its `seat`, and all share one `round`.

    `sent_before` has, for each seat, the moves that it made with the token asked for, or None. `results` has the end of
    every earlier round. `swept_at` is when the sweep last looked after the clocks of the game, or None.
    """

    hands: list[Hand]
    sent_before: list[list[str] | None]
    results: list[Result]
    swept_at: datetime | None


def read_hands(round_id: int, token: str | None = None) -> Loaded:
    """Return the hands of a round. Runs one query.

    With a `token`, `sent_before` has the moves made with it. The seat of a person has the person's current name, the
    username, `avatar`, `is_program`, `has_hook` and `time_off`.
    """
    parameters: list[int | str] = [round_id]
    selected = _HANDS
    if token is not None:
        selected, parameters = _HANDS_AND_MOVES, [token, round_id]
    with prepared_cursor() as cursor:
        cursor.execute(f"SELECT {selected} {_OF_HANDS}", parameters)
        return _loaded(selected.fetch_all(cursor))


def read_table(by: Key, value: int | str) -> tuple[Game, Loaded | None] | None:
    """Return a game and, once it is dealt, its hands, from one snapshot; None if there is no such game.

    Runs one query and locks nothing.
    """
    if _is_no_key(value):
        return None
    asked_at = datetime.now(UTC)
    with prepared_cursor() as cursor:
        cursor.execute(_TABLE_SQL.format(_WHERE[by]), [value])
        rows = _TABLE.fetch_all(cursor)
    if not rows:
        return None
    game = _game(rows[0], asked_at)
    return game, None if game.round_id is None else _loaded(rows)


def read_tables(
    listed: str, parameters: Sequence[Any] | Mapping[str, Any], *, fixed: bool = False
) -> list[tuple[Game, list[Seat], Loaded | None]]:
    """Return the games that a query lists, in its order, with their seats and, once they are dealt, their hands.

    `listed` is the SQL of a query with `parameters` that selects the number of each game once. One statement reads the
    list and the tables, so all are from one snapshot. With `fixed` the query is one of a few, whose plans PostgreSQL
    keeps. Queries of the ORM are not, and some of them cannot bind on the server.
    """
    asked_at = datetime.now(UTC)
    with prepared_cursor() if fixed else connection.cursor() as cursor:
        cursor.execute(_TABLES_SQL.replace("{listed}", listed), parameters)
        rows = _TABLES.fetch_all(cursor)
    tables: list[tuple[Game, list[Seat], Loaded | None]] = []
    for _, of_game in groupby(rows, key=itemgetter("game_id")):
        own = list(of_game)
        game = _game(own[0], asked_at)
        if game.round_id is None:
            tables.append((game, [_seat(row) for row in own if row["seat_id"] is not None], None))
        else:
            loaded = _loaded(own)
            tables.append((game, [hand.seat for hand in loaded.hands], loaded))
    return tables


def _loaded(rows: Sequence[Row]) -> Loaded:
    """Return the hands in these rows, one a row. The first row has what they share."""
    first, hands = rows[0], []
    round_ = first.instance(Round)
    for row in rows:
        hand = row.instance(Hand)
        hand.seat, hand.round = _seat(row), round_
        hands.append(hand)
    results = [Result(*result) for result in json.loads(first["results"] or "[]")]
    return Loaded(hands, [row["sent_before"] for row in rows], results, first["swept_at"])


def _seat(row: Row) -> Seat:
    seat = row.instance(Seat)
    seat.name, seat.username, seat.is_program = row["name"], row["username"] or "", bool(row["is_program"])
    if seat.user_id is not None:
        seat.avatar, seat.has_hook = avatar_of(row["avatar"], seat.user_id), row["has_hook"]
        seat.time_off = TimeOff(**{name: row[name] for name in _TIME_OFF})
    return seat


_RESULT: Final = Columns({}, number="number", winner="winner", points="points")
_RESULTS: Final = f"""
SELECT {_RESULT} FROM games_round
WHERE game_id = %s AND number < %s AND winner IS NOT NULL AND ended_at IS NOT NULL ORDER BY number
"""  # noqa: S608  # columns of ours


def read_results(game_id: int, before: int) -> list[Result]:
    """Return the results of the rounds of a game before round `before`. Runs one query."""
    with prepared_cursor() as cursor:
        cursor.execute(_RESULTS, [game_id, before])
        rows = _RESULT.fetch_all(cursor)
    return [Result(row["number"], row["winner"], json.loads(row["points"])) for row in rows]


# `MATERIALIZED`, because few windows are due at a time: otherwise the planner might go through all games in order.
_WINDOWS: Final = """
WITH due AS MATERIALIZED (SELECT DISTINCT round_id FROM games_hand WHERE callout_until <= %s)
SELECT g.id FROM due JOIN games_game g ON g.round_id = due.round_id
WHERE g.status = 'playing' AND g.paused_at IS NULL AND g.id > %s ORDER BY g.id LIMIT %s
"""


def read_windows(moment: datetime, after: int, most: int) -> list[int]:
    """Return the numbers of up to `most` running games with a callout window that has ended (CLOCK-2), in order.

    Only games after the number `after` are returned, so that a game that fails cannot block the others.
    """
    with prepared_cursor() as cursor:
        cursor.execute(_WINDOWS, [moment, after, most])
        return [game_id for (game_id,) in cursor.fetchall()]


MY_TURN: Final = (
    """(s.bot = '' AND NOT s."left" AND r.turn = s."index" AND g.status = 'playing' AND g.paused_at IS NULL"""
    " AND r.phase <> 'over')"
)
"""Whether the seat `s` must move now in the round `r` of the game `g`."""
_TURNS: Final = f"""
SELECT count(*) FROM games_seat s JOIN games_game g ON g.id = s.game_id JOIN games_round r ON r.id = g.round_id
WHERE s.user_id = %s AND {MY_TURN}
"""  # noqa: S608  # a condition of ours


def count_turns(user_id: int) -> int:
    """Return the number of games in which a person must move now. Runs one query."""
    with prepared_cursor() as cursor:
        cursor.execute(_TURNS, [user_id])
        return int(cursor.fetchone()[0])


_BADGES: Final = f"""
SELECT ({_TURNS}), (SELECT count(*) FROM mail_delivery
WHERE user_id = %s AND channel = 'site' AND state = 'sent' AND read_at IS NULL AND kind = ANY(%s))
"""  # noqa: S608  # a statement of ours in another


def count_badges(user_id: int, kinds: str) -> tuple[int, int]:
    """Return the number of games in which a person must move now, and of unread notices of these kinds.

    `kinds` is an array as PostgreSQL writes it: psycopg takes its time to make one. Runs one query.
    """
    with prepared_cursor() as cursor:
        cursor.execute(_BADGES, [user_id, user_id, kinds])
        turns, notices = cursor.fetchone()
    return int(turns), int(notices)
