"""A form that is sent twice, by a double click or by a browser that tries again, makes one table."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final, NamedTuple

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


class Made(NamedTuple):
    """The table that a form asked for, and the guest that this form made, as whom its sender may be logged in.

    `guest` is None if the sender was logged in. `new` is False if the same form made the table a moment ago.
    """

    table: Table
    guest: User | None
    new: bool


def create_table_once(*, user: User | None, options: lobby.TableOptions, form: str | None, now: datetime) -> Made:
    """Make the table that a form asks for, or return the one that the same form has just made.

    Without a user a guest is made, together with the table or not at all. `form` is unique to one filled-in form in one
    browser, or None if that is not known.

    :raises Denied: as `lobby.create_table`.
    """
    if form is not None:
        Game.objects.filter(form=form, created_at__lt=now - AGAIN).update(form=None, form_guest=None)
    try:
        # Of two at once the second waits here for the first, and then fails with its guest undone.
        return _make(user, options, form, now)
    except IntegrityError:
        if form is None:
            raise
        return made_before(user=user, form=form, now=now) or _make(user, options, None, now)


def _make(user: User | None, options: lobby.TableOptions, form: str | None, now: datetime) -> Made:
    with transaction.atomic():
        guest = create_guest() if user is None else None
        host = guest or user
        assert host is not None
        table = lobby.create_table(user=host, options=options, now=now, form=form, form_guest=guest)
        return Made(table, guest, new=True)


def made_before(*, user: User | None, form: str | None, now: datetime) -> Made | None:
    """Return what this form made a moment ago, if its sender is still the host: the same user, or the form's own guest.

    The sender of a visitor's form proves nothing but that they know the form. It may therefore lead to no other user
    than the guest it made, and to nobody once that guest has signed up or has given the table to somebody else.
    """
    if form is None:
        return None
    game = Game.objects.filter(form=form, created_at__gte=now - AGAIN).select_related("form_guest").first()
    if game is None:
        return None
    sender = game.form_guest if user is None else user
    if sender is None or sender.pk != game.host_id or (user is None and not sender.is_guest):
        return None
    table = queries.find(game.pk)
    return None if table is None else Made(table, sender if user is None else None, new=False)
