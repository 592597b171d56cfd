"""Which games somebody is shown, and in what order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from django.db.models import Case, Count, F, Q, QuerySet, When, Window
from django.db.models.functions import RowNumber

from games.models import Game, Invitation
from games.models.rows import count_turns

if TYPE_CHECKING:
    from accounts.models import User


NEWEST: Final = 300
"""The front page chooses from this many open public tables of accounts, and as many of guests."""

PUBLIC_LISTED: Final = 1000
"""So many public tables can be paged through; the list reads no others."""

GUESTS_FIRST: Final = 6
"""So many open tables of guests are listed by age among the others."""


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


def current_games_of(user: User) -> QuerySet[Game]:
    """What this person's front page lists, ordered as `games_of`: games going on, and ends not looked at."""
    going = Q(status=Game.Status.OPEN) | Q(status=Game.Status.PLAYING, seats__left=False)
    ended = Q(status__in=Game.ENDED, round__isnull=False, seats__seen__lt=F("version"))
    return games_of(user).filter(pk__in=Game.objects.filter(going | ended, seats__user=user).values("pk"))


def finished_games_of(user: User) -> QuerySet[Game]:
    """The games of this person that were played to an end or called off, the last one first."""
    ended = Game.objects.filter(seats__user=user, status__in=Game.ENDED, round__isnull=False)
    return ended.order_by(F("finished_at").desc(nulls_last=True), "-pk")


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


def open_tables(user: User | None) -> QuerySet[Game]:
    """Return the tables with a seat free for this person, newest first.

    They are the newest public table of each host, among the `NEWEST` of accounts and the `NEWEST` of guests, and those
    that a rematch invited this person to. Public tables of guests after the first `GUESTS_FIRST` come last, because
    one person can be any number of guests.
    """
    newest_public = Game.objects.filter(pk__in=_newest_public(by_guests=False).union(_newest_public(by_guests=True)))
    public = Game.objects.filter(pk__in=_with_a_seat_for(user, newest_public).values("pk"))
    listed = public.order_by("host", "-pk").distinct("host").values("pk")
    by_a_guest = Q(hosted_by_guest=True)
    if user is not None:
        waiting = Game.objects.filter(status=Game.Status.OPEN)
        invited = waiting.filter(pk__in=Invitation.objects.filter(user_id=user.pk).values("game_id"))
        listed = listed.union(_with_a_seat_for(user, invited).values("pk"))
        by_a_guest &= ~Q(pk__in=invited.values("pk"))
    newest = (F("created_at").desc(), F("pk").desc())
    guests = Case(When(by_a_guest, then=True), default=False)
    place = Window(RowNumber(), partition_by=guests, order_by=newest)
    tables = Game.objects.filter(pk__in=listed).annotate(guests=guests, place=place)
    return tables.order_by(Case(When(guests=True, place__gt=GUESTS_FIRST, then=1), default=0), *newest)


def _newest_public(*, by_guests: bool) -> QuerySet[Game, Any]:  # the stubs name a type of their own for its rows
    """Return the numbers of the newest open public tables of guests, or of accounts. An index has them in order."""
    waiting = Game.objects.filter(status=Game.Status.OPEN, is_public=True, hosted_by_guest=by_guests)
    return waiting.order_by("-pk").values("pk")[:NEWEST]


def _with_a_seat_for(user: User | None, tables: QuerySet[Game]) -> QuerySet[Game]:
    """Return those of these tables that have a seat free, and where this person has none."""
    others = tables if user is None else tables.exclude(seats__user=user)
    return others.annotate(seated=Count("seats")).filter(seated__lt=F("players"))
