"""Logging: one line for each event, ours and the libraries', with the id of the request.

No event contains a card, a seed or a token. Requests are logged by route, because paths can hold tokens.
"""

import logging
from typing import Any, Final

import structlog

import nomercy
from nomercy.storms import SECURITY

QUIET = {
    # Refusals are ordinary, and their messages repeat paths that may hold reset keys. Errors keep their traceback.
    "django.request": "ERROR",
    "django.security": "ERROR",
    "celery": "WARNING",
    "celery.worker.control": "ERROR",  # the embedded worker is stopped by remote control
    "kombu": "WARNING",
    "asyncio": "WARNING",
    "urllib3": "ERROR",  # it logs each retry of an error report; nomercy.error_reports logs if one does not arrive
    "channels_redis.pubsub": "CRITICAL",  # a traceback a second while Redis is down; the poller of the sockets says so
    "uvicorn": "WARNING",
    "uvicorn.error": "WARNING",  # lower levels repeat addresses and paths
    "uvicorn.access": "WARNING",
    "gunicorn.error": "WARNING",
}
LONGEST_VALUE: Final = 1_000
"""How many characters of a value are logged."""
LONGEST_TRACEBACK: Final = 20_000
"""How many characters of a traceback are logged."""
LONGEST_REFUSAL: Final = 150
"""How many characters of Django's message about a suspicious request are logged. It can repeat the Host header."""
FILTERS = ["refusals", "faults", "storms"]
NO_HANDSHAKE = "ASGI callable returned without completing handshake."
SERVERS = ("uvicorn", "uvicorn.error", "uvicorn.access", "gunicorn.error")


def as_a_refusal(record: logging.LogRecord) -> bool:
    """Log errors that any client can cause as warnings. A filter of the handler that drops nothing."""
    # Django logs suspicious requests, such as a forged Host, with a traceback and the whole Host. uvicorn logs an error
    # for each websocket that is answered with a page; if the fault is ours, it has already logged the exception.
    if record.name == "uvicorn.error" and record.msg == NO_HANDSHAKE:
        record.msg = "A websocket was refused."
    elif record.name.startswith(SECURITY):
        record.msg, record.args = shortened(record.getMessage(), LONGEST_REFUSAL), None
    else:
        return True
    record.exc_info, record.levelno, record.levelname = None, logging.WARNING, "WARNING"
    return True


def shortened(text: str, most: int) -> str:
    """Return the text, without its middle if it is longer than `most` characters."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} … ({len(text) - 2 * half} characters left out) … {text[-half:]}"


def shorten_values(log: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Shorten values that are too long, so that no client can fill the disk. A structlog processor."""
    for name, value in event.items():
        most = LONGEST_TRACEBACK if name in {"exception", "stack"} else LONGEST_VALUE
        text = value if isinstance(value, str) else repr(value)
        if len(text) > most:
            event[name] = shortened(text, most)
    return event


def log_start(process: str, **details: object) -> None:
    """Log that this process has started, with its version. `process` is its name in docs/operations.md."""
    structlog.get_logger("nomercy").info("started", process=process, version=nomercy.__version__, **details)


def final_processors(form: str) -> list[structlog.typing.Processor]:
    """Return the structlog processors that render an event. `form` is `json` or `console`."""
    # Plain tracebacks: rich ones print the local variables of every frame.
    steps: list[structlog.typing.Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        shorten_values,
    ]
    if form == "json":
        return [*steps, structlog.processors.JSONRenderer()]
    plain = structlog.dev.plain_traceback
    return [*steps, structlog.dev.ConsoleRenderer(colors=False, exception_formatter=plain)]


def logging_settings(*, form: str, level: str, reports: bool) -> dict[str, Any]:
    """Configure structlog, and return the LOGGING setting with which all other loggers write the same lines.

    With `reports` errors are also sent to Sentry.
    """
    shared: list[structlog.typing.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    handler = "nomercy.error_reports.ReportingHandler" if reports else "logging.StreamHandler"
    formatter = {
        "()": structlog.stdlib.ProcessorFormatter,
        "foreign_pre_chain": shared,
        "processors": final_processors(form),
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": formatter},
        "filters": {
            "refusals": {"()": lambda: as_a_refusal},
            "faults": {"()": "nomercy.faults.OutageFilter"},
            "storms": {"()": "nomercy.storms.StormFilter"},
        },
        "handlers": {"stderr": {"class": handler, "formatter": "lines", "filters": FILTERS}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            **{name: {"level": quiet} for name, quiet in QUIET.items()},
            "nomercy": {"level": level},  # Celery's commands set the root to WARNING
            # Without the servers' own handlers, so that their lines are like all others.
            **{name: {"level": QUIET.get(name, level), "handlers": [], "propagate": True} for name in SERVERS},
        },
    }
