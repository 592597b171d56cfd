"""The position of a round: everything that its moves change."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from games.rules.cards import Card, face_of

PLAY: Final = "play"
DRAWN: Final = "drawn"
CHOOSE_COLOR: Final = "choose_color"
BUZZ: Final = "buzz"
OVER: Final = "over"

Points = int | tuple[int, ...] | None


class Pending(NamedTuple):
    """A debt: ``total`` cards are owed by the seat on turn.

    ``value`` and ``by`` are the draw value and the symbol of the last draw card played on it (RESP-2). A Wild Draw
    Colour has no number: then both numbers are 0 (BLUFF-5).
    """

    total: int
    value: int
    by: str


class Run(NamedTuple):
    """An open straight: the seat that may go on with it, and the last card of it (RUN-1)."""

    seat: int
    card: Card


class Challenge(NamedTuple):
    """The right to challenge a wild draw card: who played it, and if it was a bluff (BLUFF-1, BLUFF-2).

    ``bluff`` is secret until the right is used.
    """

    seat: int
    bluff: bool


class Buzz(NamedTuple):
    """An open buzzer race: who played the buzzer, and who has pressed, in order (BUZZ-2)."""

    by: int
    pressed: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Extra:
    """The fields of a position that only some variants have.

    ``side`` is the name of the side in force if the deck has two (FLIP-1). ``buzzes`` is how many buzzers were played
    with the lottery (BUZZ-3). ``passes`` is how many turns in a row have ended without any card (STUCK-1). ``fines``
    has one number a seat, or is empty if all are 0 (INT-4, ELIM-2).
    """

    side: str | None = None
    run: Run | None = None
    challenge: Challenge | None = None
    buzz: Buzz | None = None
    buzzes: int = 0
    passes: int = 0
    fines: tuple[int, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the fields that say something as JSON values, by name."""
        values = {name: getattr(self, name) for name in EXTRA_FIELDS}
        return {name: _json_value(value) for name, value in values.items() if value not in _SAYS_NOTHING}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Extra:
        """Return the extra fields among the fields of a position that ``to_json`` wrote."""
        values = {name: fields[name] for name in EXTRA_FIELDS if name in fields}
        if not values:
            return NO_EXTRA
        for name, kind in (("run", Run), ("challenge", Challenge)):
            if values.get(name) is not None:
                values[name] = kind(**values[name])
        if values.get("buzz") is not None:
            values["buzz"] = Buzz(values["buzz"]["by"], tuple(values["buzz"]["pressed"]))
        return cls(**{**values, "fines": tuple(values.get("fines", ()))})


_SAYS_NOTHING: Final = (None, 0, ())
EXTRA_FIELDS: Final = tuple(field.name for field in dataclasses.fields(Extra))

NO_EXTRA: Final = Extra()


def nearest_seat(seat: int, direction: int, players: int, out: tuple[int, ...]) -> int:
    """Return the nearest seat after ``seat`` that is not in ``out``.

    ``direction`` is 1 (clockwise) or -1, ``players`` the number of seats. The answer is ``seat`` itself if all others
    are out. Never returns if every seat is in ``out``.
    """
    seat = (seat + direction) % players
    while seat in out:
        seat = (seat + direction) % players
    return seat


_new_position: Final = object.__new__


class Position:
    """A round at one moment.

    Treat it as immutable. ``apply`` returns a new position, and ``replace`` a changed copy.

    The fields are those of docs/notation.md, "Position". ``extra`` has those that only some options use. The cards of
    ``hands`` are in the order drawn. ``absent`` is not in the notation: the seats that left in an earlier round of the
    match. They are in ``out`` too, and SCORE-2 does not count them.
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
        "extra",
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
        extra: Extra = NO_EXTRA,
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
        self.extra = extra

    def copy(self) -> Position:
        """Return an equal position. Every field is immutable, so the copy shares them."""
        new = _new_position(Position)
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
        new.extra = self.extra
        return new

    def replace(self, **changes: object) -> Position:
        """Return a copy with some fields changed."""
        new = self.copy()
        for name, value in changes.items():
            setattr(new, name, value)
        return new

    def to_json(self) -> dict[str, Any]:
        """Return every field as a JSON value, by name. ``from_json`` turns them into an equal position.

        The fields of ``extra`` stand beside the others, and are left out while they say nothing.
        """
        fields = {name: _json_value(getattr(self, name)) for name in FIELDS if name != "extra"}
        fields["hands"] = [list(hand) for hand in self.hands]
        return {**fields, **self.extra.to_json()}

    @classmethod
    def from_json(cls, fields: Mapping[str, Any]) -> Position:
        """Return the position with these fields. They are not checked. A missing field has its default.

        ``pending`` without ``by`` has the symbol of the top card.
        """
        pending = fields.get("pending")
        if pending is not None:
            by = pending.get("by") or face_of(fields["discard_pile"][-1]).symbol
            pending = Pending(pending["total"], pending["value"], by)
        plain = {name: value for name, value in fields.items() if name not in EXTRA_FIELDS}
        return cls(**{**plain, "pending": pending, "extra": Extra.from_json(fields)})

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
        return tuple([seat for seat in range(len(self.hands)) if seat not in out])

    def next_seat(self, seat: int) -> int:
        """Return the next seat still in after ``seat``, in the direction of play (TERM-1)."""
        # A copy of `nearest_seat`: every move needs this, and the call would double its cost.
        seat = (seat + self.direction) % len(self.hands)
        while seat in self.out:
            seat = (seat + self.direction) % len(self.hands)
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
    if isinstance(value, Pending | Run | Challenge | Buzz):
        return {name: _json_value(part) for name, part in value._asdict().items()}
    return list(value) if isinstance(value, tuple) else value
