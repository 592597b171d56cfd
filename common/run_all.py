"""Runs independent steps, so that one failure does not stop the others."""

from __future__ import annotations

from collections.abc import Callable

import structlog

log = structlog.get_logger(__name__)


def run_all(**steps: Callable[[], object]) -> None:
    """Run every step in order, also after one has failed. Errors are logged with their traceback.

    :raises ExceptionGroup: after the last step, with the errors of all steps.
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
