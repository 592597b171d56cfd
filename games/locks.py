"""The lock order: the row of the game first, then any other row of that game. People come before cases, by number.

Who locks several games takes the newest first, because a rematch is locked before the game that it follows.

Games, people and cases are locked `FOR NO KEY UPDATE`, so that inserting a row that refers to one of them does not
wait. With `FOR UPDATE` a report (locks the person, refers to the game) and a move (locks the game, refers to the
person) could deadlock.
"""

from __future__ import annotations

from games.models import Game
from games.models.rows import lock_row
from games.refusals import not_found


def lock_game(*, code: str | None = None, pk: int | None = None) -> Game:
    """Lock the row of the game with this code or number until the transaction ends, and return it.

    :raises Denied: `not_found` if there is none.
    """
    game = lock_row("pk", pk) if code is None else lock_row("code", code)
    if game is None:
        raise not_found()
    return game
