"""Count connections that wait for their client, by address.

Each address may have a number of them. If there are too many in all, the oldest one of the address with the most is
closed. A new one is not refused, because an honest request arrives within milliseconds and so gets through.
"""

import resource
from collections import defaultdict
from typing import Final, Protocol

ENOUGH_FILES: Final = 65_536
"""More would not help, and slows down programs that loop over all possible descriptors."""
RESERVED_FILES: Final = 400
"""File descriptors kept for everything else: requests, database connections, and one burst of new connections."""


class Evictable(Protocol):
    """A connection that can be closed to make room."""

    def evict(self) -> None:
        """Close it now."""


class Waiting:
    """The waiting connections of one process, by address and oldest first."""

    def __init__(self, *, each: int | None, total: int | None = None) -> None:
        """Allow `each` connections per address (None: any) and `total` in all (default: `files_for_waiting`)."""
        self._each = each
        self._total = files_for_waiting() if total is None else total
        self._by_address: defaultdict[str, dict[Evictable, None]] = defaultdict(dict)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def has_room(self, address: str) -> bool:
        """Return False if this address has all that it may. The address "" is our proxy, which has no limit."""
        return not address or self._each is None or len(self._by_address.get(address, ())) < self._each

    def add(self, address: str, connection: Evictable) -> None:
        """Count a connection as waiting. `address` is "" if our proxy is the client. Safe to repeat."""
        connections = self._by_address[address]
        if connection in connections:
            return
        connections[connection] = None
        self._count += 1
        if self._count > self._total:
            crowded = max(self._by_address, key=lambda one: len(self._by_address[one]))
            oldest = next(iter(self._by_address[crowded]))
            self.remove(crowded, oldest)
            oldest.evict()

    def remove(self, address: str, connection: Evictable) -> None:
        """Forget a connection that no longer waits. Safe to repeat."""
        connections = self._by_address.get(address, {})
        if connection in connections:
            del connections[connection]
            self._count -= 1
            if not connections:
                del self._by_address[address]


def files_for_waiting() -> int:
    """Return how many file descriptors waiting connections may use."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        soft = ENOUGH_FILES
    return max(64, soft - RESERVED_FILES)
