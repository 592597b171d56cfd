"""Sends errors to Sentry, or to another service that takes its format, where `SENTRY_DSN` is set.

A report is made here from the traceback, so that nothing else gets into it: no local variable, no message of an
exception (PostgreSQL's repeat rows), nothing of the request, no user and no name of this machine. Nothing of
`sentry_sdk` is hooked into Django or Celery; only its client is used.
"""

from __future__ import annotations

import atexit
import linecache
import logging
import sys
from functools import cache
from types import TracebackType
from typing import Any, Final
from urllib.parse import urlsplit

import structlog
from django.conf import settings
from sentry_sdk import Client
from sentry_sdk.transport import HttpTransport, Transport
from sentry_sdk.types import Event

import nomercy
from nomercy.storms import OnceAMinute, warn

MOST_FRAMES: Final = 100
FLUSH_SECONDS: Final = 2.0
log = structlog.get_logger(__name__)


class Sender(HttpTransport):
    """Sends reports, and logs at most once a minute that one did not arrive, for example because of a wrong key.

    `sentry_sdk` itself logs nothing then.
    """

    def on_dropped_event(self, _reason: str) -> None:
        """Log the reason: `network`, or `status_` and a number."""
        warn(log, "an error report was not accepted", reason=_reason)


class ReportingHandler(logging.StreamHandler):  # type: ignore[type-arg]  # generic for mypy alone
    """Writes lines like its base class, and reports errors that have a traceback: one a minute of each kind.

    The filters of the log have removed the tracebacks of outages and of what any client can cause.
    """

    def __init__(self) -> None:
        super().__init__()
        self.once = OnceAMinute()

    def emit(self, record: logging.LogRecord) -> None:
        super().emit(record)
        error = _error_of(record)
        if record.levelno < logging.ERROR or error is None:
            return
        try:
            if self.once.left_out((record.name, _said(record), type(error), _place(error))) is not None:
                client().capture_event(report(record, error))
        except Exception:  # noqa: BLE001  # as every handler: what is wrong with the log stops no request
            self.handleError(record)


@cache
def client(transport: type[Transport] = Sender) -> Client:
    """Return the client of this process, which sends from a thread of its own."""
    made = Client(
        dsn=settings.SENTRY_DSN,
        transport=transport,
        release=nomercy.__version__,
        server_name=urlsplit(settings.SITE_URL).hostname,
        default_integrations=False,
        auto_enabling_integrations=False,
        include_local_variables=False,
        max_request_body_size="never",
        send_client_reports=False,
        auto_session_tracking=False,
        max_breadcrumbs=0,
    )
    atexit.register(made.close, FLUSH_SECONDS)
    return made


def report(record: logging.LogRecord, error: BaseException) -> Event:
    """Return the report of an error: its types, where it was raised, and the id with which the log has more."""
    known = structlog.contextvars.get_contextvars()
    return {
        "level": "error",
        "logger": record.name,
        "logentry": {"message": _said(record)},
        "exception": {"values": [_exception(one) for one in _chain(error)]},
        "tags": {name: str(known[name]) for name in ("request_id", "task_id", "task") if name in known},
    }


def _said(record: logging.LogRecord) -> str:
    """Return the constant text of a line, without its values."""
    return str(record.msg.get("event") if isinstance(record.msg, dict) else record.msg)


def _error_of(record: logging.LogRecord) -> BaseException | None:
    given = record.msg.get("exc_info") if isinstance(record.msg, dict) else record.exc_info
    if given is True:
        return sys.exc_info()[1]
    return given[1] if isinstance(given, tuple) else given if isinstance(given, BaseException) else None


def _chain(error: BaseException) -> list[BaseException]:
    """Return what led to this error, and the error itself at the end."""
    found: list[BaseException] = []
    current: BaseException | None = error
    while current is not None and current not in found:
        found.append(current)
        current = current.__cause__ or (None if current.__suppress_context__ else current.__context__)
    return found[::-1]


def _exception(error: BaseException) -> dict[str, Any]:
    kind = type(error)
    return {
        "type": kind.__qualname__,
        "module": kind.__module__,
        "stacktrace": {"frames": _frames(error.__traceback__)},
    }


def _frames(trace: TracebackType | None) -> list[dict[str, Any]]:
    frames: list[dict[str, Any]] = []
    while trace is not None:
        code, line = trace.tb_frame.f_code, trace.tb_lineno
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        frames.append(
            {
                "module": module,
                "filename": code.co_filename,
                "function": code.co_name,
                "lineno": line,
                "context_line": linecache.getline(code.co_filename, line).rstrip("\n"),
                "in_app": module.partition(".")[0] in ("accounts", "common", "games", "nomercy"),
            }
        )
        trace = trace.tb_next
    return frames[-MOST_FRAMES:]


def _place(error: BaseException) -> tuple[str, int] | None:
    """Return where an error was raised."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    return None if last is None else (last.tb_frame.f_code.co_filename, last.tb_lineno)
