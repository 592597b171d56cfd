"""How much time a turn has: the pace presets and custom paces, in seconds."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

MINUTE: Final = 60
HOUR: Final = 60 * MINUTE
DAY: Final = 24 * HOUR
CUSTOM: Final = "custom"


@dataclass(frozen=True, slots=True)
class Pace:
    """A seat starts with `bank` seconds, gains `increment` at the start of each turn, and never has more than `cap`.

    `callout` is how long a hand of one card can be caught (CLOCK-2); it ends with the next turn in any case.
    """

    name: str
    label: str
    help: str
    bank: int
    increment: int
    cap: int
    callout: int

    def turn_seconds(self, bank: int) -> int:
        """Time for a turn that starts with `bank` seconds saved."""
        return min(bank + self.increment, self.cap)

    @property
    def live(self) -> bool:
        """Whether everybody sits at the table: no turn lasts longer than an hour.

        Nobody is reminded at such a table, and neither vacations nor quiet hours move its deadlines.
        """
        return self.cap <= HOUR


PACES: Final[dict[str, Pace]] = {
    pace.name: pace
    for pace in (
        Pace("live", "Live", "60 seconds a turn, everyone at the table", 0, 60, 60, 8),
        Pace(
            "fast",
            "Fast",
            "a turn or more a day: 12 h to begin with, 6 h more each turn (18 h for the first), never more than 24 h",
            12 * HOUR,
            6 * HOUR,
            24 * HOUR,
            12 * HOUR,
        ),
        Pace(
            "standard",
            "Standard",
            "about a turn a day: 24 h to begin with, 24 h more each turn (48 h for the first), never more than 72 h",
            24 * HOUR,
            24 * HOUR,
            72 * HOUR,
            24 * HOUR,
        ),
        Pace(
            "slow",
            "Slow",
            "when you have a minute: 72 h to begin with, 48 h more each turn (120 h for the first), never more than"
            " 168 h",
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
"""The least and the most of each number of a custom pace."""


def span(seconds: int) -> str:
    """A length of time in the largest unit that says it exactly: `90 s`, `2 h`, `3 days`."""
    for size, one, many in ((DAY, "day", "days"), (HOUR, "h", "h"), (MINUTE, "min", "min")):
        if seconds and seconds % size == 0:
            count = seconds // size
            return f"{count} {one if count == 1 else many}"
    return f"{seconds} s"


_SPAN: Final = re.compile(r"(\d{1,7})\s*(s|sec|seconds?|min|minutes?|h|hours?|d|days?)")
_UNITS: Final = {"s": 1, "m": MINUTE, "h": HOUR, "d": DAY}


def seconds_of(text: str) -> int:
    """The seconds that `90 s`, `10 min`, `2 h` or `3 days` says; `span` the other way round.

    :raises ValueError: with a sentence that says how it is written.
    """
    found = _SPAN.fullmatch(text.strip().lower())
    if found is None:
        raise ValueError("Write a number and a unit: 90 s, 10 min, 2 h or 3 days.")
    return int(found[1]) * _UNITS[found[2][0]]


def custom_pace(numbers: Mapping[str, object]) -> Pace:
    """The pace with these four numbers.

    :raises ValueError: with a sentence that says what to change.
    """
    if set(numbers) != set(LIMITS):
        raise ValueError(f"A custom pace has the numbers {', '.join(LIMITS)}, in seconds.")
    values: dict[str, int] = {}
    for name, (low, high) in LIMITS.items():
        value = numbers[name]
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise ValueError(f"The {name} of a pace is {span(low)} to {span(high)}.")
        values[name] = value
    if values["cap"] < max(values["bank"], values["increment"]):
        raise ValueError("The cap of a pace cannot be less than its bank or its increment.")
    if values["callout"] > values["cap"]:
        raise ValueError("The callout time of a pace cannot be more than its cap.")
    first = span(min(values["bank"] + values["increment"], values["cap"]))
    told = f"{span(values['bank'])} to begin with, {span(values['increment'])} more each turn ({first} for the first)"
    return Pace(CUSTOM, "Custom", f"{told}, never more than {span(values['cap'])}", **values)


def pace_named(name: str, numbers: Mapping[str, object] | None) -> Pace:
    """The pace of a table: a preset, or `custom` with its `numbers`."""
    return custom_pace(numbers) if name == CUSTOM and numbers is not None else PACES[name]
