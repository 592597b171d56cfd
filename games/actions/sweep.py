"""What makes hints unnecessary: every few seconds the due rows are found, whatever got lost on the way."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from games import announce
from games.models import Game

GRACE: Final = timedelta(seconds=2)
"""How late a bot may be before the sweep asks again: its own task is most often on its way."""


def sweep(*, now: datetime, batch: int = 200) -> int:
    """Ask the worker for every game whose bots, or whose next round, are overdue; gives their number."""
    games = Game.objects.filter(wake_at__lte=now - GRACE, status=Game.Status.PLAYING).order_by("wake_at")
    due = list(games.values_list("pk", flat=True)[:batch])
    for game_id in due:
        announce.wake_bots(game_id, now)
    return len(due)
