"""Who is looking at which table just now: a mark in the cache, which every process shares, set by each visible fetch.

An open page that can be seen fetches itself at least once a minute (static/js/live.js); one in the background says so
and leaves no mark. Without the cache nobody looks, and people get a notice that they did not need.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.core.cache import cache

SECONDS: Final = 100
"""How long a look lasts."""


def mark_viewing(*, game_id: int, user_id: int) -> None:
    """This person looks at this table now."""
    cache.set(_key(game_id, user_id), True, SECONDS)


def viewing(pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Those of these pairs (game, person) where the person looks at the game now."""
    keys = {_key(*pair): pair for pair in pairs}
    return {keys[key] for key in cache.get_many(list(keys))} if keys else set()


def _key(game_id: int, user_id: int) -> str:
    return f"looking:{game_id}:{user_id}"
