"""The reads that every move and every page makes, as fixed SQL (accounts/rows.py); they give ordinary instances."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Literal, NamedTuple

from django.db import connection

from accounts.rest import Rest
from accounts.rows import columns, prepared, reader
from games import rules
from games.models.play import Hand, Round
from games.models.tables import Game, Seat

_GAME: Final = f"SELECT {columns(Game, 'g')}, statement_timestamp() FROM games_game g WHERE "  # noqa: S608
Key = Literal["pk", "code", "invite"]
_WHERE: Final[dict[Key, str]] = {"pk": "g.id = %s", "code": "g.code = %s", "invite": "g.invite_key = %s"}
_TEXT: Final = re.compile(r"[-\w]+", re.ASCII)


def lock_row(by: Key, value: int | str | None) -> Game | None:
    """The game row with this `code` or `pk`, locked until the transaction ends, or None.

    It knows by how much the database's clock is ahead of this process's.
    """
    return None if _no_key(value) else _one_game(_GAME + _WHERE[by] + " FOR NO KEY UPDATE", [value])


def _no_key(value: int | str | None) -> bool:
    """Whether this can be no code or invitation: PostgreSQL would refuse some of them, not just find nothing."""
    return isinstance(value, str) and _TEXT.fullmatch(value) is None


_DUE: Final = (
    "g.deadline <= %s AND (g.deadline, g.id) > (%s, %s) AND g.status = 'playing'"
    " ORDER BY g.deadline, g.id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED"
)


def claim_due(now: datetime, after: tuple[datetime, int]) -> Game | None:
    """Lock the game that is longest overdue among those that nobody else has locked, or None.

    It comes later than `after`, a deadline and a number: so that one game cannot hold up all others.
    """
    return _one_game(_GAME + _DUE, [now, *after])


def claim_game(game_id: int) -> Game | None:
    """Lock this game, or None if somebody else has it locked: whoever that is sees to what is due."""
    return _one_game(_GAME + _WHERE["pk"] + " FOR NO KEY UPDATE SKIP LOCKED", [game_id])


def database_time() -> datetime:
    """The moment by the database's clock: a process whose own is wrong makes no outage."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT statement_timestamp()")
        moment: datetime = cursor.fetchone()[0]
    return moment


def ahead(asked_at: datetime, moment: datetime) -> timedelta:
    """How far the database's clock, which showed `moment` when it was asked, is ahead of this process's."""
    return moment - asked_at


def ask_ahead() -> timedelta:
    """How far the database's clock is ahead of this process's, where no other statement tells."""
    asked_at = datetime.now(UTC)
    return ahead(asked_at, database_time())


def _one_game(statement: str, parameters: list[Any]) -> Game | None:
    asked_at = datetime.now(UTC)
    with prepared() as cursor:
        cursor.execute(statement, parameters)
        row = cursor.fetchone()
    return None if row is None else _game(row, asked_at)


def _game(values: Sequence[Any], asked_at: datetime) -> Game:
    game: Game = reader(Game)[1](values[:-1])
    # The arrival of the statement, not its answer: waiting for the lock is nobody's delay.
    game.skew = ahead(asked_at, values[-1])
    return game


