"""Limits on websockets: handshakes, frames, and unread messages."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, closing
from typing import Any
from unittest.mock import create_autospec

import pytest
import uvicorn
from pytest_django.fixtures import Settings
from uvicorn.server import ServerState
from websockets.exceptions import ConnectionClosed
from websockets.frames import Close, CloseCode, Frame, Opcode
from websockets.protocol import State
from websockets.server import ServerProtocol
from websockets.sync.client import connect

from nomercy.server import connections
from nomercy.server.limits import LIMITS, Limits
from nomercy.server.sockets import Socket
from tests.support.server import Line, request, serving

UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec_WebSocket_Key": "MDEyMzQ1Njc4OWFiY2RlZg==",
    "Sec_WebSocket_Version": "13",
}
HANDSHAKE = request("GET", "/", None, **UPGRADE)
PING = Frame(Opcode.PING, b"").serialize(mask=True)
PONG = Frame(Opcode.PONG, b"").serialize(mask=False)
BEGINNING = Frame(Opcode.TEXT, b"", fin=False).serialize(mask=True)
CONTINUATION = Frame(Opcode.CONT, b"", fin=False).serialize(mask=True)

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


@pytest.fixture(autouse=True)
def limited(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RATE_LIMITS = 100
    monkeypatch.setattr(connections, "CHECK_SECONDS", 0.02)


async def push(scope: Any, receive: Receive, send: Send) -> None:
    """Accept a socket, and keep it until its client closes it."""
    await receive()
    await send({"type": "websocket.accept"})
    while (await receive())["type"] != "websocket.disconnect":
        pass


class Unanswered:
    """An app that never answers a handshake."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)

    async def __call__(self, scope: Any, receive: Receive, send: Send) -> None:
        await receive()
        self.asked.release()
        await receive()


def opened(line: Line) -> Line:
    assert line.send(HANDSHAKE).head().status == 101
    return line


MALFORMED = {
    "body": (request("GET", "/", b"abcde", **UPGRADE), 400),
    "body without a key": (request("POST", "/", b"abcde", Connection="Upgrade", Upgrade="websocket"), 400),
    "chunks": (request("GET", "/", None, Transfer_Encoding="chunked", **UPGRADE), 400),
    "long header": (request("GET", "/", None, Cookie="a" * 9_000, **UPGRADE), 400),
    "long target": (request("GET", "/" + "a" * 9_000, None, **UPGRADE), 400),
    "many headers": (request("GET", "/", None, **{f"a{n}": "" for n in range(130)}, **UPGRADE), 431),
    "post": (request("POST", "/", None, **UPGRADE), 405),
    "no key": (request("GET", "/", None, Connection="Upgrade", Upgrade="websocket"), 400),
}


@pytest.mark.parametrize(("data", "status"), MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_handshake_is_refused(data: bytes, status: int, caplog: pytest.LogCaptureFixture) -> None:
    with serving(push, LIMITS) as port, Line(port) as line:
        said = line.send(data).closed()
    assert said.startswith(b"HTTP/1.1 %d " % status)
    assert not [record for record in caplog.records if record.exc_info]


def test_a_handshake_without_an_answer_is_closed() -> None:
    with serving(Unanswered(), Limits(head_seconds=0.2)) as port, Line(port) as line:
        assert line.send(HANDSHAKE).closed() == b""


def test_a_handshake_without_an_answer_is_a_waiting_connection() -> None:
    app = Unanswered()
    with serving(app, Limits(waiting_connections=2)) as port, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(Line(port)).send(HANDSHAKE)
            assert app.asked.acquire(timeout=10)
        with Line(port) as line:
            assert line.closed().startswith(b"HTTP/1.1 429 ")


def test_frames_before_the_answer_to_the_handshake_end_the_connection() -> None:
    app = Unanswered()
    with serving(app, LIMITS) as port, Line(port) as line:
        line.send(HANDSHAKE)
        assert app.asked.acquire(timeout=10)
        assert line.send(PING).closed() == b""


def test_a_flood_of_frames_is_refused_unread() -> None:
    too_many = LIMITS.socket_bytes // len(PING) + 1
    with serving(push, LIMITS) as port, Line(port) as line:
        said = opened(line).send(PING * too_many).closed()
    assert said.startswith(b"\x88")  # the close frame comes first: no ping was answered
    assert said[2:4] == (1008).to_bytes(2)


def test_the_frame_limit_resets() -> None:
    limits = Limits(socket_bytes=10 * len(PING), socket_seconds=0.2)
    with serving(push, limits) as port, Line(port) as line:
        opened(line)
        for pause in (0, 0.3, 0.3):
            threading.Event().wait(pause)
            assert line.send(PING * 10).read(10 * len(PONG)) == PONG * 10


@pytest.mark.parametrize(
    "data", [BEGINNING, BEGINNING + CONTINUATION * 10, CONTINUATION], ids=["first", "first and more", "without a first"]
)
def test_a_fragmented_message_is_refused(data: bytes) -> None:
    with serving(push, LIMITS) as port, Line(port) as line:
        said = opened(line).send(data).closed()
    assert said.startswith(b"\x88")


def test_a_long_message_is_refused_by_its_header() -> None:
    with serving(push, LIMITS) as port, Line(port) as line:
        header = Frame(Opcode.TEXT, b"a" * (LIMITS.socket_bytes + 1)).serialize(mask=True)[:8]
        said = opened(line).send(header).closed()
    assert said[2:4] == (1009).to_bytes(2)


@pytest.mark.parametrize("stays", [True, False])
def test_a_client_that_does_not_read_is_cut_off(stays: bool) -> None:
    async def tell(scope: Any, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "bytes": bytes(20_000_000)})
        while stays and (await receive())["type"] != "websocket.disconnect":
            pass

    with serving(tell, Limits(write_seconds=0.2)) as port, Line(port) as line:
        assert len(opened(line).cut_off()) < 20_000_000


def test_a_socket_that_the_app_closes_is_not_an_error(caplog: pytest.LogCaptureFixture) -> None:
    async def tell(scope: Any, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        await send({"type": "websocket.send", "text": "news"})
        await send({"type": "websocket.close", "code": 4403, "reason": ""})

    with serving(tell, LIMITS) as port, connect(f"ws://127.0.0.1:{port}/") as page:
        assert page.recv() == "news"
        with pytest.raises(ConnectionClosed) as closed:
            page.recv()
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 4403
    assert not [record for record in caplog.records if record.exc_info]


def test_a_server_stops_while_a_client_closes_its_socket() -> None:
    transport = create_autospec(asyncio.Transport, instance=True)
    with closing(asyncio.new_event_loop()) as loop:
        socket = Socket(uvicorn.Config(push), ServerState(), {}, loop)
        socket.transport = transport
        socket.handshake_complete = True
        socket.conn = ServerProtocol(state=State.OPEN)
        close = Close(CloseCode.NORMAL_CLOSURE, "").serialize()
        socket.conn.receive_data(Frame(Opcode.CLOSE, close).serialize(mask=True))
        socket.shutdown()
    transport.close.assert_called_once_with()
