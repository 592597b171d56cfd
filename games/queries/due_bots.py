"""Finds games whose bots or next deal are due, also if thousands of abandoned games are due too."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.db.models import Exists, OuterRef, QuerySet

from games.models import Game, Seat

NEWEST: Final = 1000
"""How many games, of those that became due last, a task searches for games with people."""

_PEOPLE: Final = Exists(Seat.objects.filter(game=OuterRef("pk"), user__isnull=False, bot="", left=False))


def due(moment: datetime) -> QuerySet[Game]:
    """Return all games that are due at `moment`, the database's time. Limit the number of rows that you read."""
    return Game.objects.filter(status=Game.Status.PLAYING, wake_at__lte=moment)


def attended(moment: datetime) -> QuerySet[Game]:
    """Return all due games in which a person plays. Searches all due games, so only the sweep may use it."""
    return due(moment).filter(_PEOPLE)


def newest_attended(moment: datetime) -> QuerySet[Game]:
    """Return the games in which a person plays, among the `NEWEST` that became due last.

    Their bots usually move within seconds, so they are among the newest. Games that people have left may wait long. The
    sweep finds games with people that are older, because their bots failed or their tasks were lost.
    """
    return Game.objects.filter(_PEOPLE, pk__in=due(moment).order_by("-wake_at").values("pk")[:NEWEST])


def unattended(moment: datetime) -> QuerySet[Game]:
    """Return all due games in which no person plays, longest due first. Limit the number of rows that you read."""
    return due(moment).filter(~_PEOPLE).order_by("wake_at", "pk")
