"""Send mails about accounts: check them when they are due, limit them by mailbox, and make them when they are sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Final

import structlog
from django.core.mail import EmailMultiAlternatives
from django.db import connection
from django.db.models import Case, PositiveSmallIntegerField, QuerySet, Value, When

from accounts import mails
from accounts.models import AccountMail
from common.limits import MAILS_TO_MAILBOX, scaled
from games.notices import emails, notice_mails
from games.notices.emails import Reader
from games.notices.kinds import Reason, Verdict
from games.notices.queue import ClaimedMail, judge_or_postpone
from mail.addresses import canonical, is_sent_as_written
from mail.message_ids import name_of_mail

log = structlog.get_logger(__name__)

CLAIM_LOCK: Final = 0x6D61696C
"""The id of the advisory lock under which one sender at a time claims these mails.

Otherwise neither of two senders would count the mails that the other is about to send to the same mailbox.
"""
COUNTED_STATES: Final = (
    AccountMail.State.SENDING,
    AccountMail.State.HANDED,
    AccountMail.State.SENT,
    AccountMail.State.FAILED,
)
"""The states that count for the limit of a mailbox. A mail that failed may still have arrived."""
LIMITED: Final = tuple(name for name, kind in mails.KINDS.items() if kind.limited)

Bucket = tuple[str, str]
"""A kind of mail and a mailbox. A limit counts the mails of a bucket together."""


@dataclass(slots=True)
class _Sent:
    """The mails that went out within the window of the limits."""

    times: defaultdict[Bucket, list[datetime]] = field(default_factory=lambda: defaultdict(list))  # oldest first
    recent: set[tuple[str, str]] = field(default_factory=set)  # kind and address of each
    leading: dict[tuple[str, str], AccountMail] = field(default_factory=dict)  # by kind and address: what goes out now

    def full_until(self, bucket: Bucket) -> datetime | None:
        """Return when the next mail can go to this mailbox, or None if it has not reached its limit."""
        times, allowed = self.times[bucket], scaled(MAILS_TO_MAILBOX.most)
        full = allowed is not None and len(times) >= allowed
        return times[-allowed] + MAILS_TO_MAILBOX.window if allowed is not None and full else None


def judge_due(*, now: datetime, most: int) -> list[tuple[AccountMail, Verdict]]:
    """Lock up to `most` due mails, the oldest, and return each with a verdict.

    Returns nothing while another sender does the same.

    Other due mails to the same mailboxes are postponed if their mailbox has reached its limit, and dropped if they are
    too old. So the next claim does not see them again, however many there are.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [CLAIM_LOCK])
        if not cursor.fetchone()[0]:
            return []
    due = _due(now).select_for_update(skip_locked=True, of=("self",)).select_related("user")
    rows = list(due.order_by("due_at", "pk")[:most])
    sent = _sent({row.mailbox for row in rows}, now)
    verdicts = []
    for row in rows:
        verdict = judge_or_postpone(row, partial(_judge, row, sent, now), now=now)
        if not verdict.reason:
            sent.times[row.kind, row.mailbox].append(now)
            sent.recent.add((row.kind, row.address))
            sent.leading[row.kind, row.address] = row
        verdicts.append((row, verdict))
    _settle_others(rows, sent, now)
    return verdicts


def _due(now: datetime) -> QuerySet[AccountMail]:
    return AccountMail.objects.filter(state=AccountMail.State.WAITING, due_at__lte=now)


def _sent(mailboxes: set[str], now: datetime) -> _Sent:
    """Return the limited mails that went out to these mailboxes. Runs one query."""
    sent = _Sent()
    rows = AccountMail.objects.filter(
        kind__in=LIMITED, mailbox__in=mailboxes, state__in=COUNTED_STATES, since__gt=now - MAILS_TO_MAILBOX.window
    )
    for kind, mailbox, address, since in rows.order_by("since").values_list("kind", "mailbox", "address", "since"):
        sent.times[kind, mailbox].append(since)
        sent.recent.add((kind, address))
    return sent


