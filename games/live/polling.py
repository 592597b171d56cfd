"""Polls the database for all open sockets of a process, in case the channel layer loses messages.

The channel layer drops messages that a slow process does not take, and all of them while Redis is down. A person may
log out just then. So each process polls: every `POLL_SECONDS` the revisions of the games, and every
`SESSION_CHECK_SECONDS` the sessions, and whether the clocks are running late. This takes one or two queries for each
`BATCH` of sockets.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Final, Protocol
from weakref import WeakKeyDictionary

import redis
import structlog
from channels.db import database_sync_to_async
from django.db import InterfaceError, OperationalError
from django.utils import timezone

from accounts import queries as people
from games import alarm
from games.queries import open_pages

log = structlog.get_logger(__name__)

POLL_SECONDS: Final = 5.0
SESSION_CHECK_SECONDS: Final = 30.0
LAYER_RETRY_SECONDS: Final = 2.0
LAYER_ERRORS: Final = (OSError, redis.ConnectionError, redis.TimeoutError)
"""What a channel layer raises if it cannot be reached. Any other exception is a bug."""
SERVER_ERROR: Final = 1011
"""The close code of RFC 6455 for an unexpected error of the server."""
BATCH: Final = 500
"""The most sockets for one query."""


class PolledSocket(Protocol):
    """What the poller needs of an open socket."""

    code: str
    """The code of its game."""
    revision: int
    """The newest revision of the game that was heard of."""
    session_key: str | None
    user_id: int | None
    link: str
    """The invitation key by which its user sees the table, or empty."""

    async def join_groups(self) -> bool: ...

    def notify(self, version: int, revision: int) -> None: ...

    def session_ended(self) -> None: ...

    def access_lost(self) -> None: ...

    def finish(self, code: int) -> None: ...


class Poller:
    """Polls for the sockets of one event loop, as long as there are any."""

    def __init__(self) -> None:
        self.sockets: set[PolledSocket] = set()
        self.layer_down_until = 0.0
        self._task: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()

    def poll_soon(self) -> None:
        """Poll now instead of waiting for the next interval."""
        self._wake.set()

    def add(self, socket: PolledSocket) -> None:
        self.sockets.add(socket)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    def remove(self, socket: PolledSocket) -> None:
        self.sockets.discard(socket)
        if not self.sockets and self._task is not None:
            self._task.cancel()
            self._task = None  # the cancelled task may still be running, so `add` starts a new one

    @property
    def layer_is_down(self) -> bool:
        """Return True if the channel layer failed in the last `LAYER_RETRY_SECONDS`, so sockets do not wait for it."""
        return asyncio.get_running_loop().time() < self.layer_down_until

    def layer_failed(self, error: Exception) -> None:
        self.layer_down_until = asyncio.get_running_loop().time() + LAYER_RETRY_SECONDS
        told = {"error": type(error).__name__, "sockets": len(self.sockets)}
        log.warning("sockets without channel layer", **told, away="Redis")

    async def _run(self) -> None:
        session_check_every = round(SESSION_CHECK_SECONDS / POLL_SECONDS)
        rounds = 0
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), POLL_SECONDS)
            self._wake.clear()
            rounds += 1
            if rounds % session_check_every == 0:
                await self._log_failure(self.close_ended_sessions(timezone.now()))
                await self._log_failure(database_sync_to_async(alarm.check)())
            await self._log_failure(self.send_missed_updates())

    async def _log_failure(self, check: Awaitable[object]) -> None:
        """Await a check and log any exception, so that polling goes on."""
        try:
            await check
        except Exception as error:  # noqa: BLE001  # the database may be back at the next round
            away = {"away": "PostgreSQL"} if isinstance(error, (OperationalError, InterfaceError)) else {}
            log.warning("sockets not looked after", error=type(error).__name__, sockets=len(self.sockets), **away)

    async def send_missed_updates(self) -> None:
        """Notify sockets of updates they missed, close those that lost access, and join groups not joined yet."""
        for sockets in _batches(self.sockets):
            found = await database_sync_to_async(open_pages.open_pages)({socket.code for socket in sockets})
            await _close_without_access(sockets, found)
            for socket in sockets:
                page = found.get(socket.code)
                if page and page.revision > socket.revision:
                    socket.notify(page.version, page.revision)
        await self._join_groups()

    async def _join_groups(self) -> None:
        for socket in list(self.sockets):
            try:
                if not await socket.join_groups():
                    break
            except Exception as error:
                log.exception("a socket is dropped", error=type(error).__name__)  # the other sockets go on
                socket.finish(SERVER_ERROR)

    async def close_ended_sessions(self, now: datetime) -> None:
        """Close the sockets whose session is not valid any more."""
        for sockets in _batches(self.sockets):
            owners = {socket.session_key: socket.user_id for socket in sockets if socket.session_key is not None}
            standing = await database_sync_to_async(people.valid_sessions)(owners, now)
            for socket in sockets:
                if socket.session_key is not None and socket.session_key not in standing:
                    socket.session_ended()


async def _close_without_access(sockets: Collection[PolledSocket], found: Mapping[str, open_pages.OpenPage]) -> None:
    """Close the sockets whose user may not see the table any more. `found` is by game code."""
    closed = [one for one in sockets if one.code in found and not found[one.code].open_to(one.user_id, one.link)]
    people = {socket.user_id for socket in closed if socket.user_id is not None}
    invited: set[tuple[int, str]] = set()
    if people:
        invited = await database_sync_to_async(open_pages.invited)(people, {socket.code for socket in closed})
    for socket in closed:
        if (socket.user_id, socket.code) not in invited:
            socket.access_lost()


def _batches(sockets: Collection[PolledSocket]) -> Iterator[list[PolledSocket]]:
    every = sorted(sockets, key=lambda socket: socket.code)
    for start in range(0, len(every), BATCH):
        yield every[start : start + BATCH]


_pollers: WeakKeyDictionary[asyncio.AbstractEventLoop, Poller] = WeakKeyDictionary()


def poller() -> Poller:
    """Return the poller of the running event loop."""
    return _pollers.setdefault(asyncio.get_running_loop(), Poller())
