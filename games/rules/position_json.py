"""Positions from and to NOTATION's JSON form, with every impossible position refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from games.rules.cards import Card
from games.rules.errors import BadInput
from games.rules.moves import MAX_PLAYERS, MIN_PLAYERS
from games.rules.options import Options
from games.rules.position import CHOOSE_COLOR, DRAWN, OVER, PLAY, Pending, Position
from games.rules.ruleset import SideRules

_FIELDS: Final = (
    "hands",
    "out",
    "turn",
    "direction",
    "draw_pile",
    "discard_pile",
    "color",
    "pending",
    "phase",
    "drawn",
    "set_aside",
    "declared",
    "exposed",
    "going_out",
    "reshuffles",
    "winner",
    "points",
)
_NEEDED: Final = ("hands", "turn", "discard_pile")


def position_to_json(position: Position) -> dict[str, object]:
    """Return the output form: hands and set-aside cards sorted, everything a JSON value.

    Its fields are those of one round, so who left in an earlier one (``absent``) is not among them: read back, they
    count as out in this round (SCORE-2; docs/decisions/0010).
    """
    pending, points = position.pending, position.points
    return {
        "hands": [sorted(hand) for hand in position.hands],
        "out": sorted(position.out),
        "turn": position.turn,
        "direction": position.direction,
        "draw_pile": list(position.draw_pile),
        "discard_pile": list(position.discard_pile),
        "color": position.color,
        "pending": None if pending is None else {"total": pending.total, "value": pending.value},
        "phase": position.phase,
        "drawn": position.drawn,
        "set_aside": sorted(position.set_aside),
        "declared": sorted(position.declared),
        "exposed": sorted(position.exposed),
        "going_out": list(position.going_out),
        "reshuffles": position.reshuffles,
        "winner": position.winner,
        "points": list(points) if isinstance(points, tuple) else points,
    }


def position_from_json(obj: object, options: Options) -> Position:
    """Return the position a JSON object says; raises BadInput if the object is not one or could never come about."""
    if not isinstance(obj, Mapping):
        raise BadInput("A position must be an object.")
    for name in obj:
        if name not in _FIELDS:
            raise BadInput(f"A position has no field {name!r}.")
    for name in _NEEDED:
        if name not in obj:
            raise BadInput(f"The position lacks {name!r}.")
    position = _Reader(obj, options).position()
    _check_seats(position, options)
    _check_phase(position, options.rules.side)
    return position


class _Reader:
    """Reads the typed fields of a position's JSON object."""

    def __init__(self, obj: Mapping[str, object], options: Options) -> None:
        self._obj = obj
        self._side = options.rules.side
        self._players = 0

    def position(self) -> Position:
        hands = self._list("hands")
        if not MIN_PLAYERS <= len(hands) <= MAX_PLAYERS:
            raise BadInput("A position has 2 to 6 hands.")
        self._players = len(hands)
        discard_pile = self._cards("discard_pile")
        if not discard_pile:
            raise BadInput("The discard pile is empty.")
        return Position(
            hands=[self._card_list(hand, "hands") for hand in hands],
            out=sorted(self._seats("out")),
            turn=self._seat(self._obj["turn"], "turn"),
            direction=self._direction(),
            draw_pile=self._cards("draw_pile"),
            discard_pile=discard_pile,
            color=self._color(discard_pile[-1]),
            pending=self._pending(),
            phase=self._phase(),
            drawn=self._drawn(),
            set_aside=self._cards("set_aside"),
            declared=sorted(self._seats("declared")),
            exposed=sorted(self._seats("exposed")),
            going_out=self._seats("going_out"),
            reshuffles=self._count(self._obj.get("reshuffles", 0), "reshuffles"),
            winner=self._winner(),
            points=self._points(),
        )

    def _list(self, name: str) -> list[object]:
        value = self._obj.get(name, [])
        if not isinstance(value, list):
            raise BadInput(f"{name} must be a list.")
        return value

    def _card(self, value: object, name: str) -> Card:
        if not isinstance(value, str):
            raise BadInput(f"{name} must hold cards.")
        if value not in self._side.faces:
            raise BadInput(f"There is no card {value!r} in this deck.")
        return self._side.faces[value].text

    def _card_list(self, value: object, name: str) -> list[Card]:
        if not isinstance(value, list):
            raise BadInput(f"{name} must hold lists of cards.")
        return [self._card(card, name) for card in value]

    def _cards(self, name: str) -> list[Card]:
        return [self._card(card, name) for card in self._list(name)]

    def _count(self, value: object, name: str) -> int:
        if type(value) is not int or value < 0:
            raise BadInput(f"{name} must be a whole number from 0.")
        return value

    def _seat(self, value: object, name: str) -> int:
        seat = self._count(value, name)
        if seat >= self._players:
            raise BadInput(f"{name} names seat {seat}, which is not there.")
        return seat

    def _seats(self, name: str) -> list[int]:
        seats = [self._seat(value, name) for value in self._list(name)]
        if len(set(seats)) != len(seats):
            raise BadInput(f"{name} names a seat twice.")
        return seats

    def _direction(self) -> int:
        value = self._obj.get("direction", 1)
        if type(value) is not int or value not in (1, -1):
            raise BadInput("direction must be 1 or -1.")
        return value

    def _color(self, top: Card) -> str | None:
        value = self._obj.get("color")
        if value is None:
            return self._side.faces[top].color or None
        if not isinstance(value, str) or value not in self._side.colors:
            raise BadInput("color must be r, y, g, b or null.")
        return value

    def _pending(self) -> Pending | None:
        value = self._obj.get("pending")
        if value is None:
            return None
        if not isinstance(value, Mapping) or set(value) != {"total", "value"}:
            raise BadInput("pending must have total and value, and nothing else.")
        pending = Pending(self._count(value["total"], "total"), self._count(value["value"], "value"))
        if pending.value not in self._side.answers:
            raise BadInput("pending has a value that no draw card has.")
        if pending.total < pending.value:
            raise BadInput("pending has a total below its value.")
        return pending

    def _phase(self) -> str:
        value = self._obj.get("phase", PLAY)
        if not isinstance(value, str) or value not in _CHECKS:
            raise BadInput(f"phase must be one of {', '.join(_CHECKS)}.")
        return value

    def _drawn(self) -> Card | None:
        value = self._obj.get("drawn")
        return None if value is None else self._card(value, "drawn")

    def _winner(self) -> int | None:
        value = self._obj.get("winner")
        return None if value is None else self._seat(value, "winner")

    def _points(self) -> int | list[int] | None:
        value = self._obj.get("points")
        if value is None:
            return None
        if isinstance(value, list):
            if len(value) != self._players:
                raise BadInput("points must have one number a seat.")
            return [self._count(number, "points") for number in value]
        return self._count(value, "points")


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
"""What must be true of a position in each phase."""


def _require(true: bool, sentence: str) -> None:
    if not true:
        raise BadInput(sentence)
