"""Limits on connections, incomplete headers and unread answers."""

from __future__ import annotations

import asyncio
import threading
from contextlib import ExitStack
from typing import Any
from unittest.mock import create_autospec

import pytest
from pytest_django.fixtures import Settings
from websockets.sync.client import connect

from nomercy.server import connections
from nomercy.server.connections import Unread
from nomercy.server.limits import LIMITS, Limits
from nomercy.server.waiting import Arrivals, Waiting
from tests.support.server import App, Line, half_a_body, request, serving, serving_app
from tests.support.waiting import until

OTHER = "127.0.0.2"
SHORT = Limits(head_seconds=0.2, write_seconds=0.2)


@pytest.fixture(autouse=True)
def limited(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.RATE_LIMITS = 100
    monkeypatch.setattr(connections, "CHECK_SECONDS", 0.02)


def test_headers_that_do_not_end_are_refused() -> None:
    with serving_app(App(), SHORT) as port, Line(port) as line:
        answer = line.send(b"GET / HTTP/1.1\r\nHost: x\r\n").answer()
        assert line.closed() == b""
    assert answer.status == 408
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert b"so nothing was done" in answer.body


def test_headers_that_trickle_in_are_refused() -> None:
    stop = threading.Event()
    with serving_app(App(), SHORT) as port, Line(port) as line:
        trickle = threading.Thread(target=drip, args=(line, stop))
        trickle.start()
        assert line.closed().startswith(b"HTTP/1.1 408 ")
        stop.set()
        trickle.join()


def drip(line: Line, stop: threading.Event) -> None:
    for byte in b"GET / HTTP/1.1\r\nX: " + b"x" * 10_000:
        try:
            line.send(bytes((byte,)))
        except OSError:
            return
        if stop.wait(0.02):
            return


def test_a_silent_connection_is_closed_without_an_answer() -> None:
    with serving_app(App(), SHORT) as port, Line(port) as line:
        assert line.closed() == b""


def test_the_time_limit_restarts_with_each_request() -> None:
    with serving_app(App(), SHORT) as port, Line(port) as line:
        line.send(request(body=b"one"))
        assert line.answer().body == b"one"
        line.send(b"GET / HT")
        assert line.answer().status == 408


def test_a_pipelined_partial_request_has_the_time_limit() -> None:
    with serving_app(App(), SHORT) as port, Line(port) as line:
        line.send(request(body=b"one") + b"GET / HT")
        assert line.answer().body == b"one"
        assert line.answer().status == 408


def test_pipelined_requests_are_answered_in_order() -> None:
    with serving_app(App(), LIMITS) as port, Line(port) as line:
        line.send(request(body=b"one") + request(body=b"two") + request(body=b"three"))
        assert [line.answer().body for _ in range(3)] == [b"one", b"two", b"three"]


def test_an_unread_answer_occupies_no_thread_and_is_cut_off() -> None:
    app = App(answer=b"x" * 20_000_000)
    with serving_app(app, SHORT, threads=1) as port, Line(port) as line:
        line.send(request())
        assert app.entered.acquire(timeout=10)
        app.answer = b"quick"
        with Line(port) as other:
            assert other.send(request()).answer().body == b"quick"
        app.wait_for_open(0)
        assert len(line.cut_off()) < 20_000_000


def test_an_answer_that_is_read_slowly_arrives() -> None:
    app = App(answer=b"x" * 5_000_000)
    with serving_app(app, Limits(write_seconds=0.5)) as port, Line(port) as line:
        got = b"".join(line.send(request()).read_slowly(seconds=1.0))
    assert got.endswith(b"x" * 5_000_000)


def test_a_client_whose_buffer_is_filled_as_fast_as_it_reads_is_not_cut_off() -> None:
    transport = create_autospec(asyncio.Transport)
    unread = Unread(transport)
    for second in range(60):
        transport.get_write_buffer_size.return_value = 20_000 + 500 * second
        unread.note_progress()
        unread.check(second, seconds=30)
    for second in range(60, 90):
        unread.check(second, seconds=30)
    transport.abort.assert_not_called()
    unread.check(90, seconds=30)
    transport.abort.assert_called_once()


def test_a_connection_notes_when_more_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    noted = threading.Event()
    monkeypatch.setattr(Unread, "note_progress", lambda unread: noted.set())
    app = App(answer=b"x" * 20_000_000)
    with serving_app(app, LIMITS) as port, Line(port) as line:
        line.send(request())
        app.wait_for_unsent(20_000_000)
        noted.clear()
        assert len(line.answer().body) == 20_000_000
        assert noted.is_set()


@pytest.mark.parametrize(
    ("data", "unsent"), [(request(), 20_000_000), (half_a_body(), 0)], ids=["an unread answer", "half a body"]
)
def test_a_slow_request_ends_without_an_error_when_the_server_stops(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, data: bytes, unsent: int
) -> None:
    monkeypatch.setattr(connections, "SECONDS_TO_READ", 0.1)
    app = App(answer=b"x" * 20_000_000)
    server = ExitStack()
    with Line(server.enter_context(serving_app(app, LIMITS))) as line:
        line.send(data)
        app.wait_for_open(1)
        app.wait_for_unsent(unsent)
        server.close()
    assert "Exception in ASGI application" not in caplog.text


def test_an_answer_that_comes_after_the_server_stops_and_is_unread_ends_without_an_error(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connections, "SECONDS_TO_READ", 0.01)
    monkeypatch.setattr(connections, "SECONDS_BETWEEN_LOOKS", 0.1)
    app = App(answer=b"x" * 20_000_000)
    with ExitStack() as lines:
        with serving_app(app, LIMITS) as port:
            lines.enter_context(Line(port)).send(request(path="/hold"))
            app.wait_for_open(1)
            finishing = threading.Thread(target=let_go_when_stopped, args=(app, port))
            finishing.start()
        finishing.join()
    assert "Exception in ASGI application" not in caplog.text


def test_a_half_closed_client_gets_its_answer() -> None:
    with serving_app(App(), LIMITS) as port, Line(port) as line:
        assert line.send(request(body=b"all")).end_sending().closed().endswith(b"\r\n\r\nall")


def test_a_client_that_half_closes_within_its_body_is_refused() -> None:
    app = App()
    with serving_app(app, LIMITS) as port, Line(port) as line:
        assert line.send(half_a_body("/api/v1/games")).end_sending().closed().startswith(b"HTTP/1.1 400 ")
    assert app.environs == []


def test_only_an_address_with_too_many_waiting_connections_is_refused() -> None:
    with serving_app(App(), Limits(waiting_connections=3)) as port, ExitStack() as stack:
        held = [stack.enter_context(Line(port)).send(b"GET / HT") for _ in range(3)]
        stack.enter_context(Line(port, OTHER)).send(request(body=b"here")).answer()  # those before it are counted
        with Line(port) as line:
            said = line.closed()
        assert said.startswith(b"HTTP/1.1 429 Too Many Requests\r\n")
        assert said.endswith(b"Try again in ten seconds.")
        assert held[0].send(b"TP/1.1\r\nHost: x\r\n\r\n").answer().status == 200


def test_a_large_answer_that_is_not_read_keeps_its_request_open() -> None:
    app = App(answer=b"x" * 10_000_000)
    with serving_app(app, Limits(open_requests=2)) as port, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(Line(port)).send(request(Connection="close"))
        app.wait_for_unsent(20_000_000)
        with Line(port) as line:
            assert line.send(request()).closed().startswith(b"HTTP/1.1 429 ")


def test_a_connection_with_a_partial_body_is_counted() -> None:
    with serving_app(App(), Limits(waiting_connections=2)) as port, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(Line(port)).send(half_a_body())
        stack.enter_context(Line(port, OTHER)).send(request(body=b"here")).answer()  # those before it are counted
        with Line(port) as line:
            assert line.closed().startswith(b"HTTP/1.1 429 ")


def test_requests_that_are_answered_are_not_counted() -> None:
    app = App()
    with serving_app(app, Limits(waiting_connections=1), threads=8) as port, ExitStack() as stack:
        lines = []
        for number in range(4):
            lines.append(stack.enter_context(Line(port)).send(request(path="/hold")))
            app.wait_for_open(number + 1)
        app.hold.set()
        assert [line.answer().status for line in lines] == [200] * 4


def test_without_limits_an_address_may_have_any_number(settings: Settings) -> None:
    settings.RATE_LIMITS = 0
    with serving_app(App(), Limits(waiting_connections=3)) as port, ExitStack() as stack:
        lines = [stack.enter_context(Line(port)) for _ in range(10)]
        assert [line.send(request()).answer().status for line in lines] == [200] * 10


def test_behind_a_proxy_its_connections_are_not_limited(settings: Settings) -> None:
    settings.BEHIND_PROXY = True
    with serving_app(App(), Limits(waiting_connections=3)) as port, ExitStack() as stack:
        lines = [stack.enter_context(Line(port)) for _ in range(10)]
        assert [line.send(request()).answer().status for line in lines] == [200] * 10


class Idle:
    """A connection that notes its end."""

    def __init__(self) -> None:
        self.evicted = False

    def evict(self) -> None:
        self.evicted = True


def test_the_oldest_connection_of_the_largest_address_is_evicted() -> None:
    waiting = Waiting(each=None, total=4)
    theirs, alone = [Idle() for _ in range(4)], Idle()
    waiting.add("192.0.2.1", alone)
    for one in theirs:
        waiting.add("192.0.2.2", one)
    assert [one.evicted for one in (alone, *theirs)] == [False, True, False, False, False]


def test_a_removed_connection_makes_room() -> None:
    waiting = Waiting(each=2, total=10)
    first, second = Idle(), Idle()
    for one in (first, second, second):
        waiting.add("192.0.2.1", one)
    assert (waiting.admits("192.0.2.1"), waiting.admits("192.0.2.2"), waiting.admits("")) == (False, True, True)
    for _ in range(2):
        waiting.remove("192.0.2.1", first)
    assert waiting.admits("192.0.2.1")
    assert len(waiting) == 1


def test_an_address_and_a_network_make_only_so_many_new_connections_in_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("nomercy.server.waiting.time.monotonic", lambda: now)
    waiting = Waiting(each=None, arrivals=Arrivals(2, 3, seconds=10))
    assert [waiting.admits("192.0.2.1") for _ in range(4)] == [True, True, False, False]
    assert [waiting.admits(f"192.0.2.{n}") for n in (2, 3)] == [True, False]
    assert (waiting.admits("192.0.3.1"), waiting.admits("")) == (True, True)
    now += 10
    assert waiting.admits("192.0.2.1")


def test_an_address_that_makes_few_connections_is_not_refused_for_its_neighbours() -> None:
    waiting = Waiting(each=None, arrivals=Arrivals(10, 6, few=2, seconds=60))
    assert [waiting.admits("192.0.2.1") for _ in range(8)] == [True] * 6 + [False] * 2
    assert [waiting.admits("192.0.2.2") for _ in range(3)] == [True, True, False]
    assert [waiting.admits(f"192.0.2.{n}") for n in range(3, 9)] == [True] * 4 + [False] * 2


def test_a_flood_of_short_connections_is_refused() -> None:
    limits = Limits(new_connections=5, new_seconds=60)
    with serving_app(App(), limits) as port:
        statuses = []
        for _ in range(8):
            with Line(port) as line:
                statuses.append(line.send(request()).answer().status)
    assert statuses == [200] * 5 + [429] * 3


BROKEN = {
    "garbage": (b"GARBAGE\r\n\r\n", 400),
    "tls": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(100), 400),
    "endless head": (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 20_000, 431),
    "long head": (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 4_000 + b"\r\n", 431),
    "many lines": (b"GET / HTTP/1.1\r\nHost: x\r\n" + b"a:\r\n" * 100 + b"\r\n", 431),
    "many lines without an end": (b"GET / HTTP/1.1\n" + b"a:\n" * 100, 431),
    "garbage behind": (request("POST", "/", body=b"abc") + b"GARBAGE\r\n\r\n", 400),
    "two lengths": (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nbody", 400),
    "negative": (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400),
    "chunks behind": (request(body=b"abc") + b"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
    "space in a name": (b"GET / HTTP/1.1\r\nHost: x\r\nX-Forwarded-For : 192.0.2.9\r\n\r\n", 400),
    "two hosts": (b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400),
}


@pytest.mark.parametrize(("data", "status"), BROKEN.values(), ids=BROKEN)
def test_invalid_http_is_refused_without_a_traceback(
    data: bytes, status: int, caplog: pytest.LogCaptureFixture
) -> None:
    with serving_app(App(), LIMITS) as port, Line(port) as line:
        said = line.send(data).closed()
    assert said.count(b"HTTP/1.1 ") == (2 if b"abc" in data else 1)
    assert b"HTTP/1.1 %d " % status in said
    assert said.rstrip().endswith(b"</html>")
    assert not [record for record in caplog.records if record.exc_info]


def test_data_after_a_refused_body_is_ignored(caplog: pytest.LogCaptureFixture) -> None:
    with serving_app(App(), Limits(body_bytes=10)) as port, Line(port) as line:
        line.send(request("POST", "/", body=b"a" * 11))
        assert line.answer().status == 413
        assert line.send(b"GARBAGE\r\n\r\n").closed() == b""
    assert not [record for record in caplog.records if record.exc_info]


@pytest.mark.long
def test_many_pipelined_requests_are_processed_one_by_one() -> None:
    app = App()
    many = 2_000
    with serving_app(app, LIMITS) as port, Line(port) as line:
        line.send(request(path="/hold"))
        app.wait_for_open(1)
        sender = threading.Thread(target=line.send, args=(request(body=b"next") * many,))
        sender.start()
        with Line(port) as other:
            assert other.send(request(body=b"quick")).answer().body == b"quick"
        app.hold.set()
        assert line.answer().status == 200
        assert {line.answer().body for _ in range(many)} == {b"next"}
        sender.join()


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_request_may_arrive_in_pieces(size: int) -> None:
    data = request("POST", "/", body=b"all of it") + request(body=b"and more")
    with serving_app(App(), LIMITS) as port, Line(port) as line:
        for start in range(0, len(data), size):
            line.send(data[start : start + size])
        assert [line.answer().body for _ in range(2)] == [b"all of it", b"and more"]


def test_an_open_websocket_does_not_count_as_waiting() -> None:
    async def echo(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "websocket.accept"})
        message = await receive()
        await send({"type": "websocket.send", "text": message["text"]})
        await send({"type": "websocket.close"})

    limits = Limits(head_seconds=0.1, waiting_connections=1)
    with serving(echo, limits) as port:
        for _ in range(2):
            with connect(f"ws://127.0.0.1:{port}/") as page:
                threading.Event().wait(0.2)  # longer than a request may take to arrive
                page.send("still here")
                assert page.recv() == "still here"


def test_connect_is_refused() -> None:
    app = App()
    with serving_app(app, LIMITS) as port, Line(port) as line:
        assert line.send(request("CONNECT", "example.org:443")).answer().status == 400
    assert app.environs == []


@pytest.mark.parametrize("status", ["204 No Content", "304 Not Modified"])
def test_an_answer_without_a_body_leaves_the_connection_usable(status: str) -> None:
    app = App(status=status, answer=b"")
    with serving_app(app, LIMITS) as port, Line(port) as line:
        line.send(request() + request())
        assert [line.head().status for _ in range(2)] == [int(status[:3])] * 2


def test_the_answer_to_a_head_request_has_only_its_length() -> None:
    with serving_app(App(answer=b"all of it"), LIMITS) as port, Line(port) as line:
        line.send(request("HEAD") + request())
        assert line.head().headers["content-length"] == "9"
        assert line.answer().body == b"all of it"


def test_a_server_that_is_stopped_finishes_its_requests() -> None:
    app = App()
    with ExitStack() as lines:
        with serving_app(app, LIMITS) as port:
            line = lines.enter_context(Line(port)).send(request(path="/hold", body=b"done"))
            app.wait_for_open(1)
            finishing = threading.Thread(target=let_go_when_stopped, args=(app, port))
            finishing.start()
        finishing.join()
        assert line.answer().body == b"done"


def let_go_when_stopped(app: App, port: int) -> None:
    """Let the held requests continue as soon as nothing listens at this port."""

    def refused() -> bool:
        try:
            Line(port).__exit__()
        except ConnectionRefusedError:
            return True
        return False

    until("stopped", refused)
    app.hold.set()
