"""Events at a running table that are not moves: pauses by agreement, and seats that a bot takes over.

Staff acts are not stored here: the log shows them from their audit entries. Only `CLOSED_BY_STAFF` is part of one,
whose audit entry is about several tables.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final

from games.models import Game, TableEvent

MOST_PER_VERSION: Final = 20
"""The number of events kept between two moves. Older ones are deleted."""


def record(kind: TableEvent.Kind, *, game: Game, seat: int | None = None, now: datetime) -> None:
    """Save an event after the newest line of the log. The caller is in a transaction and holds the game's lock.

    :param seat: the number of the seat that the event is about.
    """
    TableEvent.objects.create(game=game, version=game.version, kind=kind, seat=seat, at=now)
    # Players can pause and resume any number of times between two moves. That must not fill the log.
    here = TableEvent.objects.filter(game=game, version=game.version)
    TableEvent.objects.filter(pk__in=here.order_by("-pk").values("pk")[MOST_PER_VERSION:]).delete()
