"""Which games wait for their bots or for the next deal, also while thousands that people have left wait too."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db.models import Exists, OuterRef, QuerySet

from games.models import Game, Seat

NEWEST: Final = 1000
"""So many games at most, those that became due last, does a task look at to find those where people play."""

_PEOPLE: Final = Exists(Seat.objects.filter(game=OuterRef("pk"), user__isnull=False, bot="", left=False))


def due(moment: datetime) -> QuerySet[Game]:
    """Return all games that are due at `moment`, by the database's clock. Limit what you read of them."""
    return Game.objects.filter(status=Game.Status.PLAYING, wake_at__lte=moment)


def attended(moment: datetime) -> QuerySet[Game]:
    """Return all due games where people play. Looks at every due game in the database: only for the sweep."""
    return due(moment).filter(_PEOPLE)


def newest_attended(moment: datetime) -> QuerySet[Game]:
    """Return the games where people play among the `NEWEST` that are due.

    Bots of these move within seconds, and games that all people have left wait long if they are many. The sweep asks
    for games that are not among the newest, because their bots failed or their tasks were lost.
    """
    return Game.objects.filter(_PEOPLE, pk__in=due(moment).order_by("-wake_at").values("pk")[:NEWEST])


def unattended(moment: datetime) -> QuerySet[Game]:
    """Return all due games where no person plays, those that have waited longest first. Limit what you read of them."""
    return due(moment).filter(~_PEOPLE).order_by("wake_at", "pk")
