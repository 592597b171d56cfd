"""Count tries that are limited: wrong passwords and codes, sign-ups and requests for a new password.

The counts are rows in PostgreSQL, so no restart, no full cache and no missing Redis erases them (decision 84).

A limit of N tries in a window gives each key N slots. A try first takes a slot that is neither used in the window nor
held by another try, and holds it by an advisory lock until its transaction ends. Only a try that counts writes its
slot, so a right password writes nothing, and of many tries at once no more than N are ever checked.
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
SLOT_BITS: Final = 24  # enough for the widest limit, of a /48 and with the highest RATE_LIMITS
AT_ONCE: Final = 100  # slots of one key that are offered to a try; more than a process has threads
HELD_SECONDS: Final = 1  # how soon to come back when every free slot is held by a try that is being checked


@dataclass(frozen=True, slots=True)
class Key:
    """What is counted by a limit: a network, a name, a person or a browser, as a keyed hash.

    It may have `times` as many tries as the limit says.
    """

    limit: TryLimit
    who: str
    times: int = 1

    @classmethod
    def of(cls, limit: TryLimit, who: object) -> Key:
        return cls(limit, hashed_identity(limit.name, str(who)))

    @classmethod
    def of_address(cls, address: str, *limits: TryLimit) -> list[Key]:
        """Return the keys, for each of these limits, of all networks that a try from this address counts for."""
        networks = networks_of(address)
        return [cls(limit, hashed_identity(limit.name, name), times) for limit in limits for name, times in networks]

    @property
    def most(self) -> int | None:
        """Return how many tries it may have in the window of the limit, or None for any number."""
        return scaled(self.limit.most * self.times)

    @property
    def text(self) -> str:
        return f"{self.limit.name}:{self.who}"

    def lock(self, slot: int) -> int:
        """Return the number of the advisory lock of a slot: a positive 63-bit integer."""
        digest = hashlib.sha256(self.text.encode()).digest()
        return (int.from_bytes(digest[:8]) >> (SLOT_BITS + 1) << SLOT_BITS) + slot


@dataclass(slots=True)
class Try:
    """A try in progress. Call `count()` if it counts against its limits."""

    counts: bool = field(default=False, init=False)

    def count(self) -> None:
        self.counts = True


@contextmanager
def attempt(keys: Iterable[Key], now: datetime, *, durable: bool = True) -> Iterator[Try]:
    """Hold a slot of each key during the block, and use them up if the block calls `count()`.

    The block runs in a transaction of its own, or with `durable=False` in one that runs already: then the count is
    undone with the rest of it. If the block raises, nothing is counted.

    :raises TooManyTries: a key has no slot left.
    """
    limited = [key for key in keys if key.most is not None]
    one = Try()
    if not limited:
        yield one
        return
    with transaction.atomic(durable=durable):
        slots = [(key, _take(key, now)) for key in limited]
        yield one
        if one.counts:
            _use(slots, now)


def check(keys: Iterable[Key], now: datetime, checked: Callable[[], T]) -> T:
    """Return what `checked` returns. A ValidationError that it raises counts as a try, and is raised again.

    :raises TooManyTries: a key has no slot left, and `checked` was not called.
    """
    with attempt(keys, now) as one:
        try:
            return checked()
        except ValidationError as error:
            wrong = error
            one.count()
    raise wrong


def count(keys: Iterable[Key], now: datetime) -> None:
    """Count one try of each key.

    :raises TooManyTries: a key has no slot left, and nothing is counted.
    """
    with attempt(keys, now) as one:
        one.count()


def forgive(keys: Iterable[Key]) -> None:
    """Delete the counts of these keys."""
    CountedTry.objects.filter(key__in=[key.text for key in keys]).delete()


def forget_old(now: datetime) -> int:
    """Delete the counts whose window is over, and return how many they were."""
    # Skipping rows that a try is writing again keeps this from waiting for it, so the two cannot deadlock.
    with transaction.atomic():
        old = CountedTry.objects.select_for_update(skip_locked=True).filter(until__lte=now).values_list("pk", flat=True)
        deleted, _ = CountedTry.objects.filter(pk__in=list(old)).delete()
    return deleted


def _take(key: Key, now: datetime) -> int:
    """Lock a free slot of this key until the transaction ends, and return it."""
    most = key.most or 0
    while True:
        used = _used(key, most, now)
        free = list(islice((slot for slot in range(most) if slot not in used), AT_ONCE))
        if not free:
            raise TooManyTries(key.limit, max(1, ceil((min(used.values()) - now).total_seconds())))
        slot = _lock(key, free)
        if slot is None:
            raise TooManyTries(key.limit, HELD_SECONDS)
        # Another try may have used the slot and let go of it after `used` was read.
        if slot not in _used(key, most, now):
            return slot


def _used(key: Key, most: int, now: datetime) -> dict[int, datetime]:
    """Return the slots of this key that are used up, and until when."""
    rows = CountedTry.objects.filter(key=key.text, slot__lt=most, until__gt=now)
    return dict(rows.values_list("slot", "until"))


def _lock(key: Key, slots: Sequence[int]) -> int | None:
    """Lock the first of these slots that no other transaction holds, and return it; None if all are held."""
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
