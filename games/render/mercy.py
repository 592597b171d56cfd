"""How close the hands at a table are to the mercy limit (MERCY-1)."""

from __future__ import annotations

from typing import Final, NamedTuple

from games import rules
from games.queries import GameView, SeatView

NEARLY_OUT: Final = 5
"""A hand this close to the mercy limit, in cards, is marked."""
CLOSE: Final = 7
"""This close to the mercy limit, in cards, the limit stands beside the number of cards."""


class Mercy(NamedTuple):
    """How close a hand is to the mercy limit.

    `limit` is that limit in cards, 0 if the table has none. `left` is how many cards short of it the hand is. A hand
    with more than three fifths of the limit is `warm`, and one that is `NEARLY_OUT` is `hot` while the round goes on.
    """

    limit: int
    left: int
    warm: bool
    hot: bool

    @property
    def close(self) -> bool:
        """Whether the hand is so close to the limit that its number of cards is told with it: `23/25`."""
        return 0 < self.left <= CLOSE < self.limit

    @property
    def nearness(self) -> str:
        """The CSS class of a hand near the limit, empty for others."""
        return "hot" if self.hot else "warm" if self.warm else ""


def mercy_of(view: GameView, seat: SeatView) -> Mercy:
    """Return how close the hand of a seat is to the mercy limit of its table."""
    limit = view.options.mercy_limit
    left = limit - seat.cards if limit and not seat.out else limit
    warm = 0 < limit * 3 // 5 < seat.cards
    hot = 0 < left <= NEARLY_OUT and view.turn is not None
    return Mercy(limit, left, warm, hot)


def drawing_puts_out(view: GameView, seen: rules.View) -> bool:
    """Return True if the player on turn is out after drawing what they owe, or else one card (MERCY-1)."""
    n = seen.pending.total if seen.pending else 1
    left = mercy_of(view, view.seats[seen.turn]).left
    cards_to_draw = seen.draw_pile + seen.set_aside + len(seen.discard_pile) - 1  # the top card stays (TURN-5)
    return 0 < left <= min(n, cards_to_draw)
