"""Says in the log of a process without a worker that the clocks do not act: a worker that is dead cannot."""

from __future__ import annotations

import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import structlog
from django.conf import settings

from games.queries import backlog

log = structlog.get_logger(__name__)

PATIENCE: Final = 30.0
"""Seconds that the trouble must have lasted in the eyes of this process: a site that starts is not in trouble."""
EVERY: Final = 300.0
"""It is said again no sooner than after so many seconds."""


def look() -> str:
    """What is wrong with the clocks, or nothing. Two queries; it is said in the log if it lasts."""
    trouble = backlog.trouble(backlog.database_time(), grace=timedelta(seconds=settings.SWEEP_GRACE_SECONDS))
    _alarm.note(trouble, at=time.monotonic())
    return trouble


@dataclass(slots=True)
class _Alarm:
    since: float | None = None
    said: float | None = None

    def note(self, trouble: str, *, at: float) -> None:
        if not trouble:
            self.since = self.said = None
            return
        self.since = at if self.since is None else self.since
        if at - self.since >= PATIENCE and (self.said is None or at - self.said >= EVERY):
            self.said = at
            log.error("the clocks do not act", sweep=trouble, seconds=round(at - self.since))


_alarm: Final = _Alarm()
