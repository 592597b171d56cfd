"""Waits for other processes and threads by polling."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

EVERY: Final = 0.02
"""Seconds between two checks."""


def until(what: str, check: Callable[[], object], *, patience: float = 60.0) -> None:
    """Wait until `check` returns something true. `what` describes it in the error.

    :raises AssertionError: after `patience` seconds.
    """
    end = time.monotonic() + patience
    while not check():
        assert time.monotonic() < end, f"not {what} within {patience} s"
        time.sleep(EVERY)
