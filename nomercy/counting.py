"""Count requests by key in slices of a sliding window: mostly in this process, sometimes in the shared cache.

A request is refused while the slices in the window together have reached the limit. The count is exact except for
requests that other processes have not reported yet. A process reports to the cache after each 32nd part of a limit, so
most requests cost no cache access. The cache increments one counter, whose value is a request's place in the order of
all processes. While Redis is down nobody is refused (`nomercy.cache` logs that).
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from math import ceil
from typing import Final

from django.core.cache import caches
from django.utils.connection import ConnectionProxy

cache = ConnectionProxy(caches, "limits")  # separate, so that counts and other values do not evict each other
SLICES: Final = 6
UNREPORTED: Final = 32
"""A process reports after each such part of a limit: one 32nd."""
FRESH: Final = 1.0
"""Seconds for which a process trusts that a key is over its limit before it asks the cache again."""
KEPT: Final = 20_000
"""How many counters a process keeps. A new one replaces the least recently used one, so at most the unreported 32nd
part of its limit is lost."""


class Counter:
    """The requests with one key in the current slice, as far as this process knows.

    `unreported` is the number that this process has not reported yet. `known` is the count in the whole window when the
    cache was last asked; None before. `past` is the counter of the previous slice, if it has unreported requests.

    `asking` is held while a request asks the cache about this key. Other requests wait for it if they need the answer.
    The counter of the next slice takes it over. After a request was over the limit, `oldest` is the first slice that
    leaves the window, and `refused` the time when that was read.
    """

    __slots__ = ("asking", "known", "oldest", "past", "refused", "slice", "unreported")

    def __init__(self, number: int, past: "Counter | None") -> None:
        self.slice, self.unreported = number, 0
        self.known: int | None = None
        self.oldest: int | None = None
        self.refused = 0.0
        self.past = past if past is not None and past.unreported else None
        self.asking: threading.Lock = threading.Lock() if past is None else past.asking

    def passes(self, most: int) -> bool:
        """Count one and return True if that needs no report and is within the limit, as far as this process knows."""
        if self.known is None or (self.unreported + 1) * UNREPORTED >= most or self.known + self.unreported >= most:
            return False
        self.unreported += 1
        return True

    def full(self, most: int, now: float) -> int | None:
        """Return `oldest` if one more is over the limit by a fresh answer, or by one being renewed now; else None."""
        if self.known is None or self.known + self.unreported < most:
            return None
        return self.oldest if self.fresh(now) or self.asking.locked() else None

    def fresh(self, now: float) -> bool:
        """Return True if the cache said within `FRESH` seconds that the limit is reached."""
        return now - self.refused < FRESH


class Limiter:
    """Counts requests by key. There is one in each process. While the cache is asked, only the key's lock is held."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._counters: OrderedDict[str, Counter] = OrderedDict()  # least recently used first

    def wait(self, key: str, most: int, seconds: int) -> int:
        """Count one and return 0 if it is within the limit. Otherwise count nothing and return the seconds to wait.

        The limit is `most` in any window of `seconds`.
        """
        length, now = seconds / SLICES, self._clock()
        with self._lock:
            counter = self._counter(key, int(now / length))
            if counter.passes(most):
                return 0
            oldest = counter.full(most, now)
        if oldest is None:
            with counter.asking:
                oldest = self._ask(key, counter, most, seconds)
        return 0 if oldest is None else self._left(oldest, length)

    def refusing(self, key: str, most: int, seconds: int) -> int:
        """Return the seconds to wait if the last answer of the cache says so, else 0. Counts nothing."""
        length, now = seconds / SLICES, self._clock()
        with self._lock:
            counter = self._counters.get(key)
            current = counter is not None and counter.slice == int(now / length)
            oldest = counter.full(most, now) if counter is not None and current else None
        return 0 if oldest is None else self._left(oldest, length)

    def counts(self, key: str) -> bool:
        """Return True if this process has counted requests with this key recently."""
        with self._lock:
            return key in self._counters

    def _left(self, oldest: int, length: float) -> int:
        """Return the seconds until the slice `oldest` has left the window, at least 1."""
        return max(1, ceil((oldest + SLICES + 1) * length - self._clock()))

    def _counter(self, key: str, number: int) -> Counter:
        counter = self._counters.get(key)
        if counter is None or counter.slice != number:
            counter = self._counters[key] = Counter(number, past=counter)
        self._counters.move_to_end(key)
        if len(self._counters) > KEPT:
            self._counters.popitem(last=False)
        return counter

    def _ask(self, key: str, counter: Counter, most: int, seconds: int) -> int | None:
        """Report one more request and all unreported ones to the cache. The caller holds `counter.asking`.

        Return None if the request is within the limit. Otherwise take it back, and return the slice that leaves the
        window first. Each request gets its place when it is reported, so no request is refused because of later ones.
        """
        with self._lock:
            if self._counters.get(key) is counter:  # or this slice is over, and would report no more
                if counter.passes(most):  # the request before has just asked
                    return None
                now = self._clock()
                oldest = counter.full(most, now) if counter.fresh(now) else None
                if oldest is not None:
                    return oldest
            past, counter.past = counter.past, None
            passed, late = counter.unreported, 0
            if past is not None:
                late, past.unreported = past.unreported, 0
        if past is not None and late:
            _report(key, past.slice, late, seconds)
        place = _report(key, counter.slice, passed + 1, seconds)
        window = _earlier(key, counter.slice)
        with self._lock:
            counter.unreported -= passed
            counter.known = place + sum(window.values())
            if counter.known <= most:
                return None
            counter.known -= 1
            window[counter.slice] = place - 1
            counter.oldest = min((number for number, count in window.items() if count > 0), default=counter.slice)
            counter.refused = self._clock()
            oldest = counter.oldest
        _report(key, counter.slice, -1, seconds)
        return oldest


def _report(key: str, number: int, count: int, seconds: int) -> int:
    """Add `count` to this slice in the cache, and return its new value."""
    name = f"{key}:{number}"
    cache.add(name, 0, timeout=2 * seconds)
    try:
        held: int = cache.incr(name, count)
    except ValueError:  # it expired between the two calls
        held = max(0, count)
        cache.set(name, held, timeout=2 * seconds)
    return held


def _earlier(key: str, number: int) -> dict[int, int]:
    """Return the reported counts of the earlier slices in the window."""
    slices = range(number - SLICES, number)
    found = cache.get_many([f"{key}:{n}" for n in slices])
    return {n: found.get(f"{key}:{n}", 0) for n in slices}