# With the hands comes what a move or a page would ask for next: with each seat the move that it made with a token, if
# there is one, and with the first the results of the rounds before.
_SAID: Final = (
    '(SELECT m.text FROM games_move m WHERE m.game_id = s.game_id AND m.seat = s."index" AND m.token = %s::text)'
)
_BESIDE: Final = """
    CASE WHEN s."index" = 0 AND r.number > 1 THEN (
        SELECT json_agg(json_build_array(e.number, e.winner, e.points) ORDER BY e.number)::text
        FROM games_round e
        WHERE e.game_id = r.game_id AND e.number < r.number AND e.ended_at IS NOT NULL AND e.winner IS NOT NULL
    ) END
"""
# The sweep's last sign of life, for this game: until it is the game's turn to get the time of an outage back, the one
# before the outage.
_PULSE: Final = """
    CASE WHEN s."index" = 0 THEN (
        SELECT CASE WHEN b.given_through < r.game_id THEN COALESCE(b.given_from, b.at) ELSE b.at END
        FROM games_heartbeat b
    ) END
"""
_SHOWN: Final = (
    f"{_BESIDE}, {_PULSE}, {columns(Hand, 'h')}, {columns(Seat, 's')}, {columns(Round, 'r')},"
    " COALESCE(NULLIF(u.display_name, ''), u.username, s.name),"
    " u.username, u.time_zone, u.quiet_from, u.quiet_to, u.vacation_from, u.vacation_until, u.auto_vacation,"
    " u.quiet_since"
)
_HANDS: Final = (
    f"{_SHOWN} FROM games_hand h JOIN games_seat s ON s.id = h.seat_id JOIN games_round r ON r.id = h.round_id"
    " LEFT JOIN accounts_user u ON u.id = s.user_id"
    ' WHERE h.round_id = %s ORDER BY s."index"'
)
_TABLE: Final = (
    f"SELECT {columns(Game, 'g')}, statement_timestamp(), NULL::text, {_SHOWN}"  # noqa: S608  # columns of models
    " FROM games_game g LEFT JOIN games_round r ON r.id = g.round_id LEFT JOIN games_hand h ON h.round_id = r.id"
    " LEFT JOIN games_seat s ON s.id = h.seat_id LEFT JOIN accounts_user u ON u.id = s.user_id"
    ' WHERE {} ORDER BY s."index"'
)
# The tables of a list of games. Those that have not been dealt have seats and no hands. The round is long, and is sent
# once a table.
_TABLES: Final = (
    f"SELECT {columns(Game, 'g')}, statement_timestamp(), NULL::text, {_SHOWN}"  # noqa: S608  # columns of models
    " FROM unnest(ARRAY({listed})) WITH ORDINALITY AS l (id, n) JOIN games_game g ON g.id = l.id"
    ' LEFT JOIN games_seat s ON s.game_id = g.id LEFT JOIN games_round r ON r.id = g.round_id AND s."index" = 0'
    " LEFT JOIN games_hand h ON h.round_id = g.round_id AND h.seat_id = s.id"
    " LEFT JOIN accounts_user u ON u.id = s.user_id"
    ' ORDER BY l.n, s."index"'
)


class Loaded(NamedTuple):
    """The hands of a round in the order of the seats; each has its `seat`, and all share one `round`.

    `said` holds for each seat the move that it made with the token asked for, if any; `results` the number, the winner
    and the points of every earlier round; `pulse` is when the sweep last saw to this game's clocks, or None.
    """

    hands: list[Hand]
    said: list[str | None]
    results: list[tuple[int, int, Any]]
    pulse: datetime | None


def read_hands(round_id: int, token: str | None = None) -> Loaded:
    """The hands of a round, and what belongs to them.

    A person's seat has the name the person goes by now, not the one at sitting down, the username and the `rest`.
    """
    with prepared() as cursor:
        # Two statements: PostgreSQL keeps no plan of one that is far cheaper without a token.
        if token is None:
            cursor.execute("SELECT NULL::text, " + _HANDS, [round_id])
        else:
            cursor.execute(f"SELECT {_SAID}, {_HANDS}", [token, round_id])
        return _loaded(cursor.fetchall())


def read_table(by: Key, value: int | str) -> tuple[Game, Loaded | None] | None:
    """The game row of this number, code or invitation and, once it is dealt, its hands: of one moment, none locked."""
    if _no_key(value):
        return None
    asked_at = datetime.now(UTC)
    with prepared() as cursor:
        cursor.execute(_TABLE.format(_WHERE[by]), [value])
        rows = cursor.fetchall()
    if not rows:
        return None
    width = reader(Game)[0] + 1
    game = _game(rows[0][:width], asked_at)
    return game, None if game.round_id is None else _loaded([row[width:] for row in rows])


