"""Count requests by key, in slices of a window: mostly in the process, now and then in the cache that all share.

A request is refused while the slices that reach into the window hold as many as allowed, so no window of that length
ever takes more, except what other processes have not told yet: each tells the cache after every 32nd part of a limit,
which costs most requests nothing. The cache counts requests one after another, and what it has counted to is a
request's place in that order. While Redis is away nobody is refused (`nomercy.cache` logs that).
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from math import ceil
from typing import Final

from django.core.cache import caches
from django.utils.connection import ConnectionProxy

cache = ConnectionProxy(caches, "limits")  # its own cache, so that counts and other values do not push each other out
SLICES: Final = 6
UNTOLD: Final = 32
"""A process keeps at most this part of a limit to itself."""
FRESH: Final = 1.0
"""Seconds for which a process believes that a key is over its limit before it asks the cache again."""
KEPT: Final = 20_000
"""Counters that a process keeps. A new one replaces the one that was not used for longest, which has told the cache
of all requests except the last 32nd part of its limit."""


class Counter:
    """What this process has seen of one key in the slice of now, and what it knew of the window when it last asked.

    `asking` is held while a request asks the cache about this key. Other requests with the key wait for it if they need
    the answer. It goes on to the counter of the next slice, which tells what is `past`. `oldest` and
    `refused` say, once a request was over the limit, which slice leaves the window first and when that was read.
    """

    __slots__ = ("asking", "known", "oldest", "past", "refused", "slice", "untold")

    def __init__(self, number: int, past: "Counter | None") -> None:
        self.slice, self.untold = number, 0
        self.known: int | None = None
        self.oldest: int | None = None
        self.refused = 0.0
        self.past = past if past is not None and past.untold else None
        self.asking: threading.Lock = threading.Lock() if past is None else past.asking

    def passes(self, most: int) -> bool:
        """Count one and return True if it is within the limit by what is known here, without asking the cache."""
        if self.known is None or (self.untold + 1) * UNTOLD >= most or self.known + self.untold >= most:
            return False
        self.untold += 1
        return True

    def full(self, most: int, now: float) -> int | None:
        """`oldest`, if one more is over the limit by what was read a moment ago, or is being read again right now."""
        if self.known is None or self.known + self.untold < most:
            return None
        return self.oldest if self.fresh(now) or self.asking.locked() else None

    def fresh(self, now: float) -> bool:
        """Return True if the cache said within `FRESH` seconds that the limit is reached."""
        return now - self.refused < FRESH


class Limiter:
    """Counts by key; one a process. No lock but the key's own is held while the cache is asked."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._counters: OrderedDict[str, Counter] = OrderedDict()  # the one that was not used for longest comes first

    def wait(self, key: str, most: int, seconds: int) -> int:
        """Count one; return 0 if it is within the limit, else the seconds to wait, and it is not counted."""
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
        """Return the seconds to wait if `wait` refuses this key by what it has read last, else 0. Counts nothing."""
        length, now = seconds / SLICES, self._clock()
        with self._lock:
            counter = self._counters.get(key)
            current = counter is not None and counter.slice == int(now / length)
            oldest = counter.full(most, now) if counter is not None and current else None
        return 0 if oldest is None else self._left(oldest, length)

    def counts(self, key: str) -> bool:
        """Return True if this process has counted something of this key lately."""
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
        """Tell the cache of one more, and of those that have passed here since. The caller holds `counter.asking`.

        Return None if the request is within the limit. Otherwise take it back, and return the slice that leaves the
        window first. Requests that wait for the lock are told when it is their turn: the first process to reach the
        cache gets the lowest place, and is never refused because of later requests.
        """
        with self._lock:
            if self._counters.get(key) is counter:  # else this slice is over, and what passes now would not be told
                if counter.passes(most):  # the one before has asked for all
                    return None
                now = self._clock()
                oldest = counter.full(most, now) if counter.fresh(now) else None
                if oldest is not None:
                    return oldest
            past, counter.past = counter.past, None
            passed, late = counter.untold, 0
            if past is not None:
                late, past.untold = past.untold, 0
        if past is not None and late:
            _tell(key, past.slice, late, seconds)
        place = _tell(key, counter.slice, passed + 1, seconds)
        window = _earlier(key, counter.slice)
        with self._lock:
            counter.untold -= passed
            counter.known = place + sum(window.values())
            if counter.known <= most:
                return None
            counter.known -= 1
            window[counter.slice] = place - 1
            counter.oldest = min((number for number, count in window.items() if count > 0), default=counter.slice)
            counter.refused = self._clock()
            oldest = counter.oldest
        _tell(key, counter.slice, -1, seconds)
        return oldest


def _tell(key: str, number: int, count: int, seconds: int) -> int:
    """Count so many more in this slice. Return how many it holds then."""
    name = f"{key}:{number}"
    cache.add(name, 0, timeout=2 * seconds)
    try:
        held: int = cache.incr(name, count)
    except ValueError:  # it expired between the two calls
        held = max(0, count)
        cache.set(name, held, timeout=2 * seconds)
    return held


def _earlier(key: str, number: int) -> dict[int, int]:
    """Return what all have told of each earlier slice that reaches into the window."""
    slices = range(number - SLICES, number)
    found = cache.get_many([f"{key}:{n}" for n in slices])
    return {n: found.get(f"{key}:{n}", 0) for n in slices}
