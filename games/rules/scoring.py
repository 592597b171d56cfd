"""Points of a round, and the end of a match."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from games.rules.cards import Card, Deck
from games.rules.options import Options
from games.rules.position import OVER, Position

OUT_POINTS: Final = 250


class Outcome(NamedTuple):
    """How a round ended: ``points`` is the winner's, or one number a seat where the losers score (``penalty``)."""

    winner: int
    points: int | tuple[int, ...]


def hand_points(cards: Iterable[Card], deck: Deck) -> int:
    """Return what cards of a deck are worth (SCORE-1).

    >>> from games.rules.cards import DECKS
    >>> hand_points(["r9", "g+4", "W10"], DECKS["nomercy168"])
    79
    """
    return sum(deck.faces[card].points for card in cards)


def round_points(position: Position, winner: int, options: Options) -> int | tuple[int, ...]:
    """Return the points of a round that ``winner`` has just won (SCORE-1, SCORE-2, option ``scoring``)."""
    deck = options.rules.deck
    penalties = tuple(_penalty(position, seat, winner, deck) for seat in range(len(position.hands)))
    return sum(penalties) if options.scoring == "winner" else penalties


def _penalty(position: Position, seat: int, winner: int, deck: Deck) -> int:
    if seat == winner or seat in position.absent:
        return 0
    return OUT_POINTS if seat in position.out else hand_points(position.hands[seat], deck)


def outcome(position: Position) -> Outcome | None:
    """Return how the round ended, or None while it runs."""
    if position.phase != OVER or position.winner is None or position.points is None:
        return None
    return Outcome(position.winner, position.points)


def points_of(ended: Outcome, seat: int) -> int:
    """Return what a seat's match score gains by a round.

    >>> points_of(Outcome(1, 57), 1), points_of(Outcome(1, 57), 0), points_of(Outcome(1, (30, 0)), 0)
    (57, 0, 30)
    """
    if isinstance(ended.points, tuple):
        return ended.points[seat]
    return ended.points if seat == ended.winner else 0


def match_winner(
    scores: Sequence[int], options: Options, absent: Iterable[int] = (), *, round_winner: int | None = None
) -> int | None:
    """Return who has won the match after a round, or None if another round is due (SCORE-3, LEAVE-1).

    ``absent`` are all seats that have left the match. ``round_winner`` decides where one round is the whole match
    (``target`` 0). Under ``penalty`` a tie for the fewest points is played off by another round.
    """
    gone = set(absent)
    left = [seat for seat in range(len(scores)) if seat not in gone]
    if len(left) == 1:
        return left[0]
    if options.target == 0:
        return round_winner
    if not any(scores[seat] >= options.target for seat in left):
        return None
    best = (max if options.scoring == "winner" else min)(scores[seat] for seat in left)
    winners = [seat for seat in left if scores[seat] == best]
    return winners[0] if len(winners) == 1 else None
