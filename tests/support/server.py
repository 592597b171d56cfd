"""Runs a server of `nomercy.server` in a thread, and clients that write HTTP by hand."""

from __future__ import annotations

import asyncio
import io
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from http.client import parse_headers
from typing import Any, Self
from wsgiref.types import WSGIEnvironment

import pytest
import uvicorn.server

from nomercy.server.admission import Admission
from nomercy.server.bridge import Bridge
from nomercy.server.config import config
from nomercy.server.connections import Connection
from nomercy.server.front import FrontServer
from nomercy.server.limits import Limits
from nomercy.server.sockets import Socket
from tests.support.waiting import until

PATIENCE = 20.0


@dataclass
class App:
    """A WSGI app that answers with the body it was sent. Requests to `/hold` wait until `hold` is set."""

    hold: threading.Event = field(default_factory=threading.Event)
    entered: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    environs: list[WSGIEnvironment] = field(default_factory=list)
    answer: bytes | None = None
    status: str = "200 OK"
    admission: Admission = field(init=False)

    def wait_for_open(self, number: int, address: str = "127.0.0.1") -> None:
        """Wait until the server has `number` open requests of an address."""
        addresses = self.admission.addresses
        until("counted", lambda: (addresses[address].requests if address in addresses else 0) == number)

    def wait_for_unsent(self, number: int) -> None:
        """Wait until `number` bytes of answers are being sent."""
        until("counted", lambda: self.admission.unsent.total() == number)

    def __call__(self, environ: WSGIEnvironment, start_response: Callable[..., Any]) -> list[bytes]:
        self.environs.append(environ)
        self.entered.release()
        if environ["PATH_INFO"] == "/hold":
            assert self.hold.wait(PATIENCE)
        body = environ["wsgi.input"].read() if self.answer is None else self.answer
        start_response(self.status, [("Content-Type", "text/plain")])
        return [body]


class QuickAsyncio:
    """Replaces asyncio in uvicorn's server, so that a stopping server checks its connections every 5 ms, not 100 ms."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds / 20)


async def _nothing() -> None:
    pass


@contextmanager
def serving(application: Any, limits: Limits) -> Iterator[int]:
    """Serve an ASGI app until the end of the block. Yield its port."""
    with ExitStack() as stack:
        stack.enter_context(pytest.MonkeyPatch.context()).setattr(uvicorn.server, "asyncio", QuickAsyncio())
        # All addresses, because some clients connect from 127.0.0.2.
        listening = stack.enter_context(socket.create_server(("0.0.0.0", 0)))  # noqa: S104
        port = listening.getsockname()[1]
        configuration = config(application, stop_seconds=1)
        configuration.http = type("TestConnection", (Connection,), {"limits": limits})
        configuration.ws = type("TestSocket", (Socket,), {"limits": limits})
        server = FrontServer(configuration, ready=_nothing)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield port
        finally:
            server.stop()
            thread.join()


@contextmanager
def serving_app(app: App, limits: Limits, *, threads: int = 4) -> Iterator[int]:
    """Serve a WSGI app until the end of the block. Yield its port."""
    app.admission = Admission(Bridge(app, threads=threads), limits)
    try:
        with serving(app.admission, limits) as port:
            yield port
    finally:
        app.hold.set()


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

    def end_sending(self) -> Self:
        self._socket.shutdown(socket.SHUT_WR)
        return self

    def answer(self) -> Reply:
        """Read an answer that has a Content-Length."""
        head = self.head()
        return replace(head, body=self._file.read(int(head.headers["content-length"])))

    def head(self) -> Reply:
        """Read the status and headers of an answer."""
        status = int(self._file.readline().split()[1])
        headers = {name.lower(): value for name, value in parse_headers(self._file).items()}
        return Reply(status, headers, b"")

    def read_slowly(self, seconds: float) -> Iterator[bytes]:
        """Yield the parts of an answer, read with pauses of `seconds` in total."""
        pauses = 20
        head, _, first = self._file.read1().partition(b"\r\n\r\n")
        left = int(head.lower().partition(b"content-length: ")[2].split(b"\r\n")[0]) - len(first)
        yield first
        size = left // pauses + 1
        while left > 0:
            threading.Event().wait(seconds / pauses)
            part = self._file.read(min(size, left))
            left -= len(part)
            yield part

    def interim(self) -> int:
        """Read an interim answer without headers, and return its status."""
        status = int(self._file.readline().split()[1])
        assert self._file.readline() == b"\r\n"
        return status

    def read(self, size: int) -> bytes:
        """Read `size` bytes."""
        return self._file.read(size)

    def closed(self) -> bytes:
        """Wait until the server closes the connection, and return what it sent before that."""
        parts = []
        try:
            while part := self._file.read1():
                parts.append(part)
        except ConnectionResetError:
            pass
        return b"".join(parts)

    def cut_off(self) -> bytes:
        """Wait, without reading, until the server resets the connection, and return what had arrived."""
        poll = select.poll()
        poll.register(self._socket, select.POLLERR | select.POLLHUP)
        assert poll.poll(PATIENCE * 1000), "not cut off"
        return self.closed()


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
