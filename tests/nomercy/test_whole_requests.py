"""`script/run` reads a request whole, within limits, before it takes a thread."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any
from wsgiref.types import WSGIEnvironment

import pytest
from a2wsgi import WSGIMiddleware
from django.core.handlers.wsgi import WSGIRequest
from pytest_django.fixtures import Settings

from accounts.origin import address_of
from nomercy.asgi import Application
from nomercy.launcher.whole_requests import MOST_BYTES, WholeRequests
from nomercy.wsgi import application
from tests.support.server import PATIENCE, Line, half_a_body, request, serving

PATHS = ["/accounts/login/", "/api/v1/games"]


@dataclass
class App:
    """A WSGI app that answers with the body it was sent. Requests to `/hold` wait until `hold` is set."""

    hold: threading.Event = field(default_factory=threading.Event)
    environs: list[WSGIEnvironment] = field(default_factory=list)
    answer: bytes | None = None

    def __call__(self, environ: WSGIEnvironment, start_response: Callable[..., Any]) -> list[bytes]:
        self.environs.append(environ)
        if environ["PATH_INFO"] == "/hold":
            assert self.hold.wait(PATIENCE)
        size = int(environ["CONTENT_LENGTH"])
        body = environ["wsgi.input"].read(size) if self.answer is None else self.answer
        start_response("200 OK", [("Content-Type", "text/plain")])
        return [body[start : start + 8192] for start in range(0, len(body), 8192)]


@contextmanager
def site(app: Any, *, threads: int = 2, seconds: float = 0.3) -> Iterator[int]:
    """Serve a WSGI app. Yield the port."""
    pages: Any = WSGIMiddleware(app, workers=threads, send_queue_size=0)
    with serving(Application(WholeRequests(pages, seconds=seconds))) as port:
        yield port


def test_bodies_that_do_not_arrive_hold_no_thread() -> None:
    with site(App(), threads=1, seconds=PATIENCE) as port, ExitStack() as slow:
        for _ in range(24):
            slow.enter_context(Line(port)).send(half_a_body())
        with Line(port) as line:
            assert line.send(request()).answer().status == 200


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS)
def test_a_body_that_does_not_arrive_in_time_is_refused(path: str) -> None:
    with site(application) as port, Line(port) as line:
        answer = line.send(half_a_body(path)).answer()
        assert answer.status == 408
        assert b"within 10 seconds" in answer.body
        assert b'"timed_out"' in answer.body or b"<h1>That took too long</h1>" in answer.body
        assert line.closed() == b""


@pytest.mark.django_db
@pytest.mark.parametrize("path", PATHS)
def test_a_body_that_is_too_long_is_refused(path: str) -> None:
    """Also to a client that sends all before it reads, and to one that does not say how much it sends."""
    chunk = b"%x\r\n" % 50_000 + b"a" * 50_000 + b"\r\n"
    long, chunked = (
        b"a" * (MOST_BYTES + 1),
        request("POST", path, Transfer_Encoding="chunked") + chunk * 4 + b"0\r\n\r\n",
    )
    for sent in (request("POST", path, long), request("POST", path, b"a" * 2_000_000), chunked):
        with site(application) as port, Line(port) as line:
            answer = line.send(sent).answer()
            assert answer.status == 413
            assert b'"too_large"' in answer.body or b"<h1>That is too large</h1>" in answer.body
            assert line.closed() == b""


@pytest.mark.django_db
def test_an_overlong_length_is_refused_before_the_body() -> None:
    with site(application, seconds=PATIENCE) as port, Line(port) as line:
        line.send(request("POST", "/api/v1/games", Content_Length=str(10**9)))
        assert line.head() == 413


def test_a_body_in_chunks_has_the_length_that_arrived() -> None:
    app = App()
    with site(app) as port, Line(port) as line:
        line.send(request("POST", Transfer_Encoding="chunked", Content_Type="text/plain"))
        assert line.send(b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n").answer().body == b"abcde"
    assert app.environs[0]["CONTENT_LENGTH"] == "5"
    assert "HTTP_TRANSFER_ENCODING" not in app.environs[0]


@pytest.mark.long
def test_a_long_answer_that_is_not_read_holds_no_thread() -> None:
    app = App(answer=b"x" * 8_000_000)
    with site(app, threads=1) as port, Line(port) as unread, Line(port) as other:
        unread.send(request())
        assert len(other.send(request()).answer().body) == 8_000_000


def test_a_client_that_hangs_up_within_its_body_asks_nothing() -> None:
    app = App()
    with site(app, seconds=PATIENCE) as port:
        with Line(port) as line:
            line.send(half_a_body("/gone"))
        with Line(port) as line:
            assert line.send(request()).answer().status == 200
    assert [environ["PATH_INFO"] for environ in app.environs] == ["/"]


def test_behind_a_proxy_a_client_cannot_forge_its_address(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1
    app = App()
    with site(app) as port, Line(port) as line:
        head = b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.9\r\nX_Forwarded_For: 198.51.100.7\r\n\r\n"
        assert line.send(head).answer().status == 200
    assert address_of(WSGIRequest(app.environs[0])) == "192.0.2.9"


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /?a=\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n",
        b"nonsense\r\n\r\n",
        b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\nabcd",
        b"GET / HTTP/1.1\r\nHost: a\r\nX : 1\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"a" * 20_000,
    ],
    ids=["query", "nonsense", "two lengths", "encoding", "space", "long"],
)
def test_what_is_not_http_is_refused(sent: bytes) -> None:
    app = App()
    with site(app) as port, Line(port) as line:
        assert line.send(sent).head() in (400, 501)
        line.closed()
    assert app.environs == []


def test_a_server_that_is_stopped_finishes_its_requests() -> None:
    app = App()
    with ExitStack() as stack:
        port = stack.enter_context(site(app))
        line = Line(port).send(request(path="/hold"))
        until = time.monotonic() + PATIENCE
        while not app.environs:
            assert time.monotonic() < until
            time.sleep(0.01)
        threading.Timer(0.1, app.hold.set).start()
        stack.close()
        with line:
            assert line.answer().status == 200
