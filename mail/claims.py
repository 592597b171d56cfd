"""What becomes of claimed rows: handed over, sent, tried later or given up.

A row is marked as handed over just before the server gets it. After a crash before that mark it is claimed again, after
the mark never (docs/decisions/0040-one-mail-per-notice.md). The rows of a call are those of one mail or message.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby
from typing import Final, Literal

from django.db.models import QuerySet

from mail.models import Delivery
from mail.verdicts import Reason

STALE: Final = timedelta(minutes=5)
"""A claim older than this belongs to a sender that died."""
MOST_TRIES: Final = 6
WAITS: Final = tuple(timedelta(minutes=4**n) for n in range(MOST_TRIES - 1))
"""The waits before further tries of a mail. The last try is 6 hours after the first."""


def recover(now: datetime) -> None:
    """Take back the claims of senders that died. What they had handed over may have arrived, so it stays failed."""
    under_way = Delivery.objects.filter(since__lt=now - STALE)
    under_way.filter(state=Delivery.State.SENDING).update(state=Delivery.State.WAITING, claim=None, since=now)
    under_way.filter(state=Delivery.State.HANDED).update(state=Delivery.State.FAILED, reason=Reason.UNSURE, since=now)


def _stored(rows: Sequence[Delivery]) -> QuerySet[Delivery]:
    """Return the stored rows that their sender still has claimed."""
    return Delivery.objects.filter(pk__in=[row.pk for row in rows], claim=rows[0].claim)


def hand_over(rows: Sequence[Delivery], now: datetime) -> bool:
    """Mark rows as handed over, just before they are; return False if the claim is no longer ours."""
    ours = _stored(rows).filter(state=Delivery.State.SENDING)
    return ours.update(state=Delivery.State.HANDED, since=now) == len(rows)


def settle(rows: Sequence[Delivery], state: str, now: datetime, reason: Reason | Literal[""] = "") -> None:
    """Set the final state of rows, and its reason."""
    _stored(rows).update(state=state, reason=reason, since=now)


def try_later(
    rows: Sequence[Delivery],
    now: datetime,
    *,
    waits: Sequence[timedelta] = WAITS,
    at_least: timedelta = timedelta(0),
) -> None:
    """Postpone rows by the next of these waits, or give them up after the last.

    :param at_least: the shortest wait that the server asks for.
    """
    for tries, same in groupby(sorted(rows, key=lambda row: row.tries), key=lambda row: row.tries + 1):
        found = list(same)
        if tries > len(waits):
            settle(found, Delivery.State.FAILED, now, Reason.GAVE_UP)
            continue
        _stored(found).update(
            state=Delivery.State.WAITING,
            reason=Reason.AGAIN,
            since=now,
            claim=None,
            tries=tries,
            due_at=now + max(waits[tries - 1], at_least),
        )


def give_back(
    rows: Sequence[Delivery], now: datetime, reason: Reason | Literal[""] = "", *, due_at: datetime | None = None
) -> None:
    """Give up the claim on rows, so that any sender can claim them.

    :param due_at: when they are due now. Without it they are the first to be claimed, as before.
    """
    under_way = _stored(rows).filter(state__in=(Delivery.State.SENDING, Delivery.State.HANDED))
    given = {"state": Delivery.State.WAITING, "reason": reason, "since": now, "claim": None}
    under_way.update(**given, **({} if due_at is None else {"due_at": due_at}))
