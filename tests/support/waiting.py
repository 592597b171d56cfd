"""Waiting for other processes and threads, by looking again and again."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

EVERY: Final = 0.02
"""Seconds between two looks."""


def until(true: str, check: Callable[[], object], *, patience: float = 60.0) -> None:
    """Wait until `check` gives something true, for so many seconds at most; `true` says what that is."""
    end = time.monotonic() + patience
    while not check():
        assert time.monotonic() < end, f"not {true} within {patience} s"
        time.sleep(EVERY)
