"""Accept connections for a uvicorn that everybody can reach, with limits by address."""

import socket
from collections.abc import Iterable
from typing import Any

from uvicorn import Server

from nomercy.server.connections import Connection, address_of, connections
from nomercy.server.listening import Acceptor


def accept(server: Server, sockets: Iterable[socket.socket]) -> None:
    """Accept connections at these sockets for a started server, in place of asyncio's own server."""
    config = server.config
    kind = config.http_protocol_class
    assert issubclass(kind, Connection)
    waiting = connections(kind.limits).waiting

    def serve() -> Connection:
        return kind(config, server.server_state, server.lifespan.state)

    servers: list[Any] = server.servers  # what it closes when it stops
    servers += [Acceptor(one, serve, lambda peer: waiting.has_room(address_of(peer))) for one in sockets]
