"""What everybody may see of a person: games played and won, and public tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from django.db.models import Count, F, Q, QuerySet

from games.models import Game, Seat

if TYPE_CHECKING:
    from accounts.models import User

SHOWN: Final = 20
"""How many tables of each kind are listed."""


class PlayerStats(NamedTuple):
    """The number of games played to their end, and of those that were won."""

    finished: int
    won: int


def stats_of(person: User) -> PlayerStats:
    """Return how many games a person has finished and won, private tables included. Runs one query."""
    played = Seat.objects.filter(user=person, game__status=Game.Status.OVER)
    return PlayerStats(**played.aggregate(finished=Count("pk"), won=Count("pk", filter=Q(game__winner=F("index")))))


def public_tables_of(person: User) -> QuerySet[Game]:
    """Return the open and running public tables where a person sits, newest first, at most `SHOWN`."""
    going = Game.objects.filter(is_public=True, status__in=(Game.Status.OPEN, Game.Status.PLAYING))
    return going.filter(seats__user=person, seats__left=False).order_by("-pk")[:SHOWN]


def shared_tables(person: User, reader: User) -> QuerySet[Game]:
    """Return the tables where both people have a seat: those going on first, then the newest, at most `SHOWN`."""
    mine = Game.objects.filter(seats__user=reader).values("pk")
    going = Count("pk", filter=Q(status__in=(Game.Status.OPEN, Game.Status.PLAYING)))
    shared = Game.objects.filter(seats__user=person, pk__in=mine)
    return shared.annotate(going=going).order_by("-going", "-pk")[:SHOWN]
