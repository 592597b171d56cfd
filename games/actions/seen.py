"""That a person has looked at the end of a game, so that home no longer lists it as unseen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from games.models import Game, Seat
from games.queries import Table

if TYPE_CHECKING:
    from accounts.models import User


def look(table: Table, user: User | None) -> None:
    """Note that this person has seen a finished game; writes at most once a seat."""
    index = table.seat_of(user)
    if index is None or table.game.status not in (Game.Status.OVER, Game.Status.VOID):
        return
    seat = table.seats[index]
    if seat.seen < table.game.version:
        Seat.objects.filter(pk=seat.pk).update(seen=table.game.version)
        seat.seen = table.game.version
