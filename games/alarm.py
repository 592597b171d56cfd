"""Logs from the web processes that the clocks do not act, because a dead worker cannot log it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog
from django.conf import settings

from games.models.rows import database_time
from games.queries import backlog

log = structlog.get_logger(__name__)

LOG_AFTER: Final = 30.0
"""Seconds for which this process must have seen the trouble before it logs it. A site that starts has none."""
LOG_AGAIN_AFTER: Final = 300.0
"""The least number of seconds between two log lines."""
FORGET_AFTER: Final = 3 * LOG_AFTER
"""After this many seconds without a check, trouble counts as new. Longer than the minute between two checks."""


@dataclass(slots=True)
class Alarm:
    """Logs `event` with the trouble in the field `field`.

    `since`, `checked_at` and `logged_at` are seconds of `time.monotonic`, or None.
    """

    event: str
    field: str
    since: float | None = None
    checked_at: float | None = None
    logged_at: float | None = None

    def note(self, trouble: str | int, *, at: float) -> None:
        if not trouble or (self.checked_at is not None and at - self.checked_at > FORGET_AFTER):
            self.since = self.logged_at = None
        self.checked_at = at
        if not trouble:
            return
        self.since = at if self.since is None else self.since
        if at - self.since >= LOG_AFTER and (self.logged_at is None or at - self.logged_at >= LOG_AGAIN_AFTER):
            self.logged_at = at
            log.error(self.event, **{self.field: trouble}, seconds=round(at - self.since))


OF_SWEEP: Final = Alarm("the clocks do not act", "sweep")
OF_GAMES: Final = Alarm("games' clocks fail", "games")


def check(*, sweep: Alarm = OF_SWEEP, games: Alarm = OF_GAMES, at: float | None = None) -> str:
    """Return what is wrong with the sweep, empty if nothing is. Runs at most three queries.

    Trouble that lasts is logged, and so are clocks of games that keep failing. `at` is the time in seconds, by default
    that of `time.monotonic`.
    """
    found = backlog.trouble(database_time(), grace=timedelta(seconds=settings.SWEEP_GRACE_SECONDS))
    at = time.monotonic() if at is None else at
    sweep.note(found.sweep, at=at)
    games.note(found.failing, at=at)
    return found.sweep
