"""Listening sockets, accepting connections, and file descriptors."""

import asyncio
import resource
import socket
import struct
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, Self

import structlog

from nomercy.server.waiting import ENOUGH_FILES
from nomercy.storms import warn

log = structlog.get_logger(__name__)
Peer = Any
"""The address of a client as `socket.accept` returns it: a tuple whose form depends on the address family."""

BACKLOG: Final = 256
"""How many connections the kernel keeps until they are accepted."""
ACCEPTED_AT_ONCE: Final = 50
"""How many connections are accepted at once, before the open ones have their turn."""
PAUSE_WITHOUT_FILES: Final = 1.0
"""How many seconds to wait after the file descriptors have run out."""
REFUSAL_TEXT: Final = b"Your address has too many connections open. Try again in ten seconds."
REFUSED: Final = b"\r\n".join(
    (
        b"HTTP/1.1 429 Too Many Requests",
        b"Content-Type: text/plain; charset=utf-8",
        b"Content-Length: %d" % len(REFUSAL_TEXT),
        b"Connection: close",
        b"Retry-After: 10",
        b"",
        REFUSAL_TEXT,
    )
)
UNREAD_BYTES: Final = 65_536
"""How much the kernel keeps for a client that does not read. It would keep 4 MB for each connection by itself."""
DROP_UNSENT: Final = struct.pack("ii", 1, 0)
"""The value of `SO_LINGER` with which closing a socket drops unsent data."""


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there.

    :raises OSError: the address cannot be used.
    """
    try:
        bound = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:  # Python adds the address to the message; our messages already name it
        raise OSError(error.errno, str(error.strerror).partition(" (while ")[0]) from None
    # Accepted connections inherit both options. asyncio sets TCP_NODELAY only on sockets that name their protocol;
    # those of `create_server` do not. Without it the second part of an answer waits 40 ms until the client acknowledges
    # the first.
    bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD_BYTES)
    return bound


class Acceptor:
    """Accepts connections in an event loop, for servers that everybody can reach.

    asyncio's own server creates a transport and a task for each connection before its address can be checked, accepts
    any number at once, and logs a traceback for each try when file descriptors run out. Here a refusal takes a tenth
    of the time that asyncio needs.
    """

    def __init__(
        self, listening: socket.socket, serve: Callable[[], asyncio.BaseProtocol], admits: Callable[[Peer], bool]
    ) -> None:
        """Serve each connection for which `admits(peer)` is True by a new protocol from `serve()`."""
        self.sockets = [listening]
        self._serve = serve
        self._admits = admits
        self._opening: set[asyncio.Task[object]] = set()
        self._loop = asyncio.get_running_loop()
        listening.setblocking(False)
        listening.listen(BACKLOG)
        self._loop.add_reader(listening, self._accept)

    def close(self) -> None:
        """Stop accepting."""
        for listening in self.sockets:
            self._loop.remove_reader(listening)
            listening.close()
        self.sockets = []

    async def wait_closed(self) -> None:
        """Do nothing: open connections belong to their protocols."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        for _ in range(ACCEPTED_AT_ONCE):
            if not self.sockets:
                return
            try:
                connection, peer = self.sockets[0].accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            except OSError as error:
                warn(log, "no connection accepted", error=error.strerror)
                self._pause()
                return
            if self._admits(peer):
                self._open(connection)
            else:
                self._refuse(connection)

    def _open(self, connection: socket.socket) -> None:
        opening = self._loop.create_task(self._loop.connect_accepted_socket(self._serve, connection))
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)

    def _refuse(self, connection: socket.socket) -> None:
        warn(log, "connection refused", reason="too many of one address or network")
        with connection, suppress(OSError):  # the client may be gone
            connection.setblocking(False)
            connection.send(REFUSED)

    def _pause(self) -> None:
        listening = self.sockets[0]
        self._loop.remove_reader(listening)
        self._loop.call_later(
            PAUSE_WITHOUT_FILES, lambda: self.sockets and self._loop.add_reader(listening, self._accept)
        )


def raise_file_limit() -> None:
    """Raise this process's limit of open files as far as allowed, up to `ENOUGH_FILES`. Its children inherit it.

    Connections soon use up the usual limit of 1,024.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = ENOUGH_FILES if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(ValueError, OSError):  # some kernels allow less than the hard limit says
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def cut_off(transport: asyncio.Transport | asyncio.WriteTransport) -> None:
    """Close a connection whose client does not read, and drop unsent data."""
    # Otherwise the kernel would try to send it for minutes.
    with suppress(OSError):  # already closed
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, DROP_UNSENT)
    transport.abort()
