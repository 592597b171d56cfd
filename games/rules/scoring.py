"""The points of a round."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple

from games.rules.cards import Card, Deck
from games.rules.options import Options
from games.rules.position import OVER, Position

OUT_POINTS: Final = 250
"""The points for each player who is out (SCORE-2)."""


class Outcome(NamedTuple):
    """The winner of a round and its points.

    ``points`` are those of the winner. With the ``penalty`` scoring they are one number a seat.
    """

    winner: int
    points: int | tuple[int, ...]

    def gained(self, seat: int) -> int:
        """Return the points that the round adds to a seat's score.

        >>> Outcome(1, 57).gained(1), Outcome(1, 57).gained(0), Outcome(1, (30, 0)).gained(0)
        (57, 0, 30)
        """
        if isinstance(self.points, tuple):
            return self.points[seat]
        return self.points if seat == self.winner else 0


def hand_points(cards: Iterable[Card], deck: Deck) -> int:
    """Return the points of cards of a deck (SCORE-1).

    >>> from games.rules.cards import DECKS
    >>> hand_points(["r9", "g+4", "W10"], DECKS["nomercy168"])
    79
    """
    return sum(deck.faces[card].points for card in cards)


def round_points(position: Position, winner: int, options: Options) -> int | tuple[int, ...]:
    """Return the ``points`` of the ``Outcome`` of a round that ``winner`` has just won (SCORE-1, SCORE-2)."""
    deck = options.rules.deck
    penalties = tuple(_penalty(position, seat, winner, deck) for seat in range(len(position.hands)))
    return sum(penalties) if options.scoring == "winner" else penalties


def _penalty(position: Position, seat: int, winner: int, deck: Deck) -> int:
    if seat == winner or seat in position.absent:
        return 0
    return OUT_POINTS if seat in position.out else hand_points(position.hands[seat], deck)


def outcome(position: Position) -> Outcome | None:
    """Return the winner and the points of a round, or None while it runs."""
    if position.phase != OVER or position.winner is None or position.points is None:
        return None
    return Outcome(position.winner, position.points)
