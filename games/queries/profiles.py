"""What everybody may see of a person: games played and won, and public tables."""

from __future__ import annotations

from typing import Final, NamedTuple

from django.db.models import Case, Count, F, Q, QuerySet, When

from accounts.models import User
from games.models import Game, Seat
from games.queries import conduct

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
    mine = Seat.objects.filter(user=reader).values("game")
    return _going_first(Game.objects.filter(seats__user=person, pk__in=mine))


def tables_to_report(person: User, reader: User) -> QuerySet[Game]:
    """Return the tables where both people have or had a seat and which the reader may see: as `shared_tables`.

    Staff may have taken the seat of either. A reader without a seat may see public tables.
    """
    seen = Game.objects.filter(Q(is_public=True) | Q(pk__in=Seat.objects.filter(user=reader).values("game")))
    return _going_first(seen.filter(pk__in=games_ever_of(person)).filter(pk__in=games_ever_of(reader)))


def games_ever_of(user: User) -> QuerySet[Seat, int]:
    """Return the numbers of the games in which a person has a seat, or had one that staff took."""
    lost = conduct.games_with_seat_lost_by(User.objects.filter(pk=user.pk).values("pk"))
    # A union, because PostgreSQL would try every game for two conditions joined by OR.
    return Seat.objects.filter(user=user).values_list("game", flat=True).union(lost)


def _going_first(games: QuerySet[Game]) -> QuerySet[Game]:
    going = Case(When(status__in=(Game.Status.OPEN, Game.Status.PLAYING), then=1), default=0)
    return games.annotate(going=going).order_by("-going", "-pk")[:SHOWN]
