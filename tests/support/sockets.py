"""A websocket client that talks to the ASGI app directly.

The one of Channels needs Daphne, which this project does not use.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Iterator, Mapping
from typing import Any, TypeVar

import pytest
from asgiref.sync import SyncToAsync, sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.db import connections
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games import announce
from games.actions.play import play_move
from games.queries import Viewer
from nomercy.asgi import Application
from nomercy.launcher.embedded import ServerLoopLayer

T = TypeVar("T")

application = Application()
ORIGIN = "http://127.0.0.1:8000"


class Socket:
    """A websocket of the game `code`, or at another `path`, with the session of `browser`.

    `client` is its network address, `headers` are more headers, and `origin` and `host` are those two headers.
    """

    def __init__(
        self,
        code: str = "",
        browser: Client | None = None,
        *,
        origin: str = ORIGIN,
        host: str = "127.0.0.1:8000",
        path: str | None = None,
        client: str = "127.0.0.1",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        path = path or f"/ws/games/{code}/"
        sent = [(b"origin", origin.encode()), (b"host", host.encode())]
        sent += [(name.lower().encode(), value.encode()) for name, value in (headers or {}).items()]
        if browser is not None:
            session = browser.cookies[settings.SESSION_COOKIE_NAME].value
            sent.append((b"cookie", f"{settings.SESSION_COOKIE_NAME}={session}".encode()))
        self.scope: dict[str, Any] = {
            "type": "websocket",
            "scheme": "ws",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "headers": sent,
            "client": [client, 50_000],
            "subprotocols": [],
            "extensions": {"websocket.http.response": {}},  # as in uvicorn
        }
        # asgiref's tester is untyped.
        self._app: Any = ApplicationCommunicator(application, self.scope)  # type: ignore[no-untyped-call]

    async def accepted(self) -> bool:
        await self._app.send_input({"type": "websocket.connect"})
        answer = await self._app.receive_output(5)
        self.refused_with = answer if answer["type"] == "websocket.http.response.start" else None
        return bool(answer["type"] == "websocket.accept")

    async def status(self) -> int:
        """Return the status of the handshake: 101 if it is accepted."""
        if await self.accepted():
            return 101
        assert self.refused_with is not None
        body = await self._app.receive_output(5)
        assert body["body"].decode()
        await self._app.send_input({"type": "websocket.disconnect", "code": 1006})
        await self._app.wait(5)
        return int(self.refused_with["status"])

    @property
    def refusal(self) -> dict[str, str]:
        """The headers of the refused handshake."""
        assert self.refused_with is not None
        return {name.decode(): value.decode() for name, value in self.refused_with["headers"]}

    async def receive_or_close(self) -> dict[str, Any] | int:
        """Return the next message, or the code if the socket is closed."""
        message = await self._app.receive_output(5)
        return int(message["code"]) if message["type"] == "websocket.close" else dict(json.loads(message["text"]))

    async def receive(self) -> Any:
        """Return the next message, parsed from JSON."""
        message = await self._app.receive_output(5)
        assert message["type"] == "websocket.send", message
        return json.loads(message["text"])

    async def closed(self) -> int:
        """Return the code with which the socket is closed next."""
        message = await self._app.receive_output(5)
        assert message["type"] == "websocket.close", message
        code: int = message["code"]
        return code

    async def read_until_closed(self) -> int:
        """Skip messages until the socket is closed, and return the code."""
        while not isinstance(answer := await self.receive_or_close(), int):
            pass
        return answer

    async def receives_nothing(self) -> bool:
        """Return True if no message arrives within 50 ms."""
        return bool(await self._app.receive_nothing(timeout=0.05))

    async def say(self, frame: str | bytes) -> None:
        kind = "text" if isinstance(frame, str) else "bytes"
        await self._app.send_input({"type": "websocket.receive", kind: frame})

    async def leave(self) -> None:
        await self._app.send_input({"type": "websocket.disconnect", "code": 1000})
        await self._app.wait(5)


async def opened(code: str, browser: Client | None = None, **more: Any) -> Socket:
    """Return an open socket that has received the version of the game."""
    socket = Socket(code, browser, **more)
    assert await socket.status() == 101
    await socket.receive()
    return socket


async def played(code: str, user: User, text: str = "play r5") -> None:
    """Make the first move of a game."""
    await sync_to_async(play_move)(code=code, viewer=Viewer(user), text=text, version=0, now=timezone.now())


def run(scenario: Coroutine[Any, Any, T]) -> T:
    """Run a scenario in an event loop of its own, which the channel layer then uses."""

    async def in_server_loop() -> T:
        ServerLoopLayer.loop = asyncio.get_running_loop()
        return await scenario

    return asyncio.run(in_server_loop())


def thread_of_channels(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For fixtures: close the database connection of the thread in which Channels reads the database."""
    monkeypatch.setattr(ServerLoopLayer, "loop", None)
    monkeypatch.setattr(announce, "paused_until", {})
    yield
    SyncToAsync.single_thread_executor.submit(connections.close_all).result()
