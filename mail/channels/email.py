"""Mails to the people's addresses, over one connection to the mail server.

A mail is marked as handed over just before the server gets it. It is sent twice only if the server accepts it and the
server's reply is lost. It then has the same Message-ID and is tried at most `claims.MOST_TRIES` times
(docs/decisions/0040-one-mail-per-notice.md).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from smtplib import SMTPDataError, SMTPException, SMTPRecipientsRefused, SMTPSenderRefused
from typing import Any, Final

import structlog
from allauth.account.models import EmailAddress
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.mail import EmailMultiAlternatives, get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import F
from django.dispatch import Signal

from common.say import N_
from mail import claims
from mail.addresses import is_sent_as_written
from mail.channels.base import Channel, person_check
from mail.models import EMAIL as NAME
from mail.models import Delivery, Outbox
from mail.smtp_replies import is_permanent
from mail.sources import ClaimedMail, Kind
from mail.verdicts import Reason, Verdict

log = structlog.get_logger(__name__)

SERVER_TIMEOUT: Final = 60.0
"""Seconds that the mail server may take for one reply. Servers that scan the whole mail can be slow."""
SERVER_WAIT: Final = timedelta(seconds=15)
LONGEST_SERVER_WAIT: Final = timedelta(minutes=5)
"""The first and the longest wait before another try of a server that failed. The wait doubles each time."""
TOO_BIG: Final = 552
"""The only refusal of the sender that is about a single mail: the mail is too big (RFC 1870)."""
BOUNCE_WAIT: Final = timedelta(days=1)
BOUNCE_PATIENCE: Final = timedelta(days=14)

bounced: Final = Signal()
"""Sent when the mail server says that an `address` does not accept mail, with the time (`now`)."""


@dataclass(frozen=True, slots=True)
class MailAddress:
    """The address that somebody gets mail at, and whether it is confirmed."""

    email: str
    verified: bool


def mail_addresses(users: Collection[int]) -> dict[int, MailAddress]:
    """Return the primary address of each of these users (ids) who has one that can get mail. Runs two queries."""
    found = {
        pk: MailAddress(email, verified=False)
        for pk, email in get_user_model().objects.filter(pk__in=users).exclude(email="").values_list("pk", "email")
    }
    for address in EmailAddress.objects.filter(user__in=users).order_by("primary", "-pk"):
        found[address.user_id] = MailAddress(address.email, address.verified)
    # Addresses from before 0.1.0 were not checked for this.
    return {pk: address for pk, address in found.items() if is_sent_as_written(address.email)}


def may_send(row: Any, kind: Kind, address: MailAddress | None, now: datetime, turn_ends: datetime | None) -> Verdict:
    """Return whether the person can get this mail now: their address, then their account and the hour."""
    if address is None:
        return Verdict(Reason.NO_ADDRESS)
    if settings.MAIL_NEEDS_VERIFIED and not address.verified:
        return Verdict(Reason.UNVERIFIED)
    known = getattr(row.user, "notice_settings", None)
    if known is not None and known.bounced.casefold() == address.email.casefold():
        return Verdict(Reason.BOUNCED, None if now - row.created_at > BOUNCE_PATIENCE else now + BOUNCE_WAIT)
    return person_check(row, kind, now, turn_ends, wakes_nobody=True)


def _is_open(now: datetime) -> bool:
    """Return False if the next try of a failed mail server is not due yet.

    After a failure of the server the outbox is locked, so that only one sender tries the server. Others get False.
    """
    box = Outbox.objects.filter(pk=1).first() or Outbox(pk=1)
    if box.failures:
        found = Outbox.objects.select_for_update(skip_locked=True).filter(pk=1).first()
        if found is None:
            return False
        box = found
    return box.retry_at is None or box.retry_at <= now


def _claimed(rows: Sequence[Delivery], now: datetime) -> None:
    # In case the one sender that tries a failed server dies.
    Outbox.objects.filter(pk=1, failures__gt=0).update(retry_at=now + LONGEST_SERVER_WAIT)


def _send(mails: Sequence[ClaimedMail], clock: Callable[[], datetime], until: datetime) -> None:
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
                claims.give_back(left, now)
                break
            if message is None:
                claims.try_later(rows, now)
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
    if not claims.hand_over(rows, clock()):
        return True  # the claim was stale, and another sender has taken it over
    try:
        connection.send_messages([message])
    except Exception as error:  # noqa: BLE001  # whatever it is, send the others
        return _not_sent(connection, rows, message, error, clock())
    claims.settle(rows, Delivery.State.SENT, clock())
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
        claims.try_later(rows, now)
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


def _refused(rows: Sequence[Delivery], address: str, refused: SMTPRecipientsRefused, now: datetime) -> None:
    """Store a refusal of the address, and mark it as bounced if the refusal is permanent."""
    code, reply = next(iter(refused.recipients.values()))  # keyed by the encoded address
    if is_permanent(code, reply):
        claims.settle(rows, Delivery.State.FAILED, now, Reason.REFUSED)
        bounced.send(None, address=address, now=now)
        return
    claims.try_later(rows, now)
    # Log the code only, because the reply may contain the address. A 5xx code here is mostly a misconfigured relay.
    log.log(logging.ERROR if code >= 500 else logging.WARNING, "mail server refuses the recipient", code=code)


def _server_failed(rows: Sequence[Delivery], now: datetime) -> None:
    """Give up the claims on these rows, and schedule the next try of the server."""
    with transaction.atomic():
        claims.give_back(rows, now, Reason.SERVER)
        Outbox.objects.get_or_create(pk=1)
        box = Outbox.objects.select_for_update().get(pk=1)
        box.retry_at = now + min(LONGEST_SERVER_WAIT, SERVER_WAIT * 2 ** min(box.failures, 10))
        box.failures = F("failures") + 1
        box.save(update_fields=["retry_at", "failures"])


EMAIL: Final = Channel(
    NAME,
    N_("By email"),
    claimed=_claimed,
    is_open=_is_open,
    addresses=mail_addresses,
    may_send=may_send,
    compose=lambda source, rows, now: source.mails(rows, now),
    deliver=_send,
)
