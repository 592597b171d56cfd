"""What the site knows about a channel."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from mail.models import Delivery
from mail.sources import Kind, Source
from mail.verdicts import SEND, Reason, Verdict

NEAR: Final = timedelta(hours=1)
"""A message about a turn is sent in quiet hours if the turn ends before their end or this soon after it."""


@dataclass(frozen=True, slots=True)
class Channel:
    """A way to reach people.

    name: The stored value.
    title: The name on pages.
    is_open: Whether anything may go out now. Called in the transaction of a claim.
    addresses: The addresses of people by their ids, read for many at once.
    may_send: Whether a notice of this kind may go to its reader at this address (None if there is none), now, with the
        deadline of the turn that it is about.
    claimed: Called with the rows that go out, at the end of the transaction that claims them.
    compose: Make the messages of claimed rows, after that transaction.
    deliver: Hand over these messages until a time, and store what came back. None for a channel in which a row has
        arrived with the transaction.
    to_guests: Guests can be reached.
    only_if: The column of `User` that says whether the channel reaches somebody. Others get no rows for it. "" if it
        reaches everybody.
    budget: After this time in one turn of the channel, no further message is started.
    """

    name: str
    title: str
    claimed: Callable[[Sequence[Delivery], datetime], None] = lambda rows, now: None
    is_open: Callable[[datetime], bool] = lambda now: True
    addresses: Callable[[Collection[int]], Mapping[int, Any]] = lambda people: {}
    may_send: Callable[[Delivery, Kind, Any, datetime, datetime | None], Verdict] = lambda *_: SEND
    compose: Callable[[Source[Any], Sequence[Delivery], datetime], Sequence[Any]] = lambda source, rows, now: rows
    deliver: Callable[[Sequence[Any], Callable[[], datetime], datetime], None] | None = None
    to_guests: bool = False
    only_if: str = ""
    budget: timedelta = timedelta(seconds=20)

    def reaches(self, user: Any) -> bool:
        """Return True if the channel reaches this user: others get no rows for it, and no column among the settings."""
        return (self.to_guests or not user.is_guest) and (not self.only_if or getattr(user, self.only_if))


def account_check(row: Any, kind: Kind, now: datetime) -> Verdict:
    """Drop messages to people whose account is closed, and to suspended ones unless the kind is sent to them."""
    suspended = row.user.suspended(now) and not kind.while_suspended
    return Verdict(Reason.CLOSED) if suspended or not row.user.is_active else SEND


def hour_check(row: Any, kind: Kind, now: datetime, turn_ends: datetime | None) -> Verdict:
    """Hold messages back during vacation and quiet hours, unless their kind does not wait or the turn ends soon."""
    time_off = row.user.time_off
    back = time_off.resumes_at(now)
    # Not all tables stop for vacations.
    ends_before = kind.turn and turn_ends is not None and turn_ends < back
    if not kind.on_vacation and back > now and not ends_before:
        return Verdict(Reason.VACATION, back)
    morning = time_off.quiet_end(now)
    if kind.in_quiet_hours or morning <= now:
        return SEND
    if kind.turn and turn_ends is not None and turn_ends < morning + NEAR:
        return SEND
    return Verdict(Reason.NIGHT, morning)
