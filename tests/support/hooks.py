"""Hooks of people."""

from __future__ import annotations

from typing import Any

from django.utils import timezone

from accounts.models import User
from mail import hooks
from mail.models import Hook


def hook_of(person: User, url: str = "https://hooks.example.org/abc", **fields: Any) -> Hook:
    """Return a hook of this person, with these columns."""
    hooks.store(user_id=person.pk, url=url, form=Hook.Form.AUTO, mention="", others=False, now=timezone.now())
    Hook.objects.filter(user=person).update(**fields)
    return Hook.objects.get(user=person)
