"""Mails about accounts, as the outbox sends them: looked at again, limited by mailbox, made when they are sent."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

import structlog
from django.core.mail import EmailMultiAlternatives
from django.db import connection

from accounts import mails, queries
from accounts.addresses import canonical
from accounts.limits import MAILS_TO_MAILBOX, scaled
from accounts.models import AccountMail
from games.notices import emails, notice_mails
from games.notices.emails import Reader
from games.notices.kinds import Verdict
from games.notices.queue import Letter, judged

log = structlog.get_logger(__name__)

ONE_CLAIMS: Final = 0x6D61696C
"""PostgreSQL's advisory lock under which these mails are claimed by one sender at a time.

Two at once would each count the mails of a mailbox without those of the other.
"""
GONE_OUT: Final = (
    AccountMail.State.SENDING,
    AccountMail.State.HANDED,
    AccountMail.State.SENT,
    AccountMail.State.FAILED,
)
"""What counts for the limit of a mailbox: a mail that failed may have arrived."""


@dataclass(slots=True)
class _Gone:
    """What limits and turns need to know about the mails that have gone out.

    `times` has, by kind and mailbox, when mails went out in the window of the limit, oldest first. `turns` has, by
    kind, mailbox and network, how many mails that are still stored went out. `lately` has the kind and address of each
    mail that went out in the window of the limit. `leading` has, by kind and address, the mail that goes out now.
    """

    times: defaultdict[tuple[str, str], list[datetime]] = field(default_factory=lambda: defaultdict(list))
    turns: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    lately: set[tuple[str, str]] = field(default_factory=set)
    leading: dict[tuple[str, str], AccountMail] = field(default_factory=dict)


def look(*, now: datetime, most: int) -> list[tuple[AccountMail, Verdict]]:
    """Lock the mails that are due, at most so many, and say what is to become of each.

    Gives none while another sender does the same.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [ONE_CLAIMS])
        if not cursor.fetchone()[0]:
            return []
    due = AccountMail.objects.filter(state=AccountMail.State.WAITING, due_at__lte=now)
    asked = list(due.order_by("pk").only("kind", "address", "mailbox", "asked_from"))
    gone = _gone({row.mailbox for row in asked}, now)
    in_turn = _in_turn(asked, gone.turns)[:most]
    locked = due.select_for_update(skip_locked=True, of=("self",)).select_related("user").in_bulk(in_turn)
    looked = []
    for row in [locked[pk] for pk in in_turn if pk in locked]:
        verdict = judged(row, partial(_judge, row, gone, now), now=now)
        if not verdict.reason:
            gone.times[row.kind, row.mailbox].append(now)
            gone.lately.add((row.kind, row.address))
            gone.leading[row.kind, row.address] = row
        looked.append((row, verdict))
    return looked


def _gone(mailboxes: set[str], now: datetime) -> _Gone:
    """Return what has gone out to these mailboxes. Runs one query."""
    gone = _Gone()
    rows = AccountMail.objects.filter(mailbox__in=mailboxes, state__in=GONE_OUT).order_by("since")
    for row in rows.only("kind", "address", "mailbox", "asked_from", "since"):
        gone.turns[row.kind, row.mailbox, row.asked_from] += 1
        if row.since > now - MAILS_TO_MAILBOX.window:
            gone.times[row.kind, row.mailbox].append(row.since)
            gone.lately.add((row.kind, row.address))
    return gone


def _in_turn(asked: Sequence[AccountMail], turns: Mapping[tuple[str, str, str], int]) -> list[int]:
    """Return the numbers of these rows in the order in which they are to be sent.

    The networks that asked for mails to one mailbox take turns: the network that has had the fewest comes first, and
    among equal ones the oldest row. So nobody delays a stranger's mail by more than one mail for each network used.

    A mail to set a new password comes last if nobody has confirmed its address, because anybody can claim other
    spellings of a mailbox.
    """
    confirmed = queries.confirmed_of([row.address for row in asked if row.kind == mails.RESET])
    taken = Counter(turns)
    order = []
    for row in asked:
        network = row.kind, row.mailbox, row.asked_from
        order.append((row.kind == mails.RESET and row.address not in confirmed, taken[network], row.pk))
        taken[network] += 1
    return [pk for _, _, pk in sorted(order)]


def _judge(row: AccountMail, gone: _Gone, now: datetime) -> Verdict:
    if not mails.KINDS[row.kind].limited:
        return Verdict()
    if now - row.created_at > mails.LATEST:
        return Verdict("late")
    leading = gone.leading.get((row.kind, row.address))
    if leading is not None and (row.kind != mails.CONFIRM or mails.list_also(leading, row)):
        return Verdict("merged")
    times, allowed = gone.times[row.kind, row.mailbox], scaled(MAILS_TO_MAILBOX.most)
    if allowed is not None and len(times) >= allowed:
        # It waits for its turn, because others may have used up the limit with other spellings of the mailbox. But a
        # mail to set a new password is dropped if its address has just had one: that was for all accounts there.
        again = row.kind != mails.CONFIRM and (row.kind, row.address) in gone.lately
        return Verdict("enough", None if again else times[-allowed] + MAILS_TO_MAILBOX.window)
    if (_reader(row) is None) if row.kind == mails.WORKS else not mails.anything_to_say(row):
        return Verdict("nothing")
    return Verdict()


def compose(rows: Sequence[AccountMail], *, now: datetime) -> list[Letter[AccountMail]]:
    """Make the mails of these rows, in order; None where one cannot be made."""
    return [([row], _try_mail(row, now)) for row in rows]


def _try_mail(row: AccountMail, now: datetime) -> EmailMultiAlternatives | None:
    try:
        if row.kind == mails.WORKS:
            reader = _reader(row)
            return emails.works_mail(reader, now=now, number=row.pk) if reader is not None else None
        return mails.letter(row, now=now)
    except Exception as error:  # noqa: BLE001  # one mail that cannot be made must not keep the others
        # Never the traceback: its values hold links that set passwords.
        log.error("account mail not made", kind=row.kind, error=type(error).__name__)  # noqa: TRY400  # as said
        return None


def _reader(row: AccountMail) -> Reader | None:
    """The person that a mail about their address is for, if it is still theirs."""
    if row.user is None:
        return None
    reader = notice_mails.readers_of({row.user}).get(row.user.pk)
    return reader if reader is not None and canonical(reader.address) == row.address else None
