"""uvicorn as a front door: everybody can connect to it, so addresses have limits before it sees their connections."""

import socket
from collections.abc import Iterable
from typing import Any

from uvicorn import Server

from nomercy.server.connections import Connection, address_of, connections
from nomercy.server.listening import Acceptor


def accept(server: Server, sockets: Iterable[socket.socket]) -> None:
    """Have a server that has started up accept connections at these sockets, instead of by asyncio's own means."""
    config = server.config
    kind = config.http_protocol_class
    assert issubclass(kind, Connection)
    waiting = connections(kind.limits).waiting

    def serve() -> Connection:
        return kind(config, server.server_state, server.lifespan.state)

    servers: list[Any] = server.servers  # what it closes when it stops
    servers += [Acceptor(one, serve, lambda peer: waiting.has_room(address_of(peer))) for one in sockets]
