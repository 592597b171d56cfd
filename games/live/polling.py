"""What keeps open sockets right when nobody tells them: news that got lost, and sessions that ended.

Pokes are hints. The channel layer drops what a slow process does not take, and all of it while Redis is away; whoever
logs out may do so just then. So each process looks for itself, once for all its sockets: every `NEWS_SECONDS` at the
versions of their games, and every `SESSIONS_SECONDS` at their sessions, and whether the clocks act. A few queries in
all, however many sockets.
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
from django.utils import timezone

from accounts import queries as people
from games import alarm
from games.queries import page_state

log = structlog.get_logger(__name__)

NEWS_SECONDS: Final = 5.0
SESSIONS_SECONDS: Final = 30.0
LAYER_PAUSE_SECONDS: Final = 2.0
LAYER_AWAY: Final = (OSError, redis.ConnectionError, redis.TimeoutError)
"""What a channel layer raises that cannot be reached. Anything else is a fault, of one socket or of the code."""
BROKEN: Final = 1011
"""The code of RFC 6455 for a server that cannot go on."""
AT_ONCE: Final = 500
"""Sockets looked after by one query."""


class Watched(Protocol):
    """A socket as the watch sees it: whose it is, what it looks at, and the last version it was told."""

    code: str
    version: int
    session_key: str | None
    user_id: int | None
    link: str
    """The invitation key by which its person sees the table, or empty."""

    async def join_groups(self) -> bool: ...

    def tell(self, version: int) -> None: ...

    def end(self) -> None: ...

    def shut_out(self) -> None: ...

    def finish(self, code: int) -> None: ...


class Watch:
    """Looks after the sockets of one event loop, as long as there are any."""

    def __init__(self) -> None:
        self.sockets: set[Watched] = set()
        self.layer_away_until = 0.0
        self._seen: dict[str, page_state.PageState] = {}
        self._task: asyncio.Task[None] | None = None
        self._soon = asyncio.Event()

    def look_soon(self) -> None:
        """Look for news now, not only when the next look is due."""
        self._soon.set()

    def add(self, socket: Watched) -> None:
        self.sockets.add(socket)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look_again_and_again())

    def remove(self, socket: Watched) -> None:
        self.sockets.discard(socket)
        if not self.sockets and self._task is not None:
            self._task.cancel()
            self._task = None  # cancelled is not done yet: whoever comes now gets a new one

    @property
    def layer_away(self) -> bool:
        """Whether the channel layer failed a moment ago: then nobody else waits for it."""
        return asyncio.get_running_loop().time() < self.layer_away_until

    def layer_failed(self, error: Exception) -> None:
        self.layer_away_until = asyncio.get_running_loop().time() + LAYER_PAUSE_SECONDS
        log.warning("sockets without channel layer", error=type(error).__name__, sockets=len(self.sockets))

    async def _look_again_and_again(self) -> None:
        every = round(SESSIONS_SECONDS / NEWS_SECONDS)
        turn = 0
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._soon.wait(), NEWS_SECONDS)
            self._soon.clear()
            turn += 1
            if turn % every == 0:
                await self._try(self.look_at_sessions(timezone.now()))
                await self._try(database_sync_to_async(alarm.check)())
            await self._try(self.look_for_news())

    async def _try(self, look: Awaitable[object]) -> None:
        try:
            await look
        except Exception as error:  # noqa: BLE001  # a database that is away comes back: look again then
            log.warning("sockets not looked after", error=type(error).__name__, sockets=len(self.sockets))

    async def look_for_news(self) -> None:
        """Tell every socket what it has missed, close those whose people may not see their table any more, and have
        those join their groups that could not yet."""
        seen_now: dict[str, page_state.PageState] = {}
        for sockets in _portions(self.sockets):
            found = await database_sync_to_async(page_state.news_of)({socket.code for socket in sockets})
            await _shut_out_strangers(sockets, found)
            for socket in sockets:
                one = found.get(socket.code)
                if one and (one.version > socket.version or one != self._seen.get(socket.code)):
                    socket.tell(one.version)
            seen_now |= found
        self._seen |= seen_now  # only now: the sockets of one table may lie in two portions
        open_now = {socket.code for socket in self.sockets}
        self._seen = {code: found for code, found in self._seen.items() if code in open_now}
        await self._have_them_join()

    async def _have_them_join(self) -> None:
        for socket in list(self.sockets):
            try:
                if not await socket.join_groups():
                    break
            except Exception as error:
                log.exception("a socket is dropped", error=type(error).__name__)  # the others are not to suffer for it
                socket.finish(BROKEN)

    async def look_at_sessions(self, now: datetime) -> None:
        """Close the sockets whose session has ended, or whose person may no longer come in."""
        for sockets in _portions(self.sockets):
            owners = {socket.session_key: socket.user_id for socket in sockets if socket.session_key is not None}
            standing = await database_sync_to_async(people.valid_sessions)(owners, now)
            for socket in sockets:
                if socket.session_key is not None and socket.session_key not in standing:
                    socket.end()


async def _shut_out_strangers(sockets: Collection[Watched], found: Mapping[str, page_state.PageState]) -> None:
    closed = [one for one in sockets if one.code in found and not found[one.code].open_to(one.user_id, one.link)]
    people = {socket.user_id for socket in closed if socket.user_id is not None}
    invited: set[tuple[int, str]] = set()
    if people:
        invited = await database_sync_to_async(page_state.invited)(people, {socket.code for socket in closed})
    for socket in closed:
        if (socket.user_id, socket.code) not in invited:
            socket.shut_out()


def _portions(sockets: Collection[Watched]) -> Iterator[list[Watched]]:
    every = sorted(sockets, key=lambda socket: socket.code)
    for start in range(0, len(every), AT_ONCE):
        yield every[start : start + AT_ONCE]


_watches: WeakKeyDictionary[asyncio.AbstractEventLoop, Watch] = WeakKeyDictionary()


def watch() -> Watch:
    """The watch of the running event loop."""
    return _watches.setdefault(asyncio.get_running_loop(), Watch())
