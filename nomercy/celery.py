"""The Celery app and the beat schedule."""

import gc
import os
import threading
import warnings
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import structlog
from celery import Celery, Task, bootsteps
from celery.exceptions import SecurityWarning
from celery.signals import (
    after_task_publish,
    beat_init,
    celeryd_init,
    heartbeat_sent,
    task_postrun,
    task_prerun,
    task_received,
    worker_init,
    worker_ready,
)
from celery.utils.dispatch import Signal
from django.conf import settings
from django.db import close_old_connections

from games import HOUSEKEEPING_SECONDS
from nomercy.checks import check_queues, check_services_given
from nomercy.logs import log_start
from nomercy.start import log_state_of_database

log = structlog.get_logger(__name__)

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")
# `migrate` runs Django's checks before each start. They load all pages, which takes each worker 0.4 s.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

SWEEP: Final = "games.tasks.sweep"
# Task name -> seconds between two runs. A run that waits longer than that is dropped, because the next does its work.
BEAT: Final = {
    SWEEP: 2.0,
    "games.tasks.notices": 5.0,
    "games.tasks.housekeeping": HOUSEKEEPING_SECONDS,
    "accounts.tasks.forget_tries": 600.0,
    "accounts.tasks.clear_expired_sessions": 3600.0,
}
STOP_SECONDS: Final = 60.0
"""Longer than tasks take, unless the servers for mail, push and webhooks are all slow. Supervisors that send SIGTERM
kill a process sooner (docs/operations.md).
"""
LONG_AGO: Final = datetime(2000, 1, 1, tzinfo=UTC)


class EndInTime(bootsteps.StartStopStep):
    """Ends the process of a worker that does not stop by itself within `STOP_SECONDS`.

    Celery stops a worker at an error that it cannot handle, such as a message that is not one of its own or a full
    Redis. If a task runs at that moment, the stop may hang for ever, and a supervisor restarts only what has ended.
    """

    requires = ("celery.worker.components:Pool",)  # so that this step is stopped before the pool

    def start(self, parent: object) -> None:
        """Do nothing: only the stop is watched."""

    def stop(self, parent: object) -> None:
        if threading.current_thread() is not threading.main_thread():
            return  # in `script/run`, the process is the site
        timer = threading.Timer(STOP_SECONDS, self._end)
        timer.daemon = True
        timer.start()

    def _end(self) -> None:
        log.error("a worker did not stop", seconds=STOP_SECONDS)
        os._exit(os.EX_SOFTWARE)


def new_app(**options: Any) -> Celery:
    """Return a new app with the site's tasks. Each worker of a process needs its own: an app has one set of queues."""
    made = Celery("nomercy", **options)
    made.config_from_object("django.conf:settings", namespace="CELERY")
    made.autodiscover_tasks()
    made.steps["worker"].add(EndInTime)
    return made


app = new_app()
app.set_default()  # web threads send by name through `current_app`


@app.on_after_configure.connect
def schedule(sender: Celery, **_: object) -> None:
    """Set the beat schedule. Runs when the settings are loaded, which they are not yet when this module is imported."""
    # LONG_AGO makes each task run once at the start, so that a site that runs an hour a day cleans up, too.
    beat = BEAT | {SWEEP: float(settings.SWEEP_SECONDS)}
    sender.conf.beat_schedule = {
        task: {"task": task, "schedule": seconds, "options": {"expires": seconds}, "last_run_at": LONG_AGO}
        for task, seconds in beat.items()
    }


@celeryd_init.connect
def require_services(**_: object) -> None:
    """Refuse to start without PostgreSQL and Redis. In `script/run`, workers and beat are threads and need no Redis."""
    if threading.current_thread() is threading.main_thread():
        check_services_given(embedded=settings.EMBEDDED, redis_url=settings.REDIS_URL)


@beat_init.connect
def require_services_of_beat(**_: object) -> None:
    """Refuse like `require_services`, but in the log: beat logs as a warning what is printed from here on.

    :raises SystemExit: a service is missing.
    """
    try:
        require_services()
    except SystemExit as refusal:
        log.error(str(refusal))  # noqa: TRY400  # no traceback: the sentence says it
        raise SystemExit(1) from None


@celeryd_init.connect
def require_known_queues(options: Mapping[str, Any], **_: object) -> None:
    """Refuse to start a worker for a queue that does not exist: no task would ever reach it."""
    check_queues([*(options.get("queues") or ()), *(options.get("exclude_queues") or ())])


@celeryd_init.connect
def print_nothing(**_: object) -> None:
    """Drop what Celery prints while a worker starts and stops: each event is one line of the log."""
    from celery.apps import worker  # noqa: PLC0415  # only the processes of workers load it

    warnings.filterwarnings("ignore", category=SecurityWarning)  # six lines about root, which docs/operations.md has
    worker.safe_say = lambda *_: None  # type: ignore[attr-defined]  # not in the stubs


@worker_init.connect
@beat_init.connect
def keep_what_is_loaded(**_: object) -> None:
    """Exclude what is loaded from garbage collections, also from that at the end of the process, to make them fast."""
    gc.freeze()


@worker_ready.connect
@beat_init.connect
def log_process_start(signal: Signal, sender: Any, **_: object) -> None:
    """Log the start of beat, or of a worker with its queues: `sender` is its consumer.

    Do nothing in a thread: `script/run` runs workers and beat in threads.
    """
    if threading.current_thread() is threading.main_thread():
        if signal is beat_init:
            log_start("beat")
        else:
            log_start("worker", queues=sorted(sender.app.amqp.queues.consume_from))
        log_state_of_database()


@heartbeat_sent.connect
def touch_heartbeat_file(**_: object) -> None:
    """Touch the file that `WORKER_HEARTBEAT_FILE` names, for the health checks of `docker/compose.yaml`.

    A worker sends a heartbeat every two seconds, as long as it is connected to Redis and reads its queue.
    """
    if file := os.environ.get("WORKER_HEARTBEAT_FILE"):
        Path(file).touch()


@task_received.connect
@after_task_publish.connect
def log_broker(**_: object) -> None:
    """Log that the broker works. `nomercy.faults` drops the line, unless it ends an outage."""
    log.info("the broker answers", back="Redis")


@task_prerun.connect
def begin_task(task: Task[..., object], task_id: str, **_: object) -> None:
    """Add the task and its id to its log lines.

    Close this thread's database connection if it is too old or broken, as Django does before and after a request.
    """
    close_old_connections()
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(task=task.name, task_id=task_id)


@task_postrun.connect
def end_task(**_: object) -> None:
    """Undo `begin_task`."""
    close_old_connections()
    structlog.contextvars.clear_contextvars()
