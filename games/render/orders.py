"""The form of the reader's standing orders, on the page of a game and of a table that has not started."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_
from games import rules
from games.models.orders import CARD, FACE, NEVER
from games.queries import GameView
from games.render import words
from games.render.table import sorted_hand

_LABELS: Final = {
    NEVER: N_("Do nothing"),
    CARD: N_("Play the same card"),
    FACE: N_("Play the same card, or the same face in another colour"),
}
_IN_FORCE: Final = {
    NEVER: N_("No standing order set"),
    CARD: N_("Standing order: play the same card"),
    FACE: N_("Standing order: play the same face in any colour"),
}
"""What the link to the form says of the orders in force."""


class OrderChoice(NamedTuple):
    """A radio button or a checkbox. `on`: it is switched on."""

    value: str
    label: str
    on: bool


@dataclass(frozen=True, slots=True)
class OrdersForm:
    """The form of the reader's standing orders, with those in force filled in.

    `now` is what they do, in a few words. `link` leads to the form, and `why` says what it is for. `keep` has the cards
    of the hand that can intercept, and those that the orders keep already. `dealt` is False before the first deal, when
    there is no hand to choose them from.
    """

    url: str
    now: str
    link: str
    why: str
    intercept: Sequence[OrderChoice]
    keep: Sequence[OrderChoice]
    dealt: bool
    call_uno: bool


def orders_of(view: GameView) -> OrdersForm | None:
    """Return the form; None for readers without a seat, a player who has left, and where no standing orders can act."""
    orders, seen = view.orders, view.view
    if orders is None or view.ended or any(seat.seat == view.you and seat.left for seat in view.seats):
        return None
    faces = [NEVER, CARD] if view.options.interceptions == "exact" else [NEVER, CARD, FACE]
    chosen = orders.intercept if orders.intercept in faces else CARD
    hand = () if seen is None else seen.hand or ()
    bots = any(seat.bot for seat in view.seats)
    new = chosen == NEVER and view.version < 2 * view.players  # most people have not had two turns yet
    held = {card for card in hand if rules.face_of(card).color}
    now = say.text("orders", _IN_FORCE[chosen])
    return OrdersForm(
        url=words.table_url("orders", view.id),
        now=now,
        link=say.text("orders", "Want to jump in while away? Set a standing order.") if new and bots else now,
        why=say.text(
            "orders",
            N_("Bots can play out of turn here. Leave orders, and you do so too.")
            if bots
            else N_("Others can play out of turn here. Leave orders, and you do so too."),
        ),
        intercept=[OrderChoice(value, say.text("orders", _LABELS[value]), value == chosen) for value in faces],
        keep=[
            OrderChoice(card, words.card_name(card), card in orders.keep)
            for card in sorted_hand([*held.union(orders.keep)], "color")
        ],
        dealt=seen is not None,
        call_uno=orders.call_uno,
    )
