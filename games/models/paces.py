"""How much time a turn has: the pace presets, in seconds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

HOUR: Final = 3600


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


PACES: Final[dict[str, Pace]] = {
    pace.name: pace
    for pace in (
        Pace("live", "Live", "60 seconds a turn, everyone at the table", 0, 60, 60, 8),
        Pace(
            "fast", "Fast", "a turn or more a day: 12 h, 6 h more each turn", 12 * HOUR, 6 * HOUR, 24 * HOUR, 12 * HOUR
        ),
        Pace(
            "standard",
            "Standard",
            "a turn a day: 24 h each turn, up to 72 h saved",
            24 * HOUR,
            24 * HOUR,
            72 * HOUR,
            24 * HOUR,
        ),
        Pace(
            "slow",
            "Slow",
            "when you have a minute: 72 h, 48 h more each turn",
            72 * HOUR,
            48 * HOUR,
            168 * HOUR,
            72 * HOUR,
        ),
    )
}
