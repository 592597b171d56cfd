"""Count limited tries in PostgreSQL: wrong passwords and codes, sign-ups, guests, and requests for a new password.

A row has the count of one key in its current window, which begins with the first try. A try counts before the password
is checked, so of many at once no more than the limit are checked, and is given back if it turns out not to count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil
from typing import TypeVar

from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.db.models import F

from accounts.models import CountedTry
from accounts.origin import hashed_identity
from common.limits import Limit, TooManyTries, scaled

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Key:
    """What a limit counts: an address, a name, a person or a browser. `text` has only its keyed hash."""

    limit: Limit
    text: str

    @classmethod
    def of(cls, limit: Limit, who: object) -> Key:
        return cls(limit, f"{limit.name}:{hashed_identity(limit.name, str(who))}")


@dataclass(slots=True)
class Try:
    """A try in progress. It is given back unless the block calls `count()`."""

    counts: bool = field(default=False, init=False)

    def count(self) -> None:
        self.counts = True


@contextmanager
def begin(keys: Iterable[Key], now: datetime) -> Iterator[Try]:
    """Count a try of each key, and give it back after the block unless that calls `count()`.

    Runs outside of transactions: other tries with these keys would wait until it ends, and count after a rollback.

    :raises TooManyTries: a key has none left; nothing is counted.
    """
    counted, current = _count(keys, now, durable=True), Try()
    try:
        yield current
    finally:
        if not current.counts:
            for key, until in counted.items():  # one by one, because one statement for all could deadlock with another
                CountedTry.objects.filter(key=key, until=until, count__gt=0).update(count=F("count") - 1)


def check(keys: Iterable[Key], now: datetime, checked: Callable[[], T]) -> T:
    """Return what `checked()` returns. A ValidationError that it raises is counted and raised again.

    :raises TooManyTries: a key has none left; `checked` was not called.
    """
    with begin(keys, now) as current:
        try:
            return checked()
        except ValidationError:
            current.count()
            raise


def count(keys: Iterable[Key], now: datetime) -> None:
    """Count a try of each key, in the caller's transaction if there is one.

    :raises TooManyTries: a key has none left; nothing is counted.
    """
    _count(keys, now, durable=False)


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


def _count(keys: Iterable[Key], now: datetime, *, durable: bool) -> dict[str, datetime]:
    """Count a try of each limited key, or of none. Return the end of each key's window.

    :raises TooManyTries: a key has none left.
    """
    # In the order of their texts, so that two cannot deadlock.
    limited = sorted((key for key in keys if scaled(key.limit.most) is not None), key=lambda key: key.text)
    if not limited:
        return {}
    with transaction.atomic(durable=durable):
        return {key.text: _add_one(key, now) for key in limited}


def _add_one(key: Key, now: datetime) -> datetime:
    with connection.cursor() as cursor:
        # A refused try changes nothing, so the count never exceeds the limit, and tries given back make room.
        cursor.execute(
            """
            INSERT INTO accounts_countedtry AS counted (key, count, until) VALUES (%(key)s, 1, %(until)s)
            ON CONFLICT (key) DO UPDATE SET
                count = CASE WHEN counted.until > %(now)s THEN counted.count + 1 ELSE 1 END,
                until = CASE WHEN counted.until > %(now)s THEN counted.until ELSE excluded.until END
            WHERE counted.until <= %(now)s OR counted.count < %(most)s
            RETURNING until
            """,
            {"key": key.text, "now": now, "until": now + key.limit.window, "most": scaled(key.limit.most)},
        )
        if row := cursor.fetchone():
            until: datetime = row[0]
            return until
    until = CountedTry.objects.values_list("until", flat=True).get(key=key.text)
    raise TooManyTries(key.limit, max(1, ceil((until - now).total_seconds())))
