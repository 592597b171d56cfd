"""Deliver due notices and mails: check them again, then show them on the site or claim them for sending.

A claim is one transaction. It skips rows that others have locked, so any number of senders can work. Then the channel
sends what was claimed and stores the result of each (docs/decisions/0040-one-mail-per-notice.md).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any, Final

from django.db import transaction

from common.run_all import run_all
from mail import claims
from mail.channels import CHANNELS, Channel
from mail.models import Delivery, Outbox
from mail.sources import Source, sources
from mail.verdicts import Reason, Verdict

BATCH: Final = 100
"""The most rows of one claim. Few enough that their mails are sent or given back long before the claim is stale."""


def deliver(*, clock: Callable[[], datetime], most: int = 1000) -> int:
    """Show and send what is due, oldest first; return the number of rows that were delivered, dropped or postponed.

    Each channel has its turn and a time of its own (`Channel.budget`), so that no server delays the channels before it
    at all, nor those after it for longer. Mails about accounts come before others, because people wait for them. Each
    source of a channel gets at most an equal share of its time, and what those before left.

    :raises ExceptionGroup: after all, if one of them failed.
    """
    begun, done, steps = dict[str, datetime](), list[int](), dict[str, Callable[[], None]]()
    for channel in CHANNELS.values():
        writers = [source for source in sources() if channel.name in source.channels]
        for n, source in enumerate(writers, 1):
            share = channel.budget * n / len(writers)
            steps[f"{source.name}_{channel.name}"] = partial(_deliver, channel, source, clock, begun, share, most, done)
    run_all(**steps)
    return sum(done)


def _deliver(
    channel: Channel,
    source: Source[Any],
    clock: Callable[[], datetime],
    begun: dict[str, datetime],
    share: timedelta,
    most: int,
    total: list[int],
) -> None:
    """Deliver the rows of one source in one channel.

    :param begun: when the turn of each channel began, to which the first source adds.
    :param share: how long after that the turn of this source ends.
    :param total: the number of rows is added to it.
    """
    if channel.name not in begun:
        begun[channel.name] = clock()
    until, done = begun[channel.name] + share, 0
    while done < most and (now := clock()) < until:
        claimed, settled = claim(channel, source, now=now)
        if claimed and channel.deliver is not None:
            channel.deliver(channel.compose(source, claimed, now), clock, until)
        done += settled + len(claimed)
        if settled + len(claimed) < BATCH:
            break
    total.append(done)


def claim(channel: Channel, source: Source[Any], *, now: datetime) -> tuple[list[Delivery], int]:
    """Check what is due; return the rows claimed for sending, and how many others were shown, dropped or postponed."""
    with transaction.atomic():
        claims.recover(now)
        if (channel.deliver is not None and is_held()) or not channel.is_open(now):
            return [], 0
        claim_id = uuid.uuid4()
        rows = []
        for row, verdict in source.judge_due(channel.name, now, BATCH):
            _settle(row, verdict, now, None if channel.deliver is None else claim_id)
            rows.append(row)
        Delivery.objects.bulk_update(rows, ["state", "reason", "since", "due_at", "claim", "tries"])
        going = [row for row in rows if row.state in (Delivery.State.SENDING, Delivery.State.SENT)]
        if going:
            channel.claimed(going, now)
    claimed = [row for row in going if row.state == Delivery.State.SENDING]
    return claimed, len(rows) - len(claimed)


def _settle(row: Delivery, verdict: Verdict, now: datetime, claim_id: uuid.UUID | None) -> None:
    """Update a row by its verdict. Without `claim_id` it goes by a channel that shows it immediately."""
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


def is_held() -> bool:
    return Outbox.objects.filter(held_since__isnull=False).exists()


def hold(*, why: str, now: datetime) -> None:
    """Send nothing until `release`. Notices are still written, and shown on the site."""
    Outbox.objects.update_or_create(pk=1, defaults={"held_since": now, "held_why": why})


def release() -> bool:
    """Send again, after checking that it is still needed; return False if nothing was on hold."""
    return bool(Outbox.objects.filter(pk=1, held_since__isnull=False).update(held_since=None, held_why=""))