_TRIES: Final = Case(
    When(reason=Reason.FAULT, then=Value(0)), default="tries", output_field=PositiveSmallIntegerField()
)
"""The tries of a mail that is postponed. After a fault they counted faults, so they start at 0 again."""


def _settle_others(rows: Sequence[AccountMail], sent: _Sent, now: datetime) -> None:
    """Drop or postpone the other mails that are due to the mailboxes of these rows.

    Runs one statement, and one more for each mailbox that has reached its limit.
    """
    others = _due(now).exclude(pk__in=[row.pk for row in rows])
    late = others.filter(kind__in=LIMITED, mailbox__in={row.mailbox for row in rows}, created_at__lt=now - mails.LATEST)
    _unlocked(late).update(state=AccountMail.State.DROPPED, reason="late", since=now)
    for kind, mailbox in {(row.kind, row.mailbox) for row in rows}:
        until = sent.full_until((kind, mailbox))
        if until is not None:
            waiting = _unlocked(others.filter(kind=kind, mailbox=mailbox))
            waiting.update(due_at=until, reason="enough", since=now, tries=_TRIES)


def _unlocked(rows: QuerySet[AccountMail]) -> QuerySet[AccountMail]:
    """Return these rows without those that another transaction has locked, so that an update does not wait."""
    return AccountMail.objects.filter(pk__in=rows.select_for_update(skip_locked=True).values("pk"))


def _judge(row: AccountMail, sent: _Sent, now: datetime) -> Verdict:
    if not is_sent_as_written(row.address):
        return Verdict("nothing")  # the limits would not count it for the mailbox that gets it
    if not mails.KINDS[row.kind].limited:
        return Verdict()
    if now - row.created_at > mails.LATEST:
        return Verdict("late")
    leading = sent.leading.get((row.kind, row.address))
    if leading is not None and (row.kind != mails.CONFIRM or mails.add_to_list(leading, row)):
        return Verdict("merged")
    if row.kind == mails.RESET and _is_pointless(row):
        return Verdict("nothing")  # checked before the limit, because waiting would not help
    until = sent.full_until((row.kind, row.mailbox))
    if until is not None:
        # It waits, because others may have used up the limit with other spellings of the mailbox. A password reset is
        # dropped if its address has just had one, because that mail listed all accounts of the address.
        again = row.kind != mails.CONFIRM and (row.kind, row.address) in sent.recent
        return Verdict("enough", None if again else until)
    return Verdict("nothing" if row.kind != mails.RESET and _is_pointless(row) else "")


def _is_pointless(row: AccountMail) -> bool:
    """Return True if this requested mail has nothing to say any more."""
    return _reader(row) is None if row.kind == mails.WORKS else not mails.has_content(row)


def compose(rows: Sequence[AccountMail], *, now: datetime) -> list[ClaimedMail[AccountMail]]:
    """Make the mail of each row, in order. A mail that cannot be made is None."""
    return [([row], _try_mail(row, now)) for row in rows]


def _try_mail(row: AccountMail, now: datetime) -> EmailMultiAlternatives | None:
    try:
        if row.kind == mails.WORKS:
            reader = _reader(row)
            return emails.works_mail(reader, now=now, unique=name_of_mail([row])) if reader is not None else None
        return mails.build(row, now=now)
    except Exception as error:  # noqa: BLE001  # one mail that cannot be made must not stop the others
        # No traceback: its values can include links that set passwords.
        log.error("account mail not made", kind=row.kind, error=type(error).__name__)  # noqa: TRY400  # no traceback
        return None


def _reader(row: AccountMail) -> Reader | None:
    """Return the person that a mail about their address is for, or None if it is no longer their address."""
    if row.user is None:
        return None
    reader = notice_mails.readers_of({row.user}).get(row.user.pk)
    return reader if reader is not None and canonical(reader.address) == row.address else None
