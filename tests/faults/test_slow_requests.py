"""Test slow and incomplete requests against real processes: they neither stop the site nor fill its log.

`bench/siege.py` is a long form, whose player and attacker are used here.
"""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bench.siege import FEW_SLOW_BODIES, PLAYER, TOGETHER, Attack, Player, Site
from nomercy.launcher.file_limit import raise_file_limit
from nomercy.launcher.place import CHECKOUT
from nomercy.middleware import BODY_SECONDS
from tests.conftest import Figure
from tests.support.ports import free_port
from tests.support.server import Line, half_a_body, request
from tests.support.stack import database_url, stack
from tests.support.waiting import until

HALF = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n"
HELD = 1_500
ATTACKERS = tuple(f"127.0.0.{number}" for number in range(10, 16))
HEAD_SECONDS = 10.0
"""How long nginx waits for the head of a request (docker/nginx/proxy.conf)."""
SOON = 5.0
"""Seconds within which the site must answer. Normally it takes milliseconds, but the machine may be busy."""
ATTACK_SECONDS = BODY_SECONDS + 4
"""The slow bodies have timed out by then, and those that were sent again have not."""
LOGGED = 20_000
"""The most bytes that the site may log meanwhile."""


def answered(port: int, source: str = "127.0.0.1") -> float:
    """Ask whether the site can serve, and return the seconds until it said yes."""
    started = time.monotonic()
    with Line(port, source) as line:
        assert line.send(request(path="/healthz", Connection="close")).answer().status == 200
    return time.monotonic() - started


@contextmanager
def script_run(log: Path) -> Iterator[int]:
    """Run what `script/run` starts on the test's database; yield its port."""
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
        until_then = time.monotonic() + HEAD_SECONDS + 2
        while time.monotonic() < until_then:  # all of them time out
            times.append(answered(port, PLAYER))
            time.sleep(0.2)
    finally:
        for one in held:
            one.close()
    return times


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_bodies_that_never_arrive_do_not_stop_script_run(tmp_path: Path, figure: Figure) -> None:
    log = tmp_path / "log"
    with script_run(log) as port:
        url = f"http://127.0.0.1:{port}"
        player, attack = Player(Site(url, log)), Attack("127.0.0.1", port, url, TOGETHER, proxied=False)
        attacker = threading.Thread(target=lambda: asyncio.run(attack.run(ATTACK_SECONDS)))
        attacker.start()
        time.sleep(0.5)
        waited = player.play(0.5)
        attacker.join()
        figure(f"{FEW_SLOW_BODIES} bodies that do not arrive: a move of another address took {max(waited):.2f} s")
        assert max(waited) < SOON
        assert attack.seen == {"slow body: 408": FEW_SLOW_BODIES}
        assert answered(port, PLAYER) < SOON


@pytest.mark.long
@pytest.mark.nginx
@pytest.mark.redis
@pytest.mark.django_db(transaction=True)
def test_slow_bodies_slow_readers_and_half_requests_do_not_stop_script_stack(figure: Figure) -> None:
    raise_file_limit()
    with stack(only=["web"], RATE_LIMITS="100") as running:
        port, before = urlsplit(running.url).port or 0, len(running.said)
        with ExitStack() as slow:
            for _ in range(50):
                slow.enter_context(Line(port, ATTACKERS[0])).send(half_a_body("/accounts/login/"))
                slow.enter_context(Line(port, ATTACKERS[1])).send(request(path="/rules/", Accept_Encoding="identity"))
            waited = answered(port, PLAYER)
        times = answer_times_during_siege(port)
        logged = "".join(running.said[before:])
    figure(f"50 slow bodies and 50 unread answers: another address waited {waited * 1000:.0f} ms")
    figure(f"half requests: slowest of {len(times)} answers {max(times):.2f} s; {len(logged)} bytes logged")
    assert waited < SOON
    assert max(times) < SOON
    assert len(logged) < LOGGED + 300 * len(times), logged[-2000:]
    assert "Traceback" not in logged
