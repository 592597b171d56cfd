"""The proxy of the stack: where requests go, and the headers it sets."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Coroutine
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import pytest

from nomercy.launcher.proxy import Proxy, rewritten, target_of
from nomercy.server.limits import LIMITS, Limits
from nomercy.server.waiting import Waiting

T = TypeVar("T")


def test_a_request_is_passed_on_with_the_clients_address() -> None:
    head = (
        b"GET /games/a/ HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\nX-Forwarded-For: 1.2.3.4\r\n"
        b"x-forwarded-proto: https\r\nCookie: session=a: b\r\n\r\n"
    )

    assert rewritten(head, client="10.0.0.9") == (
        b"GET /games/a/ HTTP/1.1\r\nHost: x\r\nCookie: session=a: b\r\nConnection: close\r\n"
        b"X-Forwarded-For: 10.0.0.9\r\nX-Forwarded-Proto: http\r\n\r\n"
    )


def test_a_websocket_upgrade_is_passed_on() -> None:
    head = b"GET /ws/games/a/ HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"

    assert b"\r\nConnection: Upgrade\r\n" in rewritten(head, client="10.0.0.9")
    assert b"\r\nUpgrade: websocket\r\n" in rewritten(head, client="10.0.0.9")


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\nUpgrade: websocket\r\n\r\n",
        b"GET /ws/games/a/ HTTP/1.1\r\nUpgrade: x\r\n\r\n",
        b"GET /ws/games/a/ HTTP/1.1\r\nConnection: Upgrade\r\nHTTP2-Settings: x\r\nUpgrade: h2c\r\n\r\n",
    ],
)
def test_other_upgrades_are_removed(head: bytes) -> None:
    lines = rewritten(head, client="10.0.0.9").lower().split(b"\r\n")
    assert b"connection: close" in lines
    assert not [line for line in lines if line.startswith(b"upgrade")]


def test_only_the_websocket_upgrade_is_passed_on() -> None:
    head = b"GET /ws/games/a/ HTTP/1.1\r\nUpgrade: WebSocket\r\nUpgrade: x\r\n\r\n"
    assert rewritten(head, client="10.0.0.9").count(b"Upgrade: ") == 1
    assert b"\r\nUpgrade: websocket\r\n" in rewritten(head, client="10.0.0.9")


def test_a_head_of_many_lines_is_refused(tmp_path: Path) -> None:
    async def scenario() -> bytes:
        async with proxy_at(tmp_path).listen("127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            return await ask(port, b"GET / HTTP/1.1\r\n" + b"a:\r\n" * LIMITS.head_lines + b"\r\n")

    assert run(scenario()).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(("line", "target"), [(b"GET /ws/x HTTP/1.1", b"/ws/x"), (b"nonsense", b""), (b"", b"")])
def test_the_target_is_the_second_word(line: bytes, target: bytes) -> None:
    assert target_of(line + b"\r\n\r\n") == target


def proxy_at(folder: Path, limits: Limits = LIMITS, *, each: int | None = None) -> Proxy:
    return Proxy(web=folder / "web", ws=folder / "ws", waiting=Waiting(each=each), limits=limits)


def run(scenario: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(asyncio.wait_for(scenario, 10))


async def named(name: bytes, path: Path) -> asyncio.Server:
    """Run a server that answers with its name and what it received, and closes."""

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


def test_websockets_and_pages_go_to_their_servers(tmp_path: Path) -> None:
    async def scenario() -> list[bytes]:
        proxy = proxy_at(tmp_path)
        async with (
            await named(b"web", proxy.web),
            await named(b"ws", proxy.ws),
            proxy.listen("127.0.0.1", 0) as s,
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


def test_a_missing_server_gives_502(tmp_path: Path) -> None:
    async def scenario() -> list[bytes]:
        async with proxy_at(tmp_path).listen("127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            return [
                await ask(port, b"GET / HTTP/1.1\r\n\r\n"),
                await ask(port, b"GET / HTTP/1.1\r\nX: " + b"x" * 3 * LIMITS.head_bytes + b"\r\n\r\n"),
            ]

    away, too_long = run(scenario())
    assert away.startswith(b"HTTP/1.1 502 Bad Gateway\r\n")
    assert too_long.startswith(b"HTTP/1.1 431 ")


def test_a_server_that_stops_before_answering_gives_502(tmp_path: Path) -> None:
    async def scenario() -> bytes:
        async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.transport.abort()

        proxy = proxy_at(tmp_path)
        async with await asyncio.start_unix_server(hang_up, proxy.web), proxy.listen("127.0.0.1", 0) as server:
            return await ask(server.sockets[0].getsockname()[1], b"GET / HTTP/1.1\r\n\r\n")

    assert run(scenario()).startswith(b"HTTP/1.1 502 ")


def test_a_client_that_hangs_up_is_forgotten(tmp_path: Path) -> None:
    async def scenario() -> None:
        gone = asyncio.Event()

        async def wait_for_the_end(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.read()
            writer.close()
            gone.set()

        proxy = proxy_at(tmp_path)
        async with await asyncio.start_unix_server(wait_for_the_end, proxy.ws), proxy.listen("127.0.0.1", 0) as s:
            _, writer = await asyncio.open_connection("127.0.0.1", s.sockets[0].getsockname()[1])
            writer.write(b"GET /ws/games/a/ HTTP/1.1\r\n\r\n")
            await writer.drain()
            writer.close()
            await gone.wait()

    run(scenario())


def test_a_request_whose_client_hung_up_is_not_garbage_collected(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def scenario() -> None:
        asked, gone, go_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

        async def answer_late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            asked.set()
            await reader.read()
            gone.set()
            await go_on.wait()
            writer.close()

        proxy = proxy_at(tmp_path)
        async with await asyncio.start_unix_server(answer_late, proxy.web), proxy.listen("127.0.0.1", 0) as server:
            _, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            await asked.wait()
            writer.transport.abort()
            await gone.wait()
            gc.collect()
            go_on.set()

    run(scenario())
    assert "Task was destroyed" not in caplog.text


SHORT = Limits(head_seconds=0.1, write_seconds=0.1)


def test_incomplete_headers_are_refused_and_silence_gets_no_answer(tmp_path: Path) -> None:
    async def scenario() -> list[bytes]:
        async with proxy_at(tmp_path, SHORT).listen("127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            return [await ask(port, b"GET / HTTP/1.1\r\nX: "), await ask(port, b"")]

    half, silent = run(scenario())
    assert half.startswith(b"HTTP/1.1 408 Request Timeout\r\n")
    assert half.endswith(b"Send it again.")
    assert silent == b""


@pytest.mark.parametrize("end", [b"\n", b"\r"])
def test_bare_line_ends_are_refused(tmp_path: Path, end: bytes) -> None:
    async def scenario() -> bytes:
        async with proxy_at(tmp_path).listen("127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            return await ask(port, b"GET / HTTP/1.1\r\nX: y" + end + b"X-Forwarded-For: 192.0.2.1\r\n\r\n")

    assert run(scenario()).startswith(b"HTTP/1.1 400 Bad Request\r\n")


def test_an_address_with_too_many_waiting_connections_is_refused(tmp_path: Path) -> None:
    async def scenario() -> tuple[bytes, bytes]:
        proxy = proxy_at(tmp_path, each=2)
        async with await named(b"web", proxy.web), proxy.listen("127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            held = [await asyncio.open_connection("127.0.0.1", port) for _ in range(2)]
            while len(proxy.waiting) < 2:  # noqa: ASYNC110 (no event tells)
                await asyncio.sleep(0)
            refused = await ask(port, b"")
            held[0][1].write(b"GET / HTTP/1.1\r\n\r\n")
            answer = await held[0][0].read()
            for _, writer in held:
                writer.close()
            return refused, answer

    refused, answer = run(scenario())
    assert refused.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")


def test_an_unread_answer_is_cut_off(tmp_path: Path) -> None:
    async def scenario() -> int:
        done = asyncio.Event()

        async def answer_much(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            writer.write(b"x" * 20_000_000)
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()
            done.set()

        proxy = proxy_at(tmp_path, SHORT)
        async with await asyncio.start_unix_server(answer_much, proxy.web), proxy.listen("127.0.0.1", 0) as s:
            reader, writer = await asyncio.open_connection("127.0.0.1", s.sockets[0].getsockname()[1], limit=1)
            writer.write(b"GET / HTTP/1.1\r\n\r\n")  # with this limit asyncio soon stops reading
            await done.wait()
            try:
                return len(await reader.read())
            except ConnectionResetError:
                return 0
            finally:
                writer.transport.abort()

    assert run(scenario()) < 20_000_000
