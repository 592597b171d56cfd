"""Limits on the sockets that a network address has open and opens a minute. Each process counts for itself.

Addresses are kept under a keyed hash, while they have sockets or opened one within the last minute.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import Final
from weakref import WeakKeyDictionary

from accounts.limits import MINUTE, crowded, scaled
from accounts.origin import hashed_identity, neighbours_of, networks_of
from common import counts

MAX_OPEN: Final = 100
"""Sockets that one address may have open. An open game page has one."""
MAX_OPEN_OF_NEIGHBOURS: Final = 4 * MAX_OPEN
"""Sockets that all addresses of its network may have open (`accounts.origin.neighbours_of`)."""
FEW_OPEN: Final = 8
"""Sockets that one address may have open although its network has too many (`accounts.limits.crowded`)."""
PER_MINUTE: Final = 600
"""Sockets that one address may open a minute, after `BURST` at once. A /48 may open more."""
BURST: Final = 200
"""Twice `MAX_OPEN`, so that all pages of a school can connect again after a restart."""
MAX_NETWORKS: Final = 10_000
"""Addresses and networks to keep before idle ones are removed."""


class TooManySockets(Exception):
    """An address has too many sockets open, or opens them too fast. It may try again after `wait` seconds."""

    def __init__(self, wait: int) -> None:
        super().__init__(f"wait {wait} s")
        self.wait = wait


@dataclass(slots=True)
class NetworkCount:
    """The token bucket of an address or a /48, and the open sockets of an address."""

    tokens: float
    """Sockets it may open at once, as of the time `at`."""
    at: float
    open: int = 0
    entry_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while a socket connects, so that many from one address do not delay others at the database."""


class SocketLimits:
    """Counts the sockets of all addresses in one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, NetworkCount] = {}
        self._open_of_neighbours: Counter[str] = Counter()
        self._prune_at = MAX_NETWORKS

    @contextmanager
    def count_socket(self, address: str) -> Iterator[asyncio.Lock]:
        """Count a socket of this address during a `with` block. Yields the lock to hold while it connects.

        :raises TooManySockets: a limit of the address or its network is reached. The limits scale with `RATE_LIMITS`.
        """
        neighbours = hashed_identity("socket", neighbours_of(address))
        count = self._open(address, neighbours)
        try:
            yield count.entry_lock
        finally:
            count.open -= 1
            counts.add(self._open_of_neighbours, neighbours, -1)

    def _open(self, address: str, neighbours: str) -> NetworkCount:
        networks = [self._refilled(network, times) for network, times in networks_of(address)]
        count, limit, limit_of_neighbours = networks[0], scaled(MAX_OPEN), scaled(MAX_OPEN_OF_NEIGHBOURS)
        if limit is not None and limit_of_neighbours is not None:
            own, of_neighbours = count.open + 1, self._open_of_neighbours[neighbours] + 1
            if own > limit or crowded(of_neighbours, limit_of_neighbours, own=own, few=FEW_OPEN):
                raise TooManySockets(MINUTE)
            for one in networks:
                one.tokens -= 1
        count.open += 1
        counts.add(self._open_of_neighbours, neighbours, 1)
        return count

    def _refilled(self, network: str, times: int) -> NetworkCount:
        """Return the count of this network with its tokens up to date.

        `times` is how many times the sockets of an address the network may open.

        :raises TooManySockets: it has no token left.
        """
        key, now = hashed_identity("socket", network), self._clock()
        at_once, a_minute = scaled(BURST * times), scaled(PER_MINUTE * times)
        count = self._known.get(key)
        if count is None:
            self._prune(now)
            count = self._known[key] = NetworkCount(float(at_once or 0), now)
        if at_once is not None and a_minute is not None:
            a_second = a_minute / MINUTE
            count.tokens = min(float(at_once), count.tokens + (now - count.at) * a_second)
            count.at = now
            if count.tokens < 1:
                raise TooManySockets(ceil((1 - count.tokens) / a_second))
        return count

    def _prune(self, now: float) -> None:
        """Remove networks that have nothing open and whose bucket is full by now."""
        if len(self._known) >= self._prune_at:
            full = MINUTE * BURST / PER_MINUTE
            self._known = {key: one for key, one in self._known.items() if one.open or now - one.at < full}
            # Doubling keeps the average cost for each new network constant.
            self._prune_at = max(MAX_NETWORKS, 2 * len(self._known))


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, SocketLimits] = WeakKeyDictionary()


def socket_limits() -> SocketLimits:
    """Return the `SocketLimits` of the running event loop. They are made at the first call."""
    return _by_loop.setdefault(asyncio.get_running_loop(), SocketLimits())
