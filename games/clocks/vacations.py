"""Vacation: a number of days a year on which a player's clocks stop, taken on demand or instead of a missed turn."""

from __future__ import annotations

from datetime import datetime, timedelta
from math import ceil
from typing import Final

from django.db import transaction

from accounts.actions import count_time_off_change, lock_person
from accounts.models import User
from accounts.queries import vacation_days_left, vacation_year
from common.say import N_
from games import announce
from games.notices import player_notices
from games.queries import lists
from games.refusals import Denied

DAY: Final = timedelta(days=1)

_CHOOSE_DAYS: Final = (
    N_("You have {n} vacation day left this year. Choose 1 day."),
    N_("You have {n} vacation days left this year. Choose 1 to {n} days."),
)


def start(*, user: User, days: int, now: datetime) -> datetime:
    """Start a vacation of this many days; return its end. The days count for the year in which it starts.

    :raises Denied: `malformed` if not enough days are left, `forbidden` if the person is on vacation already or plays
        at a live table.
    :raises TooManyTries: after too many changes in a minute.
    """
    with transaction.atomic():
        person = lock_person(user.pk)
        left = vacation_days_left(person, now)
        if person.time_off.on_vacation(now):
            raise Denied("forbidden", "You are already on vacation. End it first to choose other days.")
        if any(game.terms.live for game in lists.running_games_of(person)):
            raise Denied("forbidden", "Live tables have no vacations. Finish your game there first.")
        if left < 1:
            raise Denied("malformed", "You have no vacation days left this year.")
        if not 1 <= days <= left:
            raise Denied("malformed", _CHOOSE_DAYS, n=left)
        count_time_off_change(user_id=person.pk, now=now)
        return _begin(person, days, now)


def end(*, user: User, now: datetime) -> int:
    """End the current vacation; return the number of unused whole days, which the person gets back.

    :raises Denied: `forbidden` if the person is not on vacation.
    :raises TooManyTries: after too many changes in a minute.
    """
    with transaction.atomic():
        person = lock_person(user.pk)
        begun, until = person.vacation_from, person.vacation_until
        if begun is None or until is None or until <= now:
            raise Denied("forbidden", "You are not on vacation. Choose days to start one.")
        count_time_off_change(user_id=person.pk, now=now)
        back = (until - begun) // DAY - max(1, ceil((now - begun) / DAY))
        person.vacation_until = now
        person.vacation_used -= back  # still counts the year in which this vacation began: no other can begin during it
        person.save(update_fields=["vacation_until", "vacation_used"])
        announce.time_off_changed(person.pk)
        return back


def take_a_day(*, user_id: int, now: datetime) -> None:
    """Start a day of vacation for a person who chose that instead of missing turns.

    Does nothing if no day is left, or if the person is on vacation already and only this clock has not followed yet.
    """
    with transaction.atomic():
        person = lock_person(user_id)
        if person.time_off.on_vacation(now) or not person.auto_vacation or vacation_days_left(person, now) < 1:
            return
        until = _begin(person, 1, now)
        player_notices.day_taken(person, until=until, left=vacation_days_left(person, now), now=now)


def _begin(person: User, days: int, now: datetime) -> datetime:
    year = vacation_year(person, now)
    if person.vacation_year != year:
        person.vacation_year, person.vacation_used = year, 0
    person.vacation_used += days
    person.vacation_from, person.vacation_until = now, now + days * DAY
    person.save(update_fields=["vacation_year", "vacation_used", "vacation_from", "vacation_until"])
    announce.time_off_changed(person.pk)
    return person.vacation_until
