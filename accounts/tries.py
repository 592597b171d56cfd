"""Count limited tries: wrong passwords and codes, sign-ups, and requests for a new password.

The counts are rows in PostgreSQL, so that no restart, full cache or missing Redis erases them (decision 84).

A limit of N tries in a window gives each key N slots. A try first takes a slot that is neither used in the window nor
held by another try, and holds it by an advisory lock until its transaction ends. Only a try that counts writes its
slot. So a right password writes nothing, and of many simultaneous tries at most N are checked.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from math import ceil
from typing import Final, TypeVar

from django.core.exceptions import ValidationError
from django.db import connection, transaction

from accounts.limits import TooManyTries, TryLimit, scaled
from accounts.models import CountedTry
from accounts.origin import hashed_identity, networks_of

T = TypeVar("T")
SLOT_BITS: Final = 24  # enough for the widest limit: a /48 with the highest RATE_LIMITS
CANDIDATES: Final = 100  # the free slots of a key of which a try takes one; more than a process has threads
HELD_SECONDS: Final = 1  # the wait if all free slots are held by tries in progress


@dataclass(frozen=True, slots=True)
class Key:
    """What a limit counts: a network, a name, a person or a browser. `who` is its keyed hash.

    It has `times` as many tries as the limit says.
    """

    limit: TryLimit
    who: str
    times: int = 1

    @classmethod
    def of(cls, limit: TryLimit, who: object) -> Key:
        return cls(limit, hashed_identity(limit.name, str(who)))

    @classmethod
    def of_address(cls, address: str, *limits: TryLimit) -> list[Key]:
        """Return the keys of all networks that a try from this address counts for, under each of these limits."""
        networks = networks_of(address)
        return [cls(limit, hashed_identity(limit.name, name), times) for limit in limits for name, times in networks]

    @property
    def most(self) -> int | None:
        """Return the number of tries in the window of the limit, or None for no limit."""
        return scaled(self.limit.most * self.times)

    @property
    def text(self) -> str:
        return f"{self.limit.name}:{self.who}"

    def lock(self, slot: int) -> int:
        """Return the number of the advisory lock of a slot, a positive 63-bit integer."""
        digest = hashlib.sha256(self.text.encode()).digest()
        return (int.from_bytes(digest[:8]) >> (SLOT_BITS + 1) << SLOT_BITS) + slot


@dataclass(slots=True)
class Try:
    """A try in progress. Call `count()` to count it against its limits."""

    counts: bool = field(default=False, init=False)

    def count(self) -> None:
        self.counts = True


@contextmanager
def begin(keys: Iterable[Key], now: datetime, *, durable: bool = True) -> Iterator[Try]:
    """Hold a slot of each key during the block, and use the slots up if the block calls `count()`.

    The block runs in its own transaction, or with `durable=False` in the current one, with which the count is rolled
    back. If the block raises, nothing is counted.

    :raises TooManyTries: a key has no slot left.
    """
    limited = [key for key in keys if key.most is not None]
    current = Try()
    if not limited:
        yield current
        return
    with transaction.atomic(durable=durable):
        slots = [(key, _take(key, now)) for key in limited]
        yield current
        if current.counts:
            _use(slots, now)


def check(keys: Iterable[Key], now: datetime, checked: Callable[[], T]) -> T:
    """Return what `checked()` returns. A ValidationError that it raises is counted and raised again.

    :raises TooManyTries: a key has no slot left; `checked` was not called.
    """
    with begin(keys, now) as current:
        try:
            return checked()
        except ValidationError as error:
            wrong = error
            current.count()
    raise wrong


def count(keys: Iterable[Key], now: datetime) -> None:
    """Count one try of each key.

    :raises TooManyTries: a key has no slot left; nothing is counted.
    """
    with begin(keys, now) as current:
        current.count()


def clear(keys: Iterable[Key]) -> None:
    """Delete the counts of these keys."""
    CountedTry.objects.filter(key__in=[key.text for key in keys]).delete()


def delete_expired(now: datetime) -> int:
    """Delete the counts whose window is over, and return their number."""
    # Skips rows that a try is writing again, so that the two cannot deadlock.
    with transaction.atomic():
        old = CountedTry.objects.select_for_update(skip_locked=True).filter(until__lte=now).values_list("pk", flat=True)
        deleted, _ = CountedTry.objects.filter(pk__in=list(old)).delete()
    return deleted


def _take(key: Key, now: datetime) -> int:
    """Lock a free slot of this key until the transaction ends, and return it.

    :raises TooManyTries: all slots are used or held.
    """
    most = key.most or 0
    while True:
        used = _used(key, most, now)
        free = list(islice((slot for slot in range(most) if slot not in used), CANDIDATES))
        if not free:
            raise TooManyTries(key.limit, max(1, ceil((min(used.values()) - now).total_seconds())))
        slot = _lock(key, free)
        if slot is None:
            raise TooManyTries(key.limit, HELD_SECONDS)
        # Another try may have used and released the slot after `used` was read.
        if slot not in _used(key, most, now):
            return slot


def _used(key: Key, most: int, now: datetime) -> dict[int, datetime]:
    """Return the used slots of this key, each with the end of its window."""
    rows = CountedTry.objects.filter(key=key.text, slot__lt=most, until__gt=now)
    return dict(rows.values_list("slot", "until"))


def _lock(key: Key, slots: Sequence[int]) -> int | None:
    """Lock the first of these slots that no other transaction holds. Return it, or None if all are held."""
    locks = {key.lock(slot): slot for slot in slots}
    with connection.cursor() as cursor:
        # With LIMIT PostgreSQL stops at the first row that passes, so it takes no other lock.
        cursor.execute(
            "SELECT number FROM unnest(%s::bigint[]) AS number WHERE pg_try_advisory_xact_lock(number) LIMIT 1",
            [list(locks)],
        )
        row = cursor.fetchone()
    return None if row is None else locks[row[0]]


def _use(slots: Iterable[tuple[Key, int]], now: datetime) -> None:
    rows = [CountedTry(key=key.text, slot=slot, until=now + key.limit.window) for key, slot in slots]
    CountedTry.objects.bulk_create(rows, update_conflicts=True, unique_fields=["key", "slot"], update_fields=["until"])
