"""uvicorn's websockets, of which none may send much: pages send nothing but answers to pings."""

from typing import Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

MOST: Final = 4_096
SECONDS: Final = 10.0


class MeasuredSocket(WebSocketsSansIOProtocol):
    """Cuts off a client that sends more than `MOST` bytes in `SECONDS` after its handshake.

    The server answers each ping in the event loop of all sockets, and neither nginx nor uvicorn counts them.
    """

    _received = 0
    _until = 0.0

    def data_received(self, data: bytes) -> None:
        if self.handshake_complete:
            now = self.loop.time()
            if now >= self._until:
                self._received, self._until = 0, now + SECONDS
            self._received += len(data)
            if self._received > MOST:
                self.transport.abort()
                return
        super().data_received(data)
