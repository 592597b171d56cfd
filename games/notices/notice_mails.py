"""Claimed notices become mails: one for each person and kind, about all the games there are to tell of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import structlog
from django.core.mail import EmailMultiAlternatives

from accounts.models import User
from accounts.queries import mail_addresses
from games import queries
from games.models.notices import Notice, NoticeSettings
from games.notices import emails, inbox
from games.notices.emails import EmailItem, Reader
from games.notices.kinds import DIGEST, KINDS
from games.notices.queue import Letter
from games.queries import GameView, Table, lists

log = structlog.get_logger(__name__)


def compose(rows: Sequence[Notice], *, now: datetime) -> list[Letter[Notice]]:
    """The mails for these notices, in the order in which they were written; None where one cannot be made."""
    groups: dict[tuple[int, str], list[Notice]] = {}
    for row in sorted(rows, key=lambda row: row.pk):
        groups.setdefault((row.user_id, row.kind), []).append(row)
    try:
        tables = inbox.tables_of(inbox.games_in(rows))
        readers = readers_of({row.user for row in rows})
    except Exception:
        # Somebody's account is deleted at this moment, perhaps: claims must not stand until they are stale.
        log.exception("no mail made")
        return [(group, None) for group in groups.values()]
    return [letter for group in groups.values() for letter in _letters(readers, group, tables, now)]


def _letters(
    readers: Mapping[int, Reader], rows: list[Notice], tables: Mapping[int, Table], now: datetime
) -> list[Letter[Notice]]:
    """One mail about all of these, or if one of them cannot be told, of the others; it is tried again by itself."""
    mail = _try_mail(readers, rows, tables, now)
    if mail is not None or len(rows) == 1 or rows[0].user_id not in readers:
        return [(rows, mail)]
    good = [row for row in rows if _try_mail(readers, [row], tables, now) is not None]
    broken: list[Letter[Notice]] = [([row], None) for row in rows if row not in good]
    return [*([(good, _try_mail(readers, good, tables, now))] if good else []), *broken]


def _try_mail(
    readers: Mapping[int, Reader], rows: Sequence[Notice], tables: Mapping[int, Table], now: datetime
) -> EmailMultiAlternatives | None:
    reader = readers.get(rows[0].user_id)
    if reader is None:
        return None  # the address went away a moment ago: the next look says so
    try:
        return _mail(reader, rows, tables, now)
    except Exception:
        # One mail that cannot be made must not keep everybody's else; it is tried again, and given up with a reason.
        log.exception("mail not made", kind=rows[0].kind)
        return None


def readers_of(people: set[User]) -> dict[int, Reader]:
    """These people as mails address them."""
    NoticeSettings.objects.bulk_create((NoticeSettings(user=user) for user in people), ignore_conflicts=True)
    keys = dict(NoticeSettings.objects.filter(user__in=people).values_list("user_id", "mail_key"))
    addresses = mail_addresses({user.pk for user in people})
    return {
        user.pk: Reader(user.pk, user.name, addresses[user.pk].email, user.time_zone, keys[user.pk])
        for user in people
        if user.pk in addresses
    }


def _mail(reader: Reader, rows: Sequence[Notice], tables: Mapping[int, Table], now: datetime) -> EmailMultiAlternatives:
    """Return the mail about these notices, which are of one person and one kind."""
    kind, user, number = KINDS[rows[0].kind], rows[0].user, rows[0].pk
    if kind.name == DIGEST:
        return _digest(reader, user, now, number)
    if kind.turn:
        games = dict.fromkeys(row.game_id for row in rows if row.game_id is not None)
        views = urgent_first([queries.view_of(tables[game], user) for game in games])
        return emails.turn_mail(reader, kind, views, now=now, number=number)
    return emails.news_mail(reader, kind, _news(user, rows, tables), now=now, number=number)


def _digest(reader: Reader, user: User, now: datetime, number: int) -> EmailMultiAlternatives:
    on_turn = inbox.tables_of(list(lists.waiting_for(user).values_list("pk", flat=True)))
    waiting = urgent_first([queries.view_of(table, user) for table in on_turn.values()])
    rows = inbox.news_of_the_day(user, now)
    news = _news(user, rows, inbox.tables_of(inbox.games_in(rows)))
    return emails.digest_mail(reader, waiting, news, now=now, number=number)


def urgent_first(views: Sequence[GameView]) -> list[GameView]:
    return sorted(views, key=lambda view: (view.deadline is None, view.deadline))


def _news(user: User, rows: Sequence[Notice], tables: Mapping[int, Table]) -> list[EmailItem]:
    """What these notices say, each with its table as this person may see it by now."""
    games = inbox.games_in(rows)
    views = inbox.views_for(user, {number: table for number, table in tables.items() if number in games})
    return [EmailItem(row.text, views.get(row.game_id or 0), KINDS[row.kind].page) for row in rows]
