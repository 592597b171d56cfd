"""A guest logs in: the guest's seats go to the account."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction

from games import announce
from games.actions import handover
from games.models import Game, Invitation, Seat
from games.queries import conduct

if TYPE_CHECKING:
    from accounts.models import User


class Moved(NamedTuple):
    """What became of a guest's games: how many came along, and how many stay behind, closed to the account."""

    games: int
    kept: int


def move_seats(*, guest: User, user: User) -> Moved:
    """Give this guest's seats and tables to the account the guest has logged in to.

    A table where both sit keeps both as they are. A seat stays the guest's where staff took one from the account, or
    where the account has looked at the hands as one of the staff: it would play on knowing them.
    """
    with transaction.atomic():
        games = Game.objects.filter(seats__user=guest).exclude(seats__user=user)
        locked = list(games.order_by("pk").select_for_update(of=("self",), no_key=True))
        closed = set(conduct.closed_to(user))  # asked under the locks: a look at hands takes the game's
        moved = 0
        for game in locked:
            if game.pk in closed:
                continue
            moved += Seat.objects.filter(game=game, user=guest).update(user=user, name=user.name)
            if game.host_id == guest.pk:
                handover.change_host(game, user_id=user.pk)
            announce.after_commit(game)
        _move_invitations(guest, user)
        return Moved(moved, sum(game.pk in closed for game in locked))


def _move_invitations(guest: User, user: User) -> None:
    """What the guest was asked to, the account is asked to, once."""
    asked = Invitation.objects.filter(user=guest)
    asked.exclude(game__in=Invitation.objects.filter(user=user).values("game")).update(user=user)
    asked.delete()
