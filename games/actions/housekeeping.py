"""Close tables that never started, and delete guests who have nothing left to play."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.actions import hold_names_of_deleted
from accounts.models import User
from games import queries
from games.actions import rounds
from games.actions.names import raise_each
from games.batch import for_each_game
from games.locks import lock_game
from games.models import Case, Game, Report, Seat
from games.notices import player_notices
from games.queries import profiles

OPEN_TABLE: Final = timedelta(days=7)
"""How long a table waits for players before it is closed."""

GUEST_TABLE: Final = timedelta(hours=24)
"""How long a table with one guest alone waits. Shorter, because one person can be any number of guests."""

GUEST_DAYS: Final = 30
"""Days after which an idle guest is deleted."""


def close_old_tables(*, now: datetime) -> int:
    """Close the tables that have waited too long for players, and notify the people there; return how many were closed.

    Uses one transaction per table. A table that fails is logged and tried again by the next call.
    """
    games = list(_waited(now).order_by("pk").values_list("pk", flat=True))
    return for_each_game(games, lambda pk: _close(pk, now), failed="an old table was not closed").count


def _waited(now: datetime) -> QuerySet[Game]:
    """Return the open tables that are a week old, or where a guest has been alone for a day."""
    others = Seat.objects.filter(game=OuterRef("pk"), user__isnull=False).exclude(user=OuterRef("host"))
    week = Q(created_at__lt=now - OPEN_TABLE)
    day = Q(people_changed_at__lt=now - GUEST_TABLE, host__is_guest=True) & ~Exists(others)
    return Game.objects.filter(week | day, status=Game.Status.OPEN)


def _close(game_id: int, now: datetime) -> bool:
    with transaction.atomic():
        game = lock_game(pk=game_id)
        if not _waited(now).filter(pk=game_id).exists():
            return False  # since the listing it has started or closed, its players changed, or the guest signed up
        table = queries.load(game)
        rounds.call_off(table.game, now=now)
        player_notices.closed(table, "not_started", now=now)
        return True


def time_waited(game: Game) -> str:
    """Return how long a table that was closed by `close_old_tables` waited, like "7 days"."""
    assert game.finished_at is not None
    if game.finished_at - game.created_at > OPEN_TABLE:
        return f"{OPEN_TABLE // timedelta(days=1)} days"
    return f"{GUEST_TABLE // timedelta(hours=1)} hours"


def forget_guests(*, now: datetime) -> int:
    """Delete guests older than a month who have had no open or running game for a month; return how many.

    Their seats stay in finished games, under the name they played with. A guest with a case is kept until a month after
    the case is closed, so that the reporters can see who it was about and how it ended.
    """
    month_ago = now - timedelta(days=GUEST_DAYS)
    running = Seat.objects.filter(
        user=OuterRef("pk"), left=False, game__status__in=(Game.Status.OPEN, Game.Status.PLAYING)
    )
    played_lately = Seat.objects.filter(user=OuterRef("pk"), game__finished_at__gte=month_ago)
    reported = Case.objects.filter(Q(closed_at=None) | Q(closed_at__gte=month_ago), person=OuterRef("pk"))
    gone = User.objects.filter(
        ~Exists(running), ~Exists(played_lately), ~Exists(reported), is_guest=True, date_joined__lt=month_ago
    )
    return sum(_forget(gone, user_id, now) for user_id in list(gone.values_list("pk", flat=True)))


def _forget(gone: QuerySet[User], user_id: int, now: datetime) -> bool:
    """Delete this guest, unless the guest has signed up or joined a table since `gone` was listed."""
    played = sorted(profiles.games_ever_of(User(pk=user_id)))
    with transaction.atomic():
        if User.objects.select_for_update(of=("self",)).filter(pk=user_id).first() is None:
            return False
        guest = gone.filter(pk=user_id).first()
        if guest is None:
            return False
        # A seat with a bot and without an owner would be a bot's, and a rematch would have that bot.
        Seat.objects.filter(user=guest).exclude(bot="").update(bot="")
        Report.objects.filter(case__person=guest).update(called="")
        hold_names_of_deleted(person=guest, now=now)
        guest.delete()
    raise_each(played)
    return True
