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
from django.db.models import Case, F, PositiveSmallIntegerField, QuerySet, Value, When

from accounts import mails
from accounts.models import AccountMail
from common.limits import MAILS_TO_MAILBOX, scaled
from mail.addresses import is_sent_as_written
from mail.models import EMAIL
from mail.sources import ClaimedMail, Source, judge_or_postpone
from mail.verdicts import SEND, Reason, Verdict

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


def judge_due(channel: str, now: datetime, most: int) -> list[tuple[AccountMail, Verdict]]:
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


def _limited() -> list[str]:
    """Return the names of all kinds that are sent when somebody asks for them."""
    return [kind.name for kind in mails.all_kinds().values() if kind.limited]


def _due(now: datetime) -> QuerySet[AccountMail]:
    return AccountMail.objects.filter(state=AccountMail.State.WAITING, due_at__lte=now)


def _sent(mailboxes: set[str], now: datetime) -> _Sent:
    """Return the limited mails that went out to these mailboxes. Runs one query."""
    sent = _Sent()
    rows = AccountMail.objects.filter(
        kind__in=_limited(), mailbox__in=mailboxes, state__in=COUNTED_STATES, since__gt=now - MAILS_TO_MAILBOX.window
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
    # Not by `created_at` alone: PostgreSQL would take the index of that column, and read most of the table.
    late = others.alias(late_at=F("created_at") + mails.LATEST).filter(late_at__lt=now)
    limited = _limited()
    late = late.filter(kind__in=limited, mailbox__in={row.mailbox for row in rows if row.kind in limited})
    _unlocked(late).update(state=AccountMail.State.DROPPED, reason=Reason.LATE, since=now)
    for kind, mailbox in {(row.kind, row.mailbox) for row in rows}:
        until = sent.full_until((kind, mailbox))
        if until is not None:
            waiting = _unlocked(others.filter(kind=kind, mailbox=mailbox))
            waiting.update(due_at=until, reason=Reason.ENOUGH, since=now, tries=_TRIES)


def _unlocked(rows: QuerySet[AccountMail]) -> QuerySet[AccountMail]:
    """Return these rows without those that another transaction has locked, so that an update does not wait."""
    return AccountMail.objects.filter(pk__in=rows.select_for_update(skip_locked=True).values("pk"))


def _judge(row: AccountMail, sent: _Sent, now: datetime) -> Verdict:
    if not is_sent_as_written(row.address):
        return Verdict(Reason.NOTHING)  # the limits would not count it for the mailbox that gets it
    if not mails.all_kinds()[row.kind].limited:
        return SEND
    if now - row.created_at > mails.LATEST:
        return Verdict(Reason.LATE)
    leading = sent.leading.get((row.kind, row.address))
    if leading is not None and (row.kind != mails.CONFIRM or mails.add_to_list(leading, row)):
        return Verdict(Reason.MERGED)
    if row.kind == mails.RESET and not mails.has_content(row):
        return Verdict(Reason.NOTHING)  # checked before the limit, because waiting would not help
    until = sent.full_until((row.kind, row.mailbox))
    if until is not None:
        # It waits, because others may have used up the limit with other spellings of the mailbox. A password reset is
        # dropped if its address has just had one, because that mail listed all accounts of the address.
        again = row.kind != mails.CONFIRM and (row.kind, row.address) in sent.recent
        return Verdict(Reason.ENOUGH, None if again else until)
    return SEND if row.kind == mails.RESET or mails.has_content(row) else Verdict(Reason.NOTHING)


def compose(rows: Sequence[AccountMail], now: datetime) -> list[ClaimedMail]:
    """Make the mail of each row, in order. A mail that cannot be made is None."""
    return [([row], _try_mail(row, now)) for row in rows]


def _try_mail(row: AccountMail, now: datetime) -> EmailMultiAlternatives | None:
    try:
        return mails.build(row, now=now)
    except Exception as error:  # noqa: BLE001  # one mail that cannot be made must not stop the others
        # No traceback: its values can include links that set passwords.
        log.error("account mail not made", kind=row.kind, error=type(error).__name__)  # noqa: TRY400  # no traceback
        return None


SOURCE: Final = Source("accounts", mails.KINDS, {EMAIL}, judge_due, compose)
