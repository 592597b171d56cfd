"""The form of the reader's standing orders, on the page of a game and of a table that has not started."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from common.readers_language import say
from common.say import N_
from games import rules
from games.models.orders import (
    ASK,
    CARD,
    CARDS_GONE,
    FACE,
    FIRST,
    FORCED,
    HAND_CHANGED,
    HIGHEST,
    LOWEST,
    MOST_FIRST,
    NEVER,
    NO_ORDERS,
    ONE_CARD,
    ROUND_OVER,
    SEVERAL,
    TAKE,
    THEN_DRAW,
    Ended,
    FirstPlay,
    Orders,
)
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
_STACK: Final = {
    ASK: N_("Ask me"),
    TAKE: N_("Take them"),
    LOWEST: N_("Play my lowest draw card that fits, or take them"),
    HIGHEST: N_("Play my highest draw card that fits, or take them"),
}
_STOP: Final = {
    ONE_CARD: N_("Someone else has one card"),
    HAND_CHANGED: N_("My hand is swapped, passed on or turned over"),
}
ORDER_ENDED: Final = {
    TAKE: N_("Your order to take what you owe has ended."),
    LOWEST: N_("Your order to answer with your lowest draw card has ended."),
    HIGHEST: N_("Your order to answer with your highest draw card has ended."),
    FORCED: N_("Your order to play the only card that fits has ended."),
    FIRST: N_("Your order to play some cards first has ended."),
    THEN_DRAW: N_("Your order to draw has ended."),
    SEVERAL: N_("Your orders for your turn have ended."),
}
"""What is said of orders that have ended, by `Ended.order`. Why follows in a sentence of its own."""
WHY_ENDED: Final = {
    ONE_CARD: N_("{player} has one card."),
    HAND_CHANGED: N_("Your hand has changed."),
    ROUND_OVER: N_("The round is over."),
    CARDS_GONE: N_("You no longer hold the cards."),
}
"""The second sentence, by `Ended.why`."""
_WILL: Final = {
    "draw": N_("Your orders will draw."),
    "take": N_("Your orders will take the cards."),
    "play": N_("Your orders will play {card}."),
    "color": N_("Your orders will name {color}."),
    "pass": N_("Your orders will keep the card."),
}
_WOULD: Final = {
    "draw": N_("If it were your turn now: draw."),
    "take": N_("If it were your turn now: take {n}."),
    "play": N_("If it were your turn now: play {card}."),
}
"""What orders are about to do, and what they would do, by the kind of the move."""


class OrderChoice(NamedTuple):
    """A radio button, a checkbox or a line of a list. `on`: it is switched on."""

    value: str
    label: str
    on: bool


@dataclass(frozen=True, slots=True)
class OrdersForm:
    """The form of the reader's standing orders, with those in force filled in.

    `intercept` is empty where nobody can intercept. `keep` has the cards of the hand that can intercept, and those that
    the orders keep already. `dealt` is False before the first deal, when there is no hand to choose them from. `first`
    has a list for each card to play first, and an empty one. `ended` says which orders have ended by themselves, and
    `would` what they would do if it were the reader's turn. Both are empty if there is nothing to say.
    """

    url: str
    intercept: Sequence[OrderChoice]
    keep: Sequence[OrderChoice]
    dealt: bool
    call_uno: bool
    stack: Sequence[OrderChoice]
    forced: bool
    first: Sequence[Sequence[OrderChoice]]
    then_draw: bool
    stop: Sequence[OrderChoice]
    ended: str
    would: str


class OrdersPart(NamedTuple):
    """The reader's standing orders: what they do, in a few words, and their form.

    `link` leads to the form at `form_url`, empty for no link, and `why` says what orders are for. `form` is None while
    the page only leads to it.
    """

    now: str
    link: str
    form_url: str
    why: str
    form: OrdersForm | None


class PendingOrders(NamedTuple):
    """What the reader's orders are about to play, in words and until when, and where the reader stops them."""

    words: str
    iso: str
    left: str
    seconds: float
    url: str


def pending_orders(view: GameView, now: datetime) -> PendingOrders | None:
    """Return what the reader's orders are about to play on their turn, None if nothing."""
    if view.orders_at is None or view.order_move is None:
        return None
    return PendingOrders(
        words=_said(_WILL, view, view.order_move),
        iso=view.orders_at.isoformat(timespec="seconds"),
        left=words.time_left(view.orders_at, now),
        seconds=round((view.orders_at - now).total_seconds(), 1),
        url=words.table_url("stop-orders", view.id),
    )


def ended_words(view: GameView, ended: Ended) -> str:
    """Return which orders of the reader have ended, and why."""
    player = "" if ended.seat is None else view.names[ended.seat]
    which = say.text("notice", ORDER_ENDED[ended.order])
    return " ".join((which, say.text("notice", WHY_ENDED[ended.why], player=player)))


def orders_of(view: GameView, *, with_form: bool) -> OrdersPart | None:
    """Return the reader's standing orders.

    None for readers without a seat, a player who has left, and where no standing orders can act.
    """
    orders = view.orders
    if orders is None or view.ended or any(seat.seat == view.you and seat.left for seat in view.seats):
        return None
    faces = _FACES[view.options.interceptions]
    chosen = orders.intercept if orders.intercept in faces else CARD if faces else NEVER
    now = say.text("orders", _in_force(orders, chosen))
    here = "" if with_form else f"{words.table_url('game', view.id)}?orders=1"
    return OrdersPart(
        now=now,
        link=_link(view, orders, now),
        form_url=f"{here}#orders-form",
        why=say.text("orders", _why(view)),
        form=_form(view, orders, faces, chosen) if with_form else None,
    )


