"""Logs: one line an event through structlog, ours and the libraries' alike, with the request's id.

Nothing that could be a card, a seed or a token is ever put into an event: requests are logged by route, not by address.
"""

import logging
from typing import Any

import structlog

QUIET = {
    # Refusals are ordinary, and its messages repeat addresses that may hold reset keys; errors keep their traceback.
    "django.request": "ERROR",
    "django.security": "ERROR",
    "celery": "WARNING",
    "celery.worker.control": "ERROR",  # the embedded worker is stopped by remote control
    "kombu": "WARNING",
    "asyncio": "WARNING",
    "channels_redis.pubsub": "CRITICAL",  # a traceback a second while Redis is away; the watch of the sockets says so
    "uvicorn": "WARNING",
    "uvicorn.error": "WARNING",  # below that it repeats addresses
    "uvicorn.access": "WARNING",
}
FILTERS = ["refusals", "faults", "storms"]
NO_HANDSHAKE = "ASGI callable returned without completing handshake."
SERVERS = ("uvicorn", "uvicorn.error", "uvicorn.access")


def as_a_refusal(record: logging.LogRecord) -> bool:
    """Log what any client can cause as a warning, like other refusals. A filter of the handler; drops nothing.

    Django logs what it calls suspicious, such as a forged Host, with a traceback. uvicorn logs an error for each
    websocket that is answered with a page; where the fault is ours, it has logged the exception.
    """
    if record.name == "uvicorn.error" and record.msg == NO_HANDSHAKE:
        record.msg = "A websocket was refused."
    elif not record.name.startswith("django.security."):
        return True
    record.exc_info, record.levelno, record.levelname = None, logging.WARNING, "WARNING"
    return True


def logging_settings(*, form: str, level: str) -> dict[str, Any]:
    """Set structlog up, and answer Django's LOGGING so that the standard library's loggers end in the same lines."""
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
    ends: list[structlog.typing.Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if form == "json":
        ends += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    else:
        # The plain formatter: a rich one prints the local variables of every frame.
        ends.append(structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback))
    formatter = {"()": structlog.stdlib.ProcessorFormatter, "foreign_pre_chain": shared, "processors": ends}
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"lines": formatter},
        "filters": {
            "refusals": {"()": lambda: as_a_refusal},
            "faults": {"()": "nomercy.faults.filter_of_passing_faults"},
            "storms": {"()": "nomercy.storms.StormFilter"},
        },
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "lines", "filters": FILTERS}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            **{name: {"level": quiet} for name, quiet in QUIET.items()},
            # The servers come with handlers of their own: these go, and their lines end where all the others do.
            **{name: {"level": QUIET.get(name, level), "handlers": [], "propagate": True} for name in SERVERS},
        },
    }
