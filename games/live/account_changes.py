"""Close a person's sockets when their sessions end, and update the pages of others when they are shown differently."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from django.contrib.auth.signals import user_logged_out
from django.db.models.signals import post_delete, post_save
from django.http import HttpRequest

from accounts.models import User
from games import announce

DECISIVE: Final = frozenset({"password", "is_active"})
"""Columns of a user whose change ends sessions."""
SHOWN: Final = frozenset({"username", "display_name", "neutral_name", "avatar", "is_program"})
"""Columns of a user that the pages of their games show to others."""
SHOWN_DURING_PLAY: Final = frozenset({"vacation_from", "vacation_until", "shows_sleep", "quiet_from", "time_zone"})
"""Columns that only the pages of running games show."""


def connect() -> None:
    """Connect the receivers of Django's signals."""
    user_logged_out.connect(logged_out, dispatch_uid="games.live.logged_out")
    post_save.connect(saved, sender=User, dispatch_uid="games.live.saved")
    post_delete.connect(deleted, sender=User, dispatch_uid="games.live.deleted")


def logged_out(request: HttpRequest, user: User | None, **_: object) -> None:
    if user is not None:
        # The signal comes just before Django ends the session. A socket that reconnects must find it ended.
        request.session.flush()
        announce.close_sockets(user.pk)


def saved(instance: User, created: bool, update_fields: Collection[str] | None = None, **_: object) -> None:
    if created:
        return
    if update_fields is None or DECISIVE & set(update_fields):
        announce.close_sockets(instance.pk)
    if update_fields is None or SHOWN & set(update_fields):
        announce.person_changed(instance.pk, only_running=False)
    elif SHOWN_DURING_PLAY & set(update_fields):
        announce.person_changed(instance.pk, only_running=True)


def deleted(instance: User, **_: object) -> None:
    announce.close_sockets(instance.pk)
