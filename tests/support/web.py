"""Runs the server for pages on the test database, and sends requests that arrive at the same time."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from email.message import Message
from http.client import BadStatusLine, HTTPResponse
from typing import Any
from urllib.parse import quote, urlencode

from django.conf import settings
from django.db import connection
from django.test import Client

from nomercy.launcher.place import CHECKOUT

CSRF = "b" * 32


@dataclass
class Site:
    """The running server: two processes with threads, as in production."""

    port: int
    process: subprocess.Popen[bytes]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(30)

    def _wait(self) -> None:
        until = time.monotonic() + 60
        while time.monotonic() < until:
            assert self.process.poll() is None, "the server has ended"
            try:
                if self.send(Request("GET", "/healthz")).status == 200:
                    return
            except (OSError, BadStatusLine):
                # While nobody listens there, a connection to a free port can meet itself and read its own request.
                time.sleep(0.05)
        raise AssertionError("the server did not answer within 60 seconds")

    def send(self, request: Request, when: Callable[[], object] = lambda: None) -> Answer:
        return exchange(self.port, request, when)


def exchange(
    port: int,
    request: Request,
    when: Callable[[], object] = lambda: None,
    *,
    patience: float = 120,
    source: str = "127.0.0.1",
) -> Answer:
    """Send a request except for its last byte, call `when`, and send the last byte. Return the answer.

    `source` is the address to send from.

    :raises OSError: if the connection breaks, or there is no answer within `patience` seconds.
    :raises http.client.HTTPException: if the answer is not HTTP, or ends too early.
    """
    with socket.create_connection(("127.0.0.1", port), timeout=patience, source_address=(source, 0)) as line:
        sent = request.bytes(port)
        line.sendall(sent[:-1])
        when()
        line.sendall(sent[-1:])
        response = HTTPResponse(line, method=request.method)
        response.begin()
        return Answer(response.status, response.headers, response.read())


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    headers: Mapping[str, str] = ()  # type: ignore[assignment]  # an empty mapping that cannot be changed
    body: str = ""

    def bytes(self, port: int) -> bytes:
        lines = [f"{self.method} {self.path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Connection: close"]
        lines += [f"{name}: {value}" for name, value in dict(self.headers).items()]
        lines.append(f"Content-Length: {len(self.body.encode())}")
        return "\r\n".join([*lines, "", self.body]).encode()


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Message
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@contextmanager
def running_site() -> Iterator[Site]:
    """Run the site on the test database until the end of the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    site = Site(port, _start(port))
    try:
        site._wait()
        yield site
    finally:
        site.stop()


def _start(port: int) -> subprocess.Popen[bytes]:
    at = connection.settings_dict
    host = quote(str(at["HOST"]), safe="")
    environment = os.environ | {
        "DATABASE_URL": f"postgres://{at['USER']}:{at['PASSWORD']}@{host}:{at['PORT']}/{at['NAME']}",
        "DJANGO_SETTINGS_MODULE": "tests.settings",
    }
    command = ["script/serve", "web", "--bind", f"127.0.0.1:{port}"]
    return subprocess.Popen(command, cwd=CHECKOUT, env=environment, stderr=subprocess.DEVNULL)


def at_once(calls: Sequence[Callable[[Callable[[], object]], Any]]) -> list[Any]:
    """Make all calls at the same time and return their answers.

    Each call gets a function that it calls right before it acts, and that waits for all others.
    """
    barrier = threading.Barrier(len(calls))
    answers: list[Any] = [None] * len(calls)

    def run(n: int) -> None:
        try:
            answers[n] = calls[n](barrier.wait)
        except BaseException as error:  # noqa: BLE001  # raised below, in the thread that waits
            answers[n] = error
            barrier.abort()
        finally:
            connection.close()

    threads = [threading.Thread(target=run, args=(n,)) for n in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for answer in answers:
        if isinstance(answer, BaseException):
            raise answer
    return answers


def page_move(browser: Client, code: str, fields: Mapping[str, str], *, fragment: bool) -> Request:
    """Return the request of a move by the game page, with `fragment` by HTMX."""
    session = browser.cookies[settings.SESSION_COOKIE_NAME].value
    headers = {
        "Cookie": f"{settings.SESSION_COOKIE_NAME}={session}; {settings.CSRF_COOKIE_NAME}={CSRF}",
        "X-CSRFToken": CSRF,
        "Content-Type": "application/x-www-form-urlencoded",
    }
    if fragment:
        headers["HX-Request"] = "true"
    return Request("POST", f"/games/{code}/move/", headers, urlencode(fields))


def program_move(token: str, code: str, fields: Mapping[str, object]) -> Request:
    """Return the request of a move by the API."""
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    return Request("POST", f"/api/v1/games/{code}/moves", headers, json.dumps(fields))
