"""Each process says once that it has started, with its version and its queues."""

from __future__ import annotations

import asyncio
import json
import os
import re
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Final

import pytest
from celery.signals import beat_init, worker_ready
from pytest_django.fixtures import Settings
from structlog.testing import capture_logs

import nomercy
from nomercy.asgi import sockets
from nomercy.launcher.place import CHECKOUT
from tests.support.stack import database_url


class Consumer:
    """A worker's consumer, which Celery sends with the signal."""

    def __init__(self, *queues: str) -> None:
        self.app = SimpleNamespace(amqp=SimpleNamespace(queues=SimpleNamespace(consume_from=queues)))


def test_a_worker_names_its_queues() -> None:
    with capture_logs() as lines:
        worker_ready.send(sender=Consumer("work", "mail"))
    line = {"event": "started", "log_level": "info", "process": "worker", "queues": ["mail", "work"]}
    assert lines == [line | {"version": nomercy.__version__}]


def test_beat_says_that_it_started(settings: Settings) -> None:
    settings.EMBEDDED, settings.REDIS_URL = False, "redis://127.0.0.1:1/0"
    with capture_logs() as lines:
        beat_init.send(sender=None)
    assert [(line["event"], line["process"]) for line in lines] == [("started", "beat")]


GUNICORN: Final = runpy.run_path(str(CHECKOUT / "gunicorn.conf.py"))


def start_pages() -> None:
    """Call what gunicorn calls before it starts the processes for pages."""
    server = SimpleNamespace(cfg=SimpleNamespace(bind=["127.0.0.1:8000"]))
    GUNICORN["on_starting"](server)
    GUNICORN["when_ready"](server)


async def start_sockets() -> None:
    """Call what uvicorn calls, in its event loop."""
    sockets()


@pytest.mark.parametrize("process", ["pages", "sockets", "worker", "beat"])
def test_a_process_says_that_its_database_cannot_be_used_and_stays_up(
    process: str, settings: Settings, monkeypatch: pytest.MonkeyPatch, db: None
) -> None:
    settings.EMBEDDED, settings.REDIS_URL = False, "redis://127.0.0.1:1/0"
    start: Callable[[], object] = {
        "worker": lambda: worker_ready.send(sender=Consumer("work")),
        "beat": lambda: beat_init.send(sender=None),
        "pages": start_pages,
        "sockets": lambda: asyncio.run(start_sockets()),
    }[process]
    monkeypatch.setenv("DATABASE_URL", f"{database_url()}_is_not_there")
    with capture_logs() as lines:
        start()
    assert [line["event"] for line in lines] == ["started", "the database cannot be used"]
    assert lines[1]["log_level"] == "error"
    assert '_is_not_there" does not exist' in lines[1]["reason"]
    monkeypatch.setenv("DATABASE_URL", database_url())
    with capture_logs() as lines:
        start()
    assert [line["event"] for line in lines] == ["started"]


def test_workers_in_threads_leave_it_to_their_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://u@127.0.0.1:1/x")
    with capture_logs() as lines:
        thread = threading.Thread(target=worker_ready.send, kwargs={"sender": Consumer("work")})
        thread.start()
        thread.join()
    assert lines == []


def test_the_server_for_pages_names_its_address(settings: Settings) -> None:
    settings.EMBEDDED = False
    with capture_logs() as lines:
        start_pages()
    told = [(line["process"], line["address"]) for line in lines if line["event"] == "started"]
    assert told == [("pages", "127.0.0.1:8000")]


@pytest.mark.long
def test_a_worker_that_stops_prints_nothing_beside_its_log() -> None:
    environment = {"PATH": os.environ["PATH"], "SECRET_KEY": "k" * 40, "DATABASE_URL": "postgres://u:p@127.0.0.1:1/x"}
    environment |= {"REDIS_URL": "redis://127.0.0.1:1/0", "NOMERCY_ENV_FILE": "", "LOG_FORMAT": "json"}
    program = [sys.executable, "-m", "celery", "--quiet", "-A", "nomercy", "worker", "--concurrency", "1"]
    process = subprocess.Popen(
        program, cwd=CHECKOUT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    try:
        first = process.stderr.readline()  # about Redis
        process.send_signal(signal.SIGTERM)
        printed, logged = process.communicate(timeout=30)
    finally:
        process.kill()
        process.communicate()
    assert printed == ""
    assert all(json.loads(line)["event"] for line in [first, *logged.splitlines()])


def test_a_beat_without_its_services_logs_an_error(settings: Settings) -> None:
    settings.EMBEDDED, settings.REDIS_URL = False, ""
    with capture_logs() as lines, pytest.raises(SystemExit) as stopped:
        beat_init.send(sender=None)
    assert stopped.value.code == 1
    (line,) = lines
    assert line["log_level"] == "error"
    assert line["event"].startswith("No Mercy does not start: REDIS_URL is not set.")


@pytest.mark.long
@pytest.mark.redis
def test_a_real_beat_says_that_it_started_and_that_its_database_is_away() -> None:
    """Celery's command changes the level of the root logger after the settings have set it."""
    environment = {"PATH": os.environ["PATH"], "SECRET_KEY": "k" * 40, "DATABASE_URL": "postgres://u:p@127.0.0.1:1/x"}
    environment |= {"REDIS_URL": "redis://127.0.0.1:1/0", "NOMERCY_ENV_FILE": ""}
    program = [sys.executable, "-m", "celery", "--quiet", "-A", "nomercy", "beat"]
    process = subprocess.Popen(program, cwd=CHECKOUT, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line, unusable = process.stderr.readline(), process.stderr.readline()
    finally:
        process.kill()
        process.communicate()
    assert re.search(rf"started .*\[nomercy\].* process=beat version={re.escape(nomercy.__version__)}", line), line
    assert re.search(r"\[error    ] the database cannot be used +\[nomercy.start] away=PostgreSQL reason=", unusable)
    assert "Connection refused" in unusable
