"""Reads and writes positions as JSON (NOTATION, "Position"). Impossible positions are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from games.rules.cards import Card
from games.rules.errors import BadInput
from games.rules.moves import MAX_PLAYERS, MIN_PLAYERS
from games.rules.options import Options
from games.rules.position import CHOOSE_COLOR, DRAWN, OVER, PLAY, Position
from games.rules.ruleset import SideRules

_REQUIRED: Final = ("hands", "turn", "discard_pile")
_SORTED: Final = ("out", "set_aside", "declared", "exposed")


def position_to_json(position: Position) -> dict[str, object]:
    """Return the output form of NOTATION.

    ``absent`` is left out. Read back, a seat that left in an earlier round counts as out in this one (SCORE-2;
    docs/decisions/0010).
    """
    fields = position.to_json()
    fields["hands"] = [sorted(hand) for hand in fields["hands"]]
    for name in _SORTED:
        fields[name].sort()
    return {name: fields[name] for name in _READERS}


def position_from_json(obj: object, options: Options) -> Position:
    """Return the position that a JSON object describes.

    :raises BadInput: if it describes none, or a position that no game can reach.
    """
    if not isinstance(obj, Mapping):
        raise BadInput("A position must be an object.")
    for name in obj:
        if name not in _READERS:
            raise BadInput(f"A position has no field {name!r}.")
    for name in _REQUIRED:
        if name not in obj:
            raise BadInput(f"The position lacks {name!r}.")
    position = Position.from_json(_Reader(obj, options).fields())
    _check_seats(position, options)
    _check_phase(position, options.rules.side)
    return position


class _Reader:
    """Reads the fields of a position's JSON object, each with its function in ``_READERS``."""

    def __init__(self, obj: Mapping[str, object], options: Options) -> None:
        self._obj = obj
        self._side = options.rules.side
        self._players = 0

    def fields(self) -> dict[str, object]:
        """Return the fields of the object. ``color`` defaults to the colour of the top card."""
        hands = self._list("hands", self._obj["hands"])
        if not MIN_PLAYERS <= len(hands) <= MAX_PLAYERS:
            raise BadInput("A position has 2 to 6 hands.")
        self._players = len(hands)
        discard_pile = self.cards("discard_pile", self._obj["discard_pile"])
        if not discard_pile:
            raise BadInput("The discard pile is empty.")
        fields = {name: read(self, name, self._obj[name]) for name, read in _READERS.items() if name in self._obj}
        if fields.get("color") is None:
            fields["color"] = self._side.faces[discard_pile[-1]].color or None
        return fields

    def _list(self, name: str, value: object) -> list[object]:
        if not isinstance(value, list):
            raise BadInput(f"{name} must be a list.")
        return value

    def card(self, name: str, value: object) -> Card:
        if not isinstance(value, str):
            raise BadInput(f"{name} must hold cards.")
        if value not in self._side.faces:
            raise BadInput(f"There is no card {value!r} in this deck.")
        return self._side.faces[value].text

    def cards(self, name: str, value: object) -> list[Card]:
        return [self.card(name, card) for card in self._list(name, value)]

    def hands(self, name: str, value: object) -> list[list[Card]]:
        hands = self._list(name, value)
        if not all(isinstance(hand, list) for hand in hands):
            raise BadInput(f"{name} must hold lists of cards.")
        return [self.cards(name, hand) for hand in hands]

    def count(self, name: str, value: object) -> int:
        if type(value) is not int or value < 0:
            raise BadInput(f"{name} must be a whole number, 0 or more.")
        return value

    def seat(self, name: str, value: object) -> int:
        seat = self.count(name, value)
        if seat >= self._players:
            raise BadInput(f"{name} names seat {seat}, which does not exist.")
        return seat

    def seats(self, name: str, value: object) -> list[int]:
        """Return a list of seats in its order."""
        seats = [self.seat(name, seat) for seat in self._list(name, value)]
        if len(set(seats)) != len(seats):
            raise BadInput(f"{name} names a seat twice.")
        return seats

    def seat_set(self, name: str, value: object) -> list[int]:
        """Return a list of seats, sorted."""
        return sorted(self.seats(name, value))

    def direction(self, name: str, value: object) -> int:
        if type(value) is not int or value not in (1, -1):
            raise BadInput(f"{name} must be 1 or -1.")
        return value

    def color(self, name: str, value: object) -> str:
        if not isinstance(value, str) or value not in self._side.colors:
            raise BadInput(f"{name} must be r, y, g, b or null.")
        return value

    def pending(self, name: str, value: object) -> dict[str, int]:
        if not isinstance(value, Mapping) or set(value) != {"total", "value"}:
            raise BadInput(f"{name} must have total and value, and nothing else.")
        total, least = self.count("total", value["total"]), self.count("value", value["value"])
        if least not in self._side.answers:
            raise BadInput(f"{name} has a value that no draw card has.")
        if total < least:
            raise BadInput(f"{name} has a total below its value.")
        return {"total": total, "value": least}

    def phase(self, name: str, value: object) -> str:
        if not isinstance(value, str) or value not in _CHECKS:
            raise BadInput(f"{name} must be one of {', '.join(_CHECKS)}.")
        return value

    def points(self, name: str, value: object) -> int | list[int]:
        if not isinstance(value, list):
            return self.count(name, value)
        if len(value) != self._players:
            raise BadInput(f"{name} must have one number a seat.")
        return [self.count(name, number) for number in value]


