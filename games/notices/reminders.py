"""Whose turn is nearly over is reminded of it."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction

from games.batch import for_each_game
from games.models import Game, Seat
from games.models.rows import ask_ahead
from games.notices import player_notices
from games.notices.kinds import DEADLINE

AGAIN: Final = timedelta(minutes=10)
"""After so long a reminder that could not be written is tried again."""


def remind(*, now: datetime, most: int = 1000) -> int:
    """Write the reminders that are due, of games whose turn is nearly over; gives the number of games looked at.

    Each game has a transaction of its own. One that fails is logged, put off and tried `AGAIN` later, so that however
    many fail hold up no other. What is due is so by the database's clock, as all deadlines are.
    """
    now += ask_ahead()
    due = Game.objects.filter(remind_at__lte=now).order_by("remind_at", "pk").values_list("pk", flat=True)
    return for_each_game(
        list(due[:most]),
        lambda game_id: _remind_once(game_id, now),
        failed="a reminder was not written",
        put_off=lambda game_id: _put_off(game_id, now),
    ).count


def _remind_once(game_id: int, now: datetime) -> bool:
    """Write what is due in this game, unless somebody else has it locked: then it is no longer due, or due again."""
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
    Game.objects.filter(pk=game_id, remind_at__lte=now).update(remind_at=now + AGAIN)


def _remind(game: Game, now: datetime) -> None:
    round_, deadline = game.round, game.deadline
    if game.status != Game.Status.PLAYING or game.paused_reasons or round_ is None or round_.phase == "over":
        return
    seat = Seat.objects.get(game=game, index=round_.turn)
    if seat.user_id is not None and not seat.bot and deadline is not None and deadline > now:
        player_notices.write(
            game, [player_notices.Intent(seat.user_id, DEADLINE)], now=now, mark=int(deadline.timestamp())
        )
