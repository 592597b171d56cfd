"""Mails about accounts, as the outbox sends them: looked at again, limited by mailbox, made when they are sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final

import structlog
from django.core.mail import EmailMultiAlternatives
from django.db import connection

from accounts import mails
from accounts.addresses import canonical
from accounts.limits import MAILS_TO_MAILBOX, scaled
from accounts.models import AccountMail
from games import emails
from games.actions.notices import letters
from games.actions.notices.queue import Letter, judged
from games.emails import Reader
from games.notices.kinds import Verdict

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

Sent = Mapping[tuple[str, str], list[datetime]]
"""When mails of a kind went to a mailbox in the window of the limit, oldest first, by kind and mailbox."""


def look(*, now: datetime, most: int) -> list[tuple[AccountMail, Verdict]]:
    """Lock the mails that are due, at most so many, and say what is to become of each.

    Gives none while another sender does the same.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [ONE_CLAIMS])
        if not cursor.fetchone()[0]:
            return []
    due = AccountMail.objects.select_for_update(skip_locked=True, of=("self",)).select_related("user")
    rows = list(due.filter(state=AccountMail.State.WAITING, due_at__lte=now).order_by("pk")[:most])
    sent, under_way, looked = _sent(rows, now), set[tuple[str, str]](), []
    for row in rows:
        verdict = judged(row, partial(_judge, row, sent, under_way, now), now=now)
        if not verdict.reason:
            sent[row.kind, row.mailbox].append(now)
            under_way.add((row.kind, row.address))
        looked.append((row, verdict))
    return looked


def _sent(rows: Sequence[AccountMail], now: datetime) -> Sent:
    """Return when mails went to the mailboxes of these rows. Runs one query."""
    sent: dict[tuple[str, str], list[datetime]] = {(row.kind, row.mailbox): [] for row in rows}
    gone = AccountMail.objects.filter(
        mailbox__in={row.mailbox for row in rows}, state__in=GONE_OUT, since__gt=now - MAILS_TO_MAILBOX.window
    )
    for kind, mailbox, at in gone.order_by("since").values_list("kind", "mailbox", "since"):
        sent.setdefault((kind, mailbox), []).append(at)
    return sent


def _judge(row: AccountMail, sent: Sent, under_way: set[tuple[str, str]], now: datetime) -> Verdict:
    if not mails.KINDS[row.kind].limited:
        return Verdict()
    if now - row.created_at > mails.LATEST:
        return Verdict("late")
    if (row.kind, row.address) in under_way:
        return Verdict("merged")
    times, allowed = sent[row.kind, row.mailbox], scaled(MAILS_TO_MAILBOX.most)
    if allowed is not None and len(times) >= allowed:
        # A confirmation waits for its turn: others may have used the limit up, and it is the only mail to the person
        # who asked. A reset mail is for all accounts of its address, and its mailbox has just had three of them.
        return Verdict("enough", times[-allowed] + MAILS_TO_MAILBOX.window if row.kind == mails.CONFIRM else None)
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
    reader = letters.readers_of({row.user}).get(row.user.pk)
    return reader if reader is not None and canonical(reader.address) == row.address else None