def _form(view: GameView, orders: Orders, faces: Sequence[str], intercept: str) -> OrdersForm:
    hand = (view.view.hand if view.view else None) or ()
    held = {card for card in hand if rules.face_of(card).color}
    return OrdersForm(
        url=words.table_url("orders", view.id),
        intercept=[OrderChoice(value, say.text("orders", _LABELS[value]), value == intercept) for value in faces],
        keep=[
            OrderChoice(card, words.card_name(card), card in orders.keep)
            for card in sorted_hand([*held.union(orders.keep)], "color")
        ],
        dealt=view.view is not None,
        call_uno=orders.call_uno,
        stack=[OrderChoice(value, say.text("orders", text), value == orders.stack) for value, text in _STACK.items()],
        forced=orders.forced,
        first=list(_first(view, orders, hand)) if view.view is not None else [],
        then_draw=orders.then_draw,
        stop=[OrderChoice(value, say.text("orders", text), value in orders.stop) for value, text in _STOP.items()],
        ended=ended_words(view, orders.ended) if orders.ended is not None else "",
        would=_would(view),
    )


_FACES: Final[Mapping[str, Sequence[str]]] = {"off": (), "exact": (NEVER, CARD), "super": (NEVER, CARD, FACE)}
"""The values of `Orders.intercept` that differ at a table, by its option `interceptions`."""


def _in_force(orders: Orders, intercept: str) -> str:
    if orders.of_turn:
        return N_("Standing orders set")
    if orders.ended is not None:
        return N_("Your orders for your turn have ended")
    return _IN_FORCE[intercept]


def _link(view: GameView, orders: Orders, now: str) -> str:
    """Return the words of the link to the form, or empty ones where nobody intercepts and no orders have been set."""
    if view.options.interceptions == "off":
        return now if orders.of_turn or orders.ended is not None else ""
    new = orders == NO_ORDERS and view.version < 2 * view.players  # most people have not had two turns yet
    if new and any(seat.bot for seat in view.seats):
        return say.text("orders", "Want to jump in while away? Set a standing order.")
    return now


def _why(view: GameView) -> str:
    if view.options.interceptions == "off":
        return N_("Your turns need not wait for you. Leave orders for what is clear.")
    if any(seat.bot for seat in view.seats):
        return N_("Bots can play out of turn here. Leave orders, and you do so too.")
    return N_("Others can play out of turn here. Leave orders, and you do so too.")


def _first(view: GameView, orders: Orders, hand: Sequence[rules.Card]) -> Iterator[Sequence[OrderChoice]]:
    """Yield for each card to play first, and for one more, the plays to choose from: none, and those of the hand."""
    plays = dict.fromkeys(
        [
            *(
                play
                for card in sorted_hand([*{*hand, *(play.card for play in orders.first)}], "color")
                for play in _plays(view, card)
            ),
            *orders.first,
        ]
    )
    for chosen in [*orders.first, None][:MOST_FIRST]:
        none = OrderChoice("", say.text("orders", "No card"), chosen is None)
        yield [none, *(OrderChoice(_value(play), _play_name(view, play), play == chosen) for play in plays)]


def _plays(view: GameView, card: rules.Card) -> Iterator[FirstPlay]:
    """Yield the ways to order a card: without a choice, and with each colour or player that it asks for."""
    yield FirstPlay(card)
    side = next(side for side in view.options.rules.sides.values() if card in side.faces)
    if side.plays.asks[card] == "color":
        yield from (FirstPlay(card, color=color) for color in side.colors)
    if side.plays.asks[card] == "target":
        yield from (FirstPlay(card, target=seat.seat) for seat in view.seats if seat.seat != view.you and not seat.out)


def _value(play: FirstPlay) -> str:
    """Return a play in the notation, without its first word."""
    return str(rules.Move("play", play.card, play.color, play.target)).removeprefix("play ")


def _play_name(view: GameView, play: FirstPlay | rules.Move) -> str:
    card = words.card_name(play.card or "")
    if play.color is not None:
        return say.text("orders", "{card}, then {color}", card=card, color=words.color(play.color))
    if play.target is not None:
        return say.text("orders", "{card}, with {name}", card=card, name=view.names[play.target])
    return card


def _said(sentences: Mapping[str, str], view: GameView, move: rules.Move) -> str:
    owed = view.view.pending.total if view.view and view.view.pending else 0
    color = words.color(move.color) if move.color else ""
    card = _play_name(view, move) if move.card else ""
    return say.text("orders", sentences[move.kind], card=card, color=color, n=say.number(owed))


def _would(view: GameView) -> str:
    """Return what the reader's orders would do if it were their turn. Empty without such orders, and on their turn."""
    orders, move = view.orders, view.order_move
    if orders is None or not orders.of_turn or view.turn in (None, view.you):
        return ""
    if move is None:
        return say.text("orders", "If it were your turn now: you would choose.")
    if move.kind == "take" and view.view and view.view.pending and not view.view.pending.total:
        return say.text("orders", "If it were your turn now: take the cards.")  # as many as it needs (BLUFF-5)
    return _said(_WOULD, view, move)
