"""The scheduler of Celery's beat."""

from typing import Any

from celery.beat import Scheduler


class MemoryScheduler(Scheduler):
    """Keeps the schedule in memory, so that each task runs once when beat starts (see `nomercy.celery.schedule`).

    Celery's own scheduler wakes 10 ms before a task is due, and then checks without a pause until it is.
    """

    def adjust(self, n: Any, drift: float = 0.0) -> Any:
        """Return the seconds until the next check unchanged. Celery subtracts 10 ms."""
        return n
