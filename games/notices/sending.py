"""Send claimed mails and store the result of each.

A mail is marked as handed over just before the server gets it. After a crash before that mark it is claimed again,
after the mark never. It is sent twice only if the server accepts it and the server's reply is lost. It then has the
same Message-ID and is tried at most `MOST_TRIES` times (docs/decisions/0040-one-mail-per-notice.md).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import groupby
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused, SMTPSenderRefused
from typing import Final, Literal

import structlog
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import F, QuerySet

from accounts.models import Delivery
from games.models.notices import Outbox
from games.notices.kinds import Reason
from games.notices.preferences import mark_bounced
from games.notices.queue import ClaimedMail
from mail.smtp_replies import is_permanent

log = structlog.get_logger(__name__)

SERVER_TIMEOUT: Final = 60.0
"""Seconds that the mail server may take for one reply. Servers that scan the whole mail can be slow."""
MOST_TRIES: Final = 6
FIRST_WAIT: Final = timedelta(minutes=1)
"""The wait before the second try of a mail. It grows fourfold each time, so the last try is 6 hours after the first."""
SERVER_WAIT: Final = timedelta(seconds=15)
LONGEST_SERVER_WAIT: Final = timedelta(minutes=5)
"""The first and the longest wait before another try of a server that failed. The wait doubles each time."""
TOO_BIG: Final = 552
"""The only refusal of the sender that is about a single mail: the mail is too big (RFC 1870)."""


def send(mails: Sequence[ClaimedMail[Delivery]], *, clock: Callable[[], datetime], until: datetime) -> None:
    """Send these mails over one connection. After `until` no further mail is started, except the first.

    Mails that are left are given back to the queue. If the server fails, it is left alone for a while, longer after
    each failure.
    """
    connection: BaseEmailBackend = get_connection(timeout=SERVER_TIMEOUT)
    reached = False
    try:
        for n, (rows, message) in enumerate(mails):
            now, left = clock(), [row for rest, _ in mails[n:] for row in rest]
            if n and now >= until:
                _give_back(left, now)
                break
            if message is None:
                _try_later(rows, now)
            elif _send_one(connection, rows, message, clock):
                reached = True
            else:
                _server_failed(left, clock())
                return
        if reached:
            Outbox.objects.filter(pk=1, failures__gt=0).update(failures=0, retry_at=None)
    finally:
        _close(connection)


def _send_one(
    connection: BaseEmailBackend,
    rows: Sequence[Delivery],
    message: EmailMultiAlternatives,
    clock: Callable[[], datetime],
) -> bool:
    """Send one mail and store the result; return False if the server failed."""
    try:
        connection.open()
    except (OSError, SMTPException) as error:
        log.warning("mail server away", error=type(error).__name__)
        return False
    if not _hand_over(rows, clock()):
        return True  # the claim was stale, and another sender has taken it over
    try:
        connection.send_messages([message])
    except Exception as error:  # noqa: BLE001  # whatever it is, send the others
        return _not_sent(connection, rows, message, error, clock())
    _move(rows, Delivery.State.SENT, clock())
    return True


def _not_sent(
    connection: BaseEmailBackend,
    rows: Sequence[Delivery],
    message: EmailMultiAlternatives,
    error: Exception,
    now: datetime,
) -> bool:
    """Store the failure of a mail; return False if the server failed, True if only this mail did.

    The server has not confirmed the mail, so it is tried again later with the same Message-ID. Each try counts, because
    the mail itself may be at fault.
    """
    if isinstance(error, SMTPSenderRefused) and error.smtp_code != TOO_BIG:
        log.error("mail server refuses the sender", code=error.smtp_code)
        return False  # it would refuse every mail
    if isinstance(error, SMTPRecipientsRefused):
        _refused(rows, message.to[0], error, now)
    else:
        _try_later(rows, now)
    _close(connection)
    match error:
        case SMTPRecipientsRefused():
            return True
        case SMTPDataError() | SMTPSenderRefused():
            log.warning("mail refused", code=error.smtp_code)
            return True
        case OSError():
            log.warning("mail server failed", error=type(error).__name__)
            return False
    log.error("a mail broke its sender")
    return True


def _close(connection: BaseEmailBackend) -> None:
    with suppress(OSError, SMTPException):  # the server may be gone already
        connection.close()


def _stored(rows: Sequence[Delivery]) -> QuerySet[Delivery]:
    """Return the stored rows of one mail that its sender still has claimed."""
    stored = type(rows[0])._default_manager.filter(pk__in=[row.pk for row in rows])
    return stored.filter(claim=rows[0].claim)


def _hand_over(rows: Sequence[Delivery], now: datetime) -> bool:
    """Mark a mail as handed over, just before it is sent; return False if the claim is no longer ours."""
    ours = _stored(rows).filter(state=Delivery.State.SENDING)
    return ours.update(state=Delivery.State.HANDED, since=now) == len(rows)


def _move(rows: Sequence[Delivery], state: str, now: datetime, reason: Reason | Literal[""] = "") -> None:
    """Set the state and the reason of the rows of one mail."""
    _stored(rows).update(state=state, reason=reason, since=now)


def _refused(rows: Sequence[Delivery], address: str, refused: SMTPRecipientsRefused, now: datetime) -> None:
    """Store a refusal of the address, and mark it as bounced if the refusal is permanent."""
    code, reply = next(iter(refused.recipients.values()))  # keyed by the encoded address
    if is_permanent(code, reply):
        _move(rows, Delivery.State.FAILED, now, Reason.REFUSED)
        mark_bounced(address=address, now=now)
        return
    _try_later(rows, now)
    # Log the code only, because the reply may contain the address. A 5xx code here is mostly a misconfigured relay.
    log.log(logging.ERROR if code >= 500 else logging.WARNING, "mail server refuses the recipient", code=code)


def _try_later(rows: Sequence[Delivery], now: datetime) -> None:
    """Postpone this mail, longer each time, or give it up after `MOST_TRIES`."""
    for tries, same in groupby(sorted(rows, key=lambda row: row.tries), key=lambda row: row.tries + 1):
        found = list(same)
        if tries >= MOST_TRIES:
            _move(found, Delivery.State.FAILED, now, Reason.GAVE_UP)
            continue
        _stored(found).update(
            state=Delivery.State.WAITING,
            reason=Reason.AGAIN,
            since=now,
            claim=None,
            tries=tries,
            due_at=now + FIRST_WAIT * 4 ** (tries - 1),
        )


def _give_back(rows: Sequence[Delivery], now: datetime, reason: Reason | Literal[""] = "") -> None:
    """Give up the claim on these rows, so that any sender can claim them."""
    under_way = (Delivery.State.SENDING, Delivery.State.HANDED)
    _stored(rows).filter(state__in=under_way).update(state=Delivery.State.WAITING, reason=reason, since=now, claim=None)


def _server_failed(rows: Sequence[Delivery], now: datetime) -> None:
    """Give up the claims on these rows, and schedule the next try of the server."""
    with transaction.atomic():
        _give_back(rows, now, Reason.SERVER)
        Outbox.objects.get_or_create(pk=1)
        box = Outbox.objects.select_for_update().get(pk=1)
        box.retry_at = now + min(LONGEST_SERVER_WAIT, SERVER_WAIT * 2 ** min(box.failures, 10))
        box.failures = F("failures") + 1
        box.save(update_fields=["retry_at", "failures"])