def read_tables(listed: str, parameters: Sequence[Any]) -> list[tuple[Game, list[Seat], Loaded | None]]:
    """Return the games that a query lists, in its order: each with its seats and, once it is dealt, its hands.

    All are as of one moment, because one statement reads the list and the tables. The query `listed` takes the
    `parameters` and selects the numbers of the games, each once.
    """
    asked_at = datetime.now(UTC)
    # The ORM's queries do not all bind on the server, and each list has another: this one is not `prepared`.
    with connection.cursor() as cursor:
        cursor.execute(_TABLES.replace("{listed}", listed), parameters)
        rows = cursor.fetchall()
    width = reader(Game)[0] + 1
    tables: list[tuple[Game, list[Seat], Loaded | None]] = []
    for _, of_game in groupby(rows, key=itemgetter(0)):
        own = list(of_game)
        game, shown = _game(own[0][:width], asked_at), [row[width:] for row in own]
        if game.round_id is None:
            tables.append((game, [_seat(row) for row in shown if row[_SEAT] is not None], None))
        else:
            loaded = _loaded(shown)
            tables.append((game, [hand.seat for hand in loaded.hands], loaded))
    return tables


def _loaded(rows: Sequence[Sequence[Any]]) -> Loaded:
    width, read_hand = reader(Hand)
    _, read_round = reader(Round)
    said, results = [row[0] for row in rows], json.loads(rows[0][1] or "[]")
    round_ = read_round(rows[0][_SEAT + reader(Seat)[0] : -9])
    hands = []
    for row in rows:
        hand = read_hand(row[3 : 3 + width])
        hand.seat, hand.round = _seat(row), round_
        hands.append(hand)
    return Loaded(hands, said, [(number, winner, points) for number, winner, points in results], rows[0][2])


_SEAT: Final = 3 + len(Hand._meta.concrete_fields)
"""Where the columns of the seat begin in a row of `_SHOWN`."""


def _seat(row: Sequence[Any]) -> Seat:
    width, read = reader(Seat)
    seat: Seat = read(row[_SEAT : _SEAT + width])
    seat.name, seat.username = row[-9], row[-8] or ""
    seat.rest = Rest(*row[-7:]) if seat.user_id is not None else None
    return seat


_LOG: Final = """
SELECT m.n, r.number, m.seat, m.text, m.at, m.events, r.ended_at IS NOT NULL, m.by_bot
FROM games_move m JOIN games_round r ON r.id = m.round_id
WHERE m.game_id = %s AND m.n > %s AND m.n <= %s ORDER BY m.n DESC LIMIT %s
"""


@lru_cache(maxsize=8192)
def _events(stored: str) -> tuple[rules.Event, ...]:
    """Every page tells mostly what the page before it told."""
    return tuple(map(rules.Event.from_json, json.loads(stored)))


LogRow = tuple[int, int, int, str, datetime, tuple[rules.Event, ...], bool, bool]


def read_log(game_id: int, after: int, until: int, last: int | None) -> list[LogRow]:
    """The lines after version `after` up to version `until`, at most the `last` newest, oldest first.

    Each is its number, its round's, the seat, the text, the time, the events, whether its round is over, and whether
    a bot made the move for the seat's owner.
    """
    with prepared() as cursor:
        cursor.execute(_LOG, [game_id, after, until, last])
        rows = reversed(cursor.fetchall())
    return [(*told, _events(events), over, by_bot) for *told, events, over, by_bot in rows]


# A person goes by the name of today: the entry has the one of its time, which staff may have taken since.
_NAME_TODAY: Final = "CASE WHEN {0} IS NOT NULL THEN COALESCE(NULLIF({1}.display_name, ''), {1}.username, '') END"
_BEFORE: Final = "CAST(a.details->>'before_id' AS bigint)"
# Acts and events in one statement: pages show both.
_BETWEEN_MOVES: Final = f"""
(SELECT true, a.id, a.act, a.version, a.at, {_NAME_TODAY.format("a.person_id", "p")},
{_NAME_TODAY.format(_BEFORE, "b")}, a.person_id, {_BEFORE}, a.details, NULL::smallint
FROM games_auditentry a LEFT JOIN accounts_user p ON p.id = a.person_id LEFT JOIN accounts_user b ON b.id = {_BEFORE}
WHERE a.game_id = %s AND a.version >= %s AND a.act = ANY(%s) ORDER BY a.id DESC LIMIT %s)
UNION ALL
(SELECT false, e.id, e.kind, e.version, e.at, NULL, NULL, NULL, NULL, NULL, e.seat
FROM games_tableevent e
WHERE e.game_id = %s AND e.version >= %s AND e.kind = ANY(%s) ORDER BY e.id DESC LIMIT %s)
"""  # noqa: S608  # parts of ours


