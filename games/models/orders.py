"""Standing orders: which cards a seat plays out of turn by itself (docs/decisions/0118-standing-orders.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

from games.models.tables import Seat
from games.rules import Options

NEVER: Final = "never"
CARD: Final = "card"
FACE: Final = "face"
INTERCEPT: Final = (NEVER, CARD, FACE)
"""The values of `Orders.intercept`."""


@dataclass(frozen=True, slots=True)
class Orders:
    """The standing orders of a seat, with the fields of the API.

    `intercept` says which cards the seat plays on a card that they intercept (INT-1): none, the same card, or the same
    face in any colour. Tables where only the same card intercepts play `face` as `card`. `keep` are the texts of faces
    that the orders never play. With `call_uno` a play that leaves one card calls UNO.
    """

    intercept: str = NEVER
    keep: tuple[str, ...] = ()
    call_uno: bool = True

    def to_json(self) -> dict[str, Any]:
        return {**asdict(self), "keep": list(self.keep)}


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
    if seat.orders is None:
        return NO_ORDERS
    return Orders(**{**seat.orders, "keep": tuple(seat.orders["keep"])})


def parse_orders(fields: Mapping[str, object], options: Options) -> Orders:
    """Return the orders with these fields, for a table with these options. Missing fields have the value of no orders.

    A card that `keep` names several times is kept once.

    :raises ValueError: with a sentence for people that says what to change.
    """
    unknown = sorted(set(fields) - set(NO_ORDERS.to_json()))
    if unknown:
        raise ValueError(f"Orders have no field {unknown[0][:40]!r}: send intercept, keep and call_uno.")
    given = {**NO_ORDERS.to_json(), **fields}
    intercept, keep, call_uno = given["intercept"], given["keep"], given["call_uno"]
    if intercept not in INTERCEPT:
        raise ValueError("Set intercept to never, card or face.")
    if type(call_uno) is not bool:
        raise ValueError("Set call_uno to true or false.")
    if not isinstance(keep, list | tuple) or not all(isinstance(card, str) for card in keep):
        raise ValueError('Set keep to a list of cards, like ["r7", "g0"].')
    return Orders(str(intercept), _checked_keep(keep, options), call_uno)


def _checked_keep(keep: list[str] | tuple[str, ...], options: Options) -> tuple[str, ...]:
    faces = {text for side in options.rules.sides.values() for text in side.faces}
    if len(keep) > len(faces):
        raise ValueError(f"Keep at most {len(faces)} cards: this deck has no more different ones.")
    for card in keep:
        if card not in faces:
            raise ValueError(f"{card[:10]!r} is not a card of this table’s deck: leave it out of keep.")
    return tuple(dict.fromkeys(keep))
