"""What the site knows about a channel."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from mail.kinds import Kind
from mail.models import Delivery
from mail.sources import Source
from mail.verdicts import SEND, Verdict


class MaySend(Protocol):
    """Says whether a notice of this kind may go to its reader now, at this address (None if there is none)."""

    def __call__(self, row: Any, kind: Kind, address: Any, *, now: datetime, turn_ends: datetime | None) -> Verdict: ...


def _no_addresses(people: Collection[int]) -> Mapping[int, Any]:
    return {}


def _at_any_time(row: Any, kind: Kind, address: Any, *, now: datetime, turn_ends: datetime | None) -> Verdict:
    return SEND


@dataclass(frozen=True, slots=True)
class Sender:
    """How a channel hands over what was claimed, after the transaction of the claim.

    compose: Make the messages of claimed rows.
    deliver: Hand them over until a time, and store what came back. Gets what `compose` returned and a clock.
    """

    compose: Callable[[Source[Any], Sequence[Delivery], datetime], Sequence[Any]]
    deliver: Callable[[Sequence[Any], Callable[[], datetime], datetime], None]


@dataclass(frozen=True, slots=True)
class Channel:
    """A way to reach people.

    name: The stored value.
    title: The name on pages.
    claimed: Called with the rows that go out, at the end of the transaction that claims them.
    sender: None for a channel in which a row has arrived with that transaction.
    is_open: Whether anything may go out now. Called in that transaction.
    addresses: The addresses of people by their ids, read for many at once.
    may_send: Whether a notice may go to its reader now. Its `turn_ends` is the deadline of the turn it is about.
    to_guests: Guests can be reached.
    """

    name: str
    title: str
    claimed: Callable[[Sequence[Delivery], datetime], None]
    sender: Sender | None = None
    is_open: Callable[[datetime], bool] = lambda now: True
    addresses: Callable[[Collection[int]], Mapping[int, Any]] = _no_addresses
    may_send: MaySend = _at_any_time
    to_guests: bool = False
