"""`script/serve`: gunicorn for pages, uvicorn for websockets and waiting calls, as production runs them."""

from __future__ import annotations

import json
import os
import runpy
import signal
import socket
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from types import SimpleNamespace
from typing import Final

import pytest
from django.conf import settings as site_settings
from pytest_django.fixtures import Settings
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin

from accounts.models import User
from nomercy.launcher.place import CHECKOUT
from tests.conftest import api_token, logged_in
from tests.support.ports import free_port
from tests.support.stack import database_url
from tests.support.tables import TWO_HANDS, table_at
from tests.support.waiting import until

GUNICORN: Final = runpy.run_path(str(CHECKOUT / "gunicorn.conf.py"))
PATIENCE: Final = 30.0


@contextmanager
def serving(kind: str, log: Path, *bind: str, **settings_: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a server on the test database, with its output in `log`."""
    environment = os.environ | {
        "DATABASE_URL": database_url(),
        "SECRET_KEY": site_settings.SECRET_KEY,
        "DJANGO_SETTINGS_MODULE": "nomercy.settings",
        "NOMERCY_ENV_FILE": "",
        "REDIS_URL": "",
        **settings_,
    }
    with log.open("w") as said:
        command = ["script/serve", kind, *bind]
        with subprocess.Popen(command, cwd=CHECKOUT, env=environment, stdout=said, stderr=said) as process:
            try:
                yield process
            finally:
                process.terminate()
                process.wait(PATIENCE)


def ask(port: int, path: str = "/healthz", **headers: str) -> HTTPResponse | None:
    """Return the answer, or None while nobody listens."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as line:
        try:
            line.request("GET", path, headers=headers)
        except ConnectionRefusedError:
            return None
        answer = line.getresponse()
        answer.read()
        return answer


def test_the_configuration_trusts_no_header() -> None:
    assert GUNICORN["forwarder_headers"] == GUNICORN["forwarded_allow_ips"] == ""
    assert GUNICORN["secure_scheme_headers"] == {}


def test_a_unix_socket_is_only_for_a_proxy(settings: Settings) -> None:
    settings.BEHIND_PROXY = settings.EMBEDDED = False
    server = SimpleNamespace(cfg=SimpleNamespace(bind=["unix:/run/web.sock"]))
    with pytest.raises(SystemExit, match="BEHIND_PROXY=1"):
        GUNICORN["on_starting"](server)
    settings.BEHIND_PROXY = True
    GUNICORN["on_starting"](server)


@pytest.mark.parametrize(
    "arguments",
    [[], ["pages"], ["web", "--bind"], ["web", "--port", "1"], ["ws", "--bind", "8000"], ["web", "a", "b", "c"]],
)
def test_a_wrong_call_tells_its_usage(arguments: list[str]) -> None:
    said = subprocess.run(
        [CHECKOUT / "script" / "serve", *arguments], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert (said.returncode, said.stdout) == (2, "")
    assert said.stderr == "Usage: script/serve web|ws [--bind host:port|unix:/path]\n"


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("kind", ["web", "ws"])
def test_a_server_listens_at_a_unix_socket_of_any_user(kind: str, tmp_path: Path) -> None:
    path, log = tmp_path / "a.sock", tmp_path / "log"
    for _ in range(2):  # the second time beside a socket that was left behind
        with serving(kind, log, "--bind", f"unix:{path}", BEHIND_PROXY="1") as process:
            until("up", lambda: path.exists() or process.poll() is not None, patience=PATIENCE)
            until("for the proxy", lambda: stat.S_IMODE(path.stat().st_mode) & 0o666 == 0o666, patience=PATIENCE)
            process.kill()
            process.wait(PATIENCE)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_processes_for_pages_count_together_and_leave_nothing_behind(tmp_path: Path) -> None:
    port, log = free_port(), tmp_path / "log"
    token = "t" * 40
    with serving("web", log, "--bind", f"127.0.0.1:{port}", METRICS_TOKEN=token, TMPDIR=str(tmp_path)) as process:
        until("up", lambda: ask(port), patience=PATIENCE)
        for _ in range(20):
            ask(port, "/rules/")
        with closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as line:
            line.request("GET", "/metrics", headers={"Authorization": f"Bearer {token}"})
            told = line.getresponse().read().decode()
        assert 'nomercy_responses_total{kind="page",status="200"} 20.0' in told
        assert list(tmp_path.glob("nomercy-metrics-*/*.db"))
        process.terminate()
        assert process.wait(PATIENCE) == 0
    assert not list(tmp_path.glob("nomercy-metrics-*"))
    said = log.read_text()
    assert "process=pages" in said
    assert "gunicorn" not in said  # only its warnings are logged


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_server_for_sockets_stops_although_pages_are_open(tmp_path: Path, alice: User, bob: User) -> None:
    """Waiting calls are answered at once, and open sockets are told that the server goes."""
    code = table_at(TWO_HANDS, [alice, bob]).game.code
    cookie = f"{site_settings.SESSION_COOKIE_NAME}={logged_in(alice).cookies[site_settings.SESSION_COOKIE_NAME].value}"
    token, port, log = api_token(bob), free_port(), tmp_path / "log"
    url = f"http://127.0.0.1:{port}"
    with serving("ws", log, "--bind", f"127.0.0.1:{port}", SITE_URL=url) as process, ExitStack() as stack:
        until("up", lambda: ask(port), patience=PATIENCE)
        address = f"ws://127.0.0.1:{port}/ws/games/{code}/"
        page = stack.enter_context(connect(address, origin=Origin(url), additional_headers={"Cookie": cookie}))
        assert json.loads(page.recv(PATIENCE))["version"] == 0
        assert page.protocol.extensions == []  # no compression
        call = stack.enter_context(closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)))
        call.request("GET", f"/api/v1/wait/games/{code}?after=0", headers={"Authorization": f"Bearer {token}"})
        assert call.sock is not None
        call.sock.settimeout(0.5)
        with pytest.raises(TimeoutError):
            call.sock.recv(1, socket.MSG_PEEK)
        call.sock.settimeout(PATIENCE)
        started = time.monotonic()
        process.terminate()
        assert call.getresponse().status == 200
        with pytest.raises(ConnectionClosed) as closed:
            page.recv(PATIENCE)
        assert closed.value.rcvd is not None
        assert closed.value.rcvd.code == 1012
        assert process.wait(PATIENCE) == -signal.SIGTERM
        assert time.monotonic() - started < 10
    said = log.read_text()
    assert "process=sockets" in said
    assert code not in said.replace(f"game={code}", "")  # uvicorn's lines would have the path, and the address


def flood(page: ClientConnection) -> None:
    """Send a megabyte of pings, and read."""
    for n in range(10_000):
        page.ping(f"{n:100}")
    page.recv(PATIENCE)


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_a_long_message_or_many_pings_on_a_socket_end_it(tmp_path: Path, alice: User, bob: User) -> None:
    code = table_at(TWO_HANDS, [alice, bob]).game.code
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with serving("ws", tmp_path / "log", "--bind", f"127.0.0.1:{port}", SITE_URL=url):
        until("up", lambda: ask(port), patience=PATIENCE)
        with connect(f"ws://127.0.0.1:{port}/ws/games/{code}/", origin=Origin(url)) as page:
            page.recv(PATIENCE)
            page.send("a" * 1025)
            with pytest.raises(ConnectionClosed) as closed:
                page.recv(PATIENCE)
            assert closed.value.rcvd is not None
            assert closed.value.rcvd.code == 1009
        with connect(f"ws://127.0.0.1:{port}/ws/games/{code}/", origin=Origin(url)) as page:
            page.recv(PATIENCE)
            page.ping(b"a" * 100).wait(PATIENCE)
            with pytest.raises(ConnectionClosed) as closed:
                flood(page)
            assert closed.value.rcvd is None
