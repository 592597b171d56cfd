"""The one lock order: the game row first, then anything else of that game.

Games, people and cases are locked `FOR NO KEY UPDATE`: a new row that only refers to one of them need not wait, or a
report (it holds the person, and refers to the game) and a move (the other way round) would wait in a ring.
"""

from __future__ import annotations

from games.models import Game
from games.models.rows import lock_row
from games.refusals import not_found


def lock_game(*, code: str | None = None, pk: int | None = None) -> Game:
    """The game row with this code or number, locked until the transaction ends.

    :raises Denied: `not_found`.
    """
    game = lock_row("pk", pk) if code is None else lock_row("code", code)
    if game is None:
        raise not_found()
    return game
