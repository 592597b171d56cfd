"""What the site logs, in tests."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def logging_as_on_a_site() -> Iterator[None]:
    """Log information, like each request, until the end of the block. Other tests do without it to save time."""
    levels = {logger: logger.level for logger in map(logging.getLogger, (None, "nomercy"))}
    for logger in levels:
        logger.setLevel(logging.INFO)
    try:
        yield
    finally:
        for logger, level in levels.items():
            logger.setLevel(level)
