"""From a notice that is due to one that is shown or in the postman's hands: look again, claim, settle.

Claiming is one transaction (`SKIP LOCKED`, so any number of senders can work); `postman` sends outside of it
and writes down what became of each mail (docs/decisions/0040-one-mail-per-notice.md).
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from games.actions.notices import judgement, letters, postman
from games.actions.notices.judgement import Verdict
from games.models.notices import CHANNELS, EMAIL, SITE, TURN, Notice, Outbox

BATCH: Final = 100
"""So many notices are claimed at once: the mails of one claim are out, or given back, long before it is stale."""
STALE: Final = timedelta(minutes=5)
"""After so long a claim is that of a sender that died."""
BUDGET: Final = timedelta(seconds=20)
"""After so long no further mail is begun: a slow server must not keep a worker from all else."""


def deliver(*, clock: Callable[[], datetime], most: int = 1000) -> int:
    """Show what is due, then send it, in the order it was written; gives the number of notices settled or put off."""
    until, done = clock() + BUDGET, 0
    for channel in CHANNELS:  # the site is first: nothing shown there waits for a mail server
        done += _deliver(channel, clock, until, most)
    return done


def _deliver(channel: str, clock: Callable[[], datetime], until: datetime, most: int) -> int:
    done = 0
    while done < most and (now := clock()) < until:
        claimed, settled = claim(now=now, channel=channel)
        if claimed:
            postman.send(letters.compose(claimed, now=now), clock=clock, until=until)
        done += settled + len(claimed)
        if settled + len(claimed) < BATCH:
            break
    return done


def claim(*, now: datetime, channel: str) -> tuple[list[Notice], int]:
    """Look again at what is due. Gives the notices claimed for a mail, and how many others were settled or put off."""
    with transaction.atomic():
        _recover(now)
        box = _outbox(now) if channel == EMAIL else None
        if channel == EMAIL and box is None:
            return [], 0
        due = Notice.objects.select_for_update(skip_locked=True, of=("self",)).filter(
            state=Notice.State.WAITING, due_at__lte=now, channel=channel
        )
        rows = list(due.select_related("user", "user__notice_settings").order_by("pk")[:BATCH])
        others = _companions(rows)
        verdicts = judgement.judge([*rows, *others], now=now)
        told = {row.user_id for row in rows if _is_turn_mail(row) and not verdicts[row.pk].reason}
        rows += [row for row in others if row.user_id in told and not verdicts[row.pk].reason]
        claim_id = uuid.uuid4()
        for row in rows:
            _settle(row, verdicts[row.pk], now, claim_id)
        fields = ["state", "reason", "since", "due_at", "claim", "tries"]
        Notice.objects.bulk_update(rows, fields)
        claimed = [row for row in rows if row.state == Notice.State.SENDING]
        if claimed and box is not None and box.failures:
            box.retry_at = now + postman.LONGEST_SERVER_WAIT  # if its one sender dies
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
    faults = row.tries + 1 if verdict.reason == "fault" else 0
    row.tries = faults if faults or row.reason == "fault" else row.tries
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


def hold(*, why: str, now: datetime) -> None:
    """Send no mail until `release`; notices go on being written, and those on the site shown."""
    Outbox.objects.update_or_create(pk=1, defaults={"held_since": now, "held_why": why})


def release() -> bool:
    """Let mail go again, after a look whether it is still needed; False if it was not held."""
    return bool(Outbox.objects.filter(pk=1, held_since__isnull=False).update(held_since=None, held_why=""))
