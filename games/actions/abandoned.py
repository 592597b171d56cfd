"""Call off running games that nobody plays and no bot comes to, and delete called-off games that nobody played."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from games.actions import rounds
from games.batch import for_each_game
from games.locks import lock_game
from games.models import AuditEntry, Game, Move, Report, Seat
from games.notices.preferences import KEPT as NOTICES_KEPT

IDLE: Final = timedelta(days=7)
"""A game that all people have left is called off when nothing has happened in it for this long (decision 105)."""

LOOKED_FOR: Final = timedelta(days=30)
"""How long unplayed games are still looked for after they could be deleted first, so that a run reads one month."""

LEAVE: Final = "leave"


def call_off_left_games(*, now: datetime) -> int:
    """Call off the running games that all people have left and to which bots do not come; return their number.

    Each has a transaction of its own. One that fails is logged, and tried again the next time.
    """
    games = list(_idle(now).order_by("pk").values_list("pk", flat=True))
    return for_each_game(games, lambda pk: _call_off(pk, now), failed="a left game was not called off").count


def _idle(now: datetime) -> QuerySet[Game]:
    """Return the running games that all people have left, without a move or an act of staff in the time `IDLE`.

    A paused game is not among them: staff paused it, or it waits to be released after a restore.
    """
    people = Seat.objects.filter(game=OuterRef("pk"), user__isnull=False, left=False)
    moves = Move.objects.filter(game=OuterRef("pk"), at__gte=now - IDLE)
    acts = AuditEntry.objects.filter(game=OuterRef("pk"), at__gte=now - IDLE)
    running = Game.objects.filter(status=Game.Status.PLAYING, paused_at=None, started_at__lt=now - IDLE)
    return running.filter(~Exists(people), ~Exists(moves), ~Exists(acts))


def _call_off(game_id: int, now: datetime) -> bool:
    with transaction.atomic():
        lock_game(pk=game_id)
        game = _idle(now).filter(pk=game_id).first()
        if game is None:
            return False  # a bot has moved, or staff have acted, since the games were listed
        rounds.call_off(game, now=now)
        return True


def delete_unplayed_games(*, now: datetime) -> int:
    """Delete the games that were called off more than 60 days ago without being played; return their number.

    Each has a transaction of its own. One that fails is logged, and tried again the next time.
    """
    games = list(_unplayed(now).order_by("pk").values_list("pk", flat=True))
    return for_each_game(games, lambda pk: _delete(pk, now), failed="an unplayed game was not deleted").count


def _unplayed(now: datetime) -> QuerySet[Game]:
    """Return the games called off 60 to 90 days ago that nobody played, and that have no report and no act of staff.

    They are tables that closed before they started, and games that all people left before any of them made a move. A
    game with a result is not among them: it counts in the profiles of all who had a seat.
    """
    # A forgotten guest's seat has no user, and still has a bot if one played for the guest. But bots never leave.
    of_people = Q(user__isnull=False) | Q(bot="") | Q(left=True)
    stayed = Seat.objects.filter(of_people, game=OuterRef("pk"), left=False)
    by_a_person = Seat.objects.filter(of_people, game=OuterRef("game"), index=OuterRef("seat"))
    moved = Move.objects.filter(Exists(by_a_person), game=OuterRef("pk")).exclude(text=LEAVE)
    latest = now - NOTICES_KEPT
    called_off = Game.objects.filter(
        status=Game.Status.VOID, finished_at__gte=latest - LOOKED_FOR, finished_at__lt=latest
    )
    of_no_case = called_off.filter(
        ~Exists(Report.objects.filter(game=OuterRef("pk"))), ~Exists(AuditEntry.objects.filter(game=OuterRef("pk")))
    )
    return of_no_case.filter(Q(started_at=None) | (~Exists(stayed) & ~Exists(moved)))


def _delete(game_id: int, now: datetime) -> bool:
    with transaction.atomic():
        lock_game(pk=game_id)
        game = _unplayed(now).filter(pk=game_id).first()
        if game is None:
            return False  # somebody has reported it since
        game.delete()
        return True
