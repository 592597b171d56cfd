"""Celery's door."""

from celery import shared_task
from django.core.management import call_command
from django.utils import timezone

from accounts import actions, tries


@shared_task(name="accounts.tasks.clear_expired_sessions", ignore_result=True)
def clear_expired_sessions() -> None:
    """Drop sessions that have run out."""
    call_command("clearsessions")


@shared_task(name="accounts.tasks.recheck_names", ignore_result=True)
def recheck_names() -> None:
    """Judge all names by today's rules, so that staff find those from before, and free those that were given up."""
    actions.recheck_names(now=timezone.now())


@shared_task(name="accounts.tasks.forget_tries", ignore_result=True)
def forget_tries() -> None:
    """Delete the counts of wrong passwords and the like whose window is over."""
    tries.forget_old(timezone.now())
