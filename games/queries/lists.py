"""Lists of games, and their order."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple, Self

from django.db.models import Case, Count, Exists, F, OuterRef, Q, QuerySet, Subquery, When

from accounts.models import User
from games.models import Game, Hand, Move, Seat
from games.models.rows import count_turns
from games.queries import conduct

PUBLIC_LISTED: Final = 1000
"""How many public tables are listed and counted at once. `Place` says where the list continues."""

PLACE: Final = "(open|playing)-([0-9]{1,17})-([0-9]{1,18})"
"""The pattern of the text of a `Place`."""

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST: Final = _EPOCH + timedelta(microseconds=10**17 - 1)


_OTHERS: Final = Seat.objects.filter(game=OuterRef("game"), user__isnull=False, left=False)
AGAINST_BOTS: Final = Q(~Exists(_OTHERS.exclude(user=OuterRef("user"))), left=False, game__status=Game.Status.PLAYING)
"""Which seats of a person are at running tables where all others are bots, or people who have left."""


def hosted_tables(person_id: int) -> QuerySet[Game]:
    """Return the tables that this person hosts and that have not started, by number."""
    return Game.objects.filter(host=person_id, status=Game.Status.OPEN).order_by("pk")


class Place(NamedTuple):
    """A place in the list of public tables: after the table with this status, creation time and number.

    It stays the same if that table starts or is deleted. Its text is like `open-1795420000000000-17`.
    """

    status: str
    created_at: datetime
    number: int

    def __str__(self) -> str:
        return f"{self.status}-{(self.created_at - _EPOCH) // timedelta(microseconds=1)}-{self.number}"

    @classmethod
    def of(cls, game: Game) -> Self:
        """Return the place after this table."""
        return cls(game.status, game.created_at, game.pk)

    @classmethod
    def parsed(cls, text: str) -> Self:
        """Return the place with this text, which matches `PLACE`."""
        found = re.fullmatch(PLACE, text)
        assert found is not None
        return cls(found[1], _EPOCH + timedelta(microseconds=int(found[2])), int(found[3]))


FIRST_PLAYING: Final = Place(Game.Status.PLAYING, _LATEST, 0)
"""The place before all tables that are being played."""


def _my_turn(user: User) -> Q:
    return (
        Q(status=Game.Status.PLAYING, paused_at=None)
        & ~Q(round__phase="over")
        & Q(seats__user=user, seats__left=False, seats__bot="", seats__index=F("round__turn"))
    )


def waiting_for(user: User) -> QuerySet[Game]:
    """Return the games in which a person must move now, most urgent first."""
    return Game.objects.filter(_my_turn(user)).order_by(F("deadline").asc(nulls_last=True), "-pk")


def count_waiting_for(user: User) -> int:
    """Return the number of games that `waiting_for` finds."""
    return count_turns(user.pk)


def next_game_for(user: User, *, after: str | None = None) -> Game | None:
    """Return the game that comes after the one with the code `after` in `waiting_for`, or None if no game waits.

    After the last one comes the first. Without `after`, and after a game where the person has never moved, the first is
    returned. A game where they need not move any more has the place that it had until their last move.
    """
    waiting = list(waiting_for(user))
    codes = [game.code for game in waiting]
    before = codes.index(after) + 1 if after in codes else _count_before(_last_turn(user, after), waiting)
    return waiting[before % len(waiting)] if waiting else None


def _last_turn(user: User, code: str | None) -> datetime | None:
    """Return until when a person had time for their last turn in a game, or None if they have not moved there.

    A finished turn has no deadline any more: it is the time of their last move and the thinking time that they saved.
    The time that quiet hours had added is not known.
    """
    moves = Move.objects.filter(game=OuterRef("game"), seat=OuterRef("index")).order_by("-n")
    seats = Seat.objects.filter(game__code=code, user=user).annotate(moved_at=Subquery(moves.values("at")[:1]))
    seat = seats.exclude(moved_at=None).first()
    return None if seat is None else seat.moved_at + timedelta(seconds=seat.bank)


def _count_before(moment: datetime | None, waiting: Sequence[Game]) -> int:
    """Return how many of these games are due by this moment. A game without a deadline never is."""
    return sum(moment is not None and game.deadline is not None and game.deadline <= moment for game in waiting)


def search_games(text: str) -> QuerySet[Game]:
    """Return the game with this code. If there is none, return the games with a player of this name.

    The text may be a part of a name at the table, or of a username. Also finds the games of a player whose seat staff
    gave away. To find rows of games, use this in `game__in`: a join with the seats would sort all rows of a long game.
    """
    by_code = Game.objects.filter(code=text.lower())
    if by_code.exists():
        return by_code
    named = Q(username__icontains=text) | Q(display_name__icontains=text) | Q(neutral_name__icontains=text)
    people = User.objects.filter(named).values("pk")
    seats = Seat.objects.filter(Q(name__icontains=text) | Q(user__in=people)).values("game")
    return Game.objects.filter(Q(pk__in=seats) | Q(pk__in=conduct.games_with_seat_lost_by(people)))


def games_of(user: User) -> QuerySet[Game]:
    """Return the tables of a person: first those where they must move, most urgent first, then other running ones."""
    return _by_urgency(Game.objects.filter(seats__user=user), user)


def games_to_keep(user: User) -> QuerySet[Game]:
    """Return the tables that a person has or had a seat at, without those that closed before they started."""
    return Game.objects.filter(seats__user=user).exclude(status=Game.Status.VOID, round=None)


def shared_games(guest: User, user: User) -> QuerySet[Game]:
    """Return the tables of `games_to_keep` where both of these people have a seat."""
    return games_to_keep(guest).filter(pk__in=Seat.objects.filter(user=user).values("game"))


def games_to_act_in(user: User, *, now: datetime) -> QuerySet[Game]:
    """Return the games in which a person must move or can catch somebody who has not called UNO, most urgent first."""
    open_windows = Hand.objects.filter(round=OuterRef("round"), callout_until__gt=now).exclude(seat__user=user)
    inside = Seat.objects.filter(game=OuterRef("pk"), user=user, left=False, bot="")
    inside = inside.exclude(game__round__out__contains=[F("index")])
    can_catch = Q(Exists(open_windows), Exists(inside), paused_at=None)
    return _by_urgency(running_games_of(user), user).filter(can_catch | Q(waiting=1))


def states_of_games(user: User, *, now: datetime) -> QuerySet[Game, tuple[str, int, str, int, bool]]:
    """Return the code, version, status and taken seats of a person's open and running tables, and whether it is up to
    them to act.

    They come in the order in which they were made.
    """
    mine = Game.objects.filter(
        seats__user=user, seats__left=False, status__in=(Game.Status.OPEN, Game.Status.PLAYING)
    ).order_by("pk")
    urgent = Exists(games_to_act_in(user, now=now).filter(pk=OuterRef("pk")))
    taken = Seat.objects.filter(game=OuterRef("pk")).order_by().values("game").annotate(n=Count("pk")).values("n")
    return mine.annotate(urgent=urgent, taken=Subquery(taken)).values_list(
        "code", "version", "status", "taken", "urgent"
    )


def _by_urgency(games: QuerySet[Game], user: User) -> QuerySet[Game]:
    """Sort games as in `games_of`. Their `waiting` is 1 where the person must move."""
    waiting = waiting_for(user).order_by()
    # No counts here: PostgreSQL would group all columns of every game that the person has played.
    return games.annotate(
        waiting=Case(When(pk__in=waiting.values("pk"), then=1), default=0),
        going=Case(When(status__in=(Game.Status.OPEN, Game.Status.PLAYING), then=1), default=0),
    ).order_by("-waiting", "-going", F("deadline").asc(nulls_last=True), F("finished_at").desc(nulls_last=True), "-pk")


def running_games_of(user: User) -> QuerySet[Game]:
    """Return the running games that a person has not left."""
    return Game.objects.filter(status=Game.Status.PLAYING, seats__user=user, seats__left=False)


def games_against_bots(user: User) -> QuerySet[Game]:
    """Return the running games that a person plays against bots alone, the newest first."""
    seats = Seat.objects.filter(AGAINST_BOTS, user=user)
    return Game.objects.filter(pk__in=seats.values("game")).order_by("-pk")


def public_games(after: Place | None = None, status: str | None = None) -> QuerySet[Game]:
    """Return at most `PUBLIC_LISTED` public tables: open ones, newest first, then running ones.

    With a place, return those with its status that come after it, and with a status only those that have it. Tables
    that are not open or running are not listed. An index has all in this order, so that a page or a count reads no
    other rows.
    """
    public = Game.objects.filter(is_public=True, status__in=(Game.Status.OPEN, Game.Status.PLAYING))
    if status is not None:
        public = public.filter(status=status)
    if after is not None:
        same_moment = Q(created_at=after.created_at, pk__gte=after.number)
        public = public.filter(~same_moment, status=after.status, created_at__lte=after.created_at)
    return public.order_by("status", "-created_at", "-pk")[:PUBLIC_LISTED]


def next_place(page: Sequence[Game], *, limit: int, offset: int, after: Place | None) -> Place | None:
    """Return where `public_games` continues after a page of it, or None at its end.

    :param page: the tables of the page. It began at `offset` after the place `after` and has at most `limit` tables.
    """
    if page and (len(page) == limit or offset + len(page) == PUBLIC_LISTED):
        return Place.of(page[-1])
    return FIRST_PLAYING if after is not None and after.status == Game.Status.OPEN else None
