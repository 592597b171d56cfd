"""Call off running games that all people have left, and delete ended games that nobody played."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from games import queries
from games.actions import rounds
from games.batch import for_each_game
from games.locks import lock_game
from games.models import AuditEntry, Game, Move, Report, Seat

PLAYED_OUT: Final = timedelta(hours=1)
"""How long bots have to finish a game that all people have left."""

KEPT: Final = timedelta(days=60)
"""How long an ended game that nobody played is kept: as long as the notices about it."""

LOOKED_FOR: Final = timedelta(days=30)
"""How long after that such games are still looked for. A limit, so that each run reads only the games of one month."""

LEAVE: Final = "leave"


def call_off_left_games(*, now: datetime) -> int:
    """Call off the running games that all people left more than an hour ago; return their number.

    Bots finish such games in minutes, unless somebody leaves thousands of them. A paused game stays, because staff
    paused it. Each has a transaction of its own. One that fails is logged, and tried again the next time.
    """
    people = Seat.objects.filter(game=OuterRef("pk"), user__isnull=False, left=False)
    lately = Move.objects.filter(game=OuterRef("pk"), text=LEAVE, at__gte=now - PLAYED_OUT)
    running = Game.objects.filter(status=Game.Status.PLAYING, paused_at=None, started_at__lt=now - PLAYED_OUT)
    games = list(running.filter(~Exists(people), ~Exists(lately)).order_by("pk").values_list("pk", flat=True))
    return for_each_game(games, lambda pk: _call_off(pk, now), failed="a left game was not called off").count


def _call_off(game_id: int, now: datetime) -> bool:
    with transaction.atomic():
        table = queries.load(lock_game(pk=game_id))
        if table.game.status != Game.Status.PLAYING or table.game.paused_at is not None:
            return False  # the bots have finished it, or staff paused it
        if any(seat.user_id is not None and not seat.left for seat in table.seats):
            return False  # staff gave a seat to somebody
        rounds.call_off(table.game, now=now)
        return True


def delete_unplayed_games(*, now: datetime) -> int:
    """Delete the games that ended more than 60 days ago without being played; return their number.

    Each has a transaction of its own. One that fails is logged, and tried again the next time.
    """
    games = list(_unplayed(now).order_by("pk").values_list("pk", flat=True))
    return for_each_game(games, lambda pk: _delete(pk, now), failed="an unplayed game was not deleted").count


def _unplayed(now: datetime) -> QuerySet[Game]:
    """Return the games that ended 60 to 90 days ago, that nobody played, and that have no report and no act of staff.

    They are tables that closed before they started, and games that all people left before any of them made a move.
    """
    of_people = Q(user__isnull=False) | Q(bot="")  # the seat of a deleted guest has neither
    stayed = Seat.objects.filter(of_people, game=OuterRef("pk"), left=False)
    by_a_person = Seat.objects.filter(of_people, game=OuterRef("game"), index=OuterRef("seat"))
    moved = Move.objects.filter(Exists(by_a_person), game=OuterRef("pk")).exclude(text=LEAVE)
    ended = Game.objects.filter(
        status__in=Game.ENDED, finished_at__gte=now - KEPT - LOOKED_FOR, finished_at__lt=now - KEPT
    )
    of_no_case = ended.filter(
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
