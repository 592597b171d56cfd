"""Mails about accounts, as the outbox sends them: looked at again, limited by mailbox, made when they are sent."""

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
from accounts.addresses import canonical
from accounts.limits import MAILS_TO_MAILBOX, scaled
from accounts.models import AccountMail
from games.notices import emails, notice_mails
from games.notices.emails import Reader
from games.notices.kinds import Reason, Verdict
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


OLDEST: Final = 1000
"""The mailboxes of so many due mails are considered in one claim, so that a claim costs little however many wait."""
LIMITED: Final = tuple(name for name, kind in mails.KINDS.items() if kind.limited)

Box = tuple[str, str]
"""A kind of mail and a mailbox, for which mails are counted together."""


@dataclass(slots=True)
class _Gone:
    """What limits need to know about the mails that have gone out in their window.

    `times` has, by kind and mailbox, when mails went out, oldest first. `lately` has the kind and address of each.
    `leading` has, by kind and address, the mail that goes out now.
    """

    times: defaultdict[Box, list[datetime]] = field(default_factory=lambda: defaultdict(list))
    lately: set[tuple[str, str]] = field(default_factory=set)
    leading: dict[tuple[str, str], AccountMail] = field(default_factory=dict)

    def full_until(self, box: Box) -> datetime | None:
        """Return when the next mail can go to this mailbox if it has had its limit, else None."""
        times, allowed = self.times[box], scaled(MAILS_TO_MAILBOX.most)
        full = allowed is not None and len(times) >= allowed
        return times[-allowed] + MAILS_TO_MAILBOX.window if allowed is not None and full else None


def judge_due(*, now: datetime, most: int) -> list[tuple[AccountMail, Verdict]]:
    """Lock the mails that are due, at most so many, and say what is to become of each.

    The other mails that are due to the same mailboxes are put off if their mailbox has had its limit, and dropped if
    they were asked for too long ago: however many they are, the next claim does not see them again.

    Gives none while another sender does the same.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [ONE_CLAIMS])
        if not cursor.fetchone()[0]:
            return []
    in_turn = _in_turn(now, most)
    due = _due(now).select_for_update(skip_locked=True, of=("self",))
    locked = due.select_related("user").in_bulk(in_turn)
    rows = [locked[pk] for pk in in_turn if pk in locked]
    gone = _gone({row.mailbox for row in rows}, now)
    looked = []
    for row in rows:
        verdict = judged(row, partial(_judge, row, gone, now), now=now)
        if not verdict.reason:
            gone.times[row.kind, row.mailbox].append(now)
            gone.lately.add((row.kind, row.address))
            gone.leading[row.kind, row.address] = row
        looked.append((row, verdict))
    _settle_others(rows, gone, now)
    return looked


def _due(now: datetime) -> QuerySet[AccountMail]:
    return AccountMail.objects.filter(state=AccountMail.State.WAITING, due_at__lte=now)


def _gone(mailboxes: set[str], now: datetime) -> _Gone:
    """Return what has gone out to these mailboxes. Runs one query."""
    gone = _Gone()
    rows = AccountMail.objects.filter(
        kind__in=LIMITED, mailbox__in=mailboxes, state__in=GONE_OUT, since__gt=now - MAILS_TO_MAILBOX.window
    )
    for kind, mailbox, address, since in rows.order_by("since").values_list("kind", "mailbox", "address", "since"):
        gone.times[kind, mailbox].append(since)
        gone.lately.add((kind, address))
    return gone


_IN_TURN: Final = """
    WITH box AS (
        SELECT DISTINCT kind, mailbox FROM (
            SELECT kind, mailbox FROM accounts_accountmail WHERE state = 'waiting' AND due_at <= %(now)s
            ORDER BY due_at, id LIMIT %(oldest)s
        ) AS first
    ), asked AS (
        SELECT id, kind, mailbox, asked_from, address,
            row_number() OVER (PARTITION BY kind, mailbox, asked_from ORDER BY id) AS place
        FROM accounts_accountmail JOIN box USING (kind, mailbox) WHERE state = 'waiting' AND due_at <= %(now)s
    ), had AS (
        SELECT kind, mailbox, asked_from, count(*) AS mails
        FROM accounts_accountmail JOIN box USING (kind, mailbox) WHERE state = ANY(%(gone_out)s)
        GROUP BY kind, mailbox, asked_from
    )
    SELECT id FROM asked LEFT JOIN had USING (kind, mailbox, asked_from)
    ORDER BY
        kind = %(reset)s AND NOT EXISTS (
            SELECT FROM account_emailaddress AS held WHERE held.email = asked.address AND held.verified
        ),
        place + coalesce(mails, 0),
        id
    LIMIT %(most)s
