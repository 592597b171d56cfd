"""Test the front server: it answers before it reports ready, sleeps when nothing happens, and stops at once."""

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

from nomercy.server import front
from nomercy.server.bridge import Answer
from nomercy.server.config import config
from nomercy.server.front import FrontServer

PATIENCE = 20.0


class CountedTicks(FrontServer):
    ticks = 0

    async def on_tick(self, counter: int) -> bool:
        self.ticks += 1
        return await super().on_tick(counter)


async def hello(scope: Any, receive: Any, send: Any) -> None:
    answer = Answer(200, [(b"content-length", b"5")], b"hello")
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
    await send({"type": "http.response.body", "body": answer.body})


def get(port: int) -> HTTPResponse:
    with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as connection:
        connection.request("GET", "/")
        with connection.getresponse() as answer:
            answer.read()
            return answer


@contextmanager
def running(ready: Callable[[int], Awaitable[None]]) -> Iterator[tuple[CountedTicks, threading.Thread]]:
    """Run a server in a thread, and yield both once it is ready. `ready` is awaited with its port."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        is_ready = threading.Event()

        async def be_ready() -> None:
            await ready(listening.getsockname()[1])
            is_ready.set()

        server = CountedTicks(config(hello, stop_seconds=1), ready=be_ready)
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
    monkeypatch.setattr(front, "TICK_SECONDS", 1_000)

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
        server = FrontServer(config(hello, stop_seconds=1), ready=ready)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        thread.join(PATIENCE)

    assert got_ready
    assert not thread.is_alive()


def test_it_keeps_ticking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(front, "TICK_SECONDS", 0.001)
    enough = threading.Event()

    class Counted(CountedTicks):
        async def on_tick(self, counter: int) -> bool:
            if self.ticks == 5:
                enough.set()
            return await super().on_tick(counter)

    monkeypatch.setattr(f"{__name__}.CountedTicks", Counted)
    with running(nothing):
        assert enough.wait(PATIENCE)
