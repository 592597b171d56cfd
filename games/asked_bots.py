"""Remembers for which tables the worker was asked to move the bots, so that its queue does not grow while it is down.

Each table has a key with a time to live in the cache. If a task gets lost, the table is asked for again after a while.
See docs/decisions/0099-bots-work-is-shared-by-host.md.
"""

from __future__ import annotations

from typing import Final

from django.core.cache import cache

FIRST_WAIT: Final = 4.0
"""Seconds after which a table is asked for again if the worker has not taken its task."""
LONGEST_WAIT: Final = 3600.0
"""The longest such wait. It doubles each time, so a table has about 35 tasks after a day without a worker."""
SAME_TIME: Final = 0.05
"""Seconds by which two times may differ that come from the same time in the database."""


def note_asked(game_id: int, *, at: float, now: float) -> bool:
    """Note that the worker is asked to move the bots of this table at `at`; return False if it has been asked already.

    A task for the future counts for its own time only, because bots may become due earlier or later. A task that is due
    and not taken yet counts for all that is due now. Times are seconds since the epoch.
    """
    asked = cache.get(_key(game_id))
    wait = FIRST_WAIT
    if asked is not None:
        asked_at, again_at, wait = asked
        covers = abs(asked_at - at) <= SAME_TIME or max(asked_at, at) <= now
        if covers and now < again_at:
            return False
        if asked_at <= now:
            wait = min(2 * wait, LONGEST_WAIT)
    cache.set(_key(game_id), [at, at + wait, wait], timeout=int(at - now + wait + LONGEST_WAIT))
    return True


def forget(game_id: int) -> None:
    """Let this table be asked for again, because the worker has taken its task, or because none could be sent."""
    cache.delete(_key(game_id))


def _key(game_id: int) -> str:
    return f"asked-bots.{game_id}"
