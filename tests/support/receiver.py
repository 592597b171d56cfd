"""A server on this machine that receives what the site posts to people's URLs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ALLOW = "127.0.0.1"
"""For `OUTGOING_ALLOW`."""


@dataclass(frozen=True, slots=True)
class Received:
    """A request."""

    path: str
    headers: Message
    body: bytes


@dataclass(slots=True)
class Receiver:
    """Keeps the requests, and answers each with a status. `answers` has others, with headers, by path."""

    url: str = ""
    status: int = 204
    answers: dict[str, tuple[int, dict[str, str]]] = field(default_factory=dict)
    requests: list[Received] = field(default_factory=list)
    before_answer: Callable[[], object] = lambda: None


@contextmanager
def receiving() -> Iterator[Receiver]:
    """Run a receiver."""
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.requests.append(Received(self.path, self.headers, body))
            receiver.before_answer()
            status, headers = receiver.answers.get(self.path, (receiver.status, {}))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # as the class it overrides
            """Log nothing."""

    with ThreadingHTTPServer((ALLOW, 0), Handler) as server:
        receiver.url = f"http://{ALLOW}:{server.server_port}/hook"
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        yield receiver
        server.shutdown()
