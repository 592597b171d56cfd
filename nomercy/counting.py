"""Count requests by key, in slices of a window: mostly in the process, now and then in the cache that all share.

A request is refused while the slices that reach into the window hold as many as allowed, so no window of that length
ever takes more, except what other processes have not told yet: each tells the cache after every 32nd part of a limit,
which costs most requests nothing. While Redis is away nobody is refused (`nomercy.cache` logs that).
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from math import ceil
from typing import Final

from django.core.cache import caches
from django.utils.connection import ConnectionProxy

cache = ConnectionProxy(caches, "limits")  # apart from all else that is cached, so that neither pushes the other out
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

    `asking` is held by who talks to the cache about this key: its other requests wait for that answer when they need
    one, and nobody else does. It goes on to the counter of the next slice, which tells what is `past`. `oldest` and
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

    def admits(self, most: int) -> bool:
        """Whether all that is counted here is within the limit for sure, without asking anybody."""
        return self.known is not None and self.untold * UNTOLD < most and self.known + self.untold <= most

    def full(self, most: int, now: float) -> int | None:
        """`oldest`, if one more is over the limit by what was read a moment ago, or is being read again right now."""
        if self.known is None or self.known + self.untold < most:
            return None
        return self.oldest if now - self.refused < FRESH or self.asking.locked() else None


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
            oldest = counter.full(most, now)
            if oldest is None:
                counter.untold += 1
                if counter.admits(most):
                    return 0
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
        """Tell the cache what it does not know yet. None if the one that was counted is within the limit, else it is
        taken back, and this is the slice that leaves the window first. The caller holds `counter.asking`."""
        with self._lock:
            if counter.admits(most):  # somebody else has told of this one, too
                return None
            past, counter.past = counter.past, None
            told, late = counter.untold, 0
            if past is not None:
                late, past.untold = past.untold, 0
        if past is not None:
            _tell(key, past.slice, late, seconds)
        _tell(key, counter.slice, told, seconds)
        window = _window(key, counter.slice)
        with self._lock:
            counter.untold -= told
            counter.known = max(sum(window.values()), told)
            if counter.known + counter.untold <= most:
                return None
            counter.oldest = min((number for number, count in window.items() if count > 0), default=counter.slice)
            counter.refused = self._clock()
            untold = counter.untold > 0
            if untold:
                counter.untold -= 1
            else:
                counter.known -= 1
        if not untold:
            _tell(key, counter.slice, -1, seconds)
        return counter.oldest


def _tell(key: str, number: int, count: int, seconds: int) -> None:
    if not count:
        return
    name = f"{key}:{number}"
    cache.add(name, 0, timeout=2 * seconds)
    try:
        cache.incr(name, count)
    except ValueError:  # it ran out between the two
        cache.set(name, max(0, count), timeout=2 * seconds)


def _window(key: str, number: int) -> dict[int, int]:
    """What all have told of each slice that reaches into the window."""
    found = cache.get_many([f"{key}:{n}" for n in _slices(number)])
    return {n: found.get(f"{key}:{n}", 0) for n in _slices(number)}


def _slices(number: int) -> range:
    """The slices that reach into the window, oldest first."""
    return range(number - SLICES, number + 1)
