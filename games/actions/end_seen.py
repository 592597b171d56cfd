"""Mark the end of a game as seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from games import queries
from games.models import Seat
from games.queries import Table

if TYPE_CHECKING:
    from accounts.models import User


def mark_end_seen(table: Table, user: User | None) -> None:
    """Store that this person has seen the finished game, so that home no longer lists it. Writes once per seat."""
    seat = table.own_seat(user)
    if seat is not None and queries.unseen_end(table, user):
        Seat.objects.filter(pk=seat.pk).update(end_seen_version=table.game.version)
        seat.end_seen_version = table.game.version
