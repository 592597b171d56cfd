"""What the site knows about a channel."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from mail.models import Delivery
from mail.sources import Kind, Source
from mail.verdicts import SEND, Verdict


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
    """

    name: str
    title: str
    claimed: Callable[[Sequence[Delivery], datetime], None]
    is_open: Callable[[datetime], bool] = lambda now: True
    addresses: Callable[[Collection[int]], Mapping[int, Any]] = lambda people: {}
    may_send: Callable[[Delivery, Kind, Any, datetime, datetime | None], Verdict] = lambda *_: SEND
    compose: Callable[[Source[Any], Sequence[Delivery], datetime], Sequence[Any]] = lambda source, rows, now: rows
    deliver: Callable[[Sequence[Any], Callable[[], datetime], datetime], None] | None = None
    to_guests: bool = False
