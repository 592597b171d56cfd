"""From a notice that is due to one that is shown or sent: look again, claim, hand over, write down what became of it.

Claiming is one transaction (`SKIP LOCKED`, so any number of senders can work), sending is outside of any. A mail is
marked as handed over just before the mail server gets it: after a crash before that mark it is claimed again, after it
never. A mail goes out twice only if the server takes it and its answer is lost: it is then sent again, under the same
Message-ID (docs/decisions/0040-one-mail-per-notice.md).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import groupby
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused
from typing import Final, Literal

import structlog
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import F

from games.actions import judgement, letters
from games.actions.judgement import Verdict
from games.actions.mailbox import mark_bounced
from games.models.notices import CHANNELS, EMAIL, SITE, TURN, Notice, Outbox, Reason

log = structlog.get_logger(__name__)

BATCH: Final = 100
"""So many notices are claimed at once: the mails of one claim are out, or given back, long before it is stale."""
STALE: Final = timedelta(minutes=5)
"""After so long a claim is that of a sender that died."""
MOST_TRIES: Final = 6
FIRST_WAIT: Final = timedelta(minutes=1)
"""Before the second try of one mail; doubled before each further one, so the last is an hour after the first."""
SERVER_WAIT: Final = timedelta(seconds=15)
LONGEST_SERVER_WAIT: Final = timedelta(minutes=5)
"""Before the next try of a mail server that is away; doubled each time, to no more than this."""

Letter = tuple[list[Notice], EmailMultiAlternatives | None]


def deliver(*, clock: Callable[[], datetime], most: int = 1000) -> int:
    """Show and send what is due, in the order it was written; gives the number of notices settled or put off."""
    done = 0
    while done < most:
        now = clock()
        claimed, settled = claim(now=now)
        done += settled
        if claimed:
            _send(letters.compose(claimed, now=now), clock)
            done += len(claimed)
        if settled + len(claimed) < BATCH:
            break
    return done


def claim(*, now: datetime) -> tuple[list[Notice], int]:
    """Look again at what is due. Gives the notices claimed for a mail, and how many others were settled or put off."""
    with transaction.atomic():
        _recover(now)
        due = Notice.objects.select_for_update(skip_locked=True, of=("self",)).filter(
            state=Notice.State.WAITING, due_at__lte=now, channel__in=_open_channels(now)
        )
        rows = list(due.select_related("user", "user__notice_settings").order_by("pk")[:BATCH])
        others = _companions(rows)
        verdicts = judgement.judge([*rows, *others], now=now)
        told = {row.user_id for row in rows if _is_turn_mail(row) and not verdicts[row.pk].reason}
        rows += [row for row in others if row.user_id in told and not verdicts[row.pk].reason]
        claim_id = uuid.uuid4()
        for row in rows:
            _settle(row, verdicts[row.pk], now, claim_id)
        fields = ["state", "reason", "since", "due_at", "claim"]
        Notice.objects.bulk_update(rows, fields)
    claimed = [row for row in rows if row.state == Notice.State.SENDING]
    return claimed, len(rows) - len(claimed)


def _open_channels(now: datetime) -> list[str]:
    """The channels that can be used now: no mail while it is held, or while its server is left alone."""
    box = Outbox.objects.filter(pk=1).first()
    closed = box is not None and (box.held_since is not None or (box.retry_at is not None and box.retry_at > now))
    return [channel for channel in CHANNELS if channel != EMAIL or not closed]


def _is_turn_mail(row: Notice) -> bool:
    return row.channel == EMAIL and row.kind == TURN


def _companions(rows: Sequence[Notice]) -> list[Notice]:
    """The other turns of the people who may get a turn mail now: several games become one mail."""
    people = {row.user_id for row in rows if _is_turn_mail(row)}
    if not people:
        return []
    others = Notice.objects.select_for_update(skip_locked=True, of=("self",)).filter(
        user__in=people, channel=EMAIL, kind=TURN, state=Notice.State.WAITING
    )
    others = others.exclude(pk__in=[row.pk for row in rows])
    return list(others.select_related("user", "user__notice_settings").order_by("pk"))


def _settle(row: Notice, verdict: Verdict, now: datetime, claim_id: uuid.UUID) -> None:
    row.reason, row.since = verdict.reason, now
    if verdict.until is not None:
        row.due_at = verdict.until
    elif verdict.reason:
        row.state = Notice.State.DROPPED
    elif row.channel == SITE:
        row.state = Notice.State.SENT
    else:
        row.state, row.claim = Notice.State.SENDING, claim_id


def _recover(now: datetime) -> None:
    """Take back the claims of senders that died; what they had handed over may be out, and is not sent again."""
    under_way = Notice.objects.filter(since__lt=now - STALE)
    under_way.filter(state=Notice.State.SENDING).update(state=Notice.State.WAITING, claim=None, since=now)
    under_way.filter(state=Notice.State.HANDED).update(state=Notice.State.FAILED, reason="unsure", since=now)


def _send(mails: Sequence[Letter], clock: Callable[[], datetime]) -> None:
    """Send these mails over one connection; if the server fails, those not handed over wait for it unchanged."""
    connection: BaseEmailBackend = get_connection()
    try:
        for n, (rows, message) in enumerate(mails):
            if message is None:
                _try_later(rows, clock())
            elif not _send_one(connection, rows, message, clock()):
                _server_failed([row for rest, _ in mails[n:] for row in rest], clock())
                return
        if mails:
            Outbox.objects.filter(pk=1, failures__gt=0).update(failures=0, retry_at=None)
    finally:
        _close(connection)


def _send_one(connection: BaseEmailBackend, rows: list[Notice], message: EmailMultiAlternatives, now: datetime) -> bool:
    """Send one mail and write down what became of it; False if the server cannot be talked to."""
    try:
        connection.open()
    except (OSError, SMTPException) as error:
        log.warning("mail server away", error=type(error).__name__)
        return False
    if not _hand_over(rows, now):
        return True  # somebody found this claim stale, and has it now
    try:
        connection.send_messages([message])
    except SMTPRecipientsRefused as refused:
        code = max((status for status, _ in refused.recipients.values()), default=0)
        _refused(rows, code, message.to[0], now)
        _close(connection)
    except SMTPDataError as refused:
        _try_later(rows, now)
        log.warning("mail refused", code=refused.smtp_code)
        _close(connection)
    except (OSError, SMTPException) as error:
        # The server did not say that it has the mail, so it is ours to send: under the same Message-ID.
        log.warning("mail server failed", error=type(error).__name__)
        return False
    else:
        _move(rows, Notice.State.SENT, now)
    return True


def _close(connection: BaseEmailBackend) -> None:
    with suppress(OSError, SMTPException):  # a server that is gone needs no goodbye
        connection.close()


def _hand_over(rows: list[Notice], now: datetime) -> bool:
    """Write down that the mail server is about to get this mail; False if the claim is no longer ours."""
    ours = Notice.objects.filter(pk__in=[row.pk for row in rows], claim=rows[0].claim, state=Notice.State.SENDING)
    return ours.update(state=Notice.State.HANDED, since=now) == len(rows)


def _move(rows: list[Notice], state: str, now: datetime, reason: Reason | Literal[""] = "") -> None:
    """Put the rows of one mail into another state."""
    Notice.objects.filter(pk__in=[row.pk for row in rows], claim=rows[0].claim).update(
        state=state, reason=reason, since=now
    )


def _refused(rows: list[Notice], code: int, address: str, now: datetime) -> None:
    """The server does not take mail for this address: for good (5xx), or for now."""
    if code < 500:
        _try_later(rows, now)
        return
    _move(rows, Notice.State.FAILED, now, "refused")
    mark_bounced(address=address, now=now)


def _try_later(rows: list[Notice], now: datetime) -> None:
    """Let this one mail wait, longer each time; give it up after `MOST_TRIES`."""
    for tries, same in groupby(sorted(rows, key=lambda row: row.tries), key=lambda row: row.tries + 1):
        found = list(same)
        if tries >= MOST_TRIES:
            _move(found, Notice.State.FAILED, now, "gave_up")
            continue
        Notice.objects.filter(pk__in=[row.pk for row in found], claim=found[0].claim).update(
            state=Notice.State.WAITING,
            reason="again",
            since=now,
            claim=None,
            tries=tries,
            due_at=now + FIRST_WAIT * 2 ** (tries - 1),
        )


def _server_failed(rows: list[Notice], now: datetime) -> None:
    """Give the claims back as they were, and leave the server alone for a while."""
    with transaction.atomic():
        Notice.objects.filter(pk__in=[row.pk for row in rows], claim=rows[0].claim).update(
            state=Notice.State.WAITING, reason="server", since=now, claim=None
        )
        Outbox.objects.get_or_create(pk=1)
        box = Outbox.objects.select_for_update().get(pk=1)
        box.retry_at = now + min(LONGEST_SERVER_WAIT, SERVER_WAIT * 2 ** min(box.failures, 10))
        box.failures = F("failures") + 1
        box.save(update_fields=["retry_at", "failures"])


def hold(*, why: str, now: datetime) -> None:
    """Send no mail until `release`; notices go on being written, and those on the site shown."""
    Outbox.objects.update_or_create(pk=1, defaults={"held_since": now, "held_why": why})


def release() -> bool:
    """Let mail go again, after a look whether it is still needed; False if it was not held."""
    return bool(Outbox.objects.filter(pk=1, held_since__isnull=False).update(held_since=None, held_why=""))
