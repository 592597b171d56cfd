"""How many tables a person may have at once. Both limits are scaled by `RATE_LIMITS`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db.models import Exists, OuterRef

from accounts.actions import lock_person
from accounts.limits import scaled
from games.models import Game, Seat
from games.refusals import Denied

if TYPE_CHECKING:
    from accounts.models import User

OPEN_TABLES: Final = 20
"""At so many tables that wait for players a person may sit."""

TABLES_AGAINST_BOTS: Final = 50
"""At so many running tables a person may play where everybody else is a bot: each move there costs the site several."""


def check_open(user: User) -> None:
    """Refuse a seat at one more open table to a person who sits at as many as allowed.

    Who hosts a table sits there, so nobody gets more of them by taking over those that others leave. Locks the person,
    so that two seats at once are counted in turn.

    :raises Denied: `forbidden`.
    """
    most = scaled(OPEN_TABLES)
    if most is None:
        return
    lock_person(user.pk)
    if Seat.objects.filter(user=user, game__status=Game.Status.OPEN).count() >= most:
        message = (
            f"You sit at {most} tables that wait for players, and nobody can sit at more: start or leave one first."
        )
        raise Denied("forbidden", message)


def check_against_bots(user: User) -> None:
    """Refuse to start one more table against bots alone for a person who plays at as many of them as allowed.

    Tables that the person has left do not count: they are played on a little at a time (`bot_turn`). Locks the person,
    so that two starts at once are counted in turn.

    :raises Denied: `forbidden`.
    """
    most = scaled(TABLES_AGAINST_BOTS)
    if most is None:
        return
    lock_person(user.pk)
    others = Seat.objects.filter(game=OuterRef("game"), user__isnull=False, left=False).exclude(user=user)
    seats = Seat.objects.filter(user=user, left=False, game__status=Game.Status.PLAYING)
    if seats.filter(~Exists(others)).count() >= most:
        message = (
            f"You play at {most} tables against bots alone, and nobody can play at more: finish or leave one first."
        )
        raise Denied("forbidden", message)
