"""Open cases about conduct that the site detects itself. Staff review them; nothing else follows from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

import structlog
from django.db import connection, transaction

from accounts.models import name_sql
from common.run_all import run_all
from games.models import BrowserMark, Case, Report
from games.models.moderation import BROWSER_MARKS_KEPT
from games.refusals import Denied
from games.staff.cases import report_sign
from games.staff.words import counted

log = structlog.get_logger(__name__)

DAYS: Final = timedelta(days=7)
MANY_TIMEOUTS: Final = 12
MANY_RESIGNATIONS: Final = 3
MOVES_BEFORE_RESIGNING: Final = 2
"""A resignation after this many own moves, or fewer, counts as an immediate one."""
MOST_PEOPLE: Final = 10
"""About how many people a search reports something new. Otherwise anybody with many guests could fill the queue."""
MOST_LINES: Final = 500_000
"""How many lines of the log a search reads at most, the newest. With more of them it covers less than `DAYS`."""
SEARCH_SECONDS: Final = 60
"""How long a search may take. No page waits for it."""

SEARCHED_LINES: Final = "(m.text = 'leave' OR m.text LIKE 'clock %%')"
"""The lines of the log that the searches below read. They have an index of their own (`Move.Meta`)."""

# Finds who had the seat when a line was written. Staff give seats to bots and to other people. The audit entry of such
# an act names the person who had the seat, and the version. In `owners`, somebody had a seat after the line `since` up
# to the line `until`: the next such act, or the line by which they left. Without either, that is the owner of today.
#
# A line counts only if another person at the table, who had not left, waited. It does not count if its owner was
# suspended then or their account was closed, because they could not play (`away`). Leaves out people who still cannot
# play.
#
# A `turn` is the first line of a turn that the clock played. Such a turn is one commit, so a line after another one of
# the same seat and instant belongs to the same turn. A callout window that the clock closes (`clock uno`) is none.
#
# Every condition is a join with a list that is made once, so the time grows with the lines and not with their square:
# somebody can let any number of turns time out in one game. PostgreSQL expects too few rows of these lists and would
# loop over one for each row of another, which `_found` forbids.
_OWNED: Final = f"""
WITH lines AS (
    SELECT m.game_id, m.seat, m.n, m.text, m.at,
           m.text LIKE 'clock %%' AND m.text <> 'clock uno'
           AND (m.text = ANY('{{clock draw,clock take}}') OR NOT COALESCE(
                lag(m.n) OVER w = m.n - 1 AND lag(m.seat) OVER w = m.seat AND lag(m.at) OVER w = m.at
                AND lag(m.text) OVER w LIKE 'clock %%' AND lag(m.text) OVER w <> 'clock uno', false)) AS turn
    FROM (SELECT m.game_id, m.seat, m.n, m.text, m.at FROM games_move m WHERE m.at > %(since)s AND {SEARCHED_LINES}
          ORDER BY m.at DESC LIMIT %(most_lines)s) m
    WINDOW w AS (PARTITION BY m.game_id ORDER BY m.n)
), changes AS (
    SELECT id, game_id, seat, version,
           CASE act WHEN 'remove' THEN person_id ELSE (details ->> 'before_id')::bigint END AS before
    FROM games_auditentry WHERE act = ANY('{{remove,move_seat}}') AND game_id IN (SELECT game_id FROM lines)
), owners AS (
    SELECT game_id, seat, COALESCE(lag(version) OVER (PARTITION BY game_id, seat ORDER BY version, id), 0) AS since,
           version AS until, before AS user_id
    FROM changes
    UNION ALL
    SELECT s.game_id, s."index", COALESCE(c.version, 0),
           COALESCE(gone.n, CASE WHEN s."left" THEN 0 ELSE 2147483647 END), s.user_id
    FROM games_seat s
    LEFT JOIN (SELECT game_id, seat, max(version) AS version FROM changes GROUP BY game_id, seat) c
        ON c.game_id = s.game_id AND c.seat = s."index"
    LEFT JOIN (SELECT game_id, seat, min(n) AS n FROM lines WHERE text = 'leave' GROUP BY game_id, seat) gone
        ON gone.game_id = s.game_id AND gone.seat = s."index"
    WHERE s.game_id IN (SELECT game_id FROM lines)
), owned AS (
    SELECT l.*, o.user_id, o.since FROM lines l
    JOIN owners o ON o.game_id = l.game_id AND o.seat = l.seat AND o.since < l.n AND l.n <= o.until
), away AS (
    SELECT person_id, at, COALESCE(LEAST(until, lifted_at), 'infinity') AS until FROM games_suspension
    UNION ALL
    SELECT person_id, at, COALESCE(until, 'infinity')
    FROM (SELECT person_id, act, at, lead(at) OVER (PARTITION BY person_id ORDER BY id) AS until
          FROM games_auditentry WHERE act = ANY('{{close_account,close_with_tables,reopen_account}}')) acts
    WHERE act <> 'reopen_account'
), settled AS (
    SELECT person_id, max(closed_at) AS at FROM games_case WHERE kind = %(kind)s GROUP BY person_id
)
SELECT l.user_id, count(*), count(DISTINCT l.game_id), max(l.game_id)
FROM owned l JOIN accounts_user u ON u.id = l.user_id LEFT JOIN settled ON settled.person_id = l.user_id
WHERE u.is_active AND (u.suspended_until IS NULL OR u.suspended_until <= %(now)s)
  AND l.at > COALESCE(settled.at, '-infinity')
  AND EXISTS (SELECT 1 FROM owners o WHERE o.game_id = l.game_id AND o.seat <> l.seat AND o.user_id IS NOT NULL
              AND o.since < l.n AND l.n <= o.until)
  AND NOT EXISTS (SELECT 1 FROM away WHERE away.person_id = l.user_id AND away.at <= l.at AND l.at < away.until)
