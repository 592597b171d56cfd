"""Sends errors to Sentry, or to another service that takes its format, where `SENTRY_DSN` is set.

A report has types, modules, files and lines, the constant text of the log line, the route and the release. It has no
local variable, no message of an exception (PostgreSQL's repeat rows), no breadcrumb (they hold SQL) and no user. So
`sentry_sdk` is hooked into nothing: the log reports what its filters leave.
"""

from __future__ import annotations

import logging
from typing import Final
from urllib.parse import urlsplit

import sentry_sdk
import structlog
from django.conf import settings
from sentry_sdk.integrations.atexit import AtexitIntegration
from sentry_sdk.transport import HttpTransport, Transport
from sentry_sdk.types import Event, Hint
from sentry_sdk.utils import event_from_exception

import nomercy
from nomercy.log_throttle import OnceAMinute, error_of, kind_of, text_of, warn

KEPT: Final = (
    "event_id", "exception", "level", "logentry", "logger", "platform", "release", "sdk", "server_name", "tags",
    "timestamp", "transaction",
)  # fmt: skip
"""The parts of a report that are sent."""
KEPT_OF_AN_EXCEPTION: Final = frozenset({"type", "module", "stacktrace"})
log = structlog.get_logger(__name__)


class Sender(HttpTransport):
    """Sends reports, and logs at most once a minute that one did not arrive, for example because of a wrong key.

    `sentry_sdk` itself logs nothing then.
    """

    def on_dropped_event(self, _reason: str) -> None:
        """Log the reason: `network`, or `status_` and a number."""
        warn(log, "an error report was not accepted", reason=_reason)


def start(transport: type[Transport] = Sender) -> None:
    """Let this process send reports."""
    sentry_sdk.init(
        dsn=settings.SENTRY_DSN,
        transport=transport,
        release=nomercy.__version__,
        server_name=urlsplit(settings.SITE_URL).hostname,
        default_integrations=False,
        auto_enabling_integrations=False,
        integrations=[AtexitIntegration(callback=lambda pending, timeout: None)],
        include_local_variables=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        send_client_reports=False,
        auto_session_tracking=False,
        before_send=without_values,
    )


def without_values(event: Event, _: Hint) -> Event:
    """Return the parts of a report that hold nothing of people."""
    for exception in event.get("exception", {}).get("values", ()):
        for name in exception.keys() - KEPT_OF_AN_EXCEPTION:
            del exception[name]
    return {name: event[name] for name in KEPT if name in event}  # type: ignore[return-value]


class ReportingHandler(logging.StreamHandler):  # type: ignore[type-arg]  # generic for mypy alone
    """Writes lines like its base class, and reports errors that have a traceback: one a minute of each kind.

    The filters of the log have removed the tracebacks of outages and of what any client can cause.
    """

    def __init__(self) -> None:
        super().__init__()
        self._once = OnceAMinute()

    def emit(self, record: logging.LogRecord) -> None:
        super().emit(record)
        error = error_of(record)
        if record.levelno < logging.ERROR or error is None:
            return
        try:
            if self._once.left_out(kind_of(record)) is not None:
                sentry_sdk.capture_event(report(record, error))
        except Exception:  # noqa: BLE001  # as every handler: what is wrong with the log stops no request
            self.handleError(record)


def report(record: logging.LogRecord, error: BaseException) -> Event:
    """Return the report of an error, with the ids by which the log has more."""
    event, _ = event_from_exception(error, sentry_sdk.get_client().options)
    known = structlog.contextvars.get_contextvars()
    event["logger"], event["logentry"] = record.name, {"message": text_of(record)}
    event["tags"] = {name: str(known[name]) for name in ("request_id", "task_id", "task") if name in known}
    match = getattr(getattr(record, "request", None), "resolver_match", None)
    if match is not None:
        event["transaction"] = match.route
    return event
