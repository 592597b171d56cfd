"""Move a guest's seats to the account that the guest logs in to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from django.db import transaction

from accounts.actions import lock_person
from common.readers_language import say
from common.say import N_
from games import announce, queries
from games.actions import seating, table_limits
from games.actions.programs import may_sit
from games.clocks import pausing
from games.locks import lock_game
from games.models import Game, Invitation, Seat
from games.queries import conduct
from games.refusals import Denied

if TYPE_CHECKING:
    from datetime import datetime

    from accounts.models import User


class Moved(NamedTuple):
    """How many of a guest's games moved to the account, and how many stayed with the guest for each reason."""

    games: int
    closed: int  # stayed because staff removed the account there, or it has viewed the hands
    no_programs: int  # stayed because a program plays for the account
    over_limit: int  # stayed because the account would have too many tables


def move_seats(*, guest: User, user: User, now: datetime) -> Moved:
    """Give this guest's seats and tables to the account that the guest has logged in to.

    Some seats stay with the guest:

    - at tables where the account sits too;
    - where staff removed the account, or where the account has viewed the hands as a staff member;
    - at tables without programs that are not over, if a program plays for the account;
    - the newest ones, if they would take the account over a limit of `table_limits`.

    Clocks that run go on with the time that is left, and with the account's vacation and quiet hours.

    :raises Denied: `forbidden` if staff have suspended the guest.
    """
    with transaction.atomic():
        games = Game.objects.filter(seats__user=guest).exclude(seats__user=user)
        locked = list(games.order_by("-pk").select_for_update(of=("self",), no_key=True))
        still = set(Seat.objects.filter(game__in=locked, user=guest).values_list("game", flat=True))
        locked = [game for game in locked if game.pk in still]  # the first of two presses has moved the others
        if lock_person(guest.pk).suspended(now):
            raise Denied("forbidden", _SUSPENDED, name=guest.name)
        closed = set(conduct.games_closed_to(user))  # under the games' locks, which staff need to view hands
        open_to = [game for game in locked if game.pk not in closed]
        person = may_sit(user, programs=False)
        allowed = [game for game in open_to if person or game.programs or game.ended]
        over_limit = table_limits.over_limits(user, Seat.objects.filter(game__in=allowed, user=guest))
        moved = [game for game in allowed if game.pk not in over_limit]
        if moved:
            _keep_names(guest, user)
        for game in moved:
            if game.status == Game.Status.PLAYING:
                table = queries.load(lock_game(pk=game.pk))
                row = table.own_seat(guest)
                assert row is not None
                pausing.pass_on(table, row, time_off=user.time_off, now=now)
        Seat.objects.filter(game__in=moved, user=guest).update(user=user, name=user.name)
        seating.change_host(*[game for game in moved if game.host_id == guest.pk], user_id=user.pk, now=now)
        announce.changed(*moved)
        for game in moved:
            announce.rematch_changed(game)
        _move_invitations(guest, user)
        return Moved(len(moved), len(locked) - len(open_to), len(open_to) - len(allowed), len(over_limit))


def suspended_sentence(guest: User) -> str:
    """Return why the games of a suspended guest cannot move."""
    return say.text("refusal", _SUSPENDED, name=guest.name)


_SUSPENDED: Final = N_("Staff have suspended {name}, so these games stay where they are until the suspension is over.")


def _keep_names(guest: User, user: User) -> None:
    """Note the guest's names with the account: notices about the games still name the guest."""
    person = lock_person(user.pk)
    for name in (*guest.former_names, guest.name):
        person.give_up_name(name)
    person.save(update_fields=["former_names"])


def _move_invitations(guest: User, user: User) -> None:
    """Give the guest's invitations to the account, without those that the account has already."""
    asked = Invitation.objects.filter(user=guest)
    asked.exclude(game__in=Invitation.objects.filter(user=user).values("game")).update(user=user)
    asked.delete()
