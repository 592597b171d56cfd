"""An open race for the buzzer, over the table: how much time is left, and who has pressed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from games.queries import GameView
from games.render.table import DueTime, Player


class Race(NamedTuple):
    """A race for the buzzer (BUZZ-2).

    `pressed` are the players who have pressed, the first one first. `due` is when the race ends, None while it is
    paused. `left` is how much of its `seconds` is left then.
    """

    pressed: Sequence[Player]
    due: DueTime | None
    left: float
    seconds: int


def race_of(view: GameView, players: Sequence[Player], due: DueTime | None) -> Race | None:
    """Return the open race for the buzzer, or None if there is none. `due` is the deadline that the page shows."""
    if view.view is None or view.view.buzz is None:
        return None
    of_seat = {player.seat: player for player in players}
    seconds = view.terms.callout
    left = min(max(due.seconds, 0), seconds) if due else 0
    return Race([of_seat[seat] for seat in view.view.buzz.pressed], due, left, seconds)
