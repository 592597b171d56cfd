"""Move clocks after a player's time off has changed: their vacation, quiet hours or time zone."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfoNotFoundError

from django.db import transaction
from django.db.models import F, Q, QuerySet

from accounts.time_off import TimeOff
from games import announce, queries
from games.batch import for_each_game
from games.clocks import pausing
from games.clocks.turn_clock import recomputed
from games.locks import lock_game
from games.models import Game, Seat
from games.notices import preferences

PORTION: Final = 25
"""The most clocks that one call of `follow_time_off` moves, so that other work gets the worker."""


def follow_time_off(*, user_id: int, now: datetime, after: int = 0) -> int:
    """Move clocks of this person's turns out of their current quiet hours and vacation; return how many.

    Moves those of the next `PORTION` games after the game with the id `after`, and asks the worker for the rest. The
    first call also makes mail due that waits for the end of quiet hours. If a call fails or is lost in a crash,
    `follow_everybody` does its work, or the clock if the deadline comes first.
    """
    if not after:
        preferences.recheck_night_mail(user_id=user_id, now=now)
    games = _not_following(_running().filter(user_id=user_id, game_id__gt=after))
    portion = games[:PORTION]
    count = _follow(portion, now)
    if len(games) > PORTION:
        announce.time_off_changed(user_id, after=portion[-1])
    return count


def follow_everybody(*, now: datetime) -> int:
    """Move every clock that does not follow its player's time off; return how many."""
    return _follow(_not_following(_running()), now)


def _not_following(running: QuerySet[Seat]) -> list[int]:
    """Return the games of these seats whose clock does not follow the player's time off, oldest first."""
    resting = running.filter(
        Q(user__quiet_from__isnull=False)
        | Q(game__vacations=True, user__vacation_until__isnull=False)
        & ~Q(game__vacation_counted_until=F("user__vacation_until"))
    )
    of_games = ("game_id", "game__deadline", "game__turn_since", "game__vacations", "game__vacation_counted_until")
    of_people = (
        "user__time_zone", "user__quiet_from", "user__quiet_to", "user__vacation_from", "user__vacation_until",
        "user__auto_vacation", "user__quiet_since", "user__shows_sleep",
    )  # fmt: skip
    seats = resting.order_by("game_id").select_related("game", "user").only(*of_games, *of_people)
    return [
        seat.game_id
        for seat in seats.iterator()
        if seat.user is not None and not _follows(seat.game, seat.user.time_off)
    ]


def _follows(game: Game, time_off: TimeOff) -> bool:
    """Return True if the clock of this game follows its player's time off.

    Also returns False if that cannot be computed. The game is then tried, fails alone and is named in the log.
    """
    if game.deadline is None:
        return True
    try:
        moved = time_off.out_of_quiet_hours(game.deadline, turn_since=game.turn_since)
    except (ZoneInfoNotFoundError, ValueError):
        return False
    vacation_counts = game.vacations and time_off.vacation_until not in (None, game.vacation_counted_until)
    return moved == game.deadline and not vacation_counts


def _running() -> QuerySet[Seat]:
    """Return the seats of people whose clock is running."""
    running = Seat.objects.filter(game__status=Game.Status.PLAYING, game__deadline__isnull=False)
    return running.filter(index=F("game__round__turn"), bot="", user__isnull=False)


def _follow(games: Iterable[int], now: datetime) -> int:
    """Move the clocks of these games, each in its own transaction; return how many. A game that fails is skipped."""
    return for_each_game(
        games, lambda pk: _follow_one(pk, now), failed="a clock did not follow its player's time off"
    ).count


def _follow_one(game_id: int, now: datetime) -> bool:
    with transaction.atomic():
        table = queries.load(lock_game(pk=game_id))
        if table.game.status != Game.Status.PLAYING or table.game.deadline is None:
            return False
        clock = recomputed(table.game, table.on_turn, now)
        if clock is None:
            return False
        pausing.save_clock(table, clock)
        return True
