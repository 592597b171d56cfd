"""The stack's one address: what goes where, and what is said of who asks."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

import pytest

from nomercy.launcher.proxy import HEAD_BYTES, Proxy, rewritten, target_of

T = TypeVar("T")


def test_a_request_goes_on_alone_on_its_connection_with_our_word_on_who_asks() -> None:
    head = (
        b"GET /games/a/ HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\nX-Forwarded-For: 1.2.3.4\r\n"
        b"x-forwarded-proto: https\r\nCookie: session=a: b\r\n\r\n"
    )

    assert rewritten(head, client="10.0.0.9") == (
        b"GET /games/a/ HTTP/1.1\r\nHost: x\r\nCookie: session=a: b\r\nConnection: close\r\n"
        b"X-Forwarded-For: 10.0.0.9\r\nX-Forwarded-Proto: http\r\n\r\n"
    )


def test_a_websocket_stays_one() -> None:
    head = b"GET /ws/games/a/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

    assert b"\r\nConnection: Upgrade\r\n" in rewritten(head, client="10.0.0.9")
    assert b"\r\nUpgrade: websocket\r\n" in rewritten(head, client="10.0.0.9")


@pytest.mark.parametrize(("line", "target"), [(b"GET /ws/x HTTP/1.1", b"/ws/x"), (b"nonsense", b""), (b"", b"")])
def test_the_target_is_the_second_word(line: bytes, target: bytes) -> None:
    assert target_of(line + b"\r\n\r\n") == target


def run(scenario: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(scenario, 10))


async def named(name: bytes, path: Path) -> asyncio.Server:
    """A server that says its name and what it was sent, and hangs up."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(3) if b"Content-Length: 3" in head else b""
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n" + name + b" " + head.split(b" ")[1] + b" " + body)
        writer.close()

    return await asyncio.start_unix_server(answer, path)


async def ask(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await reader.read()
    writer.close()
    return answer


def test_websockets_go_to_one_server_and_all_else_to_the_other(tmp_path: Path) -> None:
    async def scenario() -> list[bytes]:
        proxy = Proxy(web=tmp_path / "web", ws=tmp_path / "ws")
        async with (
            await named(b"web", proxy.web),
            await named(b"ws", proxy.ws),
            await proxy.listen("127.0.0.1", 0) as s,
        ):
            port = s.sockets[0].getsockname()[1]
            return [
                await ask(port, b"GET /ws/games/a/ HTTP/1.1\r\n\r\n"),
                await ask(port, b"GET /wsx HTTP/1.1\r\n\r\n"),
                await ask(port, b"POST /games/ws/ HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"),
            ]

    assert [answer.split(b"\r\n\r\n")[1] for answer in run(scenario())] == [
        b"ws /ws/games/a/ ",
        b"web /wsx ",
        b"web /games/ws/ abc",
    ]


def test_a_server_that_is_away_is_answered_for(tmp_path: Path) -> None:
    async def scenario() -> list[bytes]:
        async with await Proxy(web=tmp_path / "web", ws=tmp_path / "ws").listen("127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            return [
                await ask(port, b"GET / HTTP/1.1\r\n\r\n"),
                await ask(port, b"GET / HTTP/1.1\r\nX: " + b"x" * 3 * HEAD_BYTES + b"\r\n\r\n"),
            ]

    away, too_long = run(scenario())
    assert away.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert too_long.startswith(b"HTTP/1.1 431 ")


def test_a_server_that_is_stopped_before_it_answers_is_answered_for(tmp_path: Path) -> None:
    async def scenario() -> bytes:
        async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.transport.abort()

        proxy = Proxy(web=tmp_path / "web", ws=tmp_path / "ws")
        async with await asyncio.start_unix_server(hang_up, proxy.web), await proxy.listen("127.0.0.1", 0) as server:
            return await ask(server.sockets[0].getsockname()[1], b"GET / HTTP/1.1\r\n\r\n")

    assert run(scenario()).startswith(b"HTTP/1.1 502 ")


def test_a_client_that_hangs_up_is_forgotten(tmp_path: Path) -> None:
    async def scenario() -> None:
        gone = asyncio.Event()

        async def wait_for_the_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()
            gone.set()

        proxy = Proxy(web=tmp_path / "web", ws=tmp_path / "ws")
        async with await asyncio.start_unix_server(wait_for_the_end, proxy.ws), await proxy.listen("127.0.0.1", 0) as s:
            _, writer = await asyncio.open_connection("127.0.0.1", s.sockets[0].getsockname()[1])
            writer.write(b"GET /ws/games/a/ HTTP/1.1\r\n\r\n")
            await writer.drain()
            writer.close()
            await gone.wait()

    run(scenario())
