"""Who is viewing which table now, as marks in the cache.

A visible page fetches itself at least once a minute (static/js/live.js), and each such fetch sets the mark. A page in
the background sets none. If the cache is down nobody is viewing, and people get a notice that they did not need.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from django.core.cache import cache

SECONDS: Final = 100
"""How many seconds a mark lasts."""


def mark_viewing(*, game_id: int, user_id: int) -> None:
    """Mark that a person is viewing a game now."""
    cache.set(_key(game_id, user_id), True, SECONDS)


def viewing(pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the pairs of a game's and a person's number where the person is viewing the game now."""
    keys = {_key(*pair): pair for pair in pairs}
    return {keys[key] for key in cache.get_many(list(keys))} if keys else set()


def _key(game_id: int, user_id: int) -> str:
    return f"looking:{game_id}:{user_id}"
