"""A form that is sent twice, by a double click or by a browser that tries again, makes one table."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from django.db import IntegrityError, transaction

from accounts.actions import create_guest
from games import queries
from games.actions import lobby
from games.models import Game
from games.queries import Table

if TYPE_CHECKING:
    from accounts.models import User

AGAIN: Final = timedelta(minutes=1)
"""A form sent again after so long is no second click: somebody went back to the page, and wants another table."""


def create_table_once(*, user: User | None, options: lobby.TableOptions, form: str | None, now: datetime) -> Table:
    """Make the table that a form asks for, or give the one that it has just made; the host is `table.game.host`.

    Without a user a guest is made, together with the table or not at all. `form` is unique to one filled-in form in one
    browser, or None if that is not known.

    :raises Denied: as `lobby.create_table`.
    """
    if form is not None:
        Game.objects.filter(form=form, created_at__lt=now - AGAIN).update(form=None)
    try:
        # Of two at once the second waits here for the first, and then fails with its guest undone.
        with transaction.atomic():
            return lobby.create_table(user=user or create_guest(), options=options, now=now, form=form)
    except IntegrityError:
        made = Game.objects.filter(form=form).first() if form is not None else None
        if made is not None and user is not None and made.host_id != user.pk:
            return lobby.create_table(user=user, options=options, now=now)
        table = queries.find(made.pk) if made is not None else None
        if table is None:
            raise
        return table
