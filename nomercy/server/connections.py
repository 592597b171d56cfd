"""uvicorn's HTTP protocol, with limits on what a client can hold without a complete request.

uvicorn has no time limit for the headers of a request, none for an answer that its client does not read, and no limit
for one address. Here all connections of a process are checked once a second, which costs less than a timer for each.
"""

import asyncio
from typing import Any, Final
from weakref import WeakKeyDictionary

import h11
from django.conf import settings
from structlog import get_logger
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from accounts.origin import address_of_scope
from nomercy.launcher.listening import cut_off
from nomercy.server.limits import LIMITS, Limits, widened
from nomercy.server.refusals import as_bytes, refusal
from nomercy.server.waiting import Waiting
from nomercy.storms import warn

log = get_logger(__name__)

CHECK_SECONDS: Final = 1.0
"""How often every connection is checked."""
AT_ONCE: Final = 100
"""Connections that are checked in one go. Then other things have their turn, for `BREATHER` seconds."""
BREATHER: Final = 0.02


class Connections:
    """The HTTP connections of one event loop."""

    def __init__(self, limits: Limits) -> None:
        self.waiting = Waiting(each=widened(limits.waiting_connections))
        self._open: set[Connection] = set()
        self._to_check: list[Connection] = []
        self._next_check: asyncio.TimerHandle | None = None

    def add(self, connection: "Connection") -> None:
        self._open.add(connection)
        self.waiting.add(connection.address, connection)
        if self._next_check is None:
            self._check_in(CHECK_SECONDS)

    def remove(self, connection: "Connection") -> None:
        self._open.discard(connection)
        self.waiting.remove(connection.address, connection)

    def _check_in(self, seconds: float) -> None:
        self._next_check = asyncio.get_running_loop().call_later(seconds, self._check)

    def _check(self) -> None:
        self._next_check = None
        now = asyncio.get_running_loop().time()
        self._to_check = self._to_check or list(self._open)
        now_checked, self._to_check = self._to_check[:AT_ONCE], self._to_check[AT_ONCE:]
        if self._open:
            self._check_in(BREATHER if self._to_check else CHECK_SECONDS)
        for connection in now_checked:
            connection.check(now)


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Connections] = WeakKeyDictionary()


def connections(limits: Limits) -> Connections:
    """Return the connections of the running event loop, made with these limits if it has none yet."""
    loop = asyncio.get_running_loop()
    if loop not in _by_loop:
        _by_loop[loop] = Connections(limits)
    return _by_loop[loop]


def address_of(peer: Any) -> str:
    """Return the address that is counted for a connection, or "" if it comes from a proxy of ours."""
    return "" if settings.BEHIND_PROXY else address_of_scope({"headers": (), "client": peer})


class Connection(H11Protocol):
    """One HTTP connection. It is waiting while no request is being answered, also while an answer is not read yet."""

    limits: Limits = LIMITS
    address: str = ""
    """The client's, or empty where the client is a proxy of ours, which has all its visitors' connections."""
    _arriving_since: float | None = None
    """When the request that is arriving began, or the connection; None while a request is answered, and when idle."""
    _unread_since: float | None = None
    """When it was first seen that the client has not read all that was sent."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self.address = address_of(self.client)
        self._connections = connections(self.limits)
        self._connections.add(self)
        self._arriving_since = self.loop.time()

    def connection_lost(self, exc: Exception | None) -> None:
        self._arriving_since = None
        self._connections.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self._arriving_since is None and not self._answering:
            self._arriving_since = self.loop.time()
        super().data_received(data)
        if self._answering:
            self._arriving_since = None
            self._connections.waiting.remove(self.address, self)

    def eof_received(self) -> bool | None:  # type: ignore[override]  # asyncio reads the answer; uvicorn's is None
        """Answer a complete request although its client sends nothing more. Returning None closes the connection."""
        if self._answering and not self.cycle.more_body:
            self.cycle.keep_alive = False
            return True
        return None

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._answering:  # else the next request was here already
            unfinished = self.conn.their_state is h11.SEND_BODY or self.conn.trailing_data[0]
            self._arriving_since = self.loop.time() if unfinished else None
            self._connections.waiting.add(self.address, self)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._connections.remove(self)
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, unless the answer to this request has begun already."""
        if not self._answering or not self.cycle.response_started:
            self._refuse(400)
        self.transport.close()

    def check(self, now: float) -> None:
        """Close the connection if its client takes too long."""
        if not self.transport.get_write_buffer_size():
            self._unread_since = None
        elif self._unread_since is None:
            self._unread_since = now
        elif now - self._unread_since > self.limits.write_seconds:
            warn(log, "answer not read")
            cut_off(self.transport)
        if self._arriving_since is not None and now - self._arriving_since > self.limits.head_seconds:
            self._arriving_since = None
            self._refuse_a_part(408)
            self.transport.close()

    def evict(self) -> None:
        """Make room for another connection."""
        if self.transport.get_write_buffer_size():
            cut_off(self.transport)
        else:
            self._refuse_a_part(429)
            self.transport.abort()

    @property
    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _refuse_a_part(self, status: int) -> None:
        """Answer the part of a request that has come, if there is one. Nothing is said on an idle connection."""
        if self.conn.trailing_data[0]:
            self._refuse(status)

    def _refuse(self, status: int) -> None:
        warn(log, "request refused", status=status)
        self.transport.write(as_bytes(refusal(status, path="")))
