"""What goes by itself: tables that never started, and guests who have nothing left to play."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.models import User
from games import queries
from games.actions import rounds
from games.actions.locks import lock_game
from games.actions.notices import tell
from games.actions.steps import for_each_game
from games.models import Case, Game, Seat

OPEN_TABLE_DAYS: Final = 7
GUEST_DAYS: Final = 30


def close_old_tables(*, now: datetime) -> int:
    """Close the tables that have waited a week for their players, and tell who waited; gives their number.

    Each has a transaction of its own. One that fails is logged, and tried again the next time.
    """
    waited = Game.objects.filter(status=Game.Status.OPEN, created_at__lt=now - timedelta(days=OPEN_TABLE_DAYS))
    games = list(waited.order_by("pk").values_list("pk", flat=True))
    return for_each_game(games, lambda pk: _close(pk, now), failed="an old table was not closed").count


def _close(game_id: int, now: datetime) -> bool:
    with transaction.atomic():
        table = queries.load(lock_game(pk=game_id))
        if table.game.status != Game.Status.OPEN:
            return False  # it has filled since, or was closed
        rounds.call_off(table.game, now=now)
        tell.waited_in_vain(table, days=OPEN_TABLE_DAYS, now=now)
        return True


def forget_guests(*, now: datetime) -> int:
    """Delete the guests of a month ago who sit in no game that runs; gives their number.

    Their seats stay in finished games, under the name they played by. A case stays without its person: so a guest stays
    until it is settled and a month longer, while those who reported read whom it was about and what came of it.
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
    return sum(_forget(gone, number) for number in list(gone.values_list("pk", flat=True)))


def _forget(gone: QuerySet[User], number: int) -> bool:
    """Delete this guest, unless somebody has signed up or sat down since `gone` was asked."""
    with transaction.atomic():
        if User.objects.select_for_update(of=("self",)).filter(pk=number).first() is None:
            return False
        guest = gone.filter(pk=number).first()
        if guest is None:
            return False
        guest.delete()
        return True
