"""Who is viewing which table now, in the cache.

Looking needs a sign of a person in the last three minutes: a move, a page that they load, or the pointer, a key, a
scroll, a touch or the focus on a page that is open. A page with scripts says with each fetch how long ago the last sign
was (static/js/signs.js). What a page or a program fetches by itself is no sign. If the cache is down nobody is viewing,
and people get a notice that they did not need.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from django.core.cache import cache

SECONDS: Final = 180
"""How many seconds after a sign of a person they count as viewing."""
RELOAD_SECONDS: Final = 10
"""How many seconds a page that is told to reload itself has for that."""


def mark_viewing(*, game_id: int, user_id: int, idle: int = 0) -> None:
    """Mark that a person is viewing a game. `idle`: how many seconds ago they gave the last sign."""
    key, left = _key(game_id, user_id), SECONDS - idle
    # Another page of theirs may have seen a later sign.
    if left > 0 and cache.get(key, 0.0) < time.time() + left:
        cache.set(key, time.time() + left, left)


def viewing(pairs: Iterable[tuple[int, int]]) -> set[tuple[int, int]]:
    """Return the pairs of a game's and a person's number where the person is viewing the game now."""
    keys = {_key(*pair): pair for pair in pairs}
    return {keys[key] for key in cache.get_many(list(keys))} if keys else set()


def expect_reload(*, game_id: int, user_id: int) -> None:
    """Remember that this person's page reloads itself now although nobody looks at it."""
    cache.set(f"{_key(game_id, user_id)}:reload", True, RELOAD_SECONDS)


def is_reload(*, game_id: int, user_id: int) -> bool:
    """Return True, once, if this person's page was expected to reload itself."""
    return cache.delete(f"{_key(game_id, user_id)}:reload")


def _key(game_id: int, user_id: int) -> str:
    return f"looking:{game_id}:{user_id}"
