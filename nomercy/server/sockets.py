"""uvicorn's websocket protocol, with limits on what a client can hold and send.

Pages send nothing on a socket, and browsers only send a pong for each ping and a close frame. So a client may send very
little. uvicorn has no such limit: it parses 256 KB of frames of 6 bytes in one go, which blocks the event loop, and it
answers pings whether or not the client reads the pongs.
"""

from asyncio import BaseTransport
from http import HTTPStatus

from structlog import get_logger
from uvicorn._types import ASGISendEvent
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame
from websockets.protocol import State

from nomercy.server.connections import Unread, address_of, connections
from nomercy.server.limits import LIMITS, Limits
from nomercy.server.listening import cut_off
from nomercy.server.refusals import as_bytes, refusal
from nomercy.storms import warn

log = get_logger(__name__)


class Socket(WebSocketsSansIOProtocol):
    """One websocket. It counts as waiting until the app accepts the handshake, and is checked until it is closed."""

    limits: Limits = LIMITS
    address: str = ""
    """As in `Connection`."""

    def connection_made(self, transport: BaseTransport) -> None:
        super().connection_made(transport)
        self.address = address_of(self.client)
        self._opened_at = self.loop.time()
        self._counted_since = self._opened_at
        self._received = 0
        self._unread = Unread(self.transport)
        self._connections = connections(self.limits)
        self._connections.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self._connections.remove(self)
        super().connection_lost(exc)

    def shutdown(self) -> None:
        """Close the socket because the server stops."""
        if self.handshake_complete and self.conn.state is not State.OPEN:
            # uvicorn would send a close frame even if that of the client has just been read. That raises
            # `InvalidState`, and the other connections would stay open.
            self.stop_keepalive()
            self.transport.close()
            return
        answered = self.handshake_complete
        super().shutdown()
        if not answered:
            # uvicorn has refused the handshake. An app that answers it only now gets `ClientDisconnected`, because a
            # second answer would be an `AssertionError` in the log.
            self.disconnected = True

    def data_received(self, data: bytes) -> None:
        """Process the head of the handshake, which `Connection` has read completely, and later the client's frames."""
        if not self.handshake_initiated:
            super().data_received(data)
            if not self.handshake_initiated:
                self._refuse_handshake()
        elif not self.handshake_complete:
            warn(log, "frames before the handshake was answered")
            cut_off(self.transport)
        elif self._is_too_much(len(data)):
            self._refuse("too much data")
        else:
            super().data_received(data)

    async def send(self, message: ASGISendEvent) -> None:
        await super().send(message)
        if message["type"] == "websocket.accept":
            self._connections.waiting.remove(self.address, self)

    def handle_text(self, event: Frame) -> None:
        """Pass on a whole message, which the app refuses."""
        if event.fin:
            super().handle_text(event)
        else:
            self._refuse("fragments are not accepted")

    def handle_bytes(self, event: Frame) -> None:
        if event.fin:
            super().handle_bytes(event)
        else:
            self._refuse("fragments are not accepted")

    def handle_cont(self, event: Frame) -> None:
        """Ignore it: the fragment before it was refused."""

    def check(self, now: float) -> None:
        """Close the connection if its client does not read, or the app does not answer the handshake."""
        self._unread.check(now, self.limits.write_seconds)
        if not self.handshake_complete and now - self._opened_at > self.limits.head_seconds:
            warn(log, "handshake not answered")
            self.transport.abort()

    def evict(self) -> None:
        """Make room for another connection."""
        cut_off(self.transport)

    def _is_too_much(self, size: int) -> bool:
        """Count bytes from the client. Return True if it has sent too many."""
        now = self.loop.time()
        if now - self._counted_since > self.limits.socket_seconds:
            self._counted_since, self._received = now, 0
        self._received += size
        return self._received > self.limits.socket_bytes

    def _refuse(self, reason: str) -> None:
        """Close without waiting for the client's close frame."""
        warn(log, "websocket refused", reason=reason)
        self.conn.fail(CloseCode.POLICY_VIOLATION, reason)
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.close_sent = True
        self.transport.close()

    def _refuse_handshake(self) -> None:
        """Refuse a head that `websockets` cannot parse. uvicorn would neither answer nor close."""
        warn(log, "handshake refused", status=int(HTTPStatus.BAD_REQUEST))
        self.handshake_complete = self.close_sent = True
        self.transport.write(as_bytes(refusal(HTTPStatus.BAD_REQUEST, path="")))
        self.transport.close()
