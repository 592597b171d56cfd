"""The lines of the log: one for each event, ours and the libraries', with the id of the request.

No event contains a card, a seed or a token. Requests are logged by route, because paths can hold tokens.
`settings.LOGGING` says what is logged. Importing this module configures structlog.
"""

from typing import Final

import structlog

import nomercy
from nomercy.log_throttle import shortened

LONGEST_VALUE: Final = 1_000
"""How many characters of a value are logged."""
LONGEST_TRACEBACK: Final = 20_000
"""How many characters of a traceback are logged."""
OF_EVERY_LINE: Final[list[structlog.typing.Processor]] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.stdlib.add_logger_name,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]
structlog.configure(
    processors=[*OF_EVERY_LINE, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
    logger_factory=structlog.stdlib.LoggerFactory(),
    wrapper_class=structlog.stdlib.BoundLogger,
    cache_logger_on_first_use=True,
)


def lines(form: str) -> structlog.stdlib.ProcessorFormatter:
    """Return the formatter of structlog's lines and of all others. `form` is `json` or `console`."""
    # Plain tracebacks: rich ones print the local variables of every frame.
    console = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=OF_EVERY_LINE,
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.format_exc_info,
            shorten_values,
            structlog.processors.JSONRenderer() if form == "json" else console,
        ],
    )


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
