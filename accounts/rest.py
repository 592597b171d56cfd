"""When somebody's clock does not run: vacation, and quiet hours in their own time zone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

LONGEST_QUIET: Final = timedelta(hours=12)
"""Quiet hours last no longer, and move the deadline of one turn by no more in all."""

SET_BEFORE: Final = timedelta(days=1)
"""So long before the deadline of a turn that runs quiet hours must be set to move it."""


def quiet_length(start: time, end: time) -> timedelta:
    """How long the quiet hours from `start` to `end` last; equal ends are the whole day."""
    length = datetime.combine(date.min, end) - datetime.combine(date.min, start)
    return length if length > timedelta() else length + timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Rest:
    """One person's vacation and quiet hours.

    The vacation may lie in the past. With `auto_vacation` a day of vacation is taken instead of a miss. `quiet_since`
    is when the quiet hours, or the zone that they are in, were changed last.
    """

    zone: str
    quiet_from: time | None
    quiet_to: time | None
    vacation_from: datetime | None
    vacation_until: datetime | None
    auto_vacation: bool = False
    quiet_since: datetime | None = None

    def on_vacation(self, now: datetime) -> bool:
        """Whether this person is on vacation."""
        return self.vacation_until is not None and self.vacation_until > now

    def resumes_at(self, now: datetime) -> datetime:
        """When this person's clocks run: now, or when the vacation ends."""
        return max(now, self.vacation_until) if self.vacation_until is not None else now

    def quiet_end(self, moment: datetime) -> datetime:
        """The end of the quiet hours that `moment` falls in; the moment itself if it falls in none.

        A time that the clocks skip in spring is read as an hour later, one that comes twice as its first.
        """
        if self.quiet_from is None or self.quiet_to is None:
            return moment
        zone = ZoneInfo(self.zone)
        today = moment.astimezone(zone).date()
        for day in (today - timedelta(days=1), today):
            start = _instant(day, self.quiet_from, zone)
            end = _instant(day + timedelta(days=self.quiet_to <= self.quiet_from), self.quiet_to, zone)
            if start <= moment < end:
                return end
        return moment

    def out_of_quiet_hours(self, deadline: datetime, *, turn_since: datetime | None) -> datetime:
        """The deadline of a turn that has run since `turn_since`, moved out of the quiet hours.

        Hours that were changed during the turn move it only if it lies `SET_BEFORE` after the change, or more: they are
        for sleeping, not for one more evening to think.
        """
        changed = self.quiet_since
        if changed is None or (turn_since is not None and turn_since >= changed) or deadline >= changed + SET_BEFORE:
            return self.quiet_end(deadline)
        return deadline


def _instant(day: date, at: time, zone: ZoneInfo) -> datetime:
    return datetime.combine(day, at, zone).astimezone(UTC)
