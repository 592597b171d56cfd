"""Celery's door."""

from celery import shared_task
from django.core.management import call_command


@shared_task(name="accounts.tasks.clear_expired_sessions", ignore_result=True)
def clear_expired_sessions() -> None:
    """Drop sessions that have run out."""
    call_command("clearsessions")
