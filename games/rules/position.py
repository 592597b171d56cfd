"""The position of a round: everything that its moves change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

from games.rules.cards import Card

PLAY: Final = "play"
DRAWN: Final = "drawn"
CHOOSE_COLOR: Final = "choose_color"
OVER: Final = "over"

Points = int | tuple[int, ...] | None


class Pending(NamedTuple):
    """A stack: ``total`` cards are owed by the seat on turn. ``value`` is the least draw value that may be stacked."""

    total: int
    value: int


def nearest_seat(seat: int, direction: int, players: int, out: tuple[int, ...]) -> int:
    """Return the nearest seat after ``seat`` that is not in ``out``.

    ``direction`` is 1 (clockwise) or -1, ``players`` the number of seats. The answer is ``seat`` itself if all others
    are out. Loops for ever if every seat is in ``out``.
    """
    seat = (seat + direction) % players
    while seat in out:
        seat = (seat + direction) % players
    return seat


class Position:
    """A round at one moment.

    Treat it as immutable. ``apply`` returns a new position, and ``replace`` a changed copy.

    The fields are those of NOTATION, "Position". The cards of ``hands`` are in the order drawn. ``absent`` is not in
    NOTATION: the seats that left in an earlier round of the match. They are in ``out`` too, and SCORE-2 does not count
    them.
    """

    __slots__ = (
        "absent",
        "color",
        "declared",
        "direction",
        "discard_pile",
        "draw_pile",
        "drawn",
        "exposed",
        "going_out",
        "hands",
        "out",
        "pending",
        "phase",
        "points",
        "reshuffles",
        "set_aside",
        "turn",
        "winner",
    )

    def __init__(
        self,
        *,
        hands: Sequence[Sequence[Card]],
        turn: int,
        discard_pile: Sequence[Card],
        draw_pile: Sequence[Card] = (),
        color: str | None = None,
        out: Sequence[int] = (),
        direction: int = 1,
        pending: Pending | None = None,
        phase: str = PLAY,
        drawn: Card | None = None,
        set_aside: Sequence[Card] = (),
        declared: Sequence[int] = (),
        exposed: Sequence[int] = (),
        going_out: Sequence[int] = (),
        reshuffles: int = 0,
        winner: int | None = None,
        points: int | Sequence[int] | None = None,
        absent: Sequence[int] = (),
    ) -> None:
        self.hands = tuple(tuple(hand) for hand in hands)
        self.turn = turn
        self.discard_pile = tuple(discard_pile)
        self.draw_pile = tuple(draw_pile)
        self.color = color
        self.out = tuple(out)
        self.direction = direction
        self.pending = pending
        self.phase = phase
        self.drawn = drawn
        self.set_aside = tuple(set_aside)
        self.declared = tuple(declared)
        self.exposed = tuple(exposed)
        self.going_out = tuple(going_out)
        self.reshuffles = reshuffles
        self.winner = winner
        self.points: Points = points if points is None or isinstance(points, int) else tuple(points)
        self.absent = tuple(absent)

    def copy(self) -> Position:
        """Return an equal position. Every field is immutable, so the copy shares them."""
        new: Position = object.__new__(Position)
        new.hands = self.hands
        new.turn = self.turn
        new.discard_pile = self.discard_pile
        new.draw_pile = self.draw_pile
        new.color = self.color
        new.out = self.out
        new.direction = self.direction
        new.pending = self.pending
        new.phase = self.phase
        new.drawn = self.drawn
        new.set_aside = self.set_aside
        new.declared = self.declared
        new.exposed = self.exposed
        new.going_out = self.going_out
        new.reshuffles = self.reshuffles
        new.winner = self.winner
        new.points = self.points
        new.absent = self.absent
        return new

    def replace(self, **changes: object) -> Position:
        """Return a copy with some fields changed."""
        new = self.copy()
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def to_json(self) -> dict[str, Any]:
        """Return every field as a JSON value, by name. ``from_json`` turns them into an equal position."""
        fields = {name: _json_value(getattr(self, name)) for name in FIELDS}
        fields["hands"] = [list(hand) for hand in self.hands]
        return fields

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Position:
        """Return the position with these fields. They are not checked. A missing field has its default."""
        pending = fields.get("pending")
        return cls(**{**fields, "pending": None if pending is None else Pending(**pending)})

    @property
    def top(self) -> Card:
        """The top card of the discard pile."""
        return self.discard_pile[-1]

    @property
    def players(self) -> int:
        """The number of seats, those out included."""
        return len(self.hands)

    def still_in(self) -> tuple[int, ...]:
        """Return the seats that are not out (TERM-1). Players who went out on a stack are still in."""
        out = self.out
        return tuple(seat for seat in range(len(self.hands)) if seat not in out)

    def next_seat(self, seat: int) -> int:
        """Return the next seat still in after ``seat``, in the direction of play (TERM-1)."""
        # A copy of `nearest_seat`: every move needs this, and the call would double its cost.
        players, direction, out = len(self.hands), self.direction, self.out
        seat = (seat + direction) % players
        while seat in out:
            seat = (seat + direction) % players
        return seat

    def previous_seat(self, seat: int) -> int:
        """Return the seat still in whose next player is ``seat``."""
        return nearest_seat(seat, -self.direction, len(self.hands), self.out)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Position):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in FIELDS)

    __hash__ = None  # type: ignore[assignment]  # compared by content, like a list

    def __repr__(self) -> str:
        return f"Position({', '.join(f'{name}={getattr(self, name)!r}' for name in FIELDS)})"


FIELDS: Final = Position.__slots__
"""The names of the fields of a position."""


def _json_value(value: object) -> object:
    if isinstance(value, Pending):
        return value._asdict()
    return list(value) if isinstance(value, tuple) else value