class ActRow(NamedTuple):
    """An act of staff at a table: who it was about, and who it took a seat from.

    People have the names they go by now: empty if they are gone, None if there was nobody.
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
    """An event at a table, after line `version` of its log. `seat` is the seat that it is about, or None."""

    kind: str
    version: int
    at: datetime
    seat: int | None


def read_between_moves(
    game_id: int, since: int, acts: Sequence[str], kinds: Sequence[str], last: int | None
) -> tuple[list[ActRow], list[EventRow]]:
    """Return the acts of staff and the events at a table from version `since` on, each oldest first.

    Only those of these `acts` and `kinds`, and of each at most the `last` newest.
    """
    with prepared() as cursor:
        cursor.execute(_BETWEEN_MOVES, [game_id, since, list(acts), last, game_id, since, list(kinds), last])
        rows = sorted(cursor.fetchall(), key=lambda row: row[1])
    done = [ActRow._make([*row[2:9], json.loads(row[9])]) for row in rows if row[0]]
    return done, [EventRow._make([*row[2:5], row[10]]) for row in rows if not row[0]]


_RESULTS: Final = """
SELECT number, winner, points FROM games_round
WHERE game_id = %s AND number < %s AND winner IS NOT NULL AND ended_at IS NOT NULL ORDER BY number
"""


def read_results(game_id: int, before: int) -> list[tuple[int, int, Any]]:
    """Return the number, winner and points of each round of this game that has ended, up to the round `before`."""
    with prepared() as cursor:
        cursor.execute(_RESULTS, [game_id, before])
        return [(*row, json.loads(points)) for *row, points in cursor.fetchall()]


# Windows first, of which few are due at any moment: in the order of games the planner might look at them all.
_WINDOWS: Final = """
WITH due AS MATERIALIZED (SELECT DISTINCT round_id FROM games_hand WHERE callout_until <= %s)
SELECT g.id FROM due JOIN games_game g ON g.round_id = due.round_id
WHERE g.status = 'playing' AND g.paused_at IS NULL AND g.id > %s ORDER BY g.id LIMIT %s
"""


def read_windows(moment: datetime, after: int, most: int) -> list[int]:
    """The games in which the time of a callout window has passed (CLOCK-2), in the order of their numbers.

    They come after the game of the number `after`, so that those that fail cannot hold up all others.
    """
    with prepared() as cursor:
        cursor.execute(_WINDOWS, [moment, after, most])
        return [game_id for (game_id,) in cursor.fetchall()]


_TURNS: Final = """
SELECT count(*) FROM games_seat s JOIN games_game g ON g.id = s.game_id JOIN games_round r ON r.id = g.round_id
WHERE s.user_id = %s AND s.bot = '' AND NOT s."left" AND r.turn = s."index"
AND g.status = 'playing' AND g.paused_at IS NULL AND r.phase <> 'over'
"""


def count_turns(user_id: int) -> int:
    """In how many games this person must move now."""
    with prepared() as cursor:
        cursor.execute(_TURNS, [user_id])
        return int(cursor.fetchone()[0])


_BADGES: Final = f"""
SELECT ({_TURNS}), (SELECT count(*) FROM games_notice
WHERE user_id = %s AND channel = 'site' AND state = 'sent' AND read_at IS NULL AND kind = ANY(%s))
"""  # noqa: S608  # a statement of ours in another


def count_badges(user_id: int, kinds: Sequence[str]) -> tuple[int, int]:
    """Return in how many games this person must move now, and how many notices of these kinds they have not read."""
    with prepared() as cursor:
        cursor.execute(_BADGES, [user_id, user_id, list(kinds)])
        turns, notices = cursor.fetchone()
    return int(turns), int(notices)
