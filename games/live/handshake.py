"""Refuses websocket handshakes: unknown addresses, pages of other sites, and too many sockets of one address.

This costs no query and no message to the channel layer.
"""

from __future__ import annotations

import io
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from channels.routing import URLRouter
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.core.handlers.asgi import ASGIRequest
from django.http import parse_cookie

from accounts.origin import address_of_scope
from common.cookies import without_escapes
from games.live.socket_limits import TooManySockets, socket_limits

log = structlog.get_logger(__name__)

Scope = Any  # an ASGI scope, with the keys that each middleware adds
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

PORTS: Final = {"http": 80, "https": 443}
SENTENCES: Final[Mapping[int, str]] = {
    403: "Only pages of this site can open this socket.",
    404: "There is no socket at this address.",
    429: "Too many sockets are open from your network. Close some pages, or try again later.",
    503: "The database is unavailable. Try again in a few seconds.",
}


HEADERS_READ: Final = frozenset(
    {b"cookie", b"host", b"origin", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto"}
)
"""The headers of a handshake that the site reads."""


async def refuse(scope: Scope, send: Send, status: int, **headers: str) -> None:
    """Refuse the handshake with this status and a sentence, or with a plain 403 if the server supports nothing else."""
    if "websocket.http.response" not in scope.get("extensions", {}):
        await send({"type": "websocket.close"})
        return
    all_headers = {"content-type": "text/plain; charset=utf-8", "cache-control": "no-store", **headers}
    encoded = [(name.replace("_", "-").encode(), value.encode()) for name, value in all_headers.items()]
    await send({"type": "websocket.http.response.start", "status": int(HTTPStatus(status)), "headers": encoded})
    await send({"type": "websocket.http.response.body", "body": SENTENCES[status].encode()})


def cookies_of(scope: Scope) -> dict[str, str]:
    """Return the cookies that the browser sent."""
    sent = b"; ".join(value for name, value in scope["headers"] if name == b"cookie")
    return parse_cookie(without_escapes(sent.decode("latin-1")))


def origin_of(url: str) -> tuple[str, str | None, int | None]:
    """Return scheme, host and port. The port may be left out of the URL.

    :raises ValueError: if the URL has anything besides scheme, host and port, such as a user name.
    """
    parts = urlsplit(url)
    if "@" in parts.netloc or url != f"{parts.scheme}://{parts.netloc}":
        raise ValueError(url)
    return parts.scheme, parts.hostname, parts.port or PORTS.get(parts.scheme)


def own_origins(scope: Scope) -> set[tuple[str, str | None, int | None]]:
    """Return the origins of the site's pages: `SITE_URL`, and the request's own host if `ALLOWED_HOSTS` allows it."""
    scheme = "https" if scope["scheme"] == "wss" else "http"
    request = ASGIRequest({**scope, "method": "GET", "scheme": scheme}, io.BytesIO())
    origins = {origin_of(settings.SITE_URL)}
    with suppress(DisallowedHost):
        origins.add(origin_of(f"{request.scheme}://{request.get_host()}"))
    return origins


class HandshakeChecks:
    """An ASGI middleware that refuses handshakes before they reach the routes.

    Pages of other origins get 403, unknown addresses 404, and too many sockets of one network address 429.
    """

    def __init__(self, routes: URLRouter) -> None:
        self.routes: Any = routes  # the stubs know neither the patterns of routes nor a scope with more in it

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Django takes long to read some headers, such as a long `Content-Type`, and all sockets would wait.
        scope = {**scope, "headers": [header for header in scope["headers"] if header[0] in HEADERS_READ]}
        if not any(route.pattern.match(scope["path"].lstrip("/")) for route in self.routes.routes):
            await refuse(scope, send, HTTPStatus.NOT_FOUND)
        elif not self._is_own_page(scope):
            await refuse(scope, send, HTTPStatus.FORBIDDEN)
        else:
            await self._count_socket(scope, receive, send)

    def _is_own_page(self, scope: Scope) -> bool:
        """Return True if the `Origin` header names this site: scheme, host and port, as for forms.

        Browsers set this header themselves, so pages of other sites cannot forge it.
        """
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        try:
            return len(origins) == 1 and origin_of(origins[0]) in own_origins(scope)
        except ValueError:
            return False

    async def _count_socket(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            with socket_limits().count_socket(address_of_scope(scope)) as lock:
                await self.routes(dict(scope, entry_lock=lock), receive, send)
        except TooManySockets as refused:
            log.debug("too many sockets", wait=refused.wait)
            await refuse(scope, send, HTTPStatus.TOO_MANY_REQUESTS, retry_after=str(refused.wait))
