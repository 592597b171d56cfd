"""What anybody may read of a person: since when they play, how often they won, and their public tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from django.db.models import Count, F, Q, QuerySet

from games.models import Game, Seat

if TYPE_CHECKING:
    from accounts.models import User

SHOWN: Final = 20
"""So many tables of each kind are listed."""


class Tally(NamedTuple):
    """Games played to their end, and those of them that were won."""

    finished: int
    won: int


def tally_of(person: User) -> Tally:
    """How often this person has played and won, private tables included. One query."""
    played = Seat.objects.filter(user=person, game__status=Game.Status.OVER)
    return Tally(**played.aggregate(finished=Count("pk"), won=Count("pk", filter=Q(game__winner=F("index")))))


def public_tables_of(person: User) -> QuerySet[Game]:
    """The public tables where this person sits that are open or being played, the newest first."""
    going = Game.objects.filter(is_public=True, status__in=(Game.Status.OPEN, Game.Status.PLAYING))
    return going.filter(seats__user=person, seats__left=False).order_by("-pk")[:SHOWN]


def shared_tables(person: User, reader: User) -> QuerySet[Game]:
    """The tables where both sit or sat, those going on first, then the newest."""
    mine = Game.objects.filter(seats__user=reader).values("pk")
    going = Count("pk", filter=Q(status__in=(Game.Status.OPEN, Game.Status.PLAYING)))
    shared = Game.objects.filter(seats__user=person, pk__in=mine)
    return shared.annotate(going=going).order_by("-going", "-pk")[:SHOWN]
