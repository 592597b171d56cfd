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
"""A turn that ends so soon after quiet hours leaves no time after them."""


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
    queue: The order in which due rows are served.
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
    queue: Sequence[str] = ("due_at", "pk")
    budget: timedelta = timedelta(seconds=20)

    def reaches(self, user: Any) -> bool:
        """Return True if the channel reaches this user: others get no rows for it, and no column among the settings."""
        return (self.to_guests or not user.is_guest) and (not self.only_if or getattr(user, self.only_if))


def person_check(
    row: Any, kind: Kind, now: datetime, turn_ends: datetime | None, *, wakes_nobody: bool = False
) -> Verdict:
    """Check the reader's account and the time: the last check of a channel.

    Drops messages to people whose account is closed, and to suspended ones unless the kind is sent to them. Holds
    messages back during vacation and quiet hours, unless their kind does not wait, or the turn ends before the end of
    the vacation.

    :param wakes_nobody: messages about a turn are sent in quiet hours if it ends before their end or soon after.
    """
    if not row.user.is_active or (row.user.suspended(now) and not kind.while_suspended):
        return Verdict(Reason.CLOSED)
    time_off = row.user.time_off
    back, morning = time_off.resumes_at(now), time_off.quiet_end(now)
    # Not all tables stop for vacations.
    ends_before = kind.turn and turn_ends is not None and turn_ends < back
    if not kind.on_vacation and back > now and not ends_before:
        return Verdict(Reason.VACATION, back)
    ends_soon = wakes_nobody and kind.turn and turn_ends is not None and turn_ends < morning + NEAR
    return SEND if kind.in_quiet_hours or morning <= now or ends_soon else Verdict(Reason.NIGHT, morning)
