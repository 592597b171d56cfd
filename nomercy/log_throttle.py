"""Limit how often, and how much, the log says about what any client can cause thousands of times a minute.

Of similar records one a minute is logged, with the number of records left out since the last one.
"""

import logging
import sys
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, Final

SECONDS: Final = 60.0
KINDS: Final = 1_000
"""How many kinds of records are remembered. When there are more, all are forgotten."""
LOGGERS: Final = ("asyncio", "uvicorn.error")
"""The loggers of libraries whose records come from connections."""
SECURITY: Final = "django.security."
"""The prefix of Django's loggers of suspicious requests. Each kind of refusal has its own logger."""
NO_HANDSHAKE: Final = "ASGI callable returned without completing handshake."
LONGEST_MESSAGE: Final = 150
"""How many characters of a library's message about a refusal or an outage are logged. It can repeat the Host header."""


class OnceAMinute:
    """Decides which records are logged. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._seen: dict[Hashable, tuple[float, int]] = {}

    def left_out(self, kind: Hashable) -> int | None:
        """Count a record. Return None if it is left out, else how many of its kind were left out before it."""
        now = self._clock()
        with self._lock:
            next_at, number = self._seen.get(kind, (now, 0))
            if now < next_at:
                self._seen[kind] = next_at, number + 1
                return None
            if len(self._seen) >= KINDS:
                self.forget()
            self._seen[kind] = now + SECONDS, 0
            return number

    def forget(self) -> None:
        """Forget all records, so that the next one of each kind is logged."""
        self._seen.clear()


class ThrottleFilter(logging.Filter):
    """A log filter that limits records of `LOGGERS` and of suspicious requests to one a minute of each kind.

    Of these, errors that any client can cause become short warnings without a traceback.
    """

    def __init__(self, once: OnceAMinute | None = None) -> None:
        super().__init__()
        self._once = once or OnceAMinute()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return False to drop the record."""
        is_suspicious = record.name.startswith(SECURITY)
        if record.name not in LOGGERS and not is_suspicious:
            return True
        # uvicorn logs an error for each websocket that is answered with a page. If the fault is ours, it has already
        # logged the exception.
        if record.msg == NO_HANDSHAKE or is_suspicious:
            text = "A websocket was refused." if record.msg == NO_HANDSHAKE else record.getMessage()
            record.msg, record.args, record.exc_info = shortened(text, LONGEST_MESSAGE), None, None
            record.levelno, record.levelname = logging.WARNING, "WARNING"
        left_out = self._once.left_out(kind_of(record))
        if left_out:
            record.msg = f"{record.msg} ({left_out} more like this were not logged)"
        return left_out is not None


def kind_of(record: logging.LogRecord) -> Hashable:
    """Return what similar records share: the message without details, and where its exception was raised."""
    if record.name.startswith(SECURITY):  # the message repeats what the client sent
        return record.name
    error = error_of(record)
    trace = error.__traceback__ if error else None
    while trace and trace.tb_next:
        trace = trace.tb_next
    where = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace else None
    # Only the first line: the others of an asyncio message name the connection.
    return record.name, text_of(record).partition("\n")[0], type(error), where


def text_of(record: logging.LogRecord) -> str:
    """Return the constant text of a record, also of a line of structlog, without its values."""
    return str(record.msg.get("event") if isinstance(record.msg, dict) else record.msg)


def error_of(record: logging.LogRecord) -> BaseException | None:
    """Return the exception of a record, also of a line of structlog, or None."""
    given = record.msg.get("exc_info") if isinstance(record.msg, dict) else record.exc_info
    if given is True:
        return sys.exc_info()[1]
    return given[1] if isinstance(given, tuple) else given if isinstance(given, BaseException) else None


def shortened(text: str, most: int) -> str:
    """Return the text, without its middle if it is longer than `most` characters."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} … ({len(text) - 2 * half} characters left out) … {text[-half:]}"


OF_THIS_PROCESS: Final = OnceAMinute()


def warn(log: Any, event: str, *, once: OnceAMinute = OF_THIS_PROCESS, **details: Any) -> None:
    """Log a warning to this structlog logger, unless the same one was logged within a minute."""
    left_out = once.left_out((event, *details.items()))
    if left_out is not None:
        log.warning(event, **details, left_out=left_out)
