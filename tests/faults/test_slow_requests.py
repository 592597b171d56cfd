"""Test slow and incomplete requests against real processes: they neither stop the site nor fill its log."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from nomercy.launcher.place import CHECKOUT
from nomercy.server.limits import LIMITS
from nomercy.server.listening import raise_file_limit
from tests.conftest import Figure
from tests.support.ports import free_port
from tests.support.server import Line, half_a_body, request
from tests.support.stack import database_url, stack
from tests.support.waiting import until
from tests.support.web import Site

HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
FILES = 1024
"""The usual soft limit of open files, here the hard limit too."""
HELD = 1_500
ATTACKERS = tuple(f"127.0.0.{number}" for number in range(10, 16))
PLAYER = "127.0.1.2"  # in another network (`neighbours_of`)
SOON = 5.0
"""Seconds within which the site must answer. Normally it takes milliseconds, but the machine may be busy."""
LOGGED = 20_000
"""The most bytes that the site may log meanwhile."""


def answered(port: int, source: str = "127.0.0.1") -> float:
    """Ask whether the site can serve, and return the seconds until it said yes."""
    started = time.monotonic()
    with Line(port, source) as line:
        assert line.send(request(path="/healthz", Connection="close")).answer().status == 200
    return time.monotonic() - started


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_slow_bodies_do_not_stop_the_page_server(site: Site) -> None:
    with ExitStack() as slow:
        for _ in range(40):
            slow.enter_context(Line(site.port)).send(half_a_body("/accounts/login/"))
        assert answered(site.port) < SOON


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_page_server_refuses_a_slow_body_in_time(site: Site) -> None:
    with Line(site.port) as page, Line(site.port) as call:
        started = time.monotonic()
        page.send(half_a_body("/accounts/login/"))
        call.send(half_a_body("/api/v1/games"))
        assert page.answer().status == call.answer().status == 408
        assert LIMITS.body_seconds <= time.monotonic() - started < 2 * LIMITS.body_seconds


@contextmanager
def script_run(log: Path) -> Iterator[int]:
    """Run what `script/run` starts on the test's database with few file descriptors; yield its port."""
    port = free_port()
    environment = os.environ | {
        "PORT": str(port),
        "SITE_URL": f"http://127.0.0.1:{port}",
        "DATABASE_URL": database_url(),
        "DJANGO_SETTINGS_MODULE": "nomercy.settings",
        "RATE_LIMITS": "100",
    }
    with log.open("w") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "nomercy.launcher.embedded"],
            cwd=CHECKOUT, env=environment, stdout=said, stderr=said,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (FILES // 2, FILES)),  # noqa: PLW1509 (no threads)
        )  # fmt: skip
        try:
            until("up", lambda: "Ctrl-C stops everything" in log.read_text() or process.poll() is not None)
            assert process.poll() is None, log.read_text()
            yield port
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(60)


def answer_times_during_siege(port: int) -> list[float]:
    """Hold half requests from six addresses for a while, and return how long the site took to answer meanwhile."""
    held: list[socket.socket] = []
    times = []
    try:
        for number in range(HELD):
            source = ATTACKERS[number % len(ATTACKERS)]
            one = socket.create_connection(("127.0.0.1", port), timeout=SOON, source_address=(source, 0))
            held.append(one)
            try:
                one.sendall(HALF)
            except OSError:
                continue  # it was refused or closed to make room
            if number % 100 == 0:
                times.append(answered(port, PLAYER))
        until_then = time.monotonic() + LIMITS.head_seconds + 2
        while time.monotonic() < until_then:  # all of them time out
            times.append(answered(port, PLAYER))
            time.sleep(0.2)
    finally:
        for one in held:
            one.close()
    return times


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_half_requests_do_not_stop_script_run_under_1024_file_descriptors(tmp_path: Path, figure: Figure) -> None:
    raise_file_limit()
    log = tmp_path / "log"
    with script_run(log) as port:
        before = log.stat().st_size
        times = answer_times_during_siege(port)
        logged = log.read_text()[before:]
    figure(f"slowest of {len(times)} answers {max(times):.2f} s; {len(logged)} bytes logged")
    assert max(times) < SOON
    assert len(logged) < LOGGED + 300 * len(times), logged[-2000:]
    assert "Traceback" not in logged


@pytest.mark.long
@pytest.mark.redis
@pytest.mark.django_db(transaction=True)
def test_half_requests_do_not_stop_script_stack(figure: Figure) -> None:
    raise_file_limit()
    with stack(only=["web"], RATE_LIMITS="100") as running:
        before = len(running.said)
        times = answer_times_during_siege(urlsplit(running.url).port or 0)
        logged = "".join(running.said[before:])
    figure(f"slowest of {len(times)} answers {max(times):.2f} s; {len(logged)} bytes logged")
    assert max(times) < SOON
    assert len(logged) < LOGGED + 300 * len(times), logged[-2000:]
    assert "Traceback" not in logged
