"""Remind players whose time is running out."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from games.batch import for_each_game
from games.models import Game, Seat
from games.models.rows import database_skew
from games.notices import player_notices
from games.notices.kinds import DEADLINE

RETRY_WAIT: Final = timedelta(minutes=10)
"""How long a reminder that could not be written waits for the next try."""


def remind(*, now: datetime, most: int = 1000) -> int:
    """Write the reminders that are due by the database's clock; return the number of games handled.

    Uses one transaction per game. A game that fails is logged and tried again after `RETRY_WAIT`, so that any number of
    failing games does not hold up the others.
    """
    now += database_skew()
    due = Game.objects.filter(remind_at__lte=now).order_by("remind_at", "pk").values_list("pk", flat=True)
    return for_each_game(
        list(due[:most]),
        lambda game_id: _remind_once(game_id, now),
        failed="a reminder was not written",
        put_off=lambda game_id: _put_off(game_id, now),
    ).count


def _remind_once(game_id: int, now: datetime) -> bool:
    """Write the reminder of this game; return False if it is no longer due, or another transaction has the lock."""
    due = Game.objects.select_for_update(skip_locked=True, no_key=True, of=("self",)).filter(remind_at__lte=now)
    with transaction.atomic():
        game = due.select_related("round").filter(pk=game_id).first()
        if game is None:
            return False
        game.remind_at = None
        game.save(update_fields=["remind_at"])
        _remind(game, now)
        return True


def _put_off(game_id: int, now: datetime) -> None:
    Game.objects.filter(pk=game_id, remind_at__lte=now).update(remind_at=now + RETRY_WAIT)


def _remind(game: Game, now: datetime) -> None:
    round_, deadline = game.round, game.deadline
    if game.status != Game.Status.PLAYING or game.paused_reasons or round_ is None or round_.phase == "over":
        return
    seat = Seat.objects.get(game=game, index=round_.turn)
    if seat.user_id is not None and not seat.bot and deadline is not None and deadline > now:
        player_notices.write(
            game, [player_notices.NewNotice(seat.user_id, DEADLINE)], now=now, occasion=int(deadline.timestamp())
        )
