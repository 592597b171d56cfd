"""uvicorn's HTTP protocol, with limits on what a client can hold without a complete request.

uvicorn has no time limit for the headers of a request or for an answer that its client does not read, and no limit for
one address. Here all connections of a process are checked once a second, which costs less than a timer for each.
"""

import asyncio
import re
from http import HTTPStatus
from typing import Any, Final, Protocol
from weakref import WeakKeyDictionary

import h11
from django.conf import settings
from structlog import get_logger
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from accounts.origin import address_of_peer
from nomercy.server.limits import LIMITS, Limits
from nomercy.server.listening import cut_off
from nomercy.server.refusals import as_bytes, refusal
from nomercy.server.waiting import Evictable, waiting_for
from nomercy.storms import warn

log = get_logger(__name__)

END_OF_HEAD: Final = re.compile(rb"\n\r?\n")
"""The same pattern as h11 uses."""
FIRST_OF_A_METHOD: Final = 0x21
"""No request begins with a lower byte. If one does, it is usually TLS, whose client waits for an answer."""
CHECK_SECONDS: Final = 1.0
"""How often every connection is checked."""
ENDED: Final = "nomercy.ended"
"""The key in `scope["state"]` of an `asyncio.Event`, which is set when the client ends its side of the connection."""
SECONDS_TO_READ: Final = 2.0
"""How long a client may still send a body or read an answer when the server stops: less than the server waits."""
SECONDS_BETWEEN_LOOKS: Final = 0.2
"""How often the server then looks for an answer that is not read."""
CHECKED_AT_ONCE: Final = 100
"""How many connections are checked at once. Then the event loop does other things for `BREATHER` seconds."""
BREATHER: Final = 0.02


class Checked(Evictable, Protocol):
    """An HTTP connection or a websocket."""

    address: str

    def check(self, now: float) -> None:
        """Close it if its client takes too long. `now` is the time of the event loop."""


class Connections:
    """The HTTP connections and websockets of one event loop."""

    def __init__(self, limits: Limits) -> None:
        self.waiting = waiting_for(limits)
        self.stopping = asyncio.Event()
        """Set when the server stops, so that waiting calls are answered."""
        self._open: set[Checked] = set()
        self._to_check: list[Checked] = []
        self._next_check: asyncio.TimerHandle | None = None

    def add(self, connection: Checked) -> None:
        """Check this connection from now on, and count it as waiting."""
        self._open.add(connection)
        self.waiting.add(connection.address, connection)
        if self._next_check is None:
            self._check_in(CHECK_SECONDS)

    def remove(self, connection: Checked) -> None:
        """Forget a connection that has ended or has become a websocket."""
        self._open.discard(connection)
        self.waiting.remove(connection.address, connection)

    def _check_in(self, seconds: float) -> None:
        self._next_check = asyncio.get_running_loop().call_later(seconds, self._check)

    def _check(self) -> None:
        self._next_check = None
        now = asyncio.get_running_loop().time()
        self._to_check = self._to_check or list(self._open)
        now_checked, self._to_check = self._to_check[:CHECKED_AT_ONCE], self._to_check[CHECKED_AT_ONCE:]
        if self._open:
            self._check_in(BREATHER if self._to_check else CHECK_SECONDS)
        for connection in now_checked:
            if connection in self._open:
                connection.check(now)


_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, Connections] = WeakKeyDictionary()


def connections(limits: Limits) -> Connections:
    """Return the connections of the running event loop, made with these limits if it has none yet."""
    loop = asyncio.get_running_loop()
    if loop not in _by_loop:
        _by_loop[loop] = Connections(limits)
    return _by_loop[loop]


def address_of(peer: Any) -> str:
    """Return the address that a connection counts for, or "" if it comes from our proxy."""
    return "" if settings.BEHIND_PROXY else address_of_peer(peer)


