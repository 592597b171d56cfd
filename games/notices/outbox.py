"""Deliver due notices and mails: check them again, then show them on the site or claim them for sending.

A claim is one transaction. It skips rows that others have locked, so any number of senders can work. Then `sending`
sends the mails and stores the result of each (docs/decisions/0040-one-mail-per-notice.md).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction

from accounts.models import AccountMail, Delivery
from games import announce
from games.batch import run_all
from games.models.notices import EMAIL, SITE, Notice, Outbox
from games.notices import account_mails, notice_mails, recheck, sending
from games.notices.kinds import Reason, Verdict
from games.notices.queue import Queue, Row

BATCH: Final = 100
"""The most rows of one claim. Few enough that their mails are sent or given back long before the claim is stale."""
STALE: Final = timedelta(minutes=5)
"""A claim older than this belongs to a sender that died."""
BUDGET: Final = timedelta(seconds=20)
"""No further mail is started after this time, so that a slow mail server does not block the worker."""

SHOWN: Final = Queue(Notice, judge_due=lambda now: recheck.judge_due(SITE, now=now, most=BATCH))
ACCOUNT_MAILS: Final = Queue(
    AccountMail,
    judge_due=lambda now: account_mails.judge_due(now=now, most=BATCH),
    compose=lambda rows, now: account_mails.compose(rows, now=now),
)
NOTICE_MAILS: Final = Queue(
    Notice,
    judge_due=lambda now: recheck.judge_due(EMAIL, now=now, most=BATCH),
    compose=lambda rows, now: notice_mails.compose(rows, now=now),
)


def deliver(*, clock: Callable[[], datetime], most: int = 1000) -> int:
    """Show and send what is due, oldest first; return the number of rows that were delivered, dropped or postponed.

    Notices on the site come first, so that they do not wait for a mail server. Mails about accounts come next, because
    people wait for them. They get half of the time at most, so that notices by mail get the rest.

    :raises ExceptionGroup: after all three, if one of them failed.
    """
    begun, done = clock(), list[int]()

    def step(queue: Queue[Any], share: float) -> Callable[[], None]:
        return lambda: done.append(_deliver(queue, clock, begun + BUDGET * share, most))

    run_all(shown=step(SHOWN, 1), account_mails=step(ACCOUNT_MAILS, 0.5), notice_mails=step(NOTICE_MAILS, 1))
    return sum(done)


def _deliver(queue: Queue[Row], clock: Callable[[], datetime], until: datetime, most: int) -> int:
    done = 0
    while done < most and (now := clock()) < until:
        claimed, settled = claim(queue, now=now)
        if claimed and queue.compose is not None:
            sending.send(queue.compose(claimed, now), clock=clock, until=until)
        done += settled + len(claimed)
        if settled + len(claimed) < BATCH:
            break
    return done


def claim(queue: Queue[Row], *, now: datetime) -> tuple[list[Row], int]:
    """Check what is due; return the rows claimed for mails, and how many others were shown, dropped or postponed."""
    mailed = queue.compose is not None
    with transaction.atomic():
        _recover(queue.model, now)
        box = _outbox(now) if mailed else None
        if mailed and box is None:
            return [], 0
        claim_id = uuid.uuid4()
        rows = []
        for row, verdict in queue.judge_due(now):
            _settle(row, verdict, now, claim_id if mailed else None)
            rows.append(row)
        fields = ["state", "reason", "since", "due_at", "claim", "tries"]
        queue.model._default_manager.bulk_update(rows, fields)
        shown = {row.user_id for row in rows if isinstance(row, Notice) and row.state == Notice.State.SENT}
        for reader in sorted(shown):
            announce.person_news(reader)
        claimed = [row for row in rows if row.state == Delivery.State.SENDING]
        if claimed and box is not None and box.failures:
            box.retry_at = now + sending.LONGEST_SERVER_WAIT  # in case the one sender dies
            box.save(update_fields=["retry_at"])
    return claimed, len(rows) - len(claimed)


def _outbox(now: datetime) -> Outbox | None:
    """Return the outbox, or None if mail is on hold or the next try of a failed mail server is not due yet.

    After a failure of the server the outbox is locked, so that only one sender tries the server. Others get None.
    """
    box = Outbox.objects.filter(pk=1).first() or Outbox(pk=1)
    if box.failures:
        found = Outbox.objects.select_for_update(skip_locked=True).filter(pk=1).first()
        if found is None:
            return None
        box = found
    closed = box.held_since is not None or (box.retry_at is not None and box.retry_at > now)
    return None if closed else box


def _settle(row: Delivery, verdict: Verdict, now: datetime, claim_id: uuid.UUID | None) -> None:
    """Update a row by its verdict. Without `claim_id` it is a notice on the site, which is shown immediately."""
    if verdict.reason == Reason.FAULT:
        row.tries += 1
    elif row.reason == Reason.FAULT:
        row.tries = 0  # they counted faults
    row.reason, row.since = verdict.reason, now
    if verdict.until is not None:
        row.due_at = verdict.until
    elif verdict.reason:
        row.state = Delivery.State.DROPPED
    elif claim_id is None:
        row.state = Delivery.State.SENT
    else:
        row.state, row.claim = Delivery.State.SENDING, claim_id


def _recover(model: type[Delivery], now: datetime) -> None:
    """Take back the claims of senders that died. Mails they had handed over may have been sent, so they stay failed."""
    under_way: Any = model._default_manager.filter(since__lt=now - STALE)
    under_way.filter(state=Delivery.State.SENDING).update(state=Delivery.State.WAITING, claim=None, since=now)
    under_way.filter(state=Delivery.State.HANDED).update(state=Delivery.State.FAILED, reason=Reason.UNSURE, since=now)


def hold(*, why: str, now: datetime) -> None:
    """Send no mail until `release`. Notices are still written, and shown on the site."""
    Outbox.objects.update_or_create(pk=1, defaults={"held_since": now, "held_why": why})


def release() -> bool:
    """Send mail again, after checking that it is still needed; return False if it was not on hold."""
    return bool(Outbox.objects.filter(pk=1, held_since__isnull=False).update(held_since=None, held_why=""))
