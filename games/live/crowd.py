"""How many sockets each network address has open here, and how often it opens one. Counted by each process for itself.

Addresses are kept under a keyed hash, for as long as they have sockets or have opened one within the last minute.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import Final
from weakref import WeakKeyDictionary

from accounts.limits import MINUTE, scaled
from accounts.origin import hashed_identity, networks_of

OPEN: Final = 100
"""Sockets that one address may have open: an open game page has one."""
A_MINUTE: Final = 600
"""Sockets that one address may open a minute, after `AT_ONCE` that it has saved up. A /48 may open more."""
AT_ONCE: Final = 200
"""A school's pages that all come back after a restart are fewer than twice `OPEN`."""
KEPT: Final = 10_000
"""Addresses and networks that are kept before those are forgotten that have nothing open and nothing to wait for."""


class TooMany(Exception):
    """An address has too many sockets open, or opens them too fast; it may try again after `wait` seconds."""

    def __init__(self, wait: int) -> None:
        super().__init__(f"wait {wait} s")
        self.wait = wait


@dataclass(slots=True)
class Visitors:
    """One address, or the /48 of some. Of a /48, only how fast it opens sockets is counted."""

    saved: float
    """The sockets it may open at once, as of `at`."""
    at: float
    open: int = 0
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while one of its sockets comes in, so that a flood from one address makes no queue before all others."""


class Crowd:
    """All addresses that one process knows."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, Visitors] = {}
        self._forget_at = KEPT

    @contextmanager
    def one_more(self, address: str) -> Iterator[asyncio.Lock]:
        """Count a socket of this address for the length of a block; gives the lock to hold while it comes in.

        :raises TooMany: the limits, which scale with `RATE_LIMITS`, do not allow it.
        """
        visitors = self._enter(address)
        try:
            yield visitors.turn
        finally:
            visitors.open -= 1

    def _enter(self, address: str) -> Visitors:
        counted = [self._saved_up(network, times) for network, times in networks_of(address)]
        visitors, most = counted[0], scaled(OPEN)
        if most is not None:
            if visitors.open >= most:
                raise TooMany(MINUTE)
            for one in counted:
                one.saved -= 1
        visitors.open += 1
        return visitors

    def _saved_up(self, network: str, times: int) -> Visitors:
        """Return what is counted for this network, which may open `times` as many sockets as an address.

        :raises TooMany: it has no socket left that it may open now.
        """
        key, now = hashed_identity("socket", network), self._clock()
        at_once, a_minute = scaled(AT_ONCE * times), scaled(A_MINUTE * times)
        visitors = self._known.get(key)
        if visitors is None:
            self._forget(now)
            visitors = self._known[key] = Visitors(float(at_once or 0), now)
        if at_once is not None and a_minute is not None:
            a_second = a_minute / MINUTE
            visitors.saved = min(float(at_once), visitors.saved + (now - visitors.at) * a_second)
            visitors.at = now
            if visitors.saved < 1:
                raise TooMany(ceil((1 - visitors.saved) / a_second))
        return visitors

    def _forget(self, now: float) -> None:
        """Forget those who have nothing open and would have saved up everything by now."""
        if len(self._known) >= self._forget_at:
            full = MINUTE * AT_ONCE / A_MINUTE
            self._known = {key: one for key, one in self._known.items() if one.open or now - one.at < full}
            self._forget_at = max(KEPT, 2 * len(self._known))  # however many there are, looking costs little for each


_crowds: WeakKeyDictionary[asyncio.AbstractEventLoop, Crowd] = WeakKeyDictionary()


def crowd() -> Crowd:
    """Return the crowd of the running event loop."""
    return _crowds.setdefault(asyncio.get_running_loop(), Crowd())
