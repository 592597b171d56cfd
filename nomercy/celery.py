"""The Celery app and the whole beat schedule."""

import os

import structlog
from celery import Celery, Task
from celery.signals import task_postrun, task_prerun
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")

SWEEP = "games.tasks.sweep"
# task name -> seconds between two runs. A run that waited longer than that is dropped: the next one does its work.
BEAT = {
    SWEEP: 2.0,
    "games.tasks.notices": 5.0,
    "games.tasks.housekeeping": 3_600.0,
    "accounts.tasks.clear_expired_sessions": 86_400.0,
}

app = Celery("nomercy")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.set_default()  # web threads send by name through `current_app`
app.autodiscover_tasks()


@app.on_after_configure.connect
def schedule(sender: Celery, **_: object) -> None:
    """Set the schedule once the settings are there: they are still being read when this module is imported."""
    beat = BEAT | {SWEEP: float(settings.SWEEP_SECONDS)}
    sender.conf.beat_schedule = {
        task: {"task": task, "schedule": seconds, "options": {"expires": seconds}} for task, seconds in beat.items()
    }


@task_prerun.connect
def name_log_lines(task: Task[..., object], task_id: str, **_: object) -> None:
    """What a task logs says which run of which task it was."""
    structlog.contextvars.clear_contextvars()
    structlog.contextvars.bind_contextvars(task=task.name, task_id=task_id)


@task_postrun.connect
def forget_names(**_: object) -> None:
    structlog.contextvars.clear_contextvars()
