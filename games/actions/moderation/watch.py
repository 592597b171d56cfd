"""Cases that the site opens by itself, for people to look at: nothing follows from them but that."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import connection, transaction

from games.actions.moderation.cases import file_report
from games.models import BrowserMark, Case, Game, Seat

DAYS: Final = timedelta(days=7)
MARKS_KEPT: Final = timedelta(days=30)
MANY_TIMEOUTS: Final = 12
MANY_RESIGNATIONS: Final = 3
AT_ONCE: Final = 2
"""So many own moves at most before a resignation that counts as at once."""

# Whose seat it was when a line was written: staff give seats to bots and to other people, and their audit entries say
# from whom, and at which version. The first such change that comes after the line has its owner; if there is none, the
# owner is today's. `since` is the version at which that person got the seat.
_OWNED: Final = """
WITH changes AS (
    SELECT id, game_id, seat, version,
           CASE act WHEN 'remove' THEN person_id ELSE (details ->> 'before_id')::bigint END AS before
    FROM games_auditentry WHERE act = ANY('{remove,move_seat}') AND game_id IS NOT NULL
), lines AS (
    SELECT m.game_id, m.seat, m.n, m.text, m.at,
           CASE WHEN later.id IS NULL THEN s.user_id ELSE later.before END AS user_id,
           (SELECT COALESCE(max(c.version), 0) FROM changes c
            WHERE c.game_id = m.game_id AND c.seat = m.seat AND c.version < m.n) AS since
    FROM games_move m JOIN games_seat s ON s.game_id = m.game_id AND s."index" = m.seat
    LEFT JOIN LATERAL (SELECT c.id, c.before FROM changes c
                       WHERE c.game_id = m.game_id AND c.seat = m.seat AND c.version >= m.n
                       ORDER BY c.version, c.id LIMIT 1) later ON true
    WHERE m.at > %(since)s
)
SELECT l.user_id, count(*), count(DISTINCT l.game_id), max(l.game_id)
FROM lines l JOIN accounts_user u ON u.id = l.user_id
WHERE l.at > COALESCE((SELECT max(c.closed_at) FROM games_case c WHERE c.person_id = l.user_id AND c.kind = %(kind)s),
                      '-infinity')
"""

# Each person's evidence of these days, but for what an earlier case of the kind has settled. A turn that the clock
# played is one commit: the line before it, of the same seat and instant, is of the same turn. A window that it closes
# (`clock uno`) is nobody's turn.
_TIMEOUTS: Final = f"""{_OWNED}
  AND l.text LIKE 'clock %%' AND l.text <> 'clock uno'
  AND (l.text = ANY('{{clock draw,clock take}}') OR NOT EXISTS (
       SELECT 1 FROM games_move o WHERE o.game_id = l.game_id AND o.n = l.n - 1 AND o.seat = l.seat AND o.at = l.at
         AND o.text LIKE 'clock %%' AND o.text <> 'clock uno'))
GROUP BY l.user_id HAVING count(*) >= %(many)s
"""  # noqa: S608  # a statement of ours in another

_RESIGNATIONS: Final = f"""{_OWNED}
  AND l.text = 'leave'
  AND (SELECT count(*) FROM games_move o
       WHERE o.game_id = l.game_id AND o.seat = l.seat AND o.n < l.n AND o.n > l.since) <= %(at_once)s
  AND NOT EXISTS (SELECT 1 FROM games_move o
                  WHERE o.game_id = l.game_id AND o.seat = l.seat AND o.n > l.since AND o.text LIKE 'clock %%')
  AND NOT EXISTS (SELECT 1 FROM games_auditentry a
                  WHERE a.game_id = l.game_id AND a.seat = l.seat AND a.act = 'remove' AND a.version = l.n - 1
                    AND a.details ->> 'bot' = 'false')
GROUP BY l.user_id HAVING count(*) >= %(many)s
"""  # noqa: S608  # as above


def watch(*, now: datetime) -> int:
    """Open a case about whoever lets many turns time out, or resigns at once again and again; gives their number."""
    opened = 0
    for sql, many, sentence in (
        (_TIMEOUTS, MANY_TIMEOUTS, "The clock played {count} of this person's turns in {games} games within 7 days."),
        (_RESIGNATIONS, MANY_RESIGNATIONS, "This person resigned {count} games at once, within 7 days."),
    ):
        for user_id, count, games, game_id in _found(sql, many, now):
            text = sentence.format(count=count, games=games)
            opened += _open(user_id, Case.Kind.ABANDON, game_id, text, now)
    return opened


def _found(sql: str, many: int, now: datetime) -> list[tuple[int, int, int, int]]:
    parameters: dict[str, datetime | str | int] = {
        "since": now - DAYS,
        "kind": Case.Kind.ABANDON.value,
        "many": many,
        "at_once": AT_ONCE,
    }
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        rows: list[tuple[int, int, int, int]] = cursor.fetchall()
    return rows


def _open(user_id: int, kind: str, game_id: int, text: str, now: datetime) -> bool:
    game = Game.objects.get(pk=game_id)
    return file_report(person_id=user_id, kind=kind, reporter=None, game=game, text=text, now=now) is not None


def mark_browser(*, code: str, user_id: int, mark: str, now: datetime) -> bool:
    """Note that this person sits at this table in a browser with this mark; says whether another person there has it.

    Then the site opens a case about each of the two. `mark` is the SHA-256 of the browser's signed cookie.
    """
    with transaction.atomic():
        seat = Seat.objects.select_related("game").filter(game__code=code, user_id=user_id).first()
        if seat is None:
            return False
        BrowserMark.objects.get_or_create(game=seat.game, user_id=user_id, mark=mark, defaults={"at": now})
        same = BrowserMark.objects.filter(game=seat.game, mark=mark).exclude(user_id=user_id).values("user_id")
        others = Seat.objects.filter(game=seat.game, user_id__in=same, left=False)
        names = {user_id: seat.name} | {other.user_id: other.name for other in others if other.user_id is not None}
        if len(names) < 2:
            return False
        text = f"One browser sat down here as {' and as '.join(names.values())}."
        for person_id in sorted(names):
            _open(person_id, Case.Kind.TEAMING, seat.game_id, text, now)
        return True


def forget_marks(*, now: datetime) -> int:
    """Delete the browsers' marks of a month ago."""
    gone, _ = BrowserMark.objects.filter(at__lt=now - MARKS_KEPT).delete()
    return gone
