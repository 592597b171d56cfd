"""The people of the month: their time zones, visits and reliability."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

from accounts.models import User

ZONES: Final = (
    "Pacific/Auckland",
    "Asia/Tokyo",
    "Europe/Berlin",
    "Africa/Lagos",
    "America/New_York",
    "America/Los_Angeles",
)
BED: Final = time(22, 30)
RISE: Final = time(7, 0)


@dataclass(frozen=True, slots=True)
class Character:
    """How somebody plays. They visit `visits` times a day while awake, and skip each with the probability `skips`.

    `away` is the first day and the number of days of a journey, which is a vacation if `says_so`. `automatic` takes
    vacation instead of missing turns. `resigns` is the probability of resigning at a visit. After the day `gone` they
    never come back. `answers` is the probability that a mail makes them visit within two hours.
    """

    name: str
    share: int
    visits: int
    skips: float = 0.05
    away: tuple[int, int] | None = None
    says_so: bool = False
    automatic: bool = False
    resigns: float = 0.0
    gone: int | None = None
    answers: float = 0.5


CHARACTERS: Final = (
    Character("keen", 6, visits=5, answers=0.8),
    Character("steady", 8, visits=2),
    Character("forgetful", 4, visits=1, skips=0.6, answers=0.3),
    Character("on vacation", 3, visits=3, away=(8, 7), says_so=True),
    Character("away without a word", 2, visits=3, away=(12, 5)),
    Character("vacation by itself", 2, visits=2, away=(10, 4), automatic=True),
    Character("gives up", 2, visits=3, resigns=0.01),
    Character("never seen again", 1, visits=3, gone=9),
)


@dataclass(slots=True)
class Person:
    """A person with an account."""

    user: User
    character: Character
    zone: ZoneInfo
    sleeps: bool
    """Whether this person has set quiet hours."""

    def awake(self, now: datetime) -> bool:
        local = now.astimezone(self.zone).time()
        return RISE <= local < BED

    def present(self, now: datetime, start: datetime) -> bool:
        """Return True if this person can visit: awake, not on a journey, and not gone."""
        day, character = (now - start).days, self.character
        if character.gone is not None and day >= character.gone:
            return False
        if character.away is not None and character.away[0] <= day < sum(character.away):
            return False
        return self.awake(now)

    def visits_of_day(self, day: datetime, rng: random.Random) -> list[datetime]:
        """Return the times of this person's visits on the next local day after `day`."""
        morning = datetime.combine(day.astimezone(self.zone).date(), RISE, self.zone)
        waking = (datetime.combine(morning.date(), BED, self.zone) - morning).total_seconds()
        times = [morning + timedelta(seconds=rng.uniform(0, waking)) for _ in range(self.character.visits)]
        return [at for at in times if rng.random() >= self.character.skips]