class Unread:
    """Detects that a client does not read its answers."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._bytes = 0
        self._since: float | None = None

    def note_progress(self) -> None:
        """Note that the client has read so much that more can be written, after which the buffer may be full again."""
        self._since = None

    def check(self, now: float, seconds: float) -> None:
        """Cut the connection off if the client has read nothing for `seconds`. Call it regularly."""
        before, self._bytes = self._bytes, self._transport.get_write_buffer_size()
        if not self._bytes:
            self._since = None
        elif self._since is None or self._bytes < before:
            self._since = now
        elif now - self._since > seconds:
            warn(log, "answer not read")
            cut_off(self._transport)


class Connection(H11Protocol):
    """One HTTP connection. It counts as waiting while no request is being answered.

    An answer is being sent until its client has read all of it, except for 128 KB at most.

    h11 gets one head or one piece of a body at a time, and the next request only after the one before is answered. It
    parses all it has in one go, which blocks the event loop: 250 kB can be 40,000 chunks of a body. So chunked bodies
    are refused; only programs send them.
    """

    limits: Limits = LIMITS
    address: str = ""
    """The address of the client, or "" if it is our proxy, whose connections are those of all visitors."""
    _arriving_since: float | None = None
    """When the current request or the connection began; None while a request is answered or nothing arrives."""
    _searched: int = 0
    """How many bytes of `_pending` were searched for the end of the head."""
    _body_left: int = 0
    """How many bytes of the body are missing."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn
        super().connection_made(transport)
        self._pending = bytearray()
        self._ended = asyncio.Event()
        self.app_state = {**self.app_state, ENDED: self._ended}  # uvicorn gives each request a copy
        self.address = address_of(self.client)
        self._unread = Unread(transport)
        self._connections = connections(self.limits)
        self._connections.add(self)
        self._arriving_since = self.loop.time()

    def connection_lost(self, exc: Exception | None) -> None:
        self._arriving_since = None
        self._pending.clear()
        self._connections.remove(self)
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Close the connection because the server stops, unless a request is being answered.

        Its client has `SECONDS_TO_READ` more to send the rest of a body and to read the answer.
        """
        self._connections.stopping.set()
        super().shutdown()
        self.loop.call_later(SECONDS_TO_READ, self._cut_off_slow)

    def _cut_off_slow(self) -> None:
        """Cut the connection off if its client still has to send the rest of a body or to read an answer."""
        if self._body_left or self.transport.get_write_buffer_size():
            cut_off(self.transport)
        elif self._answering and not self.transport.is_closing():  # its answer may come later, and be unread too
            self.loop.call_later(SECONDS_BETWEEN_LOOKS, self._cut_off_slow)

    def resume_writing(self) -> None:
        self._unread.note_progress()
        super().resume_writing()

    def data_received(self, data: bytes) -> None:
        self._unset_keepalive_if_required()
        self._pending += data
        self._feed()
        if self._pending and self._arriving_since is None and not self._answering:
            self._arriving_since = self.loop.time()

    def eof_received(self) -> bool | None:  # type: ignore[override]  # asyncio reads the answer; uvicorn's is None
        """Answer a client that will send nothing more. Returning None closes the connection.

        Only sending something shows whether it still reads, so waiting calls are answered at once.
        """
        self._ended.set()
        if not self._answering:
            return None
        if not self.cycle.more_body:
            self.cycle.keep_alive = False
            return True
        if not self.cycle.response_started:
            self._refuse(HTTPStatus.BAD_REQUEST, self.scope["path"])
        return None

    def on_response_complete(self) -> None:
        super().on_response_complete()
        self._feed()
        if not self._answering:  # else the next request had arrived already
            self._arriving_since = self.loop.time() if self._pending else None
            self._connections.waiting.add(self.address, self)

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        self._arriving_since = None
        self._pending.clear()
        self._connections.remove(self)
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP."""
        self._refuse(HTTPStatus.BAD_REQUEST)
        self.transport.close()

    def check(self, now: float) -> None:
        """Close the connection if its client takes too long."""
        self._unread.check(now, self.limits.write_seconds)
        if self._arriving_since is not None and now - self._arriving_since > self.limits.head_seconds:
            self._arriving_since = None
            self._refuse_a_part(HTTPStatus.REQUEST_TIMEOUT)
            self.transport.close()

    def evict(self) -> None:
        """Make room for another connection."""
        if self.transport.get_write_buffer_size():
            cut_off(self.transport)
        else:
            self._refuse_a_part(HTTPStatus.TOO_MANY_REQUESTS)
            self.transport.abort()

    @property
    def _answering(self) -> bool:
        cycle: RequestResponseCycle | None = self.cycle
        return cycle is not None and not cycle.response_complete

    def _feed(self) -> None:
        """Pass to h11 what has arrived of the current request."""
        while self._pending and not self.transport.is_closing():
            size = self._next_piece()
            if not size:
                return
            piece = bytes(self._pending[:size])
            del self._pending[:size]
            if self._body_left:
                self._body_left -= size
                super().data_received(piece)
            else:
                self._searched = 0
                super().data_received(piece)
                self._begin_to_answer()
            if self._answering and not self._body_left:
                self._connections.waiting.remove(self.address, self)

    def _next_piece(self) -> int:
        """Return how many bytes h11 gets now: of the body, or the whole head of the next request."""
        if self._body_left:
            return min(self._body_left, len(self._pending))
        most = self.limits.head_bytes
        if self._answering:
            if len(self._pending) > most:
                self.flow.pause_reading()  # uvicorn resumes it after the answer
                self._ended.set()  # while nothing is read, the end of the stream would not be seen
            return 0
        end = END_OF_HEAD.search(self._pending, max(0, self._searched - 2))
        self._searched = len(self._pending)
        size = end.end() if end else len(self._pending)
        refused = None
        if not end and self._pending[0] < FIRST_OF_A_METHOD:
            refused = HTTPStatus.BAD_REQUEST
        elif size > most or self._pending.count(b"\n", 0, size) > self.limits.head_lines:
            refused = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
        if refused:
            self._refuse(refused)
            self.transport.close()
            return 0
        return size if end else 0

    def _begin_to_answer(self) -> None:
        """Check the head that h11 has read, unless it was refused or began a websocket."""
        if not self._answering or self.transport.is_closing():
            return
        self._arriving_since = None
        headers = dict(self.headers)
        self._body_left = int(headers.get(b"content-length", 0))
        if b"transfer-encoding" in headers:
            self._refuse(HTTPStatus.LENGTH_REQUIRED, self.scope["path"])
            self.transport.close()

    def _refuse_a_part(self, status: HTTPStatus) -> None:
        """Refuse an incomplete request. Send nothing on an idle connection."""
        if self._pending:
            self._refuse(status)

    def _refuse(self, status: HTTPStatus, path: str = "") -> None:
        warn(log, "request refused", status=int(status))
        self.transport.write(as_bytes(refusal(status, path=path)))
