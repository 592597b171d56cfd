"""`script/stack` starts all processes, restarts a killed one, and leaves none."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import stat
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from functools import partial
from http.client import HTTPConnection
from importlib import import_module
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from pytest_django.fixtures import Settings
from websockets.asyncio.client import connect
from websockets.typing import Origin

from accounts.models import User
from nomercy.launcher.embedded import listen
from nomercy.launcher.place import CHECKOUT, EmbeddedError
from tests.conftest import logged_in
from tests.support import waiting
from tests.support.stack import RunningStack, processes, stack
from tests.support.tables import TWO_HANDS, now_of, table_at

pytestmark = pytest.mark.long

PATIENCE = 30.0
PROGRAMS = {"web": "gunicorn", "ws": "uvicorn", "redis": "redis-server", "nginx": "nginx"}
"""A part of the command lines of the processes that `script/serve` becomes, and of the services."""
SERVICES = ("redis", "nginx")


def status_of(url: str) -> int:
    address = urlsplit(url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=PATIENCE)
    try:
        connection.request("GET", address.path or "/")
        return connection.getresponse().status
    finally:
        connection.close()


until = partial(waiting.until, patience=PATIENCE)


async def first_message(running: RunningStack, code: str, cookie: str) -> object:
    address = running.url.replace("http", "ws", 1)
    async with connect(
        f"{address}/ws/games/{code}/",
        origin=Origin(running.url),
        additional_headers={"Cookie": cookie},
    ) as page:
        return json.loads(await page.recv())


@pytest.mark.nginx
@pytest.mark.redis
@pytest.mark.django_db(transaction=True)
def test_the_processes_serve_at_one_port_and_are_restarted_after_a_kill(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, "random"], is_public=False)
    cookie = f"{settings.SESSION_COOKIE_NAME}={logged_in(alice).cookies[settings.SESSION_COOKIE_NAME].value}"
    page = f"/games/{table.game.code}/"
    with stack(WEB_CONCURRENCY="1") as running:
        programs = {name: " ".join(command[1:]) for name, command in processes().items()} | PROGRAMS
        seen = {name: running.pids(program) for name, program in programs.items()}
        assert all(seen.values()), seen
        assert status_of(f"{running.url}/healthz") == 200
        assert status_of(f"{running.url}{page}") == 404
        told = asyncio.run(first_message(running, table.game.code, cookie))
        assert told == {"game": table.game.code, "version": 0, "revision": 0}
        assert listening_ports(running) == {urlsplit(running.url).port}
        (redis,) = running.pids("redis-server")
        folder = Path(f"/proc/{redis}/cwd").readlink()
        assert (folder / "redis.sock").is_socket()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700  # no other user of the machine can reach it

        played = post_move(running, page, cookie)
        assert played == 200
        until("the bot has moved", lambda: now_of(table).game.version > 1)

        os.kill(redis, signal.SIGKILL)  # it costs the least; tests/faults/test_crashes.py kills each
        until("it is started again", lambda: running.pids("redis-server") not in ([], [redis]))
        until("said", lambda: any(line.endswith("ended with 137 and is started again.\n") for line in running.said))
        assert status_of(f"{running.url}/healthz") == 200
        everything = running.pids("")
    assert [pid for pid in everything if Path(f"/proc/{pid}/exe").exists()] == []  # a zombie has none


def listening_ports(running: RunningStack) -> set[int]:
    """Return the TCP ports at which any process of the stack listens."""
    pids = {running.process.pid, *running.pids("")}
    inodes = {str(name) for pid in pids for name in open_files(pid)}
    ports = set()
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in inodes:
                ports.add(int(words[1].rsplit(":", 1)[1], 16))
    return ports


def open_files(pid: int) -> Iterator[Path]:
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            yield file.readlink()


def post_move(running: RunningStack, page: str, cookie: str) -> int:
    token = "b" * 32
    request = urllib.request.Request(  # noqa: S310  # our own stack
        f"{running.url}{page}move/",
        data=b"move=play+r5&version=0",
        headers={
            "Cookie": f"{cookie}; {settings.CSRF_COOKIE_NAME}={token}",
            "X-CSRFToken": token,
            "HX-Request": "true",
            "Origin": running.url,
        },
    )
    with urllib.request.urlopen(request) as answer:  # noqa: S310
        status: int = answer.status
        return status


def test_it_refuses_what_it_cannot_serve(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> None:
    script = import_module("script.stack")  # `script` is no package, so mypy would find this file twice
    monkeypatch.setattr("shutil.which", lambda name, path: None)
    monkeypatch.delenv("REDIS_URL", raising=False)
    for https, said in ((False, "apt-get install redis-server"), (True, "serves only http on this machine")):
        settings.HTTPS = https
        with pytest.raises(SystemExit, match=said), ExitStack() as own:
            script.services(own)


def test_a_used_port_is_reported() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(EmbeddedError, match=f"^Another program uses port {port}. "):
            listen("127.0.0.1", port)
    with pytest.raises(EmbeddedError, match=rf"^No Mercy cannot listen on nowhere.invalid port {port}: ") as refused:
        listen("nowhere.invalid", port)
    assert "Unknown error" not in str(refused.value)
    assert "while" not in str(refused.value)


def test_the_compose_file_runs_the_same_commands() -> None:
    text = (CHECKOUT / "docker" / "compose.yaml").read_text() + (CHECKOUT / "docker" / "Dockerfile").read_text()
    written = [json.loads(found) for found in re.findall(r'(?:command:|CMD) (\["(?:script/serve|celery)".*\])', text)]
    for name, command in processes().items():
        wanted = command[: command.index("--bind")] if "--bind" in command else command
        assert name in SERVICES or any(found[: len(wanted)] == wanted for found in written), name
