"""The hand that a player lost when they were knocked out, while they watch the rest of the round."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from django.utils.http import urlencode

from common.readers_language import say
from common.say import N_
from games.queries import GameView
from games.render.table import Card, sorted_hand
from games.render.words import card_name, cards, table_url


class ShownLoss(NamedTuple):
    """A lost hand. `tens` and `ones` are the digits of the number of cards, for the style sheet.

    `skip_url` is where the page fetches the present, empty if it shows the present. `skip` is the label for that.
    """

    note: str
    cards: Sequence[Card]
    tens: int
    ones: int
    table_url: str
    skip_url: str
    skip: str


def lost_hand_of(view: GameView, *, sort: str, earlier: bool, my_turn: bool) -> ShownLoss | None:
    """Return the hand that the reader lost; None if they have not, and at the end of a round or a game.

    `earlier`: the page shows an earlier moment. `my_turn`: by now the reader is on turn in the next round.
    """
    lost = view.lost
    if lost is None or not (earlier or view.turn is not None):
        return None
    here = table_url("game", view.id)
    query = urlencode({"since": view.version, "deal": view.deal, "skip": 1})
    return ShownLoss(
        cards(len(lost.faces)),
        [Card(face, card_name(face), side=lost.side) for face in sorted_hand(lost.faces, sort)],
        *divmod(len(lost.faces), 10),
        here,
        f"{here}?{query}" if earlier else "",
        say.text("button", N_("Skip to my next turn") if my_turn else N_("Skip to the end")),
    )
