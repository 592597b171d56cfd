"""Networks take turns with the threads, so that one with many addresses delays others by little (decision 165)."""

import asyncio
from collections import Counter, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from common import counts


class Turns:
    """Lets so many requests run at once, and of one network at most `most` (None: no limit of its own).

    When a place becomes free, the networks with waiting requests take turns. Of one network, the oldest is first.
    """

    def __init__(self, places: int, *, most: int | None) -> None:
        self._free = places
        self._most = places if most is None else most
        self._running: Counter[str] = Counter()
        # In the order of their turns. None is empty.
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    @asynccontextmanager
    async def place(self, network: str) -> AsyncIterator[None]:
        """Wait for a place for a request of this network, and keep it during the block."""
        await self._wait(network)
        try:
            yield
        finally:
            self._leave(network)

    async def _wait(self, network: str) -> None:
        place = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(network, deque()).append(place)
        self._fill()
        try:
            await place
        except asyncio.CancelledError:
            if place.cancelled():
                self._forget(network, place)
            else:
                self._leave(network)
            raise

    def _leave(self, network: str) -> None:
        self._free += 1
        counts.add(self._running, network, -1)
        self._fill()

    def _fill(self) -> None:
        """Give the free places to waiting requests."""
        while self._free and (network := self._next()) is not None:
            queue = self._waiting.pop(network)
            place = queue.popleft()
            if queue:
                self._waiting[network] = queue  # behind the others
            if not place.cancelled():
                self._free -= 1
                self._running[network] += 1
                place.set_result(None)

    def _next(self) -> str | None:
        """Return the network whose turn it is. At most `places / most` networks before it have their most places."""
        return next((network for network in self._waiting if self._running[network] < self._most), None)

    def _forget(self, network: str, place: asyncio.Future[None]) -> None:
        """Remove a cancelled request, unless its turn has come meanwhile."""
        queue = self._waiting.get(network)
        if queue is not None and place in queue:
            queue.remove(place)
            if not queue:
                del self._waiting[network]
