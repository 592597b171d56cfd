"""When a person's clocks do not run: vacation, and quiet hours in their time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

LONGEST_QUIET: Final = timedelta(hours=12)
"""Quiet hours cannot be longer, and together cannot move the deadline of one turn further."""

SET_BEFORE: Final = timedelta(days=1)
"""Quiet hours that are set during a turn move its deadline only if it is at least this far away."""


def quiet_length(start: time, end: time) -> timedelta:
    """Return how long the quiet hours from `start` to `end` last. Equal times mean the whole day."""
    length = datetime.combine(date.min, end) - datetime.combine(date.min, start)
    return length if length > timedelta() else length + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class TimeOff:
    """One person's vacation and quiet hours.

    The vacation may be in the past. `auto_vacation` takes a day of vacation instead of missing a turn. `quiet_since` is
    when the quiet hours or their time zone were last changed. `shows_sleep`: others may see when it is quiet.
    """

    zone: str
    quiet_from: time | None
    quiet_to: time | None
    vacation_from: datetime | None
    vacation_until: datetime | None
    auto_vacation: bool = False
    quiet_since: datetime | None = None
    shows_sleep: bool = False

    def on_vacation(self, now: datetime) -> bool:
        """Return True if this person is on vacation."""
        return self.vacation_until is not None and self.vacation_until > now

    def resumes_at(self, now: datetime) -> datetime:
        """Return when this person's clocks run again: now, or when the vacation ends."""
        return max(now, self.vacation_until) if self.vacation_until is not None else now

    def quiet_end(self, moment: datetime) -> datetime:
        """Return the end of the quiet hours that `moment` is in, or `moment` itself if it is in none."""
        return self.quiet_hours_at(moment)[1]

    def quiet_hours_at(self, moment: datetime) -> tuple[datetime, datetime]:
        """Return the beginning and the end of the quiet hours that `moment` is in, both `moment` if it is in none.

        When daylight saving time starts, a skipped time counts as an hour later. When it ends, the first of two equal
        times counts.
        """
        if self.quiet_from is None or self.quiet_to is None:
            return moment, moment
        zone = ZoneInfo(self.zone)
        today = moment.astimezone(zone).date()
        for day in (today - timedelta(days=1), today):
            start = _instant(day, self.quiet_from, zone)
            end = _instant(day + timedelta(days=self.quiet_to <= self.quiet_from), self.quiet_to, zone)
            if start <= moment < end:
                return start, end
        return moment, moment

    def out_of_quiet_hours(self, deadline: datetime, *, turn_since: datetime | None) -> datetime:
        """Return the deadline of a turn that began at `turn_since`, moved to the end of the quiet hours it is in.

        Hours that were changed during the turn move it only if it is at least `SET_BEFORE` after the change.
        """
        # Otherwise people could set quiet hours just to get more time to think.
        changed = self.quiet_since
        if changed is None or (turn_since is not None and turn_since >= changed) or deadline >= changed + SET_BEFORE:
            return self.quiet_end(deadline)
        return deadline


def _instant(day: date, at: time, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, at, zone).astimezone(UTC)
