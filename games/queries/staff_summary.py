"""What staff see of a person besides their conduct: visits, games, missed turns, reports and browsers.

As in `conduct`, staff never read reports about themselves: `reader` is the number of the person who reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db.models import Count, F, Max

from accounts.models import ApiToken, Session, User
from games.models import BrowserMark, Game, Move, Report, Seat
from games.models.moderation import BROWSER_MARKS_KEPT
from mail.hooks import hook_of
from mail.models import Hook

SHOWN: Final = 10
"""How many finished games, reports of each kind and other accounts are listed."""
MISSES_WITHIN: Final = timedelta(days=30)
"""In what time missed turns are counted."""


@dataclass(frozen=True, slots=True)
class OtherAccount:
    """Another account that played in the same browser, when it last did so, and at how many tables."""

    person: User
    at: datetime
    tables: int


@dataclass(frozen=True, slots=True)
class StaffSummary:
    """What staff see of a person. Lists are newest first and have at most `SHOWN` rows, but `going` has all.

    `missed` is how many of their turns the clock played within `MISSES_WITHIN`, in games where they have a seat.
    """

    last_visit: datetime | None
    going: Sequence[Seat]
    ended: Sequence[Seat]
    missed: int
    received: Sequence[Report]
    made: Sequence[Report]
    others: Sequence[OtherAccount]
    hook: Hook | None


def staff_summary_of(person: User, now: datetime, *, reader: int) -> StaffSummary:
    """Return what staff see of a person."""
    seats = Seat.objects.filter(user=person).select_related("game").order_by("-game_id")
    reports = Report.objects.exclude(case__person_id=reader).select_related("case__person", "reporter", "game")
    reports = reports.order_by("-pk")
    return StaffSummary(
        last_visit=_last_visit_of(person),
        going=list(seats.filter(game__status__in=(Game.Status.OPEN, Game.Status.PLAYING))),
        ended=list(seats.filter(game__status__in=Game.ENDED)[:SHOWN]),
        missed=_missed_turns(person, now),
        received=list(reports.filter(case__person=person)[:SHOWN]),
        made=list(reports.filter(reporter=person)[:SHOWN]),
        others=_others_in_browsers_of(person, now),
        hook=hook_of(person.pk),
    )


def _last_visit_of(person: User) -> datetime | None:
    """Return when this person last used the site: a session, to ten minutes, or a token; or when they logged in."""
    seen = Session.objects.filter(user=person).aggregate(at=Max("seen_at"))["at"]
    used = ApiToken.objects.filter(user=person).aggregate(at=Max("last_used_at"))["at"]
    return max((at for at in (seen, used, person.last_login) if at is not None), default=None)


def _missed_turns(person: User, now: datetime) -> int:
    # A turn that the clock played is one commit, so its lines have one time. Closing a callout window is not a turn.
    lines = Move.objects.filter(text__startswith="clock ", at__gt=now - MISSES_WITHIN).exclude(text="clock uno")
    theirs = lines.filter(game__seats__user=person, game__seats__index=F("seat"))
    return theirs.values("game", "at").distinct().count()


def _others_in_browsers_of(person: User, now: datetime) -> list[OtherAccount]:
    kept = BrowserMark.objects.filter(at__gt=now - BROWSER_MARKS_KEPT)
    shared = kept.filter(digest__in=kept.filter(user=person).values("digest")).exclude(user=person)
    found = shared.values("user").annotate(at=Max("at"), tables=Count("game", distinct=True)).order_by("-at")[:SHOWN]
    rows = {row["user"]: row for row in found}
    people = User.objects.in_bulk(rows)
    return [OtherAccount(people[pk], row["at"], row["tables"]) for pk, row in rows.items()]
