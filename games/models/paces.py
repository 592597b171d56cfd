"""Paces: how much time the turns of a table have. All times are in seconds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from common.readers_language import say
from common.say import N_

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
CUSTOM: Final = "custom"


@dataclass(frozen=True, slots=True)
class Pace:
    """The time control of a table, in seconds. `about` says what it is for, and is empty for a custom pace.

    A seat starts with `bank`, gains `increment` at the start of each turn, and never has more than `cap`. `callout` is
    how long a hand of one card can be caught (CLOCK-2), if the next turn does not end it earlier.
    """

    name: str
    label: str
    about: str
    bank: int
    increment: int
    cap: int
    callout: int

    def turn_seconds(self, bank: int) -> int:
        """Return the seconds for a turn of a seat that has `bank` seconds saved."""
        return min(bank + self.increment, self.cap)

    @property
    def help(self) -> str:
        """What time the turns have, in words."""
        first = self.turn_seconds(self.bank)
        if not self.bank and first == self.cap:
            return say.text("pace", "{time} for each turn", time=span(self.cap))
        return say.text(
            "pace",
            "{bank} at the start, {increment} added per turn ({first} for the first), at most {cap}",
            bank=span(self.bank),
            increment=span(self.increment),
            first=span(first),
            cap=span(self.cap),
        )

    @property
    def live(self) -> bool:
        """True if no turn is longer than an hour, so that players stay at the table.

        There are no reminders at such a table, and vacations and quiet hours do not move its deadlines.
        """
        return self.cap <= HOUR

    @property
    def races(self) -> bool:
        """True if players race: they play cards out of turn and press buzzers, and who is first wins (RUN-2, INT-1).

        At the other paces players are not at the table together. Nobody plays out of turn there, a straight is sent in
        one piece, and buzzers are drawn by lot.
        """
        return self.live


PACES: Final[dict[str, Pace]] = {
    pace.name: pace
    for pace in (
        Pace("live", N_("Live"), N_("everyone stays at the table"), 0, 60, 60, 8),
        Pace(
            "fast",
            N_("Fast"),
            N_("a turn or more a day"),
            12 * HOUR,
            6 * HOUR,
            24 * HOUR,
            12 * HOUR,
        ),
        Pace(
            "standard",
            N_("Standard"),
            N_("about a turn a day"),
            24 * HOUR,
            24 * HOUR,
            72 * HOUR,
            24 * HOUR,
        ),
        Pace(
            "slow",
            N_("Slow"),
            N_("a turn every few days"),
            72 * HOUR,
            48 * HOUR,
            168 * HOUR,
            72 * HOUR,
        ),
    )
}

LIMITS: Final[dict[str, tuple[int, int]]] = {
    "bank": (0, 30 * DAY),
    "increment": (10, 14 * DAY),
    "cap": (10, 60 * DAY),
    "callout": (5, 14 * DAY),
}
"""The lowest and the highest value of each number of a custom pace."""


def span(seconds: int) -> str:
    """Return a length of time in the largest unit that is exact: `90 s`, `2 h`, `3 days`."""
    for size, one, many in _SPANS:
        if seconds and seconds % size == 0:
            return say.plural("time", one, many, seconds // size)
    return say.text("time", "{n} s", n=seconds)


_SPANS: Final = (
    (DAY, N_("{n} day"), N_("{n} days")),
    (HOUR, N_("{n} h"), N_("{n} h")),
    (MINUTE, N_("{n} min"), N_("{n} min")),
)


_SPAN: Final = re.compile(r"(\d{1,7})\s*(s|sec|seconds?|min|minutes?|h|hours?|d|days?)")
_UNITS: Final = {"s": 1, "m": MINUTE, "h": HOUR, "d": DAY}


def seconds_of(text: str) -> int:
    """Return the seconds of a text like `90 s`, `10 min`, `2 h` or `3 days`.

    :raises ValueError: with a sentence for people that shows the form.
    """
    found = _SPAN.fullmatch(text.strip().lower())
    if found is None:
        raise ValueError(say.text("error", "Write a number and a unit: 90 s, 10 min, 2 h or 3 days."))
    return int(found[1]) * _UNITS[found[2][0]]


def custom_pace(numbers: Mapping[str, object]) -> Pace:
    """Return the custom pace with these numbers, which must be the four of `LIMITS`.

    :raises ValueError: with a sentence for people that says what to change.
    """
    if set(numbers) != set(LIMITS):
        raise ValueError(f"A custom pace has the numbers {', '.join(LIMITS)}, in seconds.")
    values: dict[str, int] = {}
    for name, (low, high) in LIMITS.items():
        value = numbers[name]
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"The {name} of a pace must be {span(low)} to {span(high)}.")
        values[name] = value
    if values["cap"] < max(values["bank"], values["increment"]):
        raise ValueError("The cap of a pace cannot be less than its bank or its increment.")
    if values["callout"] > values["cap"]:
        raise ValueError("The callout time of a pace cannot be more than its cap.")
    return Pace(CUSTOM, N_("Custom"), "", **values)


def pace_named(name: str, numbers: Mapping[str, object] | None) -> Pace:
    """Return the pace of a table: a preset, or `custom` with its `numbers`.

    :raises KeyError: if there is no such preset.
    """
    return custom_pace(numbers) if name == CUSTOM and numbers is not None else PACES[name]
