"""Reads and writes positions as JSON (docs/notation.md, "Position"). Impossible positions are refused."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from sys import intern
from typing import Final

from games.rules.cards import Card, Face
from games.rules.errors import BadInput
from games.rules.moves import MAX_PLAYERS, MIN_PLAYERS
from games.rules.options import Options
from games.rules.position import BUZZ, CHOOSE_COLOR, DRAWN, OVER, PLAY, Buzz, Challenge, Position, Run
from games.rules.ruleset import SideRules

_REQUIRED: Final = ("hands", "turn", "discard_pile")
_SORTED: Final = ("out", "set_aside", "declared", "exposed")


def position_to_json(position: Position, options: Options) -> dict[str, object]:
    """Return the form that docs/notation.md calls output.

    ``absent`` is left out. Read back, a seat that left in an earlier round counts as out in this one (SCORE-2;
    docs/decisions/0010).
    """
    fields = position.to_json()
    fields["hands"] = [sorted(hand) for hand in fields["hands"]]
    for name in _SORTED:
        fields[name].sort()
    pending = position.pending
    if pending is not None and pending.by == _top_face(position, options).symbol:
        del fields["pending"]["by"]
    return {name: fields[name] for name in _READERS if name in fields}


def _top_face(position: Position, options: Options) -> Face:
    side = options.rules.sides[position.extra.side]
    return side.faces[side.show_card(position.top)]


def position_from_json(obj: object, options: Options, most_players: int = MAX_PLAYERS) -> Position:
    """Return the position that a JSON object describes. It may have up to ``most_players`` hands.

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
    position = Position.from_json(_Reader(obj, options, most_players).fields())
    _check_seats(position, options)
    _check_phase(position, options)
    check_variant_fields(position, options)
    return position


