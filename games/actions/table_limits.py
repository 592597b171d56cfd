"""Limit how many tables a person may have at once. All limits are scaled by `RATE_LIMITS`.

Each check locks the person. To avoid deadlocks, lock games before the person, and never lock two people.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from django.db.models import Q, QuerySet

from accounts.actions import lock_person
from common.limits import scaled
from common.say import N_
from games.models import Game, Seat
from games.queries.lists import AGAINST_BOTS
from games.refusals import Denied

if TYPE_CHECKING:
    from accounts.models import User

TABLES: Final = 200
"""The most open and running tables of a person. Some work goes through all of them."""

OPEN_TABLES: Final = 20
"""The most tables of a person that wait for players."""

TABLES_AGAINST_BOTS: Final = 50
"""The most running tables of a person where all others are bots. Each move there costs the site several."""

GUEST_TABLES: Final = 2
"""The last two limits for a guest. Lower, because one person can be any number of guests."""

# Which seats of a person count for each limit
_NOT_OVER: Final = Q(left=False, game__status__in=(Game.Status.OPEN, Game.Status.PLAYING))
_OPEN: Final = Q(game__status=Game.Status.OPEN)


_TOO_MANY: Final = (
    N_("You have {n} unfinished table, the maximum. Finish or leave it first."),
    N_("You have {n} unfinished tables, the maximum. Finish or leave one first."),
)
_TOO_MANY_OPEN: Final = (
    N_("You have {n} table waiting for players, the maximum. Start or leave it first."),
    N_("You have {n} tables waiting for players, the maximum. Start or leave one first."),
)
_TOO_MANY_OPEN_FOR_A_GUEST: Final = (
    N_("You have {n} table waiting for players, the maximum for guests. Start or leave it first, or sign up."),
    N_("You have {n} tables waiting for players, the maximum for guests. Start or leave one first, or sign up."),
)
_TOO_MANY_AGAINST_BOTS: Final = (
    N_("{n} bot game is open, the maximum. Go on with it, or leave it for a new one."),
    N_("{n} bot games are open, the maximum. Go on with one, or leave one for a new one."),
)
_TOO_MANY_AGAINST_BOTS_FOR_A_GUEST: Final = (
    N_("{n} bot game is open, the most for a guest. Go on with it, leave it for a new one, or sign up."),
    N_("{n} bot games are open, the most for a guest. Go on with one, leave one for a new one, or sign up."),
)


class TooManyAgainstBots(Denied):
    """The person has as many running tables against bots alone as they may. Pages offer to give up the oldest."""


def room_for(user: User) -> int | None:
    """Return how many more tables this person may sit at, 0 or more; None if there is no limit.

    Counts open and running tables that the person has not left. Locks the person, so that two seats taken at once are
    counted one after the other. A table counts as soon as the person joins, so its start needs no check.
    """
    most = scaled(TABLES)
    if most is None:
        return None
    lock_person(user.pk)
    return _room(user, most, _NOT_OVER)


def _room(user: User, most: int, counted: Q) -> int:
    return max(0, most - Seat.objects.filter(counted, user=user).count())


def over_limits(user: User, seats: QuerySet[Seat]) -> set[int]:
    """Return the games whose seats this person may not take over, because they exceed a limit: the newest ones.

    All `seats` belong to one other person. Locks `user`. The number of queries does not depend on the number of seats.
    """
    over: set[int] = set()
    known = lock_person(user.pk)
    waiting, against_bots = (GUEST_TABLES,) * 2 if known.is_guest else (OPEN_TABLES, TABLES_AGAINST_BOTS)
    for limit, counted in ((waiting, _OPEN), (against_bots, AGAINST_BOTS), (TABLES, _NOT_OVER)):
        most = scaled(limit)
        if most is None:
            break
        games = seats.filter(counted).exclude(game__in=over).order_by("game_id").values_list("game_id", flat=True)
        over.update(games[_room(known, most, counted) :])
    return over


def check_all(user: User) -> None:
    """Check that this person may have one more table. Locks the person.

    :raises Denied: `forbidden`.
    """
    most = scaled(TABLES)
    if most is not None and room_for(user) == 0:
        raise Denied("forbidden", _TOO_MANY, n=most)


def check_open(user: User) -> None:
    """Check that this person may join or create one more open table. Locks the person.

    Every host has a seat at their table, so becoming the host of a table that another person left adds none.

    :raises Denied: `forbidden`.
    """
    known, most = _lock_and_limit(user, OPEN_TABLES)
    if most is not None and _room(user, most, _OPEN) == 0:
        raise Denied("forbidden", _TOO_MANY_OPEN_FOR_A_GUEST if known.is_guest else _TOO_MANY_OPEN, n=most)


def check_against_bots(user: User) -> None:
    """Check that this person may start one more table against bots alone. Locks the person.

    Tables that all other people have left count too. A person can exceed the limit that way, because leaving is always
    allowed. Tables that the person has left do not count; their bots move rarely (`bot_turn.UNATTENDED_MOVES`).

    :raises TooManyAgainstBots: `forbidden`.
    """
    known, most = _lock_and_limit(user, TABLES_AGAINST_BOTS)
    if most is not None and _room(user, most, AGAINST_BOTS) == 0:
        sentence = _TOO_MANY_AGAINST_BOTS_FOR_A_GUEST if known.is_guest else _TOO_MANY_AGAINST_BOTS
        raise TooManyAgainstBots("forbidden", sentence, n=most)


def _lock_and_limit(user: User, most: int) -> tuple[User, int | None]:
    """Lock the person and return them as stored, with the number of tables they may have.

    `most` is the limit for accounts, before scaling. Without a limit the number is None and nobody is locked.
    """
    if scaled(most) is None:
        return user, None
    known = lock_person(user.pk)  # a guest may have signed up since the request began
    return known, scaled(GUEST_TABLES if known.is_guest else most)
