"""Calls on database connections of their own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from django.db import connection

from games.refusals import Denied
from tests.support.web import at_once

T = TypeVar("T")


def own_connection(call: Callable[[], T]) -> T:
    """Make this call, and close the connection of its thread. For calls in another thread."""
    try:
        return call()
    finally:
        connection.close()


def outcomes(calls: Sequence[Callable[[], object]]) -> Counter[str]:
    """Make all calls at the same instant, each on its own connection; count "ok" and the codes of refusals."""

    def outcome(call: Callable[[], object], ready: Callable[[], object]) -> str:
        ready()
        try:
            call()
        except Denied as denied:
            return denied.code
        return "ok"

    return Counter(at_once([partial(outcome, call) for call in calls]))


def somebody_waits() -> bool:
    """Return True if a connection waits for a lock that this one has."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
        )
        return bool(cursor.fetchone()[0])