class _Reader:
    """Reads the fields of a position's JSON object, each with its function in ``_READERS``."""

    def __init__(self, obj: Mapping[str, object], options: Options, most_players: int) -> None:
        self._obj = obj
        self._options = options
        self._most_players = most_players
        self._side = self._side_in_force()
        self._players = 0

    def _side_in_force(self) -> SideRules:
        """Return the rules of the side that the object names. The light side is in force if it names none."""
        sides, name = self._options.rules.sides, self._obj.get("side")
        if name is None or len(sides) == 1:
            return self._options.rules.first
        if not isinstance(name, str) or name not in sides:
            raise BadInput(f"side must be one of {', '.join(filter(None, sides))}.")
        return sides[name]

    def fields(self) -> dict[str, object]:
        """Return the fields of the object. ``color`` defaults to the colour of the top card."""
        hands = self._list("hands", self._obj["hands"])
        if not MIN_PLAYERS <= len(hands) <= self._most_players:
            raise BadInput(f"A position has 2 to {self._most_players} hands.")
        self._players = len(hands)
        discard_pile = self.cards("discard_pile", self._obj["discard_pile"])
        if not discard_pile:
            raise BadInput("The discard pile is empty.")
        for name, has_meaning in _MEANINGS.items():
            if self._obj.get(name) is not None and not has_meaning(self._options, self._players):
                raise BadInput(f"{name} has no meaning with these options.")
        fields = {name: read(self, name, self._obj[name]) for name, read in _READERS.items() if name in self._obj}
        if fields.get("color") is None:
            fields["color"] = self._face(discard_pile[-1]).color or None
        fields["side"] = self._side.name
        return {name: value for name, value in fields.items() if value is not None or name in _NULLS}

    def _face(self, card: Card) -> Face:
        return self._side.faces[self._side.show_card(card)]

    def _list(self, name: str, value: object) -> list[object]:
        if not isinstance(value, list):
            raise BadInput(f"{name} must be a list.")
        return value

    def card(self, name: str, value: object) -> Card:
        if not isinstance(value, str):
            raise BadInput(f"{name} must hold cards.")
        if value not in (self._side.shown or self._side.faces):
            raise BadInput(f"There is no card {value!r} in this deck.")
        return intern(value)

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
            raise BadInput(f"{name} must be {', '.join(self._side.colors)} or null.")
        return value

    def pending(self, name: str, value: object) -> dict[str, object]:
        if not isinstance(value, Mapping) or not {"total", "value"} <= set(value) <= {"total", "value", "by"}:
            raise BadInput(f"{name} must have total and value, and may have by.")
        total, least = self.count("total", value["total"]), self.count("value", value["value"])
        if total < least:
            raise BadInput(f"{name} has a total below its value.")
        top = self._face(self.cards("discard_pile", self._obj["discard_pile"])[-1])
        by = top.symbol if value.get("by") is None else value["by"]
        if not isinstance(by, str):
            raise BadInput(f"{name} must name the symbol of a draw card in by.")
        draw_values = {face.symbol: face.value for face in self._side.faces.values() if face.kind == "draw"}
        if by not in draw_values:
            raise BadInput(f"{name} needs a draw card on top, or its symbol in by.")
        if draw_values[by] != least:
            raise BadInput(f"{name} has the value {least}, but {by} has {draw_values[by]}.")
        has_number = least != 0
        if by != top.symbol and not (has_number and self._options.advanced_stacking):
            raise BadInput(f"{name} has another draw card than the top card, but nothing passes cards owed on.")
        if bool(total) != has_number:
            raise BadInput(f"{name} owes no cards, or a Wild Draw Colour a number of them.")
        return {"total": total, "value": least, "by": by}

    def side(self, name: str, value: object) -> object:
        return value  # read before the cards

    def flag(self, name: str, value: object) -> bool:
        if type(value) is not bool:
            raise BadInput(f"{name} must be true or false.")
        return value

    def _object(self, name: str, value: object, *parts: str) -> Mapping[str, object]:
        if not isinstance(value, Mapping) or set(value) != set(parts):
            raise BadInput(f"{name} must have {' and '.join(parts)}, and nothing else.")
        return value

    def run(self, name: str, value: object) -> dict[str, object]:
        run = self._object(name, value, "seat", "card")
        return {"seat": self.seat("seat", run["seat"]), "card": self.card("card", run["card"])}

    def challenge(self, name: str, value: object) -> dict[str, object]:
        claim = self._object(name, value, "seat", "bluff")
        return {"seat": self.seat("seat", claim["seat"]), "bluff": self.flag("bluff", claim["bluff"])}

    def buzz(self, name: str, value: object) -> dict[str, object]:
        buzz = self._object(name, value, "by", "pressed")
        return {"by": self.seat("by", buzz["by"]), "pressed": self.seats("pressed", buzz["pressed"])}

    def fines(self, name: str, value: object) -> list[int]:
        fines = self.seat_numbers(name, value)
        return fines if any(fines) else []

    def seat_numbers(self, name: str, value: object) -> list[int]:
        numbers = self._list(name, value)
        if len(numbers) != self._players:
            raise BadInput(f"{name} must have one number a seat.")
        return [self.count(name, number) for number in numbers]

    def phase(self, name: str, value: object) -> str:
        if not isinstance(value, str) or value not in _CHECKS:
            raise BadInput(f"{name} must be one of {', '.join(_CHECKS)}.")
        return value

    def points(self, name: str, value: object) -> int | list[int]:
        return self.seat_numbers(name, value) if isinstance(value, list) else self.count(name, value)


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
    "side": _or_null(_Reader.side),
    "run": _or_null(_Reader.run),
    "challenge": _or_null(_Reader.challenge),
    "buzz": _or_null(_Reader.buzz),
    "buzzes": _or_null(_Reader.count),
    "passes": _or_null(_Reader.count),
    "fines": _or_null(_Reader.fines),
}
"""The function that checks and reads each field, in the order of docs/notation.md."""

_MEANINGS: Final[dict[str, Callable[[Options, int], bool]]] = {
    "side": lambda options, players: len(options.rules.sides) > 1,
    "run": lambda options, players: options.straights,
    "challenge": lambda options, players: options.bluff != "off",
    "buzz": lambda options, players: options.buzzers == "race",
    "buzzes": lambda options, players: options.buzzers == "lottery",
    "passes": lambda options, players: options.may_hold_all_cards(players),
    "fines": lambda options, players: options.may_fine,
}
"""For some fields: whether they mean anything with the options and the number of players of a table."""

_NULLS: Final = frozenset({"color", "pending", "drawn", "winner", "points"})
"""The fields of the position that may be null. Null in another field is as if it were left out."""


def _check_seats(position: Position, options: Options) -> None:
    over = position.phase == OVER
    for seat, hand in enumerate(position.hands):
        if options.mercy_limit and len(hand) >= options.mercy_limit:
            raise BadInput(f"Seat {seat} holds {len(hand)} cards and would be out.")
        if seat in position.out and hand:
            raise BadInput(f"Seat {seat} is out but holds cards.")
        may_be_empty = over or seat in position.out or seat in position.going_out
        if not hand and not may_be_empty and not _played_the_buzzer(position, seat):
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


def _played_the_buzzer(position: Position, seat: int) -> bool:
    return position.extra.buzz is not None and position.extra.buzz.by == seat


