"""Bodies are read completely before they take a thread, and no address uses up what others need."""

from __future__ import annotations

import json
import threading
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any
from wsgiref.types import WSGIEnvironment

import pytest
from pytest_django.fixtures import Settings

from games.api.waits import HEADER, KNOWN
from nomercy.server.admission import Admission
from nomercy.server.bridge import Bridge
from nomercy.server.limits import LIMITS, Limits
from tests.support.server import PATIENCE, App, Line, Reply, half_a_body, request, serving, serving_app
from tests.support.waiting import until

OTHER = "127.0.0.2"
SHORT = Limits(body_seconds=0.2, body_bytes=1000, open_requests=3, held_bytes=1500, in_threads=1)


@pytest.fixture(autouse=True)
def limited(settings: Settings) -> None:
    settings.RATE_LIMITS = 100


def ask(port: int, data: bytes, *, source: str = "127.0.0.1") -> Reply:
    with Line(port, source) as line:
        return line.send(data).answer()


def test_slow_bodies_do_not_occupy_threads() -> None:
    app = App()
    with serving_app(app, LIMITS, threads=1) as port, ExitStack() as slow:
        for _ in range(20):
            slow.enter_context(Line(port)).send(half_a_body())
        assert ask(port, request(body=b"quick")).body == b"quick"
        assert len(app.environs) == 1


@pytest.mark.parametrize("path", ["/games/abc/move/", "/api/v1/games"])
def test_a_body_that_does_not_arrive_is_refused(path: str) -> None:
    app = App()
    with serving_app(app, SHORT) as port, Line(port) as line:
        answer = line.send(half_a_body(path)).answer()
        assert line.closed() == b""
    assert answer.status == 408
    assert_says_what_to_do(answer, path, "timed_out", "send it again")
    assert app.environs == []


def test_a_body_that_trickles_in_is_refused() -> None:
    app = App()
    with serving_app(app, SHORT) as port, Line(port) as line:
        line.send(request("POST", "/", Content_Length="1000"))
        stop = threading.Event()
        trickle = threading.Thread(target=drip, args=(line, stop))
        trickle.start()
        answer = line.answer()
        stop.set()
        trickle.join()
    assert answer.status == 408
    assert app.environs == []


def drip(line: Line, stop: threading.Event) -> None:
    while not stop.wait(0.02):
        try:
            line.send(b"a")
        except OSError:
            return


@pytest.mark.parametrize("path", ["/games/abc/move/", "/api/v1/games"])
def test_an_overlong_content_length_is_refused_before_the_body(path: str) -> None:
    app = App()
    with serving_app(app, SHORT) as port:
        answer = ask(port, request("POST", path, Content_Length="1001"))
    assert answer.status == 413
    assert_says_what_to_do(answer, path, "too_large", "send less")
    assert app.environs == []


def test_a_client_that_sends_all_before_it_reads_gets_the_refusal() -> None:
    with serving_app(App(), Limits(body_bytes=1000)) as port, Line(port) as line:
        line.send(request("POST", "/", body=b"a" * 3_000_000))
        assert line.answer().status == 413


@pytest.mark.parametrize("path", ["/games/abc/move/", "/api/v1/games"])
def test_a_body_in_chunks_is_refused_before_they_are_read(path: str) -> None:
    app = App()
    with serving_app(app, LIMITS) as port:
        head = request("POST", path, Transfer_Encoding="chunked", Content_Length="3")
        for _ in range(3):
            answer = ask(port, head + b"1\r\na\r\n" * 100_000 + b"0\r\n\r\n")
            assert answer.status == 411
            assert_says_what_to_do(answer, path, "length_required", "with its Content-Length")
    assert app.environs == []


def test_expect_100_is_answered_unless_the_body_is_too_long() -> None:
    with serving_app(App(), SHORT) as port:
        with Line(port) as line:
            line.send(request("POST", "/", Content_Length="3", Expect="100-continue"))
            assert line.interim() == 100
            assert line.send(b"abc").answer().body == b"abc"
        assert ask(port, request("POST", "/", Content_Length="1001", Expect="100-continue")).status == 413


