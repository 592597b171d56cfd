"""The points of a round."""

from __future__ import annotations

from typing import NamedTuple

from games.rules.cards import Card
from games.rules.options import Options
from games.rules.position import OVER, Position
from games.rules.ruleset import SideRules


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


def hand_points(cards: tuple[Card, ...], side: SideRules) -> int:
    """Return the points of cards on a side of their deck (SCORE-1).

    >>> from games.rules.presets import PRESETS
    >>> hand_points(("r9", "g+4", "W10"), PRESETS["no-mercy"].rules.first)
    79
    """
    return sum(side.faces[face].points for face in side.show(cards))


def round_points(position: Position, winner: int, options: Options) -> int | tuple[int, ...]:
    """Return the ``points`` of the ``Outcome`` of a round that ``winner`` has just won (SCORE-1, SCORE-2, SCORE-4)."""
    side = options.rules.sides[position.extra.side]
    seats = range(len(position.hands))
    points = [_penalty(position, seat, winner, side, options) for seat in seats]
    fines = position.extra.fines
    if options.scoring == "winner":
        return sum(points) + sum(fines) - (fines[winner] if fines else 0)
    return tuple(points[seat] + (fines[seat] if fines else 0) for seat in seats)


def _penalty(position: Position, seat: int, winner: int, side: SideRules, options: Options) -> int:
    """Return the points that a seat gives up, without its fines."""
    if seat == winner or seat in position.absent:
        return 0
    return options.mercy_points if seat in position.out else hand_points(position.hands[seat], side)


def outcome(position: Position) -> Outcome | None:
    """Return the winner and the points of a round, or None while it runs."""
    if position.phase != OVER or position.winner is None or position.points is None:
        return None
    return Outcome(position.winner, position.points)
