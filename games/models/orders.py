"""Standing orders: what a seat plays by itself, in turn and out of turn (docs/decisions/0118-standing-orders.md)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final, NamedTuple

from games.models.tables import Seat
from games.rules import Options

NEVER: Final = "never"
CARD: Final = "card"
FACE: Final = "face"
INTERCEPT: Final = (NEVER, CARD, FACE)
"""The values of `Orders.intercept`."""

ASK: Final = "ask"
TAKE: Final = "take"
LOWEST: Final = "lowest"
HIGHEST: Final = "highest"
STACK: Final = (ASK, TAKE, LOWEST, HIGHEST)
"""The values of `Orders.stack`."""

ONE_CARD: Final = "one_card"
HAND_CHANGED: Final = "hand_changed"
STOP: Final = (ONE_CARD, HAND_CHANGED)
"""What can be in `Orders.stop`."""

ROUND_OVER: Final = "round_over"
CARDS_GONE: Final = "cards_gone"
FORCED: Final = "forced"
FIRST: Final = "first"
THEN_DRAW: Final = "then_draw"
SEVERAL: Final = "several"

MOST_FIRST: Final = 10
"""The most entries of `Orders.first`."""


class FirstPlay(NamedTuple):
    """A card to play first, by its face, with the colour or the seat that it is played with if it asks for one.

    Without them the orders choose as the clock does (CLOCK-1).
    """

    card: str
    color: str | None = None
    target: int | None = None

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in self._asdict().items() if value is not None}


class Ended(NamedTuple):
    """Why orders for the own turn have ended by themselves.

    `order` is what they were: a value of `STACK`, the name of another field of `Orders`, or `SEVERAL`. `why` is one of
    `STOP`, `ROUND_OVER` or `CARDS_GONE`. `seat` is the one that has one card, None for other reasons. `version` is that
    of the line of the log that ended them.
    """

    order: str
    why: str
    seat: int | None
    version: int


@dataclass(frozen=True, slots=True)
class Orders:
    """The standing orders of a seat, with the fields of the API.

    `intercept` says which cards the seat plays on a card that they intercept (INT-1): none, the same card, or the same
    face in any colour. Tables where only the same card intercepts play `face` as `card`. `keep` are the texts of faces
    that the orders never play out of turn. With `call_uno` a play that leaves one card calls UNO.

    The other fields are for the turns of the seat itself. `stack` answers a debt: take it, or play the lowest or the
    highest draw card that fits, and take it if none does. `forced` plays if only one card fits, and makes any other
    move that is the only legal one. `first` are cards to play, the first that fits. With `then_draw` the seat draws,
    also if another card fits, and keeps what it drew if it may. These four end by themselves when the round is over,
    when the cards of `first` are gone, and for what is in `stop`: another player holds one card, or the hand was
    swapped, passed on or turned over. `ended` says why they did so, until new orders are set.
    """

    intercept: str = NEVER
    keep: tuple[str, ...] = ()
    call_uno: bool = True
    forced: bool = False
    stack: str = ASK
    first: tuple[FirstPlay, ...] = ()
    then_draw: bool = False
    stop: tuple[str, ...] = STOP
    ended: Ended | None = None

    @property
    def of_turn(self) -> str:
        """Which orders for the own turn there are, as in `Ended.order`. Empty for none."""
        on = [
            name
            for name, is_on in (
                (self.stack, self.stack != ASK),
                (FORCED, self.forced),
                (FIRST, bool(self.first)),
                (THEN_DRAW, self.then_draw),
            )
            if is_on
        ]
        return SEVERAL if len(on) > 1 else "".join(on)

    def without_turn(self, ended: Ended) -> Orders:
        """Return these orders after those for the own turn have ended."""
        if ended.why == CARDS_GONE:
            return replace(self, first=(), ended=ended)
        return replace(self, forced=False, stack=ASK, first=(), then_draw=False, ended=ended)

    def to_json(self) -> dict[str, Any]:
        """Return the fields of the API. `ended` is only the reason, or an empty text."""
        return {
            **asdict(self),
            "keep": list(self.keep),
            "first": [play.to_json() for play in self.first],
            "stop": list(self.stop),
            "ended": "" if self.ended is None else self.ended.why,
        }

    def to_row(self) -> dict[str, Any]:
        """Return what `Seat.orders` stores. Fields that are not set are left out, except the three oldest."""
        fields = {**self.to_json(), "ended": None if self.ended is None else list(self.ended)}
        usual = {**NO_ORDERS.to_json(), "ended": None}
        return {
            name: value
            for name, value in fields.items()
            # A process of the release before reads these three, and fails on a table with others until it is replaced.
            if name in ("intercept", "keep", "call_uno") or value != usual[name]
        }

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> Orders:
        """Return the orders that `to_row` stored."""
        tuples = {name: tuple(row[name]) for name in ("keep", "stop") if name in row}
        first = tuple(FirstPlay(**play) for play in row.get("first", ()))
        ended = Ended(*row["ended"]) if row.get("ended") else None
        return cls(**{**row, **tuples, "first": first, "ended": ended})


NO_ORDERS: Final = Orders()
"""The orders of a player who has set none."""

BOT_ORDERS: Final[Mapping[str, Orders]] = {
    "random": Orders(CARD, call_uno=False),  # so that people can practise catching
    "careful": Orders(FACE),
    "sharp": Orders(FACE),
}
"""The orders of the seats that belong to bots, by the name of the bot."""


def orders_of(seat: Seat) -> Orders:
    """Return the orders of a seat: those of its owner, also while a bot plays it, or of a bot that owns the seat."""
    if seat.user_id is None:
        return BOT_ORDERS.get(seat.bot, NO_ORDERS)
    return NO_ORDERS if seat.orders is None else Orders.from_row(seat.orders)


def parse_orders(fields: Mapping[str, object], options: Options, targets: Collection[int] = ()) -> Orders:
    """Return the orders with these fields, for a table with these options. Missing fields have the value of no orders.

    A card that `keep` names several times is kept once.

    :param targets: the seats with which the seat can swap hands.
    :raises ValueError: with a sentence for people that says what to change.
    """
    usual = {name: value for name, value in NO_ORDERS.to_json().items() if name != "ended"}
    unknown = sorted(set(fields) - set(usual))
    if unknown:
        *names, last = usual
        raise ValueError(f"Orders have no field {unknown[0][:40]!r}: send {', '.join(names)} and {last}.")
    given = {**usual, **fields}
    for name, values in (("intercept", INTERCEPT), ("stack", STACK)):
        if given[name] not in values:
            *most, last = values
            raise ValueError(f"Set {name} to {', '.join(most)} or {last}.")
    for name in ("call_uno", "forced", "then_draw"):
        if type(given[name]) is not bool:
            raise ValueError(f"Set {name} to true or false.")
    keep, first, stop = given["keep"], given["first"], given["stop"]
    if not isinstance(keep, list | tuple) or not all(isinstance(card, str) for card in keep):
        raise ValueError('Set keep to a list of cards, like ["r7", "g0"].')
    if not isinstance(stop, list | tuple) or not all(why in STOP for why in stop):
        raise ValueError(f"Set stop to a list with any of {' and '.join(STOP)}.")
    if not isinstance(first, list | tuple) or not all(isinstance(play, Mapping) for play in first):
        raise ValueError('Set first to a list of cards to play, like [{"card": "r7"}].')
    if given["intercept"] != NEVER and options.interceptions == "off":
        raise ValueError("Nobody can intercept cards at this table: set intercept to never.")
    return Orders(
        intercept=str(given["intercept"]),
        keep=_checked_keep(keep, options),
        call_uno=bool(given["call_uno"]),
        forced=bool(given["forced"]),
        stack=str(given["stack"]),
        first=_checked_first(first, options, targets),
        then_draw=bool(given["then_draw"]),
        stop=tuple(why for why in STOP if why in stop),
    )


def _checked_keep(keep: list[str] | tuple[str, ...], options: Options) -> tuple[str, ...]:
    faces = {text for side in options.rules.sides.values() for text in side.faces}
    if len(keep) > len(faces):
        raise ValueError(f"Keep at most {len(faces)} cards: this deck has no more different ones.")
    for card in keep:
        if card not in faces:
            raise ValueError(f"{card[:10]!r} is not a card of this table’s deck: leave it out of keep.")
    return tuple(dict.fromkeys(keep))


def _checked_first(
    first: list[Mapping[str, object]] | tuple[Mapping[str, object], ...], options: Options, targets: Collection[int]
) -> tuple[FirstPlay, ...]:
    if len(first) > MOST_FIRST:
        raise ValueError(f"first: name at most {MOST_FIRST} cards.")
    return tuple(_checked_play(f"first.{number}", play, options, targets) for number, play in enumerate(first))


def _checked_play(at: str, play: Mapping[str, object], options: Options, targets: Collection[int]) -> FirstPlay:
    """Return a card to play first. `at` names the entry in what is said of its faults."""
    unknown = sorted(set(play) - set(FirstPlay._fields))
    if unknown:
        raise ValueError(f"{at}: {unknown[0][:40]!r} is no field of a card to play: send card, color and target.")
    card, color, target = (play.get(name) for name in FirstPlay._fields)
    sides = options.rules.sides.values() if isinstance(card, str) else ()
    side = next((side for side in sides if card in side.faces), None)
    if not isinstance(card, str) or side is None:
        raise ValueError(f"{at}.card: {str(card)[:10]!r} is not a card of this table’s deck.")
    asks = side.plays.asks[card]
    if color is not None and asks != "color":
        raise ValueError(f"{at}.color: {card} is played without a colour.")
    if color is not None and color not in side.colors:
        raise ValueError(f"{at}.color: {card} takes one of {', '.join(side.colors)}.")
    if target is not None and asks != "target":
        raise ValueError(f"{at}.target: {card} swaps with nobody.")
    if target is not None and (type(target) is not int or target not in targets):
        raise ValueError(f"{at}.target: {card} swaps with the seat of another player, after the deal.")
    return FirstPlay(card, None if color is None else str(color), target if isinstance(target, int) else None)
