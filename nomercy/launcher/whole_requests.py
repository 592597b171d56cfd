"""Read a request whole, within limits, before it takes a thread. `script/run` has no nginx in front that does so."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

from nomercy.middleware import BODY_SECONDS, LATE

MOST_BYTES: Final = 131_072
"""The longest body that is read, as in docker/nginx. Pages take up to `DATA_UPLOAD_MAX_MEMORY_SIZE`."""
DROPPED_BYTES: Final = 16_777_216
"""How much more of a refused body is read: a client that sends all before it reads would lose the answer."""
OF_THE_BODY: Final = frozenset({b"content-length", b"transfer-encoding"})

Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


class GoneError(Exception):
    """The client hung up."""


class WholeRequests:
    """An ASGI middleware. A request over a limit reaches the app without its body, and the app refuses it."""

    def __init__(self, app: Any, *, most: int = MOST_BYTES, seconds: float = BODY_SECONDS) -> None:
        self._app, self._most, self._seconds = app, most, seconds

    async def __call__(self, scope: dict[str, Any], receive: Receive, send: Send) -> None:
        body, length, is_late = b"", _declared(scope), False
        try:
            if length <= self._most:
                async with asyncio.timeout(self._seconds):
                    body = await self._read(receive)
                length = len(body)
        except TimeoutError:
            length, is_late = 0, True
        except GoneError:
            return
        is_refused = is_late or length > self._most

        async def whole() -> dict[str, Any]:
            return {"type": "http.request", "body": b"" if is_refused else body, "more_body": False}

        async def send_and_close(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"].append((b"connection", b"close"))
            elif not message.get("more_body", False) and not is_late:
                await self._drop(receive)
            await send(message)

        # WSGI cannot tell an underscore from a hyphen: a client could fake the `X-Forwarded-For` of a proxy.
        headers = [one for one in scope["headers"] if b"_" not in one[0] and one[0] not in OF_THE_BODY]
        headers.append((b"content-length", b"%d" % length))
        await self._app({**scope, "headers": headers, LATE: is_late}, whole, send_and_close if is_refused else send)

    async def _read(self, receive: Receive) -> bytes:
        """Return the body, or the first part of it that is too long.

        :raises GoneError: the client hung up.
        """
        body, more = bytearray(), True
        while more and len(body) <= self._most:
            message = await receive()
            if message["type"] != "http.request":
                raise GoneError
            body += message.get("body", b"")
            more = message.get("more_body", False)
        return bytes(body)

    async def _drop(self, receive: Receive) -> None:
        """Read on until the end of the body, for a while."""
        left, more = DROPPED_BYTES, True
        with suppress(TimeoutError):
            async with asyncio.timeout(self._seconds):
                while more and left > 0:
                    message = await receive()
                    left -= len(message.get("body", b""))
                    more = message.get("more_body", False)


def _declared(scope: dict[str, Any]) -> int:
    """Return the `Content-Length`, or 0. h11 has checked that it is a number."""
    return int(dict(scope["headers"]).get(b"content-length", 0))
