"""The Celery app, the whole beat schedule, and which worker does what."""

import os
from datetime import UTC, datetime
from typing import Any, Final

import structlog
from celery import Celery, Task
from celery.signals import task_postrun, task_prerun
from django.conf import settings

from games import HOUSEKEEPING_SECONDS

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")

SWEEP: Final = "games.tasks.sweep"
# task name -> seconds between two runs. A run that waited longer than that is dropped: the next one does its work.
BEAT: Final = {
    SWEEP: 2.0,
    "games.tasks.notices": 5.0,
    "games.tasks.housekeeping": HOUSEKEEPING_SECONDS,
    "accounts.tasks.forget_tries": 600.0,
    "accounts.tasks.clear_expired_sessions": 86_400.0,
    "accounts.tasks.recheck_names": 86_400.0,
}
LONG_AGO: Final = datetime(2000, 1, 1, tzinfo=UTC)


def new_app(**options: Any) -> Celery:
    """An app of the site's tasks. A process needs one for each worker in it: an app knows one set of queues."""
    made = Celery("nomercy", **options)
    made.config_from_object("django.conf:settings", namespace="CELERY")
    made.autodiscover_tasks()
    return made


app = new_app()
app.set_default()  # web threads send by name through `current_app`


@app.on_after_configure.connect
def schedule(sender: Celery, **_: object) -> None:
    """Set the schedule once the settings are there: they are still being read when this module is imported.

    Everything runs once when the beat starts: a site that is up for an hour a day would never clean up otherwise.
    """
    beat = BEAT | {SWEEP: float(settings.SWEEP_SECONDS)}
    sender.conf.beat_schedule = {
        task: {"task": task, "schedule": seconds, "options": {"expires": seconds}, "last_run_at": LONG_AGO}
        for task, seconds in beat.items()
    }


@task_prerun.connect
def name_log_lines(task: Task[..., object], task_id: str, **_: object) -> None:
    """What a task logs says which run of which task it was."""
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(task=task.name, task_id=task_id)


@task_postrun.connect
def forget_names(**_: object) -> None:
    structlog.contextvars.clear_contextvars()