def test_only_an_address_with_too_many_open_requests_is_refused() -> None:
    app = App()
    with serving_app(app, SHORT) as port, ExitStack() as stack:
        held = [stack.enter_context(Line(port)).send(request(path="/hold")) for _ in range(SHORT.open_requests)]
        app.wait_for_open(SHORT.open_requests)
        for path in ("/", "/api/v1/me"):
            refused = ask(port, request(path=path))
            assert refused.status == 429
            assert refused.headers["retry-after"] == "5"
            assert_says_what_to_do(refused, path, "too_many_requests", "try again")
        assert ask(port, request(body=b"theirs"), source=OTHER).body == b"theirs"
        app.hold.set()
        assert [line.answer().status for line in held] == [200, 200, 200]
        app.wait_for_open(0)
        assert ask(port, request(body=b"again")).body == b"again"


def test_one_address_cannot_occupy_all_threads() -> None:
    app = App()
    with serving_app(app, SHORT, threads=2) as port, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(Line(port)).send(request(path="/hold"))
        app.entered.acquire()
        assert ask(port, request(body=b"theirs"), source=OTHER).body == b"theirs"
        assert [environ["PATH_INFO"] for environ in app.environs] == ["/hold", "/"]
        app.hold.set()


def test_many_addresses_of_one_network_delay_another_network_by_one_request_at_most() -> None:
    app = App()
    addresses = [f"127.0.9.{n}" for n in range(1, 31)]
    with serving_app(app, SHORT, threads=1) as port, ExitStack() as stack:
        for address in addresses:
            stack.enter_context(Line(port, address)).send(request(path="/hold"))
            app.wait_for_open(1, address)
        theirs = stack.enter_context(Line(port, OTHER)).send(request(path="/theirs"))
        app.wait_for_open(1, OTHER)
        app.hold.set()
        assert theirs.answer().status == 200
        until("all are answered", lambda: len(app.environs) == 31)
        assert [environ["PATH_INFO"] for environ in app.environs].index("/theirs") == 2


def test_a_network_with_too_many_open_requests_is_refused() -> None:
    app = App()
    with (
        serving_app(app, replace(SHORT, open_requests_of_neighbours=4, few_requests=0), threads=5) as port,
        ExitStack() as stack,
    ):
        held = []
        for n in range(4):
            # The clients have hung up, or so it seems.
            line = stack.enter_context(Line(port, f"127.0.9.{n}")).send(request(path="/hold")).end_sending()
            app.wait_for_open(1, f"127.0.9.{n}")
            held.append(line)
        assert ask(port, request(), source="127.0.9.9").status == 429
        assert ask(port, request(body=b"theirs"), source=OTHER).body == b"theirs"
        app.hold.set()
        assert [line.answer().status for line in held] == [200] * 4
        # A client has its answer a moment before the server has counted it.
        until("none is open", lambda: (app.admission.open, app.admission.held) == ({}, {}))
        assert ask(port, request(body=b"again"), source="127.0.9.9").body == b"again"


def test_an_address_with_few_open_requests_is_not_refused_for_its_neighbours() -> None:
    app = App()
    limits = replace(SHORT, open_requests_of_neighbours=4, few_requests=1)
    with serving_app(app, limits, threads=8) as port, ExitStack() as stack:

        def hold(source: str) -> Line:
            return stack.enter_context(Line(port, source)).send(request(path="/hold"))

        for n, address in [(1, "127.0.9.1"), (2, "127.0.9.1"), (1, "127.0.9.2"), (2, "127.0.9.2")]:
            hold(address)
            app.wait_for_open(n, address)
        assert ask(port, request(), source="127.0.9.1").status == 429
        for address in ("127.0.9.3", "127.0.9.4", "127.0.9.5"):
            assert ask(port, request(), source=address).status == 200
            hold(address)
            app.wait_for_open(1, address)
        assert ask(port, request(), source="127.0.9.5").status == 429
        assert ask(port, request(), source="127.0.9.6").status == 200
        hold("127.0.9.6")
        app.wait_for_open(1, "127.0.9.6")
        assert ask(port, request(), source="127.0.9.7").status == 429  # twice the limit
        app.hold.set()


def test_the_bodies_of_a_network_have_a_memory_limit() -> None:
    app = App()
    with (
        serving_app(app, replace(SHORT, held_bytes_of_neighbours=1800, few_bytes=0), threads=3) as port,
        ExitStack() as stack,
    ):
        for address in ("127.0.9.1", "127.0.9.2"):
            stack.enter_context(Line(port, address)).send(request("POST", "/hold", body=b"a" * 800))
            app.entered.acquire()
        assert ask(port, request("POST", "/", body=b"a" * 201), source="127.0.9.3").status == 429
        assert ask(port, request("POST", "/", body=b"a" * 201), source=OTHER).status == 200
        app.hold.set()
        app.wait_for_open(0, "127.0.9.1")
        app.wait_for_open(0, "127.0.9.2")
        assert ask(port, request("POST", "/", body=b"a" * 201), source="127.0.9.3").status == 200


