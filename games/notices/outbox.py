"""From a row that is due to one that is shown or in the postman's hands: look again, claim, settle.

Claiming is one transaction (`SKIP LOCKED`, so any number of senders can work); `sending` sends outside of it
and writes down what became of each mail (docs/decisions/0040-one-mail-per-notice.md).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction

from accounts.models import AccountMail, Delivery
from games.models.notices import EMAIL, SITE, Notice, Outbox
from games.notices import account_mails, notice_mails, recheck, sending
from games.notices.kinds import Reason, Verdict
from games.notices.queue import Queue, Row

BATCH: Final = 100
"""So many rows are claimed at once: the mails of one claim are out, or given back, long before it is stale."""
STALE: Final = timedelta(minutes=5)
"""After so long a claim is that of a sender that died."""
BUDGET: Final = timedelta(seconds=20)
"""After so long no further mail is begun: a slow server must not keep a worker from all else."""

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
    """Show what is due, then send it, in the order it was written; gives the number of rows settled or put off.

    The site is first: nothing shown there waits for a mail server. Mails about accounts are next, because people wait
    for them. They get half of the time, so that any number of them leaves time for notices.
    """
    begun = clock()
    done = _deliver(SHOWN, clock, begun + BUDGET, most)
    done += _deliver(ACCOUNT_MAILS, clock, begun + BUDGET / 2, most)
    return done + _deliver(NOTICE_MAILS, clock, begun + BUDGET, most)


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
    """Look again at what is due. Gives the rows claimed for a mail, and how many others were settled or put off."""
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
        claimed = [row for row in rows if row.state == Delivery.State.SENDING]
        if claimed and box is not None and box.failures:
            box.retry_at = now + sending.LONGEST_SERVER_WAIT  # if its one sender dies
            box.save(update_fields=["retry_at"])
    return claimed, len(rows) - len(claimed)


def _outbox(now: datetime) -> Outbox | None:
    """The outbox, if mail may be claimed: not while it is held, or its server is left alone.

    After a failure it is locked, and None for others: of all senders only one tries the server.
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
    """Move a row by its verdict; without `claim_id` what is to be told is shown at once."""
    faults = row.tries + 1 if verdict.reason == Reason.FAULT else 0
    row.tries = faults if faults or row.reason == Reason.FAULT else row.tries
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
    """Take back the claims of senders that died; what they had handed over may be out, and is not sent again."""
    under_way: Any = model._default_manager.filter(since__lt=now - STALE)
    under_way.filter(state=Delivery.State.SENDING).update(state=Delivery.State.WAITING, claim=None, since=now)
    under_way.filter(state=Delivery.State.HANDED).update(state=Delivery.State.FAILED, reason=Reason.UNSURE, since=now)


def hold(*, why: str, now: datetime) -> None:
    """Send no mail until `release`; notices go on being written, and those on the site shown."""
    Outbox.objects.update_or_create(pk=1, defaults={"held_since": now, "held_why": why})


def release() -> bool:
    """Let mail go again, after a look whether it is still needed; False if it was not held."""
    return bool(Outbox.objects.filter(pk=1, held_since__isnull=False).update(held_since=None, held_why=""))
