"""Limits on the websockets that a network address has open and opens a minute. Each process counts for itself.

Addresses are kept under a keyed hash, while they have sockets and until the minute in which they opened one is over.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final
from weakref import WeakKeyDictionary, WeakValueDictionary

from accounts.origin import hashed_identity
from common import counts
from common.limits import MINUTE, SOCKETS, scaled

MAX_OPEN: Final = 100
"""Sockets that one address may have open. An open game page has one."""


class TooManySockets(Exception):
    """An address has too many sockets open, or opens them too fast. It may try again after `wait` seconds."""

    def __init__(self, wait: int) -> None:
        super().__init__(f"wait {wait} s")
        self.wait = wait


class SocketLimits:
    """Counts the sockets of all addresses in one event loop."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self.open: Counter[str] = Counter()
        """The open sockets of each address, by its keyed hash."""
        self.opened: Counter[str] = Counter()
        """The sockets that each address has opened in the current minute."""
        self._minute = 0
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @contextmanager
    def count_socket(self, address: str) -> Iterator[asyncio.Lock]:
        """Count a socket of this address during a `with` block.

        Yields the address's lock to hold while it connects, so that many from one address do not delay others at the
        database.

        :raises TooManySockets: a limit of the address is reached. The limits scale with `RATE_LIMITS`.
        """
        key = hashed_identity("socket", address)
        self._check(key)
        lock = self._locks.setdefault(key, asyncio.Lock())
        counts.add(self.open, key, 1)
        try:
            yield lock
        finally:
            counts.add(self.open, key, -1)

    def _check(self, key: str) -> None:
        most_open, most_opened, now = scaled(MAX_OPEN), scaled(SOCKETS.most), self._clock()
        if most_open is None or most_opened is None:
            return
        if self._minute != int(now / MINUTE):
            self._minute = int(now / MINUTE)
            self.opened.clear()
        if self.open[key] >= most_open:
            raise TooManySockets(MINUTE)
        if self.opened[key] >= most_opened:
            raise TooManySockets(MINUTE - int(now % MINUTE))
        self.opened[key] += 1


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, SocketLimits] = WeakKeyDictionary()


def socket_limits() -> SocketLimits:
    """Return the `SocketLimits` of the running event loop. They are made at the first call."""
    return _by_loop.setdefault(asyncio.get_running_loop(), SocketLimits())
