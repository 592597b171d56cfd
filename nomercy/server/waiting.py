"""Count connections that wait for their client, by address.

Each address may have a number of them. If there are too many in all, the oldest one of the address with the most is
closed. A new one is not refused, because an honest request arrives within milliseconds and so gets through. Only of a
network that makes very many, new ones are refused: to open and close one costs as much as a part of a page.
"""

import resource
import time
from collections import Counter, defaultdict
from typing import Final, Protocol

from accounts.limits import crowded
from accounts.origin import neighbours_of
from nomercy.server.limits import Limits, widened

ENOUGH_FILES: Final = 65_536
"""More would not help, and slows down programs that loop over all possible descriptors."""
RESERVED_FILES: Final = 400
"""File descriptors kept for everything else: requests, database connections, and one burst of new connections."""


class Evictable(Protocol):
    """A connection that can be closed to make room."""

    def evict(self) -> None:
        """Close it now."""


class Arrivals:
    """The new connections of the last seconds, by address and network."""

    def __init__(self, each: int | None, of_network: int | None, *, few: int = 0, seconds: float = 10.0) -> None:
        """Allow `each` per address and so many `of_network` within `seconds` (None: any). `few`: see `crowded`."""
        self._each = each
        self._of_network = of_network
        self._few = few
        self._seconds = seconds
        self._counts: Counter[str] = Counter()
        self._since = 0.0

    def admit(self, address: str) -> bool:
        """Count a new connection, or return False if there are too many of its address or network."""
        if self._each is None or self._of_network is None:
            return True
        now = time.monotonic()
        if now - self._since >= self._seconds:
            self._since = now
            self._counts.clear()
        network = f"of {neighbours_of(address)}"
        own, all_of_network = self._counts[address] + 1, self._counts[network] + 1
        # Those refused to an address do not count for its network, or one address would lock out its neighbours.
        if own > self._each or crowded(all_of_network, self._of_network, own=own, few=self._few):
            return False
        self._counts[address], self._counts[network] = own, all_of_network
        return True


class Waiting:
    """The waiting connections of one process, by address and oldest first."""

    def __init__(self, *, each: int | None, total: int | None = None, arrivals: Arrivals | None = None) -> None:
        """Allow `each` connections per address (None: any) and `total` in all (default: `files_for_waiting`)."""
        self._each = each
        self._arrivals = arrivals or Arrivals(None, None)
        self._total = files_for_waiting() if total is None else total
        self._by_address: defaultdict[str, dict[Evictable, None]] = defaultdict(dict)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def admits(self, address: str) -> bool:
        """Count a new connection. Return False if it is one too many. The address "" is our proxy, without limits."""
        return not address or (self._arrivals.admit(address) and self._has_room(address))

    def _has_room(self, address: str) -> bool:
        return self._each is None or len(self._by_address.get(address, ())) < self._each

    def add(self, address: str, connection: Evictable) -> None:
        """Count a connection as waiting. `address` is "" if our proxy is the client. Safe to repeat."""
        connections = self._by_address[address]
        if connection in connections:
            return
        connections[connection] = None
        self._count += 1
        if self._count > self._total:
            fullest = max(self._by_address, key=lambda one: len(self._by_address[one]))
            oldest = next(iter(self._by_address[fullest]))
            self.remove(fullest, oldest)
            oldest.evict()

    def remove(self, address: str, connection: Evictable) -> None:
        """Forget a connection that no longer waits. Safe to repeat."""
        connections = self._by_address.get(address, {})
        if connection in connections:
            del connections[connection]
            self._count -= 1
            if not connections:
                del self._by_address[address]


def waiting_for(limits: Limits) -> Waiting:
    """Return an empty count with these limits."""
    new, of_network = widened(limits.new_connections), widened(limits.new_connections_of_neighbours)
    arrivals = Arrivals(new, of_network, few=limits.few_connections, seconds=limits.new_seconds)
    return Waiting(each=widened(limits.waiting_connections), arrivals=arrivals)


def files_for_waiting() -> int:
    """Return how many file descriptors waiting connections may use."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        soft = ENOUGH_FILES
    return max(64, soft - RESERVED_FILES)
