"""The lists of the front page as fixed SQL. The ORM takes longer to build them than PostgreSQL takes to run them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.conf import settings
from django.core.cache import cache

from games.models import Game, Seat
from games.models.rows import MY_TURN, read_tables
from games.queries.tables import Table, readable

if TYPE_CHECKING:
    from accounts.models import User

PAGE: Final = 25
"""How many games a page of a list has."""

NEWEST: Final = 300
"""The front page chooses among this many open public tables of new accounts, and as many of other hosts."""

OPEN_LISTED: Final = 12
"""How many open tables are listed."""

COUNTED_SECONDS: Final = 10
"""For how many seconds a count of the games in progress is shown, because counting reads a row of each."""

PUSH_OFFER: Final = "push"
"""The key in `User.seen_tips` of people who want to be offered notifications on their devices no more."""

NEW_ACCOUNTS_FIRST: Final = 6
"""How many open tables of new accounts are listed by age among the others. The rest comes last."""

# Games going on, and finished games whose end the reader has not seen.
_CURRENT: Final = f"""
SELECT g.id
FROM games_seat s JOIN games_game g ON g.id = s.game_id LEFT JOIN games_round r ON r.id = g.round_id
WHERE s.user_id = %(reader)s AND (
    g.status = 'open'
    OR (g.status = 'playing' AND NOT s."left")
    OR (g.status IN ('over', 'void') AND g.round_id IS NOT NULL AND s.end_seen_version < g.version)
)
ORDER BY COALESCE({MY_TURN}, false) DESC, g.status IN ('open', 'playing') DESC,
    g.deadline ASC NULLS LAST, g.finished_at DESC NULLS LAST, g.id DESC
LIMIT %(most)s OFFSET %(before)s
"""  # noqa: S608  # a condition of ours

_FINISHED: Final = """
SELECT g.id FROM games_seat s JOIN games_game g ON g.id = s.game_id
WHERE s.user_id = %(reader)s AND g.status IN ('over', 'void') AND g.round_id IS NOT NULL
ORDER BY g.finished_at DESC NULLS LAST, g.id DESC
LIMIT %(most)s OFFSET %(before)s
"""

_OPEN: Final = """
WITH candidates AS (
    (SELECT id FROM games_game
     WHERE status = 'open' AND is_public AND NOT hosted_by_new_account ORDER BY id DESC LIMIT {newest})
    UNION ALL
    (SELECT id FROM games_game
     WHERE status = 'open' AND is_public AND hosted_by_new_account ORDER BY id DESC LIMIT {newest})
), free AS (
    SELECT g.id, g.host_id, g.created_at, g.hosted_by_new_account AS by_new_account
    FROM candidates c JOIN games_game g ON g.id = c.id
    WHERE (SELECT count(*) FROM games_seat s WHERE s.game_id = g.id) < g.players
        AND NOT EXISTS (SELECT FROM games_seat s WHERE s.game_id = g.id AND s.user_id = %(reader)s)
        AND NOT EXISTS (SELECT FROM games_invitation i
            WHERE i.game_id = g.id AND i.user_id = %(reader)s AND i.state = 'waiting')
), of_hosts AS (
    SELECT *, row_number() OVER (PARTITION BY host_id ORDER BY id DESC) AS place_of_host FROM free
), placed AS (
    SELECT *, row_number() OVER (PARTITION BY by_new_account ORDER BY created_at DESC, id DESC) AS place FROM of_hosts
    WHERE place_of_host = 1
)
SELECT id FROM placed
ORDER BY by_new_account AND place > {new_accounts_first}, created_at DESC, id DESC LIMIT {open_listed}
"""


def current_games(user: User, *, before: int = 0) -> tuple[list[Table], bool]:
    """Return a page of a person's games that go on or whose end they have not seen, and True if there are more.

    The most urgent games are first: those where the person must move, other running ones, finished ones. The page
    starts after `before` games. Runs one query.
    """
    return _page(_CURRENT, user, before)


def finished_games(user: User, *, before: int = 0) -> tuple[list[Table], bool]:
    """Return a page of a person's games that were played to an end or called off, and True if there are more.

    The last one is first. The page starts after `before` games. Runs one query.
    """
    return _page(_FINISHED, user, before)


def offers_push(user: User, listed: int) -> bool:
    """Return True if this person is offered notifications on their devices, from their second game on.

    :param listed: how many of their games the page lists. Runs one query if that is one.
    """
    if user.has_push or PUSH_OFFER in user.seen_tips or not listed or not settings.HTTPS or not settings.OUTGOING:
        return False
    return listed > 1 or Seat.objects.filter(user=user, game__status=Game.Status.OVER)[:2].count() > 1


def _page(listed: str, user: User, before: int) -> tuple[list[Table], bool]:
    rows = read_tables(listed, {"reader": user.pk, "most": PAGE + 1, "before": before}, fixed=True)
    return readable(rows[:PAGE]), len(rows) > PAGE


def open_tables(user: User | None) -> list[Table]:
    """Return at most `OPEN_LISTED` tables with a free seat for a person, newest first. Runs one query.

    They are one public table of each host, among the `NEWEST` of new accounts and the `NEWEST` of other hosts. Tables
    of new accounts after the first `NEW_ACCOUNTS_FIRST` come last, because one person can make any number of guests and
    new accounts. Tables with an invitation that the person has not answered are left out (`invitations.waiting_for`).
    """
    listed = _OPEN.format(newest=NEWEST, new_accounts_first=NEW_ACCOUNTS_FIRST, open_listed=OPEN_LISTED)
    return readable(read_tables(listed, {"reader": None if user is None else user.pk}, fixed=True))


def games_in_progress() -> int:
    """Return how many games are in progress, private ones included. The number is at most `COUNTED_SECONDS` old."""
    return cache.get_or_set("games-in-progress", _count_playing, COUNTED_SECONDS) or 0


def _count_playing() -> int:
    return Game.objects.filter(status=Game.Status.PLAYING).count()
