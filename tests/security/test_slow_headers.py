"""No header takes long to read, however it is written. Headers are read before requests are counted."""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final, cast
from unittest.mock import Mock, call

import pytest
from channels.routing import URLRouter
from django.conf import settings

from accounts.models import User
from games.live.handshake import HandshakeChecks, cookies_of
from games.live.routing import websocket_urlpatterns
from nomercy.wsgi import application
from tests.conftest import logged_in

pytestmark = [pytest.mark.django_db, pytest.mark.long]
LENGTH: Final = 16_000
"""About what `script/run` reads of all headers. nginx reads less."""
MOST_SECONDS: Final = 0.1
"""CPU time of one request with all headers. A page takes about a tenth of it, and one header that was too slow took
three times as long and more."""
NAMES: Final = (
    *("Accept", "Accept-Encoding", "Accept-Language", "Authorization", "Content-Type", "Cookie", "Host"),
    *("HX-Current-URL", "HX-Request", "HX-Target", "Idempotency-Key", "If-Match", "If-Modified-Since", "If-None-Match"),
    *("Origin", "Range", "Referer", "User-Agent", "X-CSRFToken", "X-Forwarded-For", "X-Forwarded-Host"),
)
DECIDING: Final = ("Host", "X-Forwarded-Host", "Origin")
"""Headers because of which a request is refused before the others are read. They are sent alone."""
STARTS: Final = ("", '"', 'a="', 'a/b; x="', "Bearer ")
REPEATED: Final = (
    "a",
    "\\",
    '\\"',
    "\\054",
    ";",
    ",",
    '"',
    " ",
    "\t",
    "a=b;",
    "a,",
    "=",
    "%41",
    '"a",',
    "[",
    "(",
    ":",
    ".",
    "/",
)


def seconds(run: Callable[[], object]) -> float:
    """Return the CPU time of a call, the lowest of two if the first is too high."""
    took = MOST_SECONDS
    for _ in range(2):
        if took >= MOST_SECONDS:
            began = time.thread_time()
            run()
            took = time.thread_time() - began
    return took


def ask(names: Sequence[str], value: str, path: str = "/nope/") -> str:
    """Return the status of a page for a request with these headers, all with this value."""
    keys, start = [name.upper().replace("-", "_") for name in names], Mock()
    environ = {"REQUEST_METHOD": "GET", "PATH_INFO": path, "SERVER_NAME": "localhost", "SERVER_PORT": "80"}
    environ |= {key if key == "CONTENT_TYPE" else f"HTTP_{key}": value for key in keys}
    b"".join(application({**environ, "wsgi.input": io.BytesIO(), "wsgi.url_scheme": "http"}, start))
    return str(start.call_args.args[0])


def groups_of(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return groups of headers, each to be sent in one request."""
    return [(name,) for name in names if name in DECIDING] + [tuple(name for name in names if name not in DECIDING)]


@pytest.mark.parametrize("names", groups_of(NAMES), ids=lambda names: names[0])
def test_no_header_of_a_page_takes_long_to_read(names: tuple[str, ...]) -> None:
    for start in STARTS:
        for repeated in REPEATED:
            value = start + repeated * (LENGTH // len(repeated)) + '"' * start.count('"')
            assert seconds(partial(ask, names, value)) < MOST_SECONDS, (start, repeated)


class Routes:
    """The addresses of websockets, without the consumer, which would use the database."""

    routes = websocket_urlpatterns

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        cookies_of(scope)
        await send({"type": "websocket.accept"})


def shake_hands(names: Sequence[str], values: list[str]) -> None:
    """Send a handshake with these values of each header, which must be accepted unless a header decides that."""
    headers = {"host": ["localhost"], "origin": [settings.SITE_URL]} | {name.lower(): values for name in names}
    encoded = [(key.encode(), value.encode()) for key, values in headers.items() for value in values]
    scope: dict[str, object] = {
        "type": "websocket",
        "path": "/ws/games/abcdefghij/",
        "raw_path": b"",
        "query_string": b"",
        "scheme": "ws",
    }
    scope |= {"headers": encoded, "server": ("localhost", 80), "client": ("127.0.0.1", 1), "extensions": {}}
    sent = Mock()

    async def send(message: Any) -> None:
        sent(message["type"])

    asyncio.run(HandshakeChecks(cast("URLRouter", Routes()))(scope, Mock(), send))
    assert sent.mock_calls == [call("websocket.accept")] or names[0] in ("Host", "Origin")


@pytest.mark.parametrize(
    "names", groups_of([*NAMES, "Sec-WebSocket-Extensions", "Sec-WebSocket-Protocol"]), ids=lambda names: names[0]
)
def test_no_header_of_a_handshake_takes_long_to_read(names: tuple[str, ...]) -> None:
    for start in STARTS:
        for repeated in REPEATED:
            value = start + repeated * (LENGTH // 2 // len(repeated)) + '"' * start.count('"')
            assert seconds(partial(shake_hands, names, [value, value])) < MOST_SECONDS, (start, repeated)


@pytest.mark.django_db(transaction=True)
def test_a_cookie_with_escaped_characters_hides_no_other(alice: User) -> None:
    name, other = settings.SESSION_COOKIE_NAME, r'cart="1\054 2"'
    key = logged_in(alice).cookies[name].value
    for header in (f"{name}={key}; {other}", f"{other}; {name}={key}", f"{other};{name}={key}"):
        assert ask(["Cookie"], header, "/accounts/email/") == "200 OK"
        assert cookies_of({"headers": [(b"cookie", header.encode())]})[name] == key
    assert ask(["Cookie"], other, "/accounts/email/") == "302 Found"
