"""Claimed mails go to the mail server, and what became of each is written down.

A mail is marked as handed over just before the server gets it: after a crash before that mark it is claimed again,
after it never. It goes out twice only if the server takes it and its answer is lost: it is then sent again, under the
same Message-ID, `MOST_TRIES` times at most (docs/decisions/0040-one-mail-per-notice.md).
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
from games.notices.queue import Letter
from games.notices.smtp_replies import is_about_the_address

log = structlog.get_logger(__name__)

PATIENCE: Final = 60.0
"""Seconds that the mail server may take for one answer; it has the whole mail by then, and may be looking into it."""
MOST_TRIES: Final = 6
FIRST_WAIT: Final = timedelta(minutes=1)
"""Before the second try of one mail; four times as long before each further one, so the last is 6 h after the first."""
SERVER_WAIT: Final = timedelta(seconds=15)
LONGEST_SERVER_WAIT: Final = timedelta(minutes=5)
"""Before the next try of a mail server that is away; doubled each time, to no more than this."""
TOO_BIG: Final = 552
"""Of all refusals of the sender the one that is meant for a single mail (RFC 1870)."""


def send(mails: Sequence[Letter[Delivery]], *, clock: Callable[[], datetime], until: datetime) -> None:
    """Send these mails over one connection, the first of them and what can be begun `until` then.

    What is left is given back as it was, also if the server fails: then it is left alone for a while, ever longer until
    a connection to it is opened.
    """
    connection: BaseEmailBackend = get_connection(timeout=PATIENCE)
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
    """Send one mail and write down what became of it; False if the server cannot be talked to."""
    try:
        connection.open()
    except (OSError, SMTPException) as error:
        log.warning("mail server away", error=type(error).__name__)
        return False
    if not _hand_over(rows, clock()):
        return True  # somebody found this claim stale, and has it now
    try:
        connection.send_messages([message])
    except Exception as error:  # noqa: BLE001  # whatever it is, the others go out
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
    """Write down what became of a mail that the server has not taken; False if the server failed, not only this mail.

    The server did not say that it has the mail, so it is ours to send, under the same Message-ID. But the fault may lie
    in this very mail: each try counts, and it waits while others go out.
    """
    if isinstance(error, SMTPSenderRefused) and error.smtp_code != TOO_BIG:
        log.error("mail server refuses the sender", code=error.smtp_code)
        return False  # and so it would any mail
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
    with suppress(OSError, SMTPException):  # a server that is gone needs no goodbye
        connection.close()


def _stored(rows: Sequence[Delivery]) -> QuerySet[Delivery]:
    """The rows of one mail as they are stored, those that its sender still has claimed."""
    stored = type(rows[0])._default_manager.filter(pk__in=[row.pk for row in rows])
    return stored.filter(claim=rows[0].claim)


def _hand_over(rows: Sequence[Delivery], now: datetime) -> bool:
    """Write down that the mail server is about to get this mail; False if the claim is no longer ours."""
    ours = _stored(rows).filter(state=Delivery.State.SENDING)
    return ours.update(state=Delivery.State.HANDED, since=now) == len(rows)


def _move(rows: Sequence[Delivery], state: str, now: datetime, reason: Reason | Literal[""] = "") -> None:
    """Put the rows of one mail into another state."""
    _stored(rows).update(state=state, reason=reason, since=now)


def _refused(rows: Sequence[Delivery], address: str, refused: SMTPRecipientsRefused, now: datetime) -> None:
    """The server does not take mail for this address: it is no good, or the server means something else."""
    code, said = next(iter(refused.recipients.values()))  # keyed by the address as it goes over the wire
    if is_about_the_address(code, said):
        _move(rows, Delivery.State.FAILED, now, Reason.REFUSED)
        mark_bounced(address=address, now=now)
        return
    _try_later(rows, now)
    # The words of a server may hold the address; a code of the 500s here is mostly a relay that is set up wrongly.
    log.log(logging.ERROR if code >= 500 else logging.WARNING, "mail server serves no such mail", code=code)


def _try_later(rows: Sequence[Delivery], now: datetime) -> None:
    """Let this one mail wait, longer each time; give it up after `MOST_TRIES`."""
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
    """Let what is still claimed be claimed again, by anybody."""
    under_way = (Delivery.State.SENDING, Delivery.State.HANDED)
    _stored(rows).filter(state__in=under_way).update(state=Delivery.State.WAITING, reason=reason, since=now, claim=None)


def _server_failed(rows: Sequence[Delivery], now: datetime) -> None:
    """Give the claims back as they were, and leave the server alone for a while."""
    with transaction.atomic():
        _give_back(rows, now, Reason.SERVER)
        Outbox.objects.get_or_create(pk=1)
        box = Outbox.objects.select_for_update().get(pk=1)
        box.retry_at = now + min(LONGEST_SERVER_WAIT, SERVER_WAIT * 2 ** min(box.failures, 10))
        box.failures = F("failures") + 1
        box.save(update_fields=["retry_at", "failures"])
