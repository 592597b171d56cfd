"""uvicorn for `script/run`: it sleeps while there is nothing to do."""

import asyncio
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from types import FrameType
from typing import Final

from uvicorn import Config, Server

TICK_SECONDS: Final = 1.0
"""How often the `Date` header is renewed."""
SWITCH_SECONDS: Final = 0.0005
"""How long a thread with a page runs on while the event loop wants to (`sys.setswitchinterval`). By default 5 ms.

The loop gives way at each system call, and each part of an answer passes through it.
"""


class QuietServer(Server):
    """A server that a signal wakes. uvicorn's own looks ten times a second whether it has to stop."""

    def __init__(self, config: Config, *, stopping: asyncio.Event, ready: Callable[[], Awaitable[None]]) -> None:
        """Await `ready` as soon as requests are answered, and set `stopping` when the server has to stop."""
        super().__init__(config)
        self._ready = ready
        self._stopping = stopping
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        sys.setswitchinterval(SWITCH_SECONDS)
        await self.on_tick(0)  # else the first answers have no `Date`
        await super().startup(sockets)
        await self._ready()

    async def main_loop(self) -> None:
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._stopping.wait()
        self._loop = None

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        self.stop()

    def stop(self) -> None:
        """Have the server stop now. May be called in any thread, and by the handler of a signal."""
        self.should_exit = True
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
