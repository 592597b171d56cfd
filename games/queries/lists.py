"""Lists of games, and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db.models import Case, F, Q, QuerySet, When

from games.models import Game
from games.models.rows import count_turns

if TYPE_CHECKING:
    from accounts.models import User


PUBLIC_LISTED: Final = 1000
"""How many public tables the list has at most."""


def _my_turn(user: User) -> Q:
    return (
        Q(status=Game.Status.PLAYING, paused_at=None)
        & ~Q(round__phase="over")
        & Q(seats__user=user, seats__left=False, seats__bot="", seats__index=F("round__turn"))
    )


def waiting_for(user: User) -> QuerySet[Game]:
    """Return the games in which a person must move now, most urgent first."""
    return Game.objects.filter(_my_turn(user)).order_by(F("deadline").asc(nulls_last=True), "pk")


def count_waiting_for(user: User) -> int:
    """Return the number of games that `waiting_for` finds."""
    return count_turns(user.pk)


def next_game_for(user: User, *, after: str | None = None) -> Game | None:
    """Return the most urgent game in which a person must move, except the one with the code `after`; None without."""
    return waiting_for(user).exclude(code=after or "").first()


def games_called(text: str) -> QuerySet[Game]:
    """Return the game with this code, or all games with a player whose name has this text or whose username it is.

    To find rows of games, use this in `game__in`: a join with the seats would sort all rows of a long game.
    """
    by_code = Game.objects.filter(code=text.lower())
    if by_code.exists():
        return by_code
    return Game.objects.filter(Q(seats__name__icontains=text) | Q(seats__user__username__iexact=text))


def games_of(user: User, *, turn: bool = False) -> QuerySet[Game]:
    """Return the tables of a person, most urgent first: those where they must move, other running ones, finished ones.

    With `turn` only those where they must move.
    """
    waiting = waiting_for(user).order_by()
    mine = waiting if turn else Game.objects.filter(seats__user=user)
    # No counts here: PostgreSQL would group all columns of every game that the person has played.
    return mine.annotate(
        waiting=Case(When(pk__in=waiting.values("pk"), then=1), default=0),
        going=Case(When(status__in=(Game.Status.OPEN, Game.Status.PLAYING), then=1), default=0),
    ).order_by("-waiting", "-going", F("deadline").asc(nulls_last=True), F("finished_at").desc(nulls_last=True), "-pk")


def unfinished_games_of(user: User) -> QuerySet[Game]:
    """Return the tables that have not ended at which a person has a seat, also if they have left the match."""
    return Game.objects.filter(status__in=(Game.Status.OPEN, Game.Status.PLAYING), seats__user=user)


def running_games_of(user: User) -> QuerySet[Game]:
    """Return the running games that a person has not left."""
    return Game.objects.filter(status=Game.Status.PLAYING, seats__user=user, seats__left=False)


def public_games() -> QuerySet[Game]:
    """Return at most `PUBLIC_LISTED` public tables: open ones, newest first, then running ones.

    An index has them in this order, so that a page or a count reads no other rows.
    """
    public = Game.objects.filter(is_public=True, status__in=(Game.Status.OPEN, Game.Status.PLAYING))
    return public.order_by("status", "-created_at", "-pk")[:PUBLIC_LISTED]
