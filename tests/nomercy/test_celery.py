"""Celery as the site uses it: beat sends in time and sleeps between, and tasks keep their database connection."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest
from celery.beat import Service
from celery.fixups.django import DjangoWorkerFixup  # type: ignore[attr-defined]  # not in the stubs
from celery.signals import heartbeat_sent, task_postrun, task_prerun
from django.conf import settings
from django.db import connection

from nomercy.beat import MemoryScheduler
from nomercy.celery import SWEEP, app, new_app, require_known_queues
from nomercy.launcher.place import CHECKOUT

HANGS = """
from celery import bootsteps
from celery.concurrency.prefork import TaskPool
from celery.exceptions import WorkerShutdown
from nomercy import celery

class Fails(bootsteps.StartStopStep):
    requires = ("celery.worker.consumer.tasks:Tasks",)

    def start(self, parent):
        raise ValueError("a message that is none")

def hang(pool):
    print("stopping", flush=True)
    while True:
        celery.threading.Event().wait()

if {hangs}:
    TaskPool.on_stop = hang
    celery.STOP_SECONDS = 1.0
app = celery.new_app()
app.conf.broker_url = "memory://"
app.steps["consumer"].add(Fails)
worker = app.Worker(pool="prefork", concurrency=1)
worker.start()
raise SystemExit(worker.exitcode)
"""
"""A worker with an error that Celery cannot handle, and that may not be able to stop."""
TICK = timedelta(milliseconds=1)
"""What a look at the schedule takes."""


def test_beat_sends_on_time_and_sleeps_until_then(monkeypatch: pytest.MonkeyPatch) -> None:
    beat = new_app(set_as_current=False)
    now = begin = datetime(2026, 11, 22, 12, tzinfo=UTC)
    monkeypatch.setattr(beat, "now", lambda: now)
    beat.conf.beat_schedule = {
        name: {"task": name, "schedule": seconds, "last_run_at": begin}
        for name, seconds in (("two", 2.0), ("five", 5.0))
    }
    sent: list[tuple[str, float]] = []

    def send(entry: object, **_: object) -> None:
        sent.append((entry.task, (now - begin).total_seconds()))  # type: ignore[attr-defined]  # a ScheduleEntry

    scheduler = Service(beat, max_interval=1, scheduler_cls=MemoryScheduler).scheduler
    assert isinstance(scheduler, MemoryScheduler)
    assert f"{MemoryScheduler.__module__}:{MemoryScheduler.__name__}" == settings.CELERY_BEAT_SCHEDULER
    monkeypatch.setattr(scheduler, "apply_async", send)
    ticks = 0
    while now < begin + timedelta(seconds=60):
        now += timedelta(seconds=max(0.0, scheduler.tick())) + TICK
        ticks += 1

    for name, seconds in (("two", 2.0), ("five", 5.0)):
        times = [time for task, time in sent if task == name]
        assert len(times) == pytest.approx(60 / seconds, abs=1)
        pauses = [later - time for time, later in zip([0.0, *times], times, strict=False)]
        assert all(seconds <= pause <= seconds + 0.02 for pause in pauses), pauses
    # One for each second, and three for each task that is sent.
    assert ticks <= 60 + 3 * len(sent)


def test_a_worker_with_a_heartbeat_touches_the_file_of_its_health_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "heartbeat"
    heartbeat_sent.send(sender=None)
    monkeypatch.setenv("WORKER_HEARTBEAT_FILE", str(file))
    assert not file.exists()
    heartbeat_sent.send(sender=None)
    assert file.exists()


def test_a_worker_may_have_any_queue_that_exists() -> None:
    for chosen in ({}, {"queues": None}, {"queues": ["work", "mail"], "exclude_queues": ["clock"]}):
        require_known_queues(options=chosen)
    for option in ("queues", "exclude_queues"):
        with pytest.raises(SystemExit, match=r"there is no queue 'mial'\. The queues are clock, work, mail\."):
            require_known_queues(options={option: ["work", "mial"]})


@pytest.mark.long
@pytest.mark.parametrize(("hangs", "status"), [(True, os.EX_SOFTWARE), (False, 1)])
def test_a_worker_that_cannot_stop_is_ended(hangs: bool, status: int) -> None:
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "nomercy.settings",
        "SECRET_KEY": "only-for-a-worker-without-tasks-" + "x" * 32,
        "DATABASE_URL": "postgres://nobody@127.0.0.1:1/none",
        "REDIS_URL": "redis://127.0.0.1:1",
    }
    done = subprocess.run(
        [sys.executable, "-c", HANGS.format(hangs=hangs)],
        env=environment, cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "a message that is none" in done.stderr
    assert done.returncode == status, done.stderr
    assert ("a worker did not stop" in done.stderr) is hangs


@pytest.mark.django_db
def test_a_task_keeps_the_connection_to_the_database() -> None:
    fixup = DjangoWorkerFixup(app)
    task = SimpleNamespace(request=SimpleNamespace(is_eager=False))

    for _ in range(3):
        fixup.on_task_prerun(task)
        fixup.on_task_postrun(task)

    assert not connection.connection.closed


def test_an_old_or_broken_connection_is_closed_before_and_after_a_task(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[str] = []
    monkeypatch.setattr("nomercy.celery.close_old_connections", lambda: closed.append("looked"))
    app.loader.import_default_modules()
    task = app.tasks[SWEEP]

    task_prerun.send(sender=task, task=task, task_id="1")
    assert len(closed) == 1
    task_postrun.send(sender=task, task=task, task_id="1")
    assert len(closed) == 2
