"""An open race for the buzzer, over the table: how much time is left, and who has pressed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from common.readers_language import say
from games.queries import GameView
from games.render.table import DueTime, Player
from games.render.words import listed


class Race(NamedTuple):
    """A race for the buzzer (BUZZ-2).

    `pressed` are the players who have pressed, the first one first, and `names` says so, empty if nobody has. `due` is
    when the race ends, and `left` how much of its `seconds` is left.
    """

    pressed: Sequence[Player]
    names: str
    due: DueTime
    left: float
    seconds: int


def race_of(view: GameView, players: Sequence[Player], due: DueTime | None) -> Race | None:
    """Return the open race for the buzzer, or None if there is none or its clock is stopped.

    `due` is the deadline that the page shows.
    """
    if view.view is None or view.view.buzz is None or due is None:
        return None
    of_seat = {player.seat: player for player in players}
    pressed = [of_seat[seat] for seat in view.view.buzz.pressed]
    names = say.text("race", "Pressed: {names}.", names=listed([player.name for player in pressed])) if pressed else ""
    seconds = view.terms.callout
    return Race(pressed, names, due, min(max(due.seconds, 0), seconds), seconds)