"""  # noqa: S608  # our own statements

_MANY: Final = "GROUP BY l.user_id, u.is_guest HAVING count(*) >= %(many)s ORDER BY u.is_guest, l.user_id"

_TIMEOUTS: Final = f"{_OWNED} AND l.turn {_MANY}"
"""Counts each person's timeouts since their last closed case of this kind."""

_RESIGNATIONS: Final = f"""{_OWNED}
  AND l.text = 'leave'
  AND (SELECT count(*) FILTER (WHERE o.n < l.n) <= %(most_moves)s AND count(*) FILTER (WHERE o.text LIKE 'clock %%') = 0
       FROM games_move o WHERE o.game_id = l.game_id AND o.seat = l.seat AND o.n > l.since)
  AND NOT EXISTS (SELECT 1 FROM games_auditentry a
                  WHERE a.game_id = l.game_id AND a.seat = l.seat AND a.act = 'remove' AND a.version = l.n - 1
                    AND a.details ->> 'bot' = 'false')
{_MANY}
"""  # noqa: S608  # our own statement


# Finds tables where several people who sit there have used the same browser and at least two of them have moved, with
# one row for each table and browser. It is about the person with the oldest account, or a guest if all are guests.
# Leaves the table out if their last case of this kind was closed after the last of these moves, or if an open or closed
# case has reported it already, because a mark that was deleted and made again shows nothing new.
_BROWSERS: Final = f"""
WITH shared AS (
    SELECT m.game_id, (array_agg(u.id ORDER BY u.is_guest, u.id))[1] AS person_id, bool_and(u.is_guest) AS all_guests,
           array_agg(s."index") AS seats, array_agg({name_sql("u")} ORDER BY s."index") AS names
    FROM games_browsermark m JOIN games_seat s ON s.game_id = m.game_id AND s.user_id = m.user_id
    JOIN accounts_user u ON u.id = m.user_id
    GROUP BY m.game_id, m.digest HAVING count(*) > 1
)
SELECT g.person_id, g.game_id, g.names FROM shared g
WHERE NOT EXISTS (SELECT 1 FROM games_report r JOIN games_case c ON c.id = r.case_id
                  WHERE c.person_id = g.person_id AND c.kind = %(kind)s
                    AND r.game_id = g.game_id AND r.sign = %(sign)s)
  AND (SELECT max(o.at) FROM games_move o
       WHERE o.game_id = g.game_id AND o.seat = ANY(g.seats) AND NOT o.by_bot AND o.text NOT LIKE 'clock %%'
       HAVING count(DISTINCT o.seat) > 1)
      > COALESCE((SELECT max(c.closed_at) FROM games_case c WHERE c.person_id = g.person_id AND c.kind = %(kind)s),
                 '-infinity')
ORDER BY g.all_guests, g.person_id, g.game_id
"""  # noqa: S608  # a value of ours


def _timeouts(now: datetime) -> Iterator[bool]:
    found = _found(_TIMEOUTS, now, Case.Kind.ABANDON, many=MANY_TIMEOUTS)
    text = "The clock played {} of this person's turns in {} within 7 days."
    texts = [(user, game, text.format(count, counted(games, "game"))) for user, count, games, game in found]
    return _report_all(texts, Case.Kind.ABANDON, Report.Sign.TIMEOUTS, now)


def _resignations(now: datetime) -> Iterator[bool]:
    found = _found(_RESIGNATIONS, now, Case.Kind.ABANDON, many=MANY_RESIGNATIONS, most_moves=MOVES_BEFORE_RESIGNING)
    text = "This person resigned {} games after {} moves or fewer, within 7 days."
    texts = [(user, game, text.format(count, MOVES_BEFORE_RESIGNING)) for user, count, _, game in found]
    return _report_all(texts, Case.Kind.ABANDON, Report.Sign.RESIGNATIONS, now)


