"""Runs the server of `script/run` in a thread, and clients that write HTTP by hand."""

from __future__ import annotations

import io
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPResponse
from typing import Self

from nomercy.asgi import Application
from nomercy.launcher import embedded

PATIENCE = 20.0


@contextmanager
def serving(application: Application) -> Iterator[int]:
    """Serve an app as `script/run` does until the end of the block. Yield its port."""
    is_ready = threading.Event()

    async def ready() -> None:
        is_ready.set()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        server = embedded.server(application, ready=ready)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            assert is_ready.wait(PATIENCE)
            yield port
        finally:
            server.stop()
            thread.join()


@dataclass
class Line:
    """A connection of a client. It is closed at the end of a `with` block."""

    port: int
    source: str = "127.0.0.1"
    _socket: socket.socket = field(init=False)
    _file: io.BufferedReader = field(init=False)

    def __post_init__(self) -> None:
        self._socket = socket.create_connection(
            ("127.0.0.1", self.port), timeout=PATIENCE, source_address=(self.source, 0)
        )
        self._file = self._socket.makefile("rb")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self._socket.close()

    def send(self, data: bytes) -> Self:
        self._socket.sendall(data)
        return self

    def answer(self) -> Reply:
        """Read an answer."""
        response = HTTPResponse(self._socket)
        response.begin()
        headers = {name.lower(): value for name, value in response.headers.items()}
        return Reply(response.status, headers, response.read())

    def head(self) -> int:
        """Read the first line of an answer, and return its status."""
        return int(self._file.readline().split()[1])

    def closed(self) -> bytes:
        """Wait until the server closes the connection, and return what it sent before that."""
        parts = []
        try:
            while part := self._file.read1():
                parts.append(part)
        except ConnectionResetError:
            pass
        return b"".join(parts)


@dataclass(frozen=True)
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes


def request(method: str = "GET", path: str = "/", body: bytes | None = None, **headers: str) -> bytes:
    """Return the bytes of a request. `X_Y` becomes the header `X-Y`. A `body` adds its Content-Length."""
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    lines += [f"Content-Length: {len(body)}"] if body is not None else []
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


def half_a_body(path: str = "/") -> bytes:
    """Return a request that promises 100 bytes and sends two."""
    return request("POST", path, Content_Length="100") + b"ab"
