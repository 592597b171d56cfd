"""Accept connections for a uvicorn that everybody can reach, with limits by address."""

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from types import FrameType
from typing import Any, Final

from uvicorn import Config, Server

from nomercy.server.connections import Connection, address_of, connections
from nomercy.server.listening import Acceptor

TICK_SECONDS: Final = 1.0
"""How often the `Date` header is renewed."""
SWITCH_SECONDS: Final = 0.0005
"""How long a thread with a page runs on while the event loop wants to (`sys.setswitchinterval`). By default 5 ms.

The loop gives way at each system call. To refuse a connection took it 20 ms while several pages were being made.
"""


class FrontServer(Server):
    """A server that accepts connections by `accept`, and sleeps while there is nothing to do.

    uvicorn's own looks ten times a second whether it has to stop.
    """

    def __init__(self, config: Config, *, ready: Callable[[], Awaitable[None]]) -> None:
        """Await `ready` as soon as requests are answered."""
        super().__init__(config)
        self._ready = ready
        self._loop: asyncio.AbstractEventLoop | None = None
        self._woken = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        sys.setswitchinterval(SWITCH_SECONDS)
        await super().startup(sockets=[])
        await self.on_tick(0)  # else the first answers have no `Date`
        accept(self, sockets or [])
        await self._ready()

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._woken.wait()
        self._loop = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self.stop()

    def stop(self) -> None:
        """Have the server stop now. May be called in any thread, and by the handler of a signal."""
        self.should_exit = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._woken.set)


def accept(server: Server, sockets: Iterable[socket.socket]) -> None:
    """Accept connections at these sockets for a started server, in place of asyncio's own server."""
    config = server.config
    kind = config.http_protocol_class
    assert issubclass(kind, Connection)
    waiting = connections(kind.limits).waiting

    def serve() -> Connection:
        return kind(config, server.server_state, server.lifespan.state)

    servers: list[Any] = server.servers  # what it closes when it stops
    servers += [Acceptor(one, serve, lambda peer: waiting.admits(address_of(peer))) for one in sockets]
