"""The form of the reader's standing orders on the game page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from games import rules
from games.models.orders import CARD, FACE, NEVER
from games.queries import GameView
from games.render import words
from games.render.table import sorted_hand

_LABELS: Final = {
    NEVER: "Do nothing",
    CARD: "Play the same card",
    FACE: "Play the same card, or the same face in another colour",
}
_SHORT: Final = {NEVER: "none", CARD: "play the same card", FACE: "play the same face in any colour"}
"""What the title of the form says of the orders in force."""


class Choice(NamedTuple):
    """A radio button or a checkbox. `on`: it is switched on."""

    value: str
    label: str
    on: bool


@dataclass(frozen=True, slots=True)
class OrdersForm:
    """The form of the reader's standing orders, with those in force filled in.

    `now` is what they do, in a few words. `keep` has the cards of the hand that can intercept, and those that the
    orders keep already.
    """

    url: str
    now: str
    intercept: Sequence[Choice]
    keep: Sequence[Choice]
    call_uno: bool


def orders_of(view: GameView) -> OrdersForm | None:
    """Return the form; None for a spectator, a player who has left, and where no standing orders can act."""
    orders, seen = view.orders, view.view
    if orders is None or seen is None or view.you is None or view.status != "playing" or view.seats[view.you].left:
        return None
    faces = [NEVER, CARD] if view.options.interceptions == "exact" else [NEVER, CARD, FACE]
    chosen = orders.intercept if orders.intercept in faces else CARD
    held = {card for card in seen.hand or () if rules.face_of(card).color}
    return OrdersForm(
        url=words.table_url("orders", view.id),
        now=_SHORT[chosen],
        intercept=[Choice(value, _LABELS[value], value == chosen) for value in faces],
        keep=[
            Choice(card, rules.card_name(card), card in orders.keep)
            for card in sorted_hand([*held.union(orders.keep)], "color")
        ],
        call_uno=orders.call_uno,
    )
