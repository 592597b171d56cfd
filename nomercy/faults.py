"""A log filter: the beginning of an outage of PostgreSQL or Redis is one line of each process, and its end another.

Our own events about an outage say so by their value `away`, and those that end one by `back`: the name of the service.
The latter are logged only then. Temporary faults have no traceback.

`settings.LOGGING` names it by its path, because it needs Django models, which the settings must not import.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from typing import Final

import redis
from kombu.exceptions import OperationalError as BrokerError

from games import refusals
from nomercy.log_throttle import LONGEST_MESSAGE, error_of, shortened

OVER_AFTER: Final = 60.0
"""Seconds without such a record after which the next one belongs to another outage. Celery retries every 32 s."""
SHORTEST: Final = 1.0
"""Seconds that an outage lasts at least. While some connections fail and others do not, there is one line a second."""
REDIS_ERRORS: Final = (redis.ConnectionError, redis.TimeoutError, BrokerError)
CELERYS_LINES: Final = (
    "consumer: Cannot connect to",
    "consumer: Connection to broker lost",
    "beat: Connection error",
    "Error on restarting",  # of a step that needs the connection
)
"""How Celery's lines about a lost broker begin that have no exception, or another one."""
# Celery turns filters of its warnings off, so this one, of seven lines at each lost connection, is dropped here.
CELERYS_WARNING: Final = "worker_cancel_long_running_tasks_on_connection_loss"


class OutageFilter(logging.Filter):
    """Drops all but the first record of an outage, and shortens that one. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        self._last: dict[str, float] = {}
        self._since: dict[str, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False to drop the record."""
        if isinstance(record.msg, dict) and "back" in record.msg:
            seconds = self._end(record.msg["back"])
            record.msg["away_for"] = seconds
            return seconds is not None
        error = error_of(record)
        away = what_is_away(record, error)
        if away is None:
            if error is not None and refusals.is_temporary(error):
                _remove_traceback(record, error)
            return True
        if not self._begins(away):
            return False
        if isinstance(record.msg, dict):
            record.msg["away"] = away
        else:
            first_line = record.getMessage().partition("\n")[0]
            record.msg, record.args = f"{away} is away: {shortened(first_line, LONGEST_MESSAGE)}", None
        _remove_traceback(record, error)
        return True

    def _begins(self, away: str) -> bool:
        """Return True if this is the first record of an outage, and note when it came."""
        now = self._clock()
        with self._lock:
            last = self._last.get(away)
            self._last[away] = now
            begins = last is None or now - last >= OVER_AFTER
            if begins:
                self._since[away] = now
        return begins

    def _end(self, away: str) -> int | None:
        """End the outage of this service. Return how many seconds it has lasted, or None if there is none to end."""
        now = self._clock()
        with self._lock:
            since = self._since.get(away)
            if since is None or now - since < SHORTEST:
                return None
            del self._since[away], self._last[away]
        return round(now - since)


def what_is_away(record: logging.LogRecord, error: BaseException | None) -> str | None:
    """Return the service whose outage this record is about, or None. `error` is the record's exception."""
    if isinstance(record.msg, dict) and "away" in record.msg:
        return str(record.msg["away"])
    if error is not None and all(refusals.lost_the_database(one) for one in _members(error)):
        return "PostgreSQL"
    if error is not None and all(refusals.does_not_fit(one) for one in _members(error)):
        return "the schema of this release"
    if record.name == "py.warnings" and CELERYS_WARNING in record.getMessage():
        return "Redis"
    if not record.name.startswith(("celery", "kombu")):
        return None
    if any(isinstance(one, REDIS_ERRORS) for one in _causes(error)) or record.getMessage().startswith(CELERYS_LINES):
        return "Redis"
    return None


def _remove_traceback(record: logging.LogRecord, error: BaseException | None) -> None:
    record.exc_info = record.exc_text = None
    if isinstance(record.msg, dict) and error is not None:
        first = next(_members(error))
        record.msg["exc_info"], record.msg["error"] = None, type(first.__cause__ or first).__name__


def _members(error: BaseException) -> Iterator[BaseException]:
    """Yield the errors of a group and of groups in it, or the error itself."""
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _members(one)
    else:
        yield error


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield the error and what it was raised from, up to the first."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
