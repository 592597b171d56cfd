"""Make mails from claimed notices: one for each person and kind, about all their games."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

import structlog
from django.core.mail import EmailMultiAlternatives

from accounts.models import AccountMail, User
from games import queries
from games.models import Notice, NoticeSettings
from games.notices import emails, inbox, sentences
from games.notices.emails import EmailItem, Reader, Turn
from games.notices.kinds import DIGEST, KINDS, TURN_KINDS
from games.queries import LogLine, Table, lists
from mail.addresses import canonical
from mail.channels.email import mail_addresses
from mail.message_ids import name_of_mail
from mail.sources import ClaimedMail

log = structlog.get_logger(__name__)


class Games(NamedTuple):
    """What a batch of mails is about.

    `tables` and `last`, the newest lines of the logs of turns, are by the game's id, `names` of people by theirs.
    """

    tables: Mapping[int, Table]
    last: Mapping[int, LogLine]
    names: Mapping[int, str]


def compose(rows: Sequence[Notice], now: datetime) -> list[ClaimedMail]:
    """Return the mails for these notices, in the order of the notices. A mail that cannot be made is None."""
    groups: dict[tuple[int, str], list[Notice]] = {}
    for row in sorted(rows, key=lambda row: row.pk):
        groups.setdefault((row.user.pk, row.kind), []).append(row)
    try:
        tables = inbox.tables_of(inbox.games_in(rows))
        on_turn = inbox.games_in(row for row in rows if row.kind in TURN_KINDS)
        last = inbox.last_lines_of({game: table for game, table in tables.items() if game in on_turn})
        games = Games(tables, last, sentences.names_in(rows))
        readers = readers_of({row.user for row in rows})
    except Exception:
        # An account may have just been deleted. Return the claims now, instead of letting them become stale.
        log.exception("no mail made")
        return [(group, None) for group in groups.values()]
    return [mail for group in groups.values() for mail in _mails_about(readers, group, games, now)]


def _mails_about(readers: Mapping[int, Reader], rows: list[Notice], games: Games, now: datetime) -> list[ClaimedMail]:
    """Return one mail about all these notices. A notice that breaks the mail is left out and tried again by itself."""
    mail = _try_mail(readers, rows, games, now)
    if mail is not None or len(rows) == 1 or rows[0].user.pk not in readers:
        return [(rows, mail)]
    good = [row for row in rows if _try_mail(readers, [row], games, now) is not None]
    broken: list[ClaimedMail] = [([row], None) for row in rows if row not in good]
    return [*([(good, _try_mail(readers, good, games, now))] if good else []), *broken]


def _try_mail(
    readers: Mapping[int, Reader], rows: Sequence[Notice], games: Games, now: datetime
) -> EmailMultiAlternatives | None:
    reader = readers.get(rows[0].user.pk)
    if reader is None:
        return None  # the address has just been removed: the next check drops the notices
    try:
        return _mail(reader, rows, games, now)
    except Exception:
        # One broken mail must not stop the others. It is tried again, and finally given up with a reason.
        log.exception("mail not made", kind=rows[0].kind)
        return None


def readers_of(people: set[User]) -> dict[int, Reader]:
    """Return, by user id, what mails need to know about these people. Leaves out people without an address."""
    NoticeSettings.objects.bulk_create((NoticeSettings(user=user) for user in people), ignore_conflicts=True)
    keys = dict(NoticeSettings.objects.filter(user__in=people).values_list("user_id", "mail_key"))
    addresses = mail_addresses({user.pk for user in people})
    return {
        user.pk: Reader(user.pk, user.name, addresses[user.pk].email, user.time_zone, keys[user.pk])
        for user in people
        if user.pk in addresses
    }


def _mail(reader: Reader, rows: Sequence[Notice], games: Games, now: datetime) -> EmailMultiAlternatives:
    """Return the mail about these notices of one person and one kind."""
    kind, user, unique = KINDS[rows[0].kind], rows[0].user, name_of_mail(rows)
    if kind.name == DIGEST:
        return _digest(reader, user, now, unique)
    if kind.turn:
        on_turn = dict.fromkeys(row.game_id for row in rows if row.game_id is not None)
        turns = _turns(user, {game: games.tables[game] for game in on_turn}, games.last)
        return emails.turn_mail(reader, kind, turns, now=now, unique=unique)
    return emails.news_mail(reader, kind, _news(user, rows, games.tables, games.names), now=now, unique=unique)


def _digest(reader: Reader, user: User, now: datetime, unique: str) -> EmailMultiAlternatives:
    on_turn = inbox.tables_of(list(lists.waiting_for(user).values_list("pk", flat=True)))
    waiting = _turns(user, on_turn, inbox.last_lines_of(on_turn))
    rows = inbox.unread_today(user, now)
    news = _news(user, rows, inbox.tables_of(inbox.games_in(rows)), sentences.names_in(rows))
    return emails.digest_mail(reader, waiting, news, now=now, unique=unique)


def _turns(user: User, tables: Mapping[int, Table], last: Mapping[int, LogLine]) -> list[Turn]:
    """Return this person's turns at these tables, the most urgent first."""
    turns = [Turn(queries.view_of(table, user), last.get(game)) for game, table in tables.items()]
    return sorted(turns, key=lambda turn: (turn.view.deadline is None, turn.view.deadline))


def _news(user: User, rows: Sequence[Notice], tables: Mapping[int, Table], names: Mapping[int, str]) -> list[EmailItem]:
    """Return the items for these notices, each with its table as this person may see it now."""
    games = inbox.games_in(rows)
    views = inbox.views_for(user, {number: table for number, table in tables.items() if number in games})
    return [
        EmailItem(
            sentences.text_of(row, names, user.time_zone),
            views.get(row.game_id or 0),
            KINDS[row.kind].path(row.occasion),
        )
        for row in rows
    ]


def works_mail(row: AccountMail, now: datetime) -> EmailMultiAlternatives | None:
    """Return the mail that asks whether a bounced address works again, or None if it is no longer the person's."""
    reader = _reader_of(row)
    return emails.works_mail(reader, now=now, unique=name_of_mail([row])) if reader is not None else None


def works_for_somebody(row: AccountMail) -> bool:
    """Return whether the address of such a mail is still the person's."""
    return _reader_of(row) is not None


def _reader_of(row: AccountMail) -> Reader | None:
    reader = readers_of({row.user}).get(row.user.pk) if row.user is not None else None
    return reader if reader is not None and canonical(reader.address) == row.address else None
