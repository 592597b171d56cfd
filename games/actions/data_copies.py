"""Make copies of what the site stores about a person, for the person."""

from __future__ import annotations

import gzip
import json
from datetime import datetime, timedelta
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse

from accounts import mails, tries
from accounts.actions import lock_unchanged
from accounts.models import User
from accounts.zones import formatted
from common.limits import DATA_COPIES
from common.say import N_
from games import announce
from games.models import DataCopy
from games.notices import inbox
from games.queries import my_data

KEPT: Final = timedelta(days=7)
"""How long a copy can be fetched."""
AGAIN: Final = timedelta(hours=1)
"""When a copy is tried again that failed, or whose worker was killed."""


def ask(*, user: User, now: datetime) -> DataCopy:
    """Ask the worker for a copy of this person's data, and return its row. One that waits already stays.

    A new copy replaces an older one.

    :raises AccountChanged: the account was closed, or its sessions were ended, after `user` was read.
    :raises TooManyTries: the person has asked for too many.
    """
    with transaction.atomic():
        lock_unchanged(user)
        found = DataCopy.objects.filter(person=user).first()
        if found is not None and not found.ready:
            return found
        tries.count([tries.Key.of(DATA_COPIES, user.pk)], now)
        fields = {"asked_at": now, "due_at": now, "content": None, "expires_at": None}
        copy, _ = DataCopy.objects.update_or_create(person=user, defaults=fields)
        announce.data_asked_for()
        return copy


def wake_worker(*, now: datetime) -> None:
    """Ask the worker for the next copy, if one waits: its task may have been lost."""
    if _waiting(now).exists():
        announce.data_asked_for()


def make_next(*, now: datetime) -> None:
    """Make the copy that has waited longest, and ask for another task if more wait, so that bots need not wait long."""
    number = _take(now)
    if number is None:
        return
    wake_worker(now=now)
    _make(number, now)


def _take(now: datetime) -> int | None:
    """Put off the copy that has waited longest by `AGAIN`, and return its number, or None if none waits.

    If making it fails, or the worker is killed meanwhile, the others come first.
    """
    with transaction.atomic():
        free = _waiting(now).select_for_update(skip_locked=True, no_key=True)
        number = free.order_by("due_at").values_list("pk", flat=True).first()
        if number is not None:
            DataCopy.objects.filter(pk=number).update(due_at=now + AGAIN)
        return number


def _waiting(now: datetime) -> QuerySet[DataCopy]:
    return DataCopy.objects.filter(expires_at=None, due_at__lte=now)


def _make(number: int, now: datetime) -> None:
    """Make a copy, and mail the person's confirmed addresses. Another worker that makes the same one is left alone."""
    with transaction.atomic():
        waiting = DataCopy.objects.select_for_update(skip_locked=True, of=("self",), no_key=True)
        copy = waiting.filter(pk=number, expires_at=None).select_related("person").first()
        if copy is None:
            return
        person, expires_at = copy.person, now + KEPT
        data = {
            "site": settings.SITE_URL,
            "made_at": now,
            **my_data.data_of(person),
            "notices": inbox.rows_for_copy(person),
        }
        text = json.dumps(data, default=lambda value: value.isoformat(), ensure_ascii=False, indent=1)
        copy.content, copy.expires_at = gzip.compress(text.encode()), expires_at
        copy.save(update_fields=["content", "expires_at"])
        until = formatted(expires_at, N_("j F Y, H:i e"), person.time_zone)
        facts = {"until": until, "page": settings.SITE_URL + reverse("my-data")}
        mails.notify(kind=mails.DATA_READY, user=person, facts=facts, now=now)


def forget_old(*, now: datetime) -> None:
    """Delete the copies that can no longer be fetched."""
    DataCopy.objects.filter(expires_at__lte=now).delete()
