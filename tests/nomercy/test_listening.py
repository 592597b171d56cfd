"""Accepting connections: in small numbers and with limits by address."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from nomercy import storms
from nomercy.server import listening
from nomercy.server.listening import Acceptor
from nomercy.storms import OnceAMinute


class Echo(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(b"hello")
        transport.close()


class OutOfFiles(socket.socket):
    """A listening socket that cannot accept the first `failures` times."""

    failures = 3
    tries = 0

    def accept(self) -> tuple[socket.socket, Any]:
        self.tries += 1
        if self.tries <= self.failures:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return super().accept()


@pytest.fixture
def out_of_files() -> Iterator[OutOfFiles]:
    with OutOfFiles() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound


async def greeting(port: int) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        return await reader.read()
    finally:
        writer.close()
        with suppress(ConnectionResetError):
            await writer.wait_closed()


def test_the_kernel_keeps_little_for_a_client_that_does_not_read() -> None:
    with listening.listen("127.0.0.1", 0) as bound, socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(bound.getsockname())
        connection, _ = bound.accept()
        with connection, suppress(BlockingIOError):
            connection.setblocking(False)
            sent = 0
            while True:
                sent += connection.send(bytes(16_384))
                assert sent < 4 * listening.UNREAD_BYTES  # Linux keeps twice what is asked


def test_accepted_connections_have_tcp_nodelay() -> None:
    with listening.listen("127.0.0.1", 0) as bound, socket.create_connection(bound.getsockname()):
        connection, _ = bound.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_without_file_descriptors_it_retries_later_and_logs_once(
    monkeypatch: pytest.MonkeyPatch, out_of_files: OutOfFiles, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(listening, "PAUSE_WITHOUT_FILES", 0.02)
    monkeypatch.setattr(storms, "_once", OnceAMinute())

    async def scenario() -> bytes:
        async with Acceptor(out_of_files, Echo, lambda peer: True):
            return await greeting(out_of_files.getsockname()[1])

    assert asyncio.run(scenario()) == b"hello"
    assert out_of_files.tries <= OutOfFiles.failures + 2
    told = [record.msg for record in caplog.records if "no connection accepted" in str(record.msg)]
    assert len(told) == 1


def test_a_refused_client_gets_an_explanation() -> None:
    async def scenario() -> list[bytes]:
        with listening.listen("127.0.0.1", 0) as bound:
            port = bound.getsockname()[1]
            async with Acceptor(bound, Echo, lambda peer: peer[0] != "127.0.0.1"):
                return [await greeting(port)]

    (refused,) = asyncio.run(scenario())
    assert refused.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
    head, _, body = refused.partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head


def test_a_closed_acceptor_accepts_nothing() -> None:
    async def scenario() -> int:
        bound = listening.listen("127.0.0.1", 0)
        port: int = bound.getsockname()[1]
        acceptor = Acceptor(bound, Echo, lambda peer: True)
        assert await greeting(port) == b"hello"
        acceptor.close()
        acceptor.close()
        await acceptor.wait_closed()
        return port

    port = asyncio.run(scenario())
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", port))