def test_a_short_body_is_not_refused_for_those_of_its_neighbours() -> None:
    app = App()
    with (
        serving_app(app, replace(SHORT, held_bytes_of_neighbours=700, few_bytes=100), threads=3) as port,
        Line(port, "127.0.9.1") as held,
    ):
        held.send(request("POST", "/hold", body=b"a" * 700))
        app.entered.acquire()
        assert ask(port, request("POST", "/", body=b"a" * 100), source="127.0.9.2").status == 200
        assert ask(port, request("POST", "/", body=b"a" * 101), source="127.0.9.2").status == 429
        app.hold.set()


def test_the_bodies_of_one_address_have_a_memory_limit() -> None:
    app = App()
    with serving_app(app, SHORT, threads=2) as port, Line(port) as first:
        first.send(request("POST", "/hold", body=b"a" * 1000))
        app.entered.acquire()
        assert ask(port, request("POST", "/", body=b"a" * 501)).status == 429
        assert ask(port, request("POST", "/", body=b"a" * 501), source=OTHER).status == 200
        app.hold.set()
        assert first.answer().status == 200
        app.wait_for_open(0)
        assert ask(port, request("POST", "/", body=b"a" * 1000)).status == 200


def test_the_unread_answers_of_one_address_have_a_memory_limit() -> None:
    app = App(answer=b"x" * 20_000_000)
    limits = replace(SHORT, unsent_bytes=30_000_000, open_requests=10)
    with serving_app(app, limits, threads=2) as port:
        with ExitStack() as stack:
            stack.enter_context(Line(port)).send(request())
            app.wait_for_unsent(20_000_000)
            assert len(ask(port, request()).body) == 20_000_000  # a single one, however long, does not count
            stack.enter_context(Line(port)).send(request())
            app.wait_for_unsent(40_000_000)
            assert ask(port, request()).status == 429
            assert ask(port, request(), source=OTHER).status == 200
        app.wait_for_unsent(0)
        assert ask(port, request()).status == 200


def test_the_unread_answers_of_a_network_have_a_memory_limit() -> None:
    app = App(answer=b"x" * 20_000_000)
    limits = replace(SHORT, unsent_bytes=10**9, unsent_bytes_of_neighbours=50_000_000, few_unsent_bytes=0)
    with serving_app(app, limits, threads=2) as port, ExitStack() as stack:

        def hold(address: str, *, total: int) -> None:
            stack.enter_context(Line(port, address)).send(request())
            app.wait_for_unsent(total)

        hold("127.0.9.1", total=20_000_000)
        hold("127.0.9.1", total=40_000_000)
        assert ask(port, request(), source="127.0.9.1").status == 429
        assert ask(port, request(), source="127.0.9.2").status == 200  # its only one
        hold("127.0.9.2", total=60_000_000)
        assert ask(port, request(), source="127.0.9.2").status == 429
        hold("127.0.9.3", total=80_000_000)
        hold("127.0.9.4", total=100_000_000)
        assert ask(port, request(), source="127.0.9.5").status == 429  # twice the limit
        assert ask(port, request(), source=OTHER).status == 200


@pytest.mark.parametrize(
    ("limits", "sources", "sent"),
    [
        (replace(SHORT, unsent_bytes=30_000_000), ["127.0.9.1"] * 4, 2),
        (replace(SHORT, unsent_bytes_of_neighbours=20_000_000), [f"127.0.9.{number}" for number in range(4)], 2),
    ],
    ids=["address", "network"],
)
def test_long_answers_that_were_made_at_once_are_counted_together(
    limits: Limits, sources: list[str], sent: int
) -> None:
    app = App(answer=b"x" * 20_000_000)
    wide = replace(limits, in_threads=4, open_requests=10)
    with serving_app(app, wide, threads=4) as port, ExitStack() as stack:
        lines = [stack.enter_context(Line(port, source)).send(request(path="/hold")) for source in sources]
        for _ in lines:
            assert app.entered.acquire(timeout=PATIENCE)
        app.hold.set()
        assert Counter(line.head().status for line in lines) == {200: sent, 429: len(lines) - sent}
        assert app.admission.unsent.total() == sent * 20_000_000


