"""Create one table for a form that is submitted twice, by a double click or by a browser's retry."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from accounts.actions import create_guest
from games import queries
from games.actions import lobby
from games.actions.lobby import REPEAT_WINDOW
from games.actions.play import play_move
from games.locks import lock_game
from games.models import Game
from games.queries import Table, Viewer, lists
from games.refusals import Denied

if TYPE_CHECKING:
    from accounts.models import User


class Created(NamedTuple):
    """The table that a form created, and the guest to log the sender in as."""

    table: Table
    guest: User | None  # None if the sender was logged in
    new: bool  # False if an earlier submission of the form created the table


def create_table_once(
    *,
    user: User | None,
    choices: lobby.TableChoices,
    form_key: str | None,
    now: datetime,
    name: str | None = None,
    time_zone: str = "UTC",
    give_up: str = "",
) -> Created:
    """Create the table that a form asks for, or return the one that the same form has just created.

    :param user: None for a visitor. A guest is then created together with the table.
    :param name: the name of that guest, None for one that the site makes up.
    :param time_zone: the zone of that guest.
    :param form_key: the key of the submitted form, or None if it is unknown.
    :param give_up: the code of a table against bots alone that the user resigns from, so that they may have the new
        one. Ignored if they do not play there any more. If no table is created, they play on there.
    :raises Denied: as `lobby.create_table`, or as `play_move` if they cannot resign.
    :raises ValidationError: the `name` is not allowed, or not free.
    """
    if form_key is not None:
        Game.objects.filter(form_key=form_key, created_at__lt=now - REPEAT_WINDOW).update(
            form_key=None, form_guest=None
        )
    try:
        # Of two requests at once, the second waits here for the first. Then it fails, and its guest is rolled back. If
        # the visitor has given a name, that of the first request's guest is what it fails by.
        return _create(user, choices, form_key, now, name, time_zone, give_up)
    except (IntegrityError, ValidationError, Denied) as failure:
        if found := find_created(user=user, form_key=form_key, now=now):
            return found
        if form_key is None or not isinstance(failure, IntegrityError):
            raise
        return _create(user, choices, None, now, name, time_zone, give_up)


def _create(
    user: User | None,
    choices: lobby.TableChoices,
    form_key: str | None,
    now: datetime,
    name: str | None,
    time_zone: str,
    give_up: str,
) -> Created:
    with transaction.atomic():
        if user is not None and give_up:
            _give_up(user, give_up, now)
        guest = create_guest(name=name, time_zone=time_zone) if user is None else None
        host = guest or user
        assert host is not None
        table = lobby.create_table(user=host, choices=choices, now=now, form_key=form_key, form_guest=guest)
        return Created(table, guest, new=True)


def _give_up(user: User, code: str, now: datetime) -> None:
    """Resign from this table, if the person plays there against bots alone."""
    table = lists.games_against_bots(user).filter(code=code)
    if not table.exists():
        return
    lock_game(code=code)
    if table.exists():  # of two clicks at once, the second finds that the first has resigned
        play_move(code=code, viewer=Viewer(user), text="leave", version=None, now=now)


def find_created(*, user: User | None, form_key: str | None, now: datetime) -> Created | None:
    """Return what this form created within `REPEAT_WINDOW`, or None.

    The sender must still be the table's host: as the same user or, if not logged in, as the guest that the form made.
    """
    if form_key is None:
        return None
    game = (
        Game.objects.filter(form_key=form_key, created_at__gte=now - REPEAT_WINDOW).select_related("form_guest").first()
    )
    if game is None:
        return None
    # A visitor's form proves only that the sender knows the form's key. So it logs in only as the guest that it made,
    # and only until that guest signs up or is no longer the host.
    sender = game.form_guest if user is None else user
    if sender is None or sender.pk != game.host_id or (user is None and not sender.is_guest):
        return None
    table = queries.find(game.pk)
    return None if table is None else Created(table, sender if user is None else None, new=False)
