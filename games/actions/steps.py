"""Tasks of several steps that have nothing to do with each other."""

from __future__ import annotations

from collections.abc import Callable

import structlog

log = structlog.get_logger(__name__)


def run_all(**steps: Callable[[], object]) -> None:
    """Run every step in order, whatever becomes of those before it.

    :raises ExceptionGroup: what the steps raised, once all have run; each is logged with its traceback by then.
    """
    failed: list[Exception] = []
    for name, step in steps.items():
        try:
            step()
        except Exception as error:
            log.exception("a step failed", step=name)
            failed.append(error)
    if failed:
        raise ExceptionGroup(f"{len(failed)} of {len(steps)} steps failed", failed)
