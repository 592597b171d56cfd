"""Call off running games that all people have left, and delete called-off games that nobody played."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from games import announce
from games.actions import rounds
from games.batch import for_each_game
from games.locks import lock_game
from games.models import AuditEntry, Game, Move, Report, Seat
from games.notices.preferences import KEPT as NOTICES_KEPT
from games.queries.profiles import OF_PEOPLE

IDLE: Final = timedelta(days=7)
"""A game that all people have left is called off after this long without a move or a staff act (decision 102)."""

DELETION_WINDOW: Final = timedelta(days=30)
"""How long after its due date an unplayed game is still found for deletion. Bounds what one run reads."""

LEAVE: Final = "leave"
"""The text of the move that leaves a game."""


def call_off_left_games(*, now: datetime) -> int:
    """Call off running games that all people have left and where nothing has happened for `IDLE`; return how many.

    Uses one transaction per game. A game that fails is logged and tried again by the next call.
    """
    games = list(_idle(now).order_by("pk").values_list("pk", flat=True))
    return for_each_game(games, lambda pk: _call_off(pk, now), failed="a left game was not called off").count


def _idle(now: datetime) -> QuerySet[Game]:
    """Return the running games that all people have left, without a move or a staff act for `IDLE`.

    Leaves out paused games: staff paused them, or they wait to be released after a restore.
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
    """Delete games that were called off more than 60 days ago without being played; return how many.

    Uses one transaction per game. A game that fails is logged and tried again by the next call.
    """
    games = list(_unplayed(now).order_by("pk").values_list("pk", flat=True))
    return for_each_game(games, lambda pk: _delete(pk, now), failed="an unplayed game was not deleted").count


def _unplayed(now: datetime) -> QuerySet[Game]:
    """Return the games called off 60 to 90 days ago that nobody played, without a report or a staff act.

    These are tables that closed before they started, and games that all people left before making a move. Games with a
    result are left out, because they count in the players' profiles.
    """
    stayed = Seat.objects.filter(OF_PEOPLE, game=OuterRef("pk"), left=False)
    by_a_person = Seat.objects.filter(OF_PEOPLE, game=OuterRef("game"), index=OuterRef("seat"))
    moved = Move.objects.filter(Exists(by_a_person), game=OuterRef("pk")).exclude(text=LEAVE)
    latest = now - NOTICES_KEPT
    called_off = Game.objects.filter(
        status=Game.Status.VOID, finished_at__gte=latest - DELETION_WINDOW, finished_at__lt=latest
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
            return False  # it has been reported since the games were listed
        announce.rematch_changed(game)
        game.delete()
        return True
