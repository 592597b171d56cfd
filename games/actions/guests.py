"""A guest logs in: the guest's seats go to the account."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction

from games import announce
from games.actions import seating, table_limits
from games.models import Game, Invitation, Seat
from games.queries import conduct

if TYPE_CHECKING:
    from accounts.models import User


class Moved(NamedTuple):
    """How many of a guest's games moved to the account, and how many stayed with the guest, and why.

    Games in `closed` are closed to the account; those in `over_limit` are more than an account may have.
    """

    games: int
    closed: int
    over_limit: int


def move_seats(*, guest: User, user: User) -> Moved:
    """Give this guest's seats and tables to the account the guest has logged in to.

    A table where both sit keeps both as they are. A seat stays the guest's where staff took one from the account, or
    where the account has looked at the hands as one of the staff: it would play on knowing them. The newest
    seats stay, too, if they would bring the account over one of the limits on tables (`table_limits`).
    """
    with transaction.atomic():
        games = Game.objects.filter(seats__user=guest).exclude(seats__user=user)
        locked = list(games.order_by("pk").select_for_update(of=("self",), no_key=True))
        closed = set(conduct.closed_to(user))  # asked under the locks: a look at hands takes the game's
        theirs = [game for game in locked if game.pk not in closed]
        too_many = table_limits.over_limits(user, Seat.objects.filter(game__in=theirs, user=guest))
        coming = [game for game in theirs if game.pk not in too_many]
        Seat.objects.filter(game__in=coming, user=guest).update(user=user, name=user.name)
        seating.change_host(*[game for game in coming if game.host_id == guest.pk], user_id=user.pk)
        for game in coming:
            if not game.ended:
                announce.after_commit(game)
        _move_invitations(guest, user)
        return Moved(len(coming), len(locked) - len(theirs), len(too_many))


def _move_invitations(guest: User, user: User) -> None:
    """What the guest was asked to, the account is asked to, once."""
    asked = Invitation.objects.filter(user=guest)
    asked.exclude(game__in=Invitation.objects.filter(user=user).values("game")).update(user=user)
    asked.delete()
