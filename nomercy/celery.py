"""The Celery app and the whole beat schedule."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")

# task name -> seconds between two runs. A run that waited longer than that is dropped: the next one does its work.
BEAT = {
    "games.tasks.sweep": 2.0,
    "games.tasks.housekeeping": 3_600.0,
    "accounts.tasks.clear_expired_sessions": 86_400.0,
}

app = Celery("nomercy")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_schedule = {
    task: {"task": task, "schedule": seconds, "options": {"expires": seconds}} for task, seconds in BEAT.items()
}
app.set_default()  # web threads send by name through `current_app`
app.autodiscover_tasks()
