"""Refused handshakes are warnings in the log, one a minute, and no errors when the server stops."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest
from channels.routing import ProtocolTypeRouter

from games.live.handshake import HandshakeChecks
from nomercy.asgi import websockets
from nomercy.logs import as_a_refusal
from nomercy.server.limits import Limits
from nomercy.server.sockets import Socket
from nomercy.storms import StormFilter
from tests.support.server import PATIENCE, Line, request, serving


def handshake(path: str) -> bytes:
    key, page = "MDEyMzQ1Njc4OWFiY2RlZg==", "http://evil.example"
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Key": key, "Sec_WebSocket_Version": "13"}
    return request("GET", path, None, Origin=page, **upgrade)


class Lines(logging.Handler):
    """The lines of the log, as (level, message)."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[tuple[str, str]] = []
        self.addFilter(as_a_refusal)
        self.addFilter(StormFilter())

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append((record.levelname, record.getMessage().strip()))


def statuses(application: Any, paths: list[str]) -> list[int]:
    with serving(application, Limits()) as port:
        found = []
        for path in paths:
            with Line(port) as line:
                found.append(line.send(handshake(path)).answer().status)
                line.closed()
    return found


@pytest.fixture
def log(monkeypatch: pytest.MonkeyPatch) -> Iterator[Lines]:
    handler, logger = Lines(), logging.getLogger("uvicorn.error")
    monkeypatch.setattr(logger, "handlers", [handler])
    level = logger.level
    logger.setLevel(logging.WARNING)  # as the site sets it; a server in another test may have changed it
    yield handler
    logger.setLevel(level)


def test_refused_handshakes_log_one_warning_a_minute(log: Lines) -> None:
    application = ProtocolTypeRouter({"websocket": HandshakeChecks(websockets)})
    assert statuses(application, 5 * ["/ws/games/abc/", "/ws/none/"]) == 5 * [403, 404]
    assert log.lines == [("WARNING", "A websocket was refused.")]


def test_an_app_that_fails_is_an_error(log: Lines) -> None:
    async def application(scope: object, receive: object, send: object) -> None:
        raise ValueError("a bug")

    assert statuses(application, ["/ws/games/abc/"]) == [500]
    assert log.lines == [("ERROR", "Exception in ASGI application")]


def test_a_handshake_that_is_refused_while_the_server_stops_is_no_error(
    log: Lines, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, stopping, shutdown = threading.Event(), asyncio.Event(), Socket.shutdown

    async def application(scope: object, receive: Any, send: Any) -> None:
        await receive()
        asked.set()
        await stopping.wait()
        await send({"type": "websocket.close"})

    def stop(self: Socket) -> None:
        stopping.set()  # the app continues before asyncio says that the connection is lost
        shutdown(self)

    monkeypatch.setattr(Socket, "shutdown", stop)
    with ExitStack() as client, serving(application, Limits()) as port:
        client.enter_context(Line(port)).send(handshake("/ws/games/abc/"))
        assert asked.wait(PATIENCE)
    assert log.lines == []
