"""Run the WSGI app for complete requests, in threads that never wait for a client.

A thread gets the whole body and returns the whole answer. A streaming bridge would hold its thread while a client sends
slowly or does not read, and would pass every part through the event loop.
"""

import asyncio
import io
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes
from wsgiref.types import WSGIApplication

from asgiref.typing import HTTPScope

FROM_THE_BODY = frozenset({b"content-length", b"transfer-encoding"})
"""Headers about the body in transit. They are replaced by the length of the body that arrived."""
UNPREFIXED = {b"content-type": "CONTENT_TYPE"}
WITHOUT_BODY = frozenset({204, 304})


class Answer(NamedTuple):
    """A complete response."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


class Bridge:
    """The WSGI app in a pool of threads, each with its own database connection."""

    def __init__(self, app: WSGIApplication, *, threads: int) -> None:
        self._app = app
        self.threads = threads
        self._pool = ThreadPoolExecutor(max_workers=threads, thread_name_prefix="page")

    async def answer(self, scope: HTTPScope, body: bytes, more: Mapping[str, str] = MappingProxyType({})) -> Answer:
        """Return the app's response to this request. `more` is added to its WSGI environment."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._run, scope, body, more)

    def _run(self, scope: HTTPScope, body: bytes, more: Mapping[str, str]) -> Answer:
        status, headers, parts = "", list[tuple[str, str]](), list[bytes]()

        def start_response(line: str, fields: list[tuple[str, str]], exc_info: object = None) -> Any:
            nonlocal status, headers
            status, headers = line, fields
            return parts.append

        chunks = self._app({**environ_of(scope, body), **more}, start_response)
        try:
            parts.extend(chunks)
        finally:
            if hasattr(chunks, "close"):
                chunks.close()  # Django ends the request here
        encoded = [(name.lower().encode("latin-1"), value.strip().encode("latin-1")) for name, value in headers]
        answer = Answer(int(status.split(" ", 1)[0]), encoded, b"".join(parts))
        if answer.status not in WITHOUT_BODY and all(name != b"content-length" for name, _ in encoded):
            encoded.append((b"content-length", b"%d" % len(answer.body)))
        return answer


def environ_of(scope: HTTPScope, body: bytes) -> dict[str, Any]:
    """Return the WSGI environment (PEP 3333) of a request with this body. Skip header names with an underscore."""
    # WSGI would turn an underscore into a hyphen, so that a client could fake the `X-Forwarded-For` of a proxy.
    server, client = scope["server"] or ("", None), scope["client"]
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1] or ""),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": client[0] if client else "",
        "CONTENT_LENGTH": str(len(body)),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
    }
    values: dict[str, list[str]] = {}
    for name, value in scope["headers"]:
        if b"_" in name or name in FROM_THE_BODY:
            continue
        key = UNPREFIXED.get(name) or "HTTP_" + name.decode("latin-1").upper().replace("-", "_")
        values.setdefault(key, []).append(value.decode("latin-1"))
    for key, sent in values.items():
        environ[key] = ("; " if key == "HTTP_COOKIE" else ",").join(sent)
    return environ
