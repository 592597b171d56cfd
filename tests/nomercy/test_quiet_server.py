"""uvicorn in `script/run` does nothing while nobody asks, and stops at once."""

from __future__ import annotations

import asyncio
import signal
import socket
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from typing import Any

import pytest
from uvicorn import Config

from nomercy.launcher import quiet_server
from nomercy.launcher.quiet_server import QuietServer

PATIENCE = 20.0


class CountedTicks(QuietServer):
    ticks = 0

    async def on_tick(self, counter: int) -> bool:
        self.ticks += 1
        return await super().on_tick(counter)


async def hello(scope: Any, receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"5")]})
    await send({"type": "http.response.body", "body": b"hello"})


def get(port: int) -> HTTPResponse:
    with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        connection.request("GET", "/")
        with connection.getresponse() as answer:
            answer.read()
            return answer


def a_server(ready: Callable[[], Awaitable[None]]) -> CountedTicks:
    configuration = Config(hello, http="h11", ws="none", lifespan="off", log_config=None, access_log=False)
    return CountedTicks(configuration, stopping=asyncio.Event(), ready=ready)


@contextmanager
def running(ready: Callable[[int], Awaitable[None]]) -> Iterator[tuple[CountedTicks, threading.Thread]]:
    """Run a server in a thread, and yield both once it is ready. `ready` is awaited with its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        is_ready = threading.Event()

        async def be_ready() -> None:
            await ready(listening.getsockname()[1])
            is_ready.set()

        server = a_server(be_ready)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            assert is_ready.wait(PATIENCE)
            yield server, thread
        finally:
            server.stop()
            thread.join(PATIENCE)
            assert not thread.is_alive()


async def nothing(port: int) -> None:
    pass


def test_it_answers_before_it_is_ready() -> None:
    answers: list[HTTPResponse] = []

    async def ask(port: int) -> None:
        answers.append(await asyncio.to_thread(get, port))

    with running(ask):
        pass

    assert [answer.status for answer in answers] == [200]
    assert answers[0].headers["Date"]


@pytest.mark.parametrize("how", ["from another thread", "by a signal"])
def test_it_stops_at_once_and_does_not_tick_meanwhile(monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    monkeypatch.setattr(quiet_server, "TICK_SECONDS", 1_000)

    with running(nothing) as (server, thread):
        if how == "by a signal":
            server.handle_exit(signal.SIGTERM, None)
        else:
            server.stop()
        thread.join(PATIENCE)
        assert not thread.is_alive()

    # One for the first answers, one when it began to wait, and one when it stopped.
    assert server.ticks <= 3


def test_a_signal_while_it_gets_ready_stops_it() -> None:
    got_ready = False

    async def ready() -> None:
        nonlocal got_ready
        server.handle_exit(signal.SIGTERM, None)
        got_ready = True

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = a_server(ready)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        thread.join(PATIENCE)

    assert got_ready
    assert not thread.is_alive()


def test_it_keeps_ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quiet_server, "TICK_SECONDS", 0.001)
    with running(nothing) as (server, _):
        for _ in range(1_000):
            if server.ticks > 5:
                break
            threading.Event().wait(PATIENCE / 1_000)
        assert server.ticks > 5