def _check_phase(position: Position, options: Options) -> None:
    phase = position.phase
    _require(position.pending is not None or not position.going_out, "going_out needs a running stack.")
    _require(
        not position.going_out or options.last_draw_card == "contest",
        "going_out needs the option last_draw_card contest.",
    )
    _require(position.pending is None or phase == PLAY, f"pending does not fit the phase {phase}.")
    _require((phase == DRAWN) == (position.drawn is not None), f"drawn does not fit the phase {phase}.")
    over = (position.winner is not None, position.points is not None)
    _require(over == (phase == OVER, phase == OVER), f"winner and points do not fit the phase {phase}.")
    _CHECKS[phase](position, options)


def _check_play(position: Position, options: Options) -> None:
    top, side = _top_face(position, options), options.rules.sides[position.extra.side]
    if position.color is None:
        _require(position.pending is None, "Cards are owed, so a colour is in force.")
        _require(
            top.kind == "buzzer" or top.kind == "wild" or side.shown is not None, "This wild on top needs a colour."
        )
    _require(top.kind != "buzzer" or position.color is None, "A buzzer on top leaves no colour in force.")
    _require(top.color in ("", position.color), "color does not fit the top card.")


def _check_drawn(position: Position, options: Options) -> None:
    _check_play(position, options)
    side = options.rules.sides[position.extra.side]
    _require(position.drawn in position.hands[position.turn], "drawn is not in the hand of the seat on turn.")
    playable = side.playable(position.top, position.color, None)
    _require(side.show_card(position.drawn or "") in playable, "drawn cannot be played.")


def _check_choose_color(position: Position, options: Options) -> None:
    _require(_top_face(position, options).kind == "roulette", "A color is chosen only under a Color Roulette.")
    _require(position.color is None, "color must be null until it is chosen.")


def _check_buzz(position: Position, options: Options) -> None:
    _check_play(position, options)
    _require(_top_face(position, options).kind == "buzzer", "A race needs a buzzer on top.")
    _require(position.extra.buzz is not None, "The phase buzz needs the field buzz.")


def _check_over(position: Position, options: Options) -> None:
    _require(position.winner == position.turn, "Once a round is over its winner is on turn.")
    _require(not position.exposed, "Once a round is over nobody can be caught.")


_CHECKS: Final[dict[str, Callable[[Position, Options], None]]] = {
    PLAY: _check_play,
    DRAWN: _check_drawn,
    CHOOSE_COLOR: _check_choose_color,
    BUZZ: _check_buzz,
    OVER: _check_over,
}
"""The check of a position in each phase."""


def _require(condition: bool, sentence: str) -> None:
    if not condition:
        raise BadInput(sentence)


# The fields that only some variants have. Each check takes the position and the options of its table.


def check_variant_fields(position: Position, options: Options) -> None:
    """Check the fields of ``Extra``.

    :raises BadInput: if one of them is impossible.
    """
    extra, over = position.extra, position.phase == OVER
    if extra.run is not None:
        _check_run(position, extra.run, options)
    if extra.challenge is not None:
        _check_challenge(position, extra.challenge, options)
    if extra.buzz is not None:
        _check_race(position, extra.buzz, options)
    _require(not over or (extra.run, extra.challenge, extra.buzz) == (None, None, None), "The round is over.")


def _check_run(position: Position, run: Run, options: Options) -> None:
    face = _top_face(position, options)
    _require(run.card == position.top and face.number is not None, "The card of run must be a number on top.")
    _require(not (options.zero_seven and face.number in (0, 7)), "A 0 or 7 that acts opens no straight.")
    _require(position.pending is None, "No cards are owed in a straight.")
    _require(run.seat != position.turn, "The seat of run is not on turn.")
    _require(bool(position.hands[run.seat]), "The seat of run holds no card.")


def _check_challenge(position: Position, claim: Challenge, options: Options) -> None:
    pending, top = position.pending, _top_face(position, options)
    _require(pending is not None, "challenge needs pending.")
    _require(
        "allow_challenge" in top.effects and pending is not None and top.symbol == pending.by,
        "challenge needs the wild draw card of the debt on top.",
    )
    _require(claim.seat != position.turn, "The seat of challenge is not on turn.")
    _require(
        claim.seat not in position.going_out and claim.seat not in position.out,
        "The seat of challenge still holds cards.",
    )


def _check_race(position: Position, buzz: Buzz, options: Options) -> None:
    _require(position.phase == BUZZ, "buzz needs the phase buzz.")
    _require(buzz.by == position.turn, "The seat that played the buzzer is on turn.")
    _require(not set(buzz.pressed) & set(position.out), "A seat that is out has not pressed.")
    _require(len(position.still_in()) - len(buzz.pressed) > 1, "With one seat left to press the race is over.")
