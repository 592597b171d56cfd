"""Store hooks: where a person's notices are posted, and how that goes."""

from __future__ import annotations

import base64
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.dispatch import Signal

from common.encryption import encrypt
from common.say import N_
from mail.models import Hook, lock_people, note_reached

WAITS: Final[Sequence[timedelta]] = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 30))
"""How long a hook is left alone after the first, the second and each further failure in a row."""
MOST_FAILURES: Final = 10
PATIENCE: Final = timedelta(days=1)
"""After so many failures in a row, over at least this time, a hook stops."""
SECRET_BYTES: Final = 32
SECRET_PREFIX: Final = "whsec_"  # noqa: S105  # as Standard Webhooks has it, to recognise secrets
ERRORS: Final[Mapping[str, str]] = {
    "address": N_("The site may not send to this address, or there is no such host."),
    "silent": N_("It did not answer in time."),
    "certificate": N_("Its certificate is not valid."),
    "redirect": N_("It answered with a redirect."),
    "error_4xx": N_("It answered with an error from 400 to 499."),
    "error_5xx": N_("It answered with an error from 500 to 599."),
    "secret": N_("Its secret cannot be read since the site’s key was changed. Make a new one."),
    "other": N_("It answered with a status that is neither success nor error."),
}
"""All that a person learns of a failure, so that a hook does not tell what else answers at an address."""

stopped: Final = Signal()
"""Sent in the transaction in which a hook stops, with the `hook` and the time (`now`)."""


def hook_of(user_id: int) -> Hook | None:
    """Return a person's hook."""
    return Hook.objects.filter(user=user_id).first()


def store(*, user_id: int, url: str, form: str, mention: str, others: bool, now: datetime) -> str:
    """Store a person's hook, and return its secret if it is new, else "". An empty `url` keeps the one there is.

    :raises Hook.DoesNotExist: `url` is empty, and there is none.
    """
    with transaction.atomic():
        lock_people([user_id])
        hook = hook_of(user_id)
        if not url and hook is None:
            raise Hook.DoesNotExist
        since = (hook and hook.others_since) or now
        values: dict[str, object] = {"form": form, "mention": mention, "others_since": since if others else None}
        if hook is None or url not in ("", hook.url):
            values |= {"url": url, "created_at": now, "ok_at": None, **_WORKING}
        secret = _new_secret() if hook is None else ""
        if secret:
            values["secret"] = encrypt(secret)
        Hook.objects.update_or_create(user_id=user_id, defaults=values)
        note_reached([user_id])
        return secret


def remove(*, user_id: int) -> str:
    """Delete a person's hook, and return its host, or "" if there is none."""
    with transaction.atomic():
        lock_people([user_id])
        hook = hook_of(user_id)
        if hook is None:
            return ""
        hook.delete()
        return hook.host


def renew_secret(*, user_id: int) -> str:
    """Give a person's hook a new secret, and return it, or "" if there is no hook."""
    secret = _new_secret()
    return secret if Hook.objects.filter(user=user_id).update(secret=encrypt(secret)) else ""


def try_again(*, user_id: int) -> bool:
    """Post to a person's hook again, and forget its failures; return False if there is none."""
    with transaction.atomic():
        lock_people([user_id])
        found = Hook.objects.filter(user=user_id).update(**_WORKING)
        note_reached([user_id])
        return bool(found)


def arrived(hook: Hook, now: datetime) -> None:
    """Store that a message has arrived."""
    Hook.objects.filter(pk=hook.pk, url=hook.url, stopped_at=None).update(ok_at=now, **_WORKING)


def failed(hook: Hook, error: str, now: datetime) -> datetime:
    """Store that a message has not arrived, and return when to try again. Stops a hook that fails for too long."""
    with transaction.atomic():
        lock_people([hook.user_id])
        stored = Hook.objects.select_for_update().filter(pk=hook.pk, url=hook.url, stopped_at=None).first()
        if stored is None:  # its owner has changed it meanwhile
            return now + WAITS[0]
        stored.failures += 1
        stored.failing_since = stored.failing_since or now
        stored.last_error = error
        stored.retry_at = now + WAITS[min(stored.failures, len(WAITS)) - 1]
        if stored.failures >= MOST_FAILURES and now - stored.failing_since >= PATIENCE:
            stored.stopped_at = now
            stopped.send(None, hook=stored, now=now)
        stored.save(update_fields=["failures", "failing_since", "last_error", "retry_at", "stopped_at"])
        if stored.stopped_at is not None:
            note_reached([stored.user_id])
        return stored.retry_at


_WORKING: Final[Mapping[str, object]] = {
    "failures": 0,
    "failing_since": None,
    "last_error": "",
    "retry_at": None,
    "stopped_at": None,
}


def _new_secret() -> str:
    return SECRET_PREFIX + base64.b64encode(secrets.token_bytes(SECRET_BYTES)).decode()