def _browsers(now: datetime) -> Iterator[bool]:
    found = _found(_BROWSERS, now, Case.Kind.TEAMING, sign=Report.Sign.BROWSER.value)
    texts = [(user, game, f"One browser was used here as {' and as '.join(names)}.") for user, game, names in found]
    return _report_all(texts, Case.Kind.TEAMING, Report.Sign.BROWSER, now)


def _report_all(found: list[tuple[int, int, str]], kind: Case.Kind, sign: Report.Sign, now: datetime) -> Iterator[bool]:
    """Report what was `found`: a person, a game and a text. Yield for each whether that is new."""
    people = set[int]()
    for user_id, game_id, text in found:
        if len(people) == MOST_PEOPLE and user_id not in people:
            log.warning("more findings than a search reports", sign=sign, most=MOST_PEOPLE)
            return
        new = _report(user_id, kind, sign, game_id, text, now)
        if new:
            people.add(user_id)
        yield new


SEARCHES: Final[Mapping[str, Callable[[datetime], Iterable[bool]]]] = {
    "timeouts": _timeouts,
    "resignations": _resignations,
    "browsers": _browsers,
}
"""The searches by name. Each yields for every finding whether it is new."""


def report_signs(*, now: datetime, searches: Mapping[str, Callable[[datetime], Iterable[bool]]] = SEARCHES) -> int:
    """Report people who let many turns time out, resign early many times, or share a browser with another player.

    Each report joins the open case about that person and kind, or opens one. If a search fails, the others still run.
    A search stops after `MOST_PEOPLE`, guests last, and goes on an hour later.

    :returns: the number of new reports.
    :raises ExceptionGroup: what the searches raised, once all have run.
    """
    new: list[bool] = []

    def run(search: Callable[[datetime], Iterable[bool]]) -> None:
        new.extend(search(now))

    run_all(**{name: partial(run, search) for name, search in searches.items()})
    return sum(new)


def _found(sql: str, now: datetime, kind: Case.Kind, **more: int | str) -> list[tuple[Any, ...]]:
    given = {"now": now, "since": now - DAYS, "kind": kind.value, "most_lines": MOST_LINES, **more}
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"SET LOCAL statement_timeout = '{SEARCH_SECONDS}s'; SET LOCAL enable_nestloop = off")
        cursor.execute(sql, given)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows


def _report(user_id: int, kind: Case.Kind, sign: Report.Sign, game_id: int, text: str, now: datetime) -> bool:
    """File a report; return True if it is new. If that fails, log it: the next search finds it again."""
    try:
        return report_sign(person_id=user_id, kind=kind, sign=sign, game_id=game_id, text=text, now=now)
    except Denied:
        return False  # a guest who has been deleted since
    except Exception as error:  # noqa: BLE001  # whatever it is, file the other reports
        log.error("a finding was not reported", sign=sign, game=game_id, error=type(error).__name__)  # noqa: TRY400  # a traceback may name people
        return False


_STORE_MARK: Final = """
INSERT INTO games_browsermark (game_id, user_id, digest, at)
SELECT g.id, %(user)s, %(digest)s, %(now)s FROM games_game g
WHERE g.code = %(code)s AND %(most)s > (
    SELECT count(*) FROM games_browsermark m WHERE m.game_id = g.id AND m.user_id = %(user)s
)
ON CONFLICT DO NOTHING
"""
MOST_BROWSER_MARKS: Final = 10
"""The most browsers of a person that are stored for a table. A browser without our cookie is a new one each time."""


def store_browser_mark(*, code: str, user_id: int, digest: str, now: datetime) -> None:
    """Store that this person plays this game in the browser whose signed cookie has this SHA-256.

    Runs one statement without a lock, so a few more than `MOST_BROWSER_MARKS` are stored if many come at once.
    `report_signs` compares the marks later.
    """
    values: dict[str, int | str | datetime] = {
        "user": user_id,
        "digest": digest,
        "now": now,
        "code": code,
        "most": MOST_BROWSER_MARKS,
    }
    with connection.cursor() as cursor:
        cursor.execute(_STORE_MARK, values)


def forget_browser_marks(*, now: datetime, batch: int = 5000) -> int:
    """Delete browser marks older than `BROWSER_MARKS_KEPT`, `batch` rows at a time; return how many."""
    old, gone = BrowserMark.objects.filter(at__lt=now - BROWSER_MARKS_KEPT).values_list("pk", flat=True), 0
    while keys := list(old[:batch]):
        gone += BrowserMark.objects.filter(pk__in=keys).delete()[0]
    return gone
