"""Set standing orders, and find the plays that they make (docs/decisions/0118-standing-orders.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from django.db import transaction

from common.say import N_
from games import queries, rules
from games.locks import lock_game
from games.models.orders import FACE, NEVER, Orders, orders_of, parse_orders
from games.queries import Table, Viewer
from games.queries.orders import seat_with_orders
from games.refusals import Denied, over

if TYPE_CHECKING:
    from accounts.models import User


def set_orders(*, code: str, viewer: Viewer[User], fields: Mapping[str, object]) -> Table:
    """Replace the standing orders of a person's seat, also before the start. Return the table. Safe to repeat.

    :param fields: the fields of `Orders` by name. Missing ones have the value of no orders.
    :raises Denied: `not_found`, `not_seated`; `forbidden` if the table has no standing orders or the person has left
        the game; `over`; `malformed`.
    """
    with transaction.atomic():
        table = queries.load(lock_game(code=code))
        game = table.game
        queries.require_access(table, viewer)
        row = seat_with_orders(table, viewer.user)
        if row.left:
            raise Denied("forbidden", "You have left this game. You can still watch it.", version=game.version)
        if game.ended:
            raise over(game.version, begun=game.started_at is not None)
        try:
            row.orders = parse_orders(fields, table.options).to_json()
        except ValueError as error:
            sentence = N_("These standing orders do not fit this table. Choose them again.")
            raise Denied("malformed", sentence, message=str(error), version=game.version) from error
        row.save(update_fields=["orders"])
        return table


def next_play(
    table: Table, position: rules.Position, *, after: int, shuffle: rules.Shuffle
) -> tuple[int, rules.Move] | None:
    """Return the seat whose standing orders play next at a table that has them, and its play; None if no orders fit.

    The seats are asked in the direction of play, from the one after seat `after` to that seat itself.
    """
    if table.game.paused_at is not None:
        return None
    for seat in _others_on(position, after):
        move = _play(orders_of(table.seats[seat]), position, seat, table.options, shuffle)
        if move is not None:
            return seat, move
    return None


def _others_on(position: rules.Position, after: int) -> Iterator[int]:
    """Yield the seats still in that are not on turn, in the direction of play, with seat `after` last."""
    players = len(position.hands)
    for n in range(1, players + 1):
        seat = (after + n * position.direction) % players
        if seat != position.turn and seat not in position.out:
            yield seat


def _play(
    orders: Orders, position: rules.Position, seat: int, options: rules.Options, shuffle: rules.Shuffle
) -> rules.Move | None:
    """Return the interception that a seat's orders make, or None (INT-1)."""
    if orders.intercept == NEVER:
        return None
    side, hand = options.rules.sides[position.extra.side], position.hands[seat]
    top, held = side.show_card(position.top), side.show(hand)
    fitting = {card for card in held if card not in orders.keep and rules.intercepts(position, card, options)}
    if orders.intercept != FACE:
        fitting &= {top}
    if not fitting:
        return None
    colors = [rules.face_of(card).color for card in held]
    # The same card first, then the colour that the player holds most of.
    card = min(fitting, key=lambda card: (card != top, -colors.count(rules.face_of(card).color), card))
    target = rules.fewest_cards(position, seat) if side.plays_from(hand).asks[card] == "target" else None
    move = rules.Move("play", card, target=target)
    if orders.call_uno:
        after, _ = rules.apply(position, seat, move, options, shuffle)
        move = replace(move, uno=seat in after.exposed)
    return move
