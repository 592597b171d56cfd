"""Says in the log of a process without a worker that the clocks do not act: a worker that is dead cannot."""

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

PATIENCE: Final = 30.0
"""Seconds that the trouble must have lasted in the eyes of this process: a site that starts is not in trouble."""
EVERY: Final = 300.0
"""It is said again no sooner than after so many seconds."""
FORGETS: Final = 3 * PATIENCE
"""Seconds without a look after which the trouble of then is another one: longer than an alarm's minute."""


def check() -> str:
    """What is wrong with the sweep, or nothing. Two queries. What lasts is logged, and that games' clocks fail, too."""
    found = backlog.trouble(database_time(), grace=timedelta(seconds=settings.SWEEP_GRACE_SECONDS))
    at = time.monotonic()
    _sweep.note(found.sweep, at=at)
    _games.note(found.failing, at=at)
    return found.sweep


@dataclass(slots=True)
class _Alarm:
    """Says `event` in the log, with what is wrong under the name `what`."""

    event: str
    what: str
    since: float | None = None
    looked: float | None = None
    said: float | None = None

    def note(self, wrong: str | int, *, at: float) -> None:
        if not wrong or (self.looked is not None and at - self.looked > FORGETS):
            self.since = self.said = None
        self.looked = at
        if not wrong:
            return
        self.since = at if self.since is None else self.since
        if at - self.since >= PATIENCE and (self.said is None or at - self.said >= EVERY):
            self.said = at
            log.error(self.event, **{self.what: wrong}, seconds=round(at - self.since))


_sweep: Final = _Alarm("the clocks do not act", "sweep")
_games: Final = _Alarm("games' clocks fail", "games")
