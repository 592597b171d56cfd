"""Which games somebody is shown, and in what order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db.models import Case, F, Q, QuerySet, When

from games.models import Game
from games.models.rows import count_turns

if TYPE_CHECKING:
    from accounts.models import User


PUBLIC_LISTED: Final = 1000
"""So many public tables can be paged through; the list reads no others."""


def _my_turn(user: User) -> Q:
    return (
        Q(status=Game.Status.PLAYING, paused_at=None)
        & ~Q(round__phase="over")
        & Q(seats__user=user, seats__left=False, seats__bot="", seats__index=F("round__turn"))
    )


def waiting_for(user: User) -> QuerySet[Game]:
    """Games in which this person must move now, most urgent first."""
    return Game.objects.filter(_my_turn(user)).order_by(F("deadline").asc(nulls_last=True), "pk")


def count_waiting_for(user: User) -> int:
    """The number of games that `waiting_for` finds."""
    return count_turns(user.pk)


def next_game_for(user: User, *, after: str | None = None) -> Game | None:
    """The most urgent game in which this person must move, other than the one they look at."""
    return waiting_for(user).exclude(code=after or "").first()


def games_called(text: str) -> QuerySet[Game]:
    """Return the game with this code, or else all games at whose table somebody has such a name or this username.

    A query for rows of games puts this in `game__in`. Joined to the seats it would sort all rows of a long game.
    """
    by_code = Game.objects.filter(code=text.lower())
    if by_code.exists():
        return by_code
    return Game.objects.filter(Q(seats__name__icontains=text) | Q(seats__user__username__iexact=text))


def games_of(user: User, *, turn: bool = False) -> QuerySet[Game]:
    """This person's tables, most urgent first: those waiting for them, then the others, then finished ones."""
    waiting = waiting_for(user).order_by()
    mine = waiting if turn else Game.objects.filter(seats__user=user)
    # No counts: PostgreSQL would group all columns of every game that the person has ever played.
    return mine.annotate(
        waiting=Case(When(pk__in=waiting.values("pk"), then=1), default=0),
        going=Case(When(status__in=(Game.Status.OPEN, Game.Status.PLAYING), then=1), default=0),
    ).order_by("-waiting", "-going", F("deadline").asc(nulls_last=True), F("finished_at").desc(nulls_last=True), "-pk")


def unfinished_games_of(user: User) -> QuerySet[Game]:
    """The tables that have not ended at which this person has a seat, also one that they have left."""
    return Game.objects.filter(status__in=(Game.Status.OPEN, Game.Status.PLAYING), seats__user=user)


def running_games_of(user: User) -> QuerySet[Game]:
    """The games being played in which this person still has a part."""
    return Game.objects.filter(status=Game.Status.PLAYING, seats__user=user, seats__left=False)


def public_games() -> QuerySet[Game]:
    """Return the first `PUBLIC_LISTED` public tables: those that can still be joined, newest first, then those played.

    An index has them in this order, so that no page and no count reads more than these.
    """
    public = Game.objects.filter(is_public=True, status__in=(Game.Status.OPEN, Game.Status.PLAYING))
    return public.order_by("status", "-created_at", "-pk")[:PUBLIC_LISTED]
