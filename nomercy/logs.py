"""Logs: one line an event through structlog, ours and the libraries' alike, with the request's id.

Nothing that could be a card, a seed or a token is ever put into an event: requests are logged by route, not by address.
"""

import logging
from typing import Any, Final

import structlog

from nomercy.storms import SECURITY

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
LONGEST_VALUE: Final = 1_000
"""The most characters of a value that are logged."""
LONGEST_TRACEBACK: Final = 20_000
"""The most characters of a traceback that are logged."""
LONGEST_REFUSAL: Final = 150
"""The most characters of what Django says about a suspicious request, which repeats its Host header, for example."""
FILTERS = ["refusals", "faults", "storms"]
NO_HANDSHAKE = "ASGI callable returned without completing handshake."
SERVERS = ("uvicorn", "uvicorn.error", "uvicorn.access")


def as_a_refusal(record: logging.LogRecord) -> bool:
    """Log what any client can cause as a warning, like other refusals. A filter of the handler; drops nothing.

    Django logs what it calls suspicious, such as a forged Host, with a traceback and the whole Host. uvicorn logs
    an error for each websocket that is answered with a page; where the fault is ours, it has logged the exception.
    """
    if record.name == "uvicorn.error" and record.msg == NO_HANDSHAKE:
        record.msg = "A websocket was refused."
    elif record.name.startswith(SECURITY):
        record.msg, record.args = shortened(record.getMessage(), LONGEST_REFUSAL), None
    else:
        return True
    record.exc_info, record.levelno, record.levelname = None, logging.WARNING, "WARNING"
    return True


def shortened(text: str, most: int) -> str:
    """Return a text that is too long without its middle."""
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]} … ({len(text) - 2 * half} characters left out) … {text[-half:]}"


def shorten_values(log: object, method: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Shorten what is too long, whoever logs it, so that no client can fill the disk. A processor of structlog."""
    for name, value in event.items():
        most = LONGEST_TRACEBACK if name in {"exception", "stack"} else LONGEST_VALUE
        text = value if isinstance(value, str) else repr(value)
        if len(text) > most:
            event[name] = shortened(text, most)
    return event


def final_processors(form: str) -> list[structlog.typing.Processor]:
    """Return the steps that make a line of an event, ours or a library's: `json` for machines, else `console`."""
    # A traceback becomes text here, and plain text: a rich one prints the local variables of every frame.
    steps: list[structlog.typing.Processor] = [
        structlog.stdlib.ProcessorFormatter.remove_processors_meta,
        structlog.processors.format_exc_info,
        shorten_values,
    ]
    if form == "json":
        return [*steps, structlog.processors.JSONRenderer()]
    plain = structlog.dev.plain_traceback
    return [*steps, structlog.dev.ConsoleRenderer(colors=False, exception_formatter=plain)]


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
