"""Each process says once that it has started, with its version and its queues."""

from __future__ import annotations

import logging
import os
import re
import subprocess
import sys
import threading
from types import SimpleNamespace

import pytest
from celery.signals import beat_init, worker_ready
from django.conf import settings
from pytest_django.fixtures import Settings
from structlog.testing import capture_logs

import nomercy
from nomercy.launcher.place import CHECKOUT
from nomercy.server import command


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


def test_workers_in_threads_leave_it_to_their_process() -> None:
    with capture_logs() as lines:
        thread = threading.Thread(target=worker_ready.send, kwargs={"sender": Consumer("work")})
        thread.start()
        thread.join()
    assert lines == []


@pytest.mark.parametrize("kind", ["pages", "sockets"])
def test_a_server_names_its_address(kind: str, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EMBEDDED = False
    monkeypatch.setattr(sys, "argv", ["nomercy.server", kind, "--bind", "127.0.0.1:0"])
    for name in ("Server", "Multiprocess"):
        monkeypatch.setattr(command, name, lambda *_, **__: SimpleNamespace(run=lambda *_: None))
    monkeypatch.setattr(command, "bound_to", lambda address: None)
    monkeypatch.setattr("logging.config.dictConfig", lambda _: None)
    with capture_logs() as lines:
        command.main()
    told = [(line["process"], line["address"]) for line in lines if line["event"] == "started"]
    assert told == [(kind, "127.0.0.1:0")]


def test_celerys_log_level_does_not_hide_it() -> None:
    assert settings.LOGGING["loggers"]["nomercy"] == {"level": "INFO"}
    assert logging.getLogger("nomercy").getEffectiveLevel() == logging.INFO


@pytest.mark.long
@pytest.mark.redis
def test_a_real_beat_writes_one_line() -> None:
    """Celery's command changes the level of the root logger after the settings have set it."""
    environment = {"PATH": os.environ["PATH"], "SECRET_KEY": "k" * 40, "DATABASE_URL": "postgres://u:p@127.0.0.1:1/x"}
    environment |= {"REDIS_URL": "redis://127.0.0.1:1/0", "NOMERCY_ENV_FILE": ""}
    program = [sys.executable, "-m", "celery", "--quiet", "-A", "nomercy", "beat"]
    process = subprocess.Popen(program, cwd=CHECKOUT, env=environment, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        line = process.stderr.readline()
    finally:
        process.kill()
        process.communicate()
    assert re.search(rf"started .*\[nomercy\].* process=beat version={re.escape(nomercy.__version__)}", line), line