def test_behind_a_proxy_the_forwarded_address_is_counted(settings: Settings) -> None:
    settings.TRUSTED_PROXIES = 1
    app = App()
    with serving_app(app, SHORT, threads=2) as port, ExitStack() as stack:
        for number in range(SHORT.open_requests):
            data = request(path="/hold", X_Forwarded_For=f"2001:db8::{number}")
            stack.enter_context(Line(port)).send(data)
        app.wait_for_open(SHORT.open_requests, "2001:db8::/64")
        assert ask(port, request(X_Forwarded_For="2001:db8::ffff")).status == 429
        assert ask(port, request(X_Forwarded_For="2001:db8:0:1::1")).status == 200
        app.hold.set()


@pytest.mark.parametrize(("percent", "most"), [(100, 3), (200, 6), (50, 3), (0, None)])
def test_the_limits_of_an_address_can_be_raised_and_removed(settings: Settings, percent: int, most: int | None) -> None:
    settings.RATE_LIMITS = percent
    app = App()
    with serving_app(app, SHORT, threads=8) as port, ExitStack() as stack:
        for _ in range(most or 10):
            stack.enter_context(Line(port)).send(request(path="/hold"))
        app.wait_for_open(most or 10)
        with Line(port) as line:
            line.send(request())
            if most is None:
                app.hold.set()
            assert line.answer().status == (200 if most is None else 429)
        app.hold.set()


def test_a_client_that_hangs_up_during_its_body_is_forgotten() -> None:
    app = App()
    with serving_app(app, SHORT) as port:
        with ExitStack() as stack:
            for _ in range(SHORT.open_requests):
                stack.enter_context(Line(port)).send(half_a_body())
            app.wait_for_open(SHORT.open_requests)
        app.wait_for_open(0)
        assert ask(port, request(body=b"here")).body == b"here"
    assert len(app.environs) == 1


def assert_says_what_to_do(answer: Reply, path: str, code: str, hint: str) -> None:
    """Assert that the answer is an error object in the API, and a page elsewhere, with this hint."""
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["connection"] == "close"
    if path.startswith("/api/"):
        assert json.loads(answer.body)["error"] == code
        assert hint in json.loads(answer.body)["message"]
    else:
        assert answer.headers["content-type"] == "text/html; charset=utf-8"
        said = (b"so nothing was done", b"Nothing was done", b"Nothing was changed")
        assert any(sentence in answer.body for sentence in said)


class Waits:
    """A WSGI app whose calls wait for news that never comes. `runs` has for each run whether it let the server wait."""

    def __init__(self) -> None:
        self.runs: list[bool] = []

    def __call__(self, environ: WSGIEnvironment, start_response: Callable[..., Any]) -> list[bytes]:
        waits = KNOWN in environ
        self.runs.append(waits)
        start_response("200 OK", [(HEADER, "mark person.1")] if waits else [])
        return [] if waits else [b"nothing new"]


def test_a_stopping_server_answers_a_waiting_call() -> None:
    app = Waits()
    with ExitStack() as client:
        with serving(Admission(Bridge(app, threads=1), LIMITS), LIMITS) as port:
            line = client.enter_context(Line(port)).send(request())
            until("waiting", lambda: app.runs == [True, True])
        assert line.answer().body == b"nothing new"
    assert app.runs == [True, True, False]


def test_waiting_calls_of_clients_that_hang_up_no_longer_count() -> None:
    admission = Admission(Bridge(Waits(), threads=1), LIMITS)
    with serving(admission, LIMITS) as port:
        with ExitStack() as lines:
            for _ in range(LIMITS.waiting_calls_of_one):
                lines.enter_context(Line(port)).send(request())
            until("all wait", lambda: admission.waits.total() == LIMITS.waiting_calls_of_one)
            assert ask(port, request()).status == 429
        until("there are places again", lambda: not admission.waits, patience=2)


def test_a_waiting_call_before_more_requests_than_are_read_ends_with_its_client() -> None:
    admission = Admission(Bridge(Waits(), threads=1), LIMITS)
    with serving(admission, LIMITS) as port:
        with Line(port) as line:
            line.send(request())
            until("it waits", lambda: admission.waits.total() == 1)
            line.send(request() * (2 * LIMITS.head_bytes // len(request()) + 1))
        until("there is a place again", lambda: not admission.waits, patience=2)


def test_a_waiting_call_of_a_client_that_sends_nothing_more_is_answered_at_once() -> None:
    with serving(Admission(Bridge(Waits(), threads=1), LIMITS), LIMITS) as port, Line(port) as line:
        before = time.monotonic()
        assert line.send(request()).end_sending().closed().endswith(b"\r\n\r\nnothing new")
    assert time.monotonic() - before < 2
