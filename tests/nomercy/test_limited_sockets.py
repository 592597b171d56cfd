"""A websocket that ends while the server stops. `test_front_limits` tests how much one may send."""

from __future__ import annotations

import asyncio
import socket
from typing import Any, Final

from uvicorn import Config
from uvicorn.server import ServerState

from nomercy.limited_sockets import LimitedSocket

OPEN: Final = (
    b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
)
CLOSE: Final = b"\x88\x80\0\0\0\0"
CLOSED: Final = b"\x88\x00"


async def accept(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "websocket.accept"})
    while (await receive())["type"] != "websocket.disconnect":
        pass


def test_the_server_stops_just_after_a_client_has_closed_its_socket() -> None:
    async def closed() -> bytes:
        ours, theirs = socket.socketpair()
        configuration = Config(accept, ws=LimitedSocket, lifespan="off", log_config=None)
        configuration.load()
        protocol = LimitedSocket(configuration, ServerState(), {})
        await asyncio.get_running_loop().create_connection(lambda: protocol, sock=ours)
        reader, writer = await asyncio.open_connection(sock=theirs)
        writer.write(OPEN)
        await reader.readuntil(b"\r\n\r\n")
        protocol.data_received(CLOSE)
        protocol.shutdown()
        found = await reader.read()
        writer.close()
        await writer.wait_closed()
        return found

    assert asyncio.run(closed()) == CLOSED
