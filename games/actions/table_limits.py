"""How many tables a person may have at once. All limits are scaled by `RATE_LIMITS`.

Each check locks the person. To avoid deadlocks, lock games before the person, and never lock two people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db.models import Exists, OuterRef, Q, QuerySet

from accounts.actions import lock_person
from accounts.limits import scaled
from games.models import Game, Seat
from games.refusals import Denied

if TYPE_CHECKING:
    from accounts.models import User

TABLES: Final = 200
"""How many tables that are open or being played a person may sit at: some work goes through all of them."""

OPEN_TABLES: Final = 20
"""At so many tables that wait for players a person may sit."""

TABLES_AGAINST_BOTS: Final = 50
"""At so many running tables a person may play where everybody else is a bot: each move there costs the site several."""

GUEST_TABLES: Final = 2
"""Both of the last two limits for a guest, because one person can be any number of guests."""

# Which seats of a person count for each limit
_NOT_OVER: Final = Q(left=False, game__status__in=(Game.Status.OPEN, Game.Status.PLAYING))
_OPEN: Final = Q(game__status=Game.Status.OPEN)
_OTHERS: Final = Seat.objects.filter(game=OuterRef("game"), user__isnull=False, left=False)
_AGAINST_BOTS: Final = Q(~Exists(_OTHERS.exclude(user=OuterRef("user"))), left=False, game__status=Game.Status.PLAYING)


def room_for(user: User) -> int | None:
    """Return how many more tables this person may sit at, 0 or more; None if there is no limit.

    Counts tables that are open or being played and that the person has not left. A table counts from the moment the
    person sits down, so there is nothing to check when it starts. Locks the person, so that two seats taken at once
    are counted one after the other.
    """
    most = scaled(TABLES)
    if most is None:
        return None
    lock_person(user.pk)
    return _room(user, most, _NOT_OVER)


def _room(user: User, most: int, counted: Q) -> int:
    return max(0, most - Seat.objects.filter(counted, user=user).count())


def over_limits(user: User, seats: QuerySet[Seat]) -> set[int]:
    """Return the games in which this person may not take over these seats: under each limit the newest ones.

    All `seats` belong to one other person. Locks the person who takes them over, and runs as many queries for any
    number of seats.
    """
    over: set[int] = set()
    known = lock_person(user.pk)
    waiting, against_bots = (GUEST_TABLES,) * 2 if known.is_guest else (OPEN_TABLES, TABLES_AGAINST_BOTS)
    for limit, counted in ((waiting, _OPEN), (against_bots, _AGAINST_BOTS), (TABLES, _NOT_OVER)):
        most = scaled(limit)
        if most is None:
            break
        games = seats.filter(counted).exclude(game__in=over).order_by("game_id").values_list("game_id", flat=True)
        over.update(games[_room(known, most, counted) :])
    return over


def check_all(user: User) -> None:
    """Refuse a seat at one more table to a person who sits at as many as allowed.

    :raises Denied: `forbidden`.
    """
    if room_for(user) == 0:
        raise _too_many(f"You sit at {scaled(TABLES)} tables that are not over", "finish or leave one first")


def check_open(user: User) -> None:
    """Refuse a seat at one more open table to a person who sits at as many as allowed.

    Who hosts a table sits there, so nobody gets more of them by taking over those that others leave. Locks the person,
    so that two seats at once are counted in turn.

    :raises Denied: `forbidden`.
    """
    known, most = _lock_and_limit(user, OPEN_TABLES)
    if most is not None and _room(user, most, _OPEN) == 0:
        raise _too_many(
            f"You sit at {most} tables that wait for players", "start or leave one first", guest=known.is_guest
        )


def check_against_bots(user: User) -> None:
    """Refuse to start one more table against bots alone for a person who plays at as many of them as allowed.

    Tables that all others have left count too. Leaving is always allowed, so a person can come to have more.
    Tables that the person has left do not count: they are played on a little at a time (`bot_turn`). Locks the person,
    so that two starts at once are counted in turn.

    :raises Denied: `forbidden`.
    """
    known, most = _lock_and_limit(user, TABLES_AGAINST_BOTS)
    if most is not None and _room(user, most, _AGAINST_BOTS) == 0:
        what, remedy = f"You play at {most} tables against bots alone", "finish or leave one first"
        raise _too_many(what, remedy, guest=known.is_guest)


def _lock_and_limit(user: User, most: int) -> tuple[User, int | None]:
    """Return the person as stored, locked until the transaction ends, and how many tables they may have.

    `most` is the limit of an account, before scaling. The number is None, and nobody is locked, if there is no limit.
    """
    if scaled(most) is None:
        return user, None
    known = lock_person(user.pk)  # a guest may have signed up since the request began
    return known, scaled(GUEST_TABLES if known.is_guest else most)


def _too_many(what: str, remedy: str, *, guest: bool = False) -> Denied:
    if guest:
        return Denied("forbidden", f"{what}, and a guest can have no more: {remedy}, or sign up.")
    return Denied("forbidden", f"{what}, and nobody can have more: {remedy}.")
