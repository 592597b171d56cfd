"""Celery tasks about accounts."""

from celery import shared_task
from django.utils import timezone

from accounts import actions, tries


@shared_task(name="accounts.tasks.clear_expired_sessions", ignore_result=True)
def clear_expired_sessions() -> None:
    """Delete expired sessions."""
    actions.clear_expired_sessions(now=timezone.now())


@shared_task(name="accounts.tasks.forget_tries", ignore_result=True)
def forget_tries() -> None:
    """Delete counted tries whose window is over."""
    tries.delete_expired(timezone.now())