"""


def _in_turn(now: datetime, most: int) -> list[int]:
    """Return the numbers of the mails that are due, at most so many, in the order in which they are to be sent.

    The networks that asked for mails to one mailbox take turns: the network that has had the fewest comes first, and
    among equal ones the oldest row. So nobody delays a stranger's mail by more than one mail for each network used.

    A mail to set a new password comes last if nobody has confirmed its address, because anybody can claim other
    spellings of a mailbox. Addresses are stored in the same spelling for people and for mails
    (`AccountAdapter.clean_email`).
    """
    gone_out = [state.value for state in GONE_OUT]
    with connection.cursor() as cursor:
        cursor.execute(
            _IN_TURN, {"now": now, "most": most, "oldest": OLDEST, "gone_out": gone_out, "reset": mails.RESET}
        )
        return [pk for (pk,) in cursor.fetchall()]


_TRIES: Final = Case(
    When(reason=Reason.FAULT, then=Value(0)), default="tries", output_field=PositiveSmallIntegerField()
)
"""The tries of a mail that is put off: after a fault they counted faults, and start again."""


def _settle_others(rows: Sequence[AccountMail], gone: _Gone, now: datetime) -> None:
    """Drop or put off the mails that are due to the same mailboxes as these rows and need no look at each.

    Runs one statement, and one for each mailbox that has had its limit.
    """
    others = _due(now).exclude(pk__in=[row.pk for row in rows])
    late = others.filter(kind__in=LIMITED, mailbox__in={row.mailbox for row in rows}, created_at__lt=now - mails.LATEST)
    _unlocked(late).update(state=AccountMail.State.DROPPED, reason="late", since=now)
    for kind, mailbox in {(row.kind, row.mailbox) for row in rows}:
        until = gone.full_until((kind, mailbox))
        if until is not None:
            waiting = _unlocked(others.filter(kind=kind, mailbox=mailbox))
            waiting.update(due_at=until, reason="enough", since=now, tries=_TRIES)


def _unlocked(rows: QuerySet[AccountMail]) -> QuerySet[AccountMail]:
    """Return these rows without those that another transaction has locked, so that an update waits for nobody."""
    return AccountMail.objects.filter(pk__in=rows.select_for_update(skip_locked=True).values("pk"))


def _judge(row: AccountMail, gone: _Gone, now: datetime) -> Verdict:
    if not mails.KINDS[row.kind].limited:
        return Verdict()
    if now - row.created_at > mails.LATEST:
        return Verdict("late")
    leading = gone.leading.get((row.kind, row.address))
    if leading is not None and (row.kind != mails.CONFIRM or mails.add_to_list(leading, row)):
        return Verdict("merged")
    if row.kind == mails.RESET and _is_pointless(row):
        return Verdict("nothing")  # before the limit: there is nothing that it could wait for
    until = gone.full_until((row.kind, row.mailbox))
    if until is not None:
        # It waits for its turn, because others may have used up the limit with other spellings of the mailbox. But a
        # mail to set a new password is dropped if its address has just had one: that was for all accounts there.
        again = row.kind != mails.CONFIRM and (row.kind, row.address) in gone.lately
        return Verdict("enough", None if again else until)
    return Verdict("nothing" if row.kind != mails.RESET and _is_pointless(row) else "")


def _is_pointless(row: AccountMail) -> bool:
    """Return True if this mail has no account to name, or not any more."""
    return _reader(row) is None if row.kind == mails.WORKS else not mails.has_content(row)


def compose(rows: Sequence[AccountMail], *, now: datetime) -> list[Letter[AccountMail]]:
    """Make the mails of these rows, in order; None where one cannot be made."""
    return [([row], _try_mail(row, now)) for row in rows]


def _try_mail(row: AccountMail, now: datetime) -> EmailMultiAlternatives | None:
    try:
        if row.kind == mails.WORKS:
            reader = _reader(row)
            return emails.works_mail(reader, now=now, number=row.pk) if reader is not None else None
        return mails.build(row, now=now)
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
