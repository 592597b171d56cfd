"""Interruptions of games: outages of the site, and pauses that the players agree on."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final, NamedTuple

from bench.month.people import Person
from games.actions import pauses
from games.clocks.turn_clock import clocks_ran_until
from games.models import Game
from games.queries import Viewer

LONGEST_OUTAGE: Final = timedelta(hours=12)
SHORTEST_OUTAGE: Final = timedelta(minutes=10)
ASKS: Final = 0.01
AGREES: Final = 0.7
GOES_ON: Final = 0.3
"""How likely a player is, at a visit, to ask for a pause, to agree to one, and to end one."""


@dataclass(frozen=True, slots=True)
class Outage:
    """A time in which no clock, bot or mail runs. The pages answer only if `pages` is True."""

    begins: datetime
    ends: datetime
    pages: bool


def outages(rng: random.Random, *, start: datetime, days: int) -> Iterator[Outage]:
    """Yield at least two outages, about one a week, in order. Every second one leaves the pages running."""
    number = max(2, days // 7)
    part = timedelta(days=days) / number
    for n in range(number):
        length = rng.uniform(SHORTEST_OUTAGE / LONGEST_OUTAGE, 1) * LONGEST_OUTAGE
        begins = start + part * n + rng.random() * (part - LONGEST_OUTAGE)
        yield Outage(begins, begins + length, pages=n % 2 == 1)


class Clock(NamedTuple):
    """The clock of a running game: its deadline, and the moment since which it runs."""

    version: int
    deadline: datetime
    runs_since: datetime


def running_clocks() -> dict[int, Clock]:
    """Return the clocks that run now, by the id of their game."""
    games = Game.objects.filter(status=Game.Status.PLAYING, paused_at=None).exclude(deadline=None)
    return {
        game.pk: Clock(game.version, game.deadline, max(filter(None, (game.turn_since, game.vacation_counted_until))))
        for game in games
        if game.deadline is not None and game.turn_since is not None
    }


def time_lost(outage: Outage, before: dict[int, Clock]) -> Iterator[str]:
    """Yield a fault for each turn that did not get the time of the outage back.

    `before` are the clocks when the outage began. Games that continued meanwhile have other turns, and are skipped.
    """
    after = running_clocks()
    for pk in before.keys() & after.keys():
        old, new = before[pk], after[pk]
        ran = outage.ends - max(outage.begins, old.runs_since)
        if old.version == new.version and new.deadline - old.deadline < ran:
            yield f"game {pk} lost time in the outage from {outage.begins} to {outage.ends}"


@dataclass(slots=True)
class Pauses:
    """Pauses that players ask for, agree to and end. `begun` has the version and time left of each paused game."""

    rng: random.Random
    events: Counter[str]
    faults: list[str]
    begun: dict[int, tuple[int, timedelta | None]] = field(default_factory=dict)

    def visit(self, person: Person, now: datetime) -> None:
        """Let a visiting player ask for pauses, agree to them and end them, at each table."""
        seats = person.user.seats.filter(left=False, bot="", game__status=Game.Status.PLAYING)
        for seat in seats.select_related("game").order_by("pk"):
            game, viewer = seat.game, Viewer(person.user)
            if game.paused_at is not None:
                if self.rng.random() < GOES_ON:
                    self._note_end(pauses.resume(code=game.code, viewer=viewer, now=now).game, now)
            elif seat.index not in game.pause_votes and self.rng.random() < (AGREES if game.pause_votes else ASKS):
                self._note_vote(pauses.ask_pause(code=game.code, viewer=viewer, now=now).game)

    def end_old(self, now: datetime) -> None:
        """End pauses that have lasted too long, as the housekeeping does."""
        if pauses.end_old_pauses(now=now):
            for game in Game.objects.filter(pk__in=list(self.begun), paused_at=None):
                self.events["pauses that ran out"] += 1
                self._check(game, now)

    def _note_vote(self, game: Game) -> None:
        if game.paused_at is not None:
            self.events["pauses begun"] += 1
            self.begun[game.pk] = (game.version, game.time_left)

    def _note_end(self, game: Game, now: datetime) -> None:
        self.events["pauses ended"] += 1
        self._check(game, now)

    def _check(self, game: Game, now: datetime) -> None:
        version, left = self.begun.pop(game.pk)
        if game.version != version:
            self.faults.append(f"{game.code} went on in a pause")
        # If the worker is down, the time since then is given back later.
        if left is not None and (game.deadline is None or game.deadline - clocks_ran_until(game, now) < left):
            self.faults.append(f"{game.code} lost time in a pause")
