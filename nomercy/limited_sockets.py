"""uvicorn's websockets, of which none may send much: pages send nothing but answers to pings."""

from typing import Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

MOST: Final = 4_096
"""Bytes."""
SECONDS: Final = 10.0


class LimitedSocket(WebSocketsSansIOProtocol):
    """Cuts off a client that sends more than `MOST` bytes within `SECONDS`, once its handshake is over.

    The server answers each ping in the event loop of all sockets, and neither nginx nor uvicorn counts them.
    """

    _received = 0
    _until = 0.0

    def data_received(self, data: bytes) -> None:
        """Count and handle what has arrived, or end the connection."""
        if self.handshake_complete:
            now = self.loop.time()
            if now >= self._until:
                self._received, self._until = 0, now + SECONDS
            self._received += len(data)
            if self._received > MOST:
                self.transport.abort()
                return
        super().data_received(data)

    def shutdown(self) -> None:
        """Close the connection, because the server stops."""
        # uvicorn 0.54 raises InvalidState, and then stops abruptly, if the client has just closed it.
        if not self.transport.is_closing():
            super().shutdown()