_Read = Callable[[_Reader, str, object], object]


def _or_null(read: _Read) -> _Read:
    """Return a reader that also accepts null."""
    return lambda reader, name, value: None if value is None else read(reader, name, value)


_READERS: Final[dict[str, _Read]] = {
    "hands": _Reader.hands,
    "out": _Reader.seat_set,
    "turn": _Reader.seat,
    "direction": _Reader.direction,
    "draw_pile": _Reader.cards,
    "discard_pile": _Reader.cards,
    "color": _or_null(_Reader.color),
    "pending": _or_null(_Reader.pending),
    "phase": _Reader.phase,
    "drawn": _or_null(_Reader.card),
    "set_aside": _Reader.cards,
    "declared": _Reader.seat_set,
    "exposed": _Reader.seat_set,
    "going_out": _Reader.seats,
    "reshuffles": _Reader.count,
    "winner": _or_null(_Reader.seat),
    "points": _or_null(_Reader.points),
}
"""The function that checks and reads each field, in NOTATION's order."""


def _check_seats(position: Position, options: Options) -> None:
    over = position.phase == OVER
    for seat, hand in enumerate(position.hands):
        if options.mercy_limit and len(hand) >= options.mercy_limit:
            raise BadInput(f"Seat {seat} holds {len(hand)} cards and would be out.")
        if seat in position.out and hand:
            raise BadInput(f"Seat {seat} is out but holds cards.")
        if not hand and not over and seat not in position.out and seat not in position.going_out:
            raise BadInput(f"Seat {seat} is still in but holds no card.")
    for seat in position.going_out:
        if position.hands[seat] or seat in position.out:
            raise BadInput(f"Seat {seat} did not go out on the stack.")
    for seat in (*position.declared, *position.exposed):
        if len(position.hands[seat]) != 1:
            raise BadInput(f"Seat {seat} does not hold one card.")
    if set(position.declared) & set(position.exposed):
        raise BadInput("A seat cannot both have called UNO and owe the call.")
    if position.turn in position.out or position.turn in position.going_out:
        raise BadInput(f"Seat {position.turn} cannot be on turn.")
    if not over and len(position.still_in()) < MIN_PLAYERS:
        raise BadInput("With one player left in, the round is over.")


def _check_phase(position: Position, side: SideRules) -> None:
    phase = position.phase
    _require(position.pending is not None or not position.going_out, "going_out needs a running stack.")
    _require(position.pending is None or phase == PLAY, f"pending does not fit the phase {phase}.")
    _require((phase == DRAWN) == (position.drawn is not None), f"drawn does not fit the phase {phase}.")
    over = (position.winner is not None, position.points is not None)
    _require(over == (phase == OVER, phase == OVER), f"winner and points do not fit the phase {phase}.")
    _CHECKS[phase](position, side)


def _check_play(position: Position, side: SideRules) -> None:
    _require(position.color is not None, "A wild on top needs a colour.")
    _require(side.faces[position.top].color in ("", position.color), "color does not fit the top card.")


def _check_drawn(position: Position, side: SideRules) -> None:
    _check_play(position, side)
    _require(position.drawn in position.hands[position.turn], "drawn is not in the hand of the seat on turn.")
    _require(position.drawn in side.matching[position.top, position.color], "drawn cannot be played.")


def _check_choose_color(position: Position, side: SideRules) -> None:
    _require(side.faces[position.top].asks == "roulette", "A color is chosen only under a Color Roulette.")
    _require(position.color is None, "color must be null until it is chosen.")


def _check_over(position: Position, side: SideRules) -> None:
    _require(position.winner == position.turn, "Once a round is over its winner is on turn.")
    _require(not position.exposed, "Once a round is over nobody can be caught.")


_CHECKS: Final[dict[str, Callable[[Position, SideRules], None]]] = {
    PLAY: _check_play,
    DRAWN: _check_drawn,
    CHOOSE_COLOR: _check_choose_color,
    OVER: _check_over,
}
"""The check of a position in each phase."""


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise BadInput(sentence)
