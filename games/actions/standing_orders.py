"""Set standing orders, and find what they play and what ends them (docs/decisions/0118-standing-orders.md)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from django.db import transaction

from common.say import N_
from games import announce, queries, rules
from games.clocks import pausing
from games.clocks.bot_times import BOT_FIELDS, orders_time, set_bot_times, with_orders_at
from games.locks import lock_game
from games.models import Game, Seat
from games.models.orders import (
    CARDS_GONE,
    FACE,
    FIRST,
    HAND_CHANGED,
    NEVER,
    ONE_CARD,
    ROUND_OVER,
    Ended,
    Orders,
    orders_of,
    parse_orders,
)
from games.notices import preferences
from games.notices.kinds import ORDERS_ENDED
from games.queries import Table, Viewer
from games.queries.orders import seat_with_orders
from games.queries.turn_orders import move_by_order
from games.refusals import Denied, over

if TYPE_CHECKING:
    from accounts.models import User


def set_orders(*, code: str, viewer: Viewer[User], fields: Mapping[str, object], now: datetime) -> Table:
    """Replace the standing orders of a person's seat, also before the start. Return the table. Safe to repeat.

    If it is the person's turn, orders that fit play after `ORDERS_WAIT` from now on.

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
        others = [seat.index for seat in table.seats if seat.index != row.index] if table.playing is not None else []
        try:
            row.orders = parse_orders(fields, table.options, others).to_row()
        except ValueError as error:
            sentence = N_("These standing orders do not fit this table. Choose them again.")
            raise Denied("malformed", sentence, message=str(error), version=game.version) from error
        row.save(update_fields=["orders"])
        preferences.mark_kind_read(user_id=viewer.user.pk, kind=ORDERS_ENDED, game=game, now=now)
        if table.playing is not None and table.on_turn.index == row.index:
            _set_time(game, orders_time(table, table.playing.position, now), person=viewer.user)
        return table


def stop_orders(*, code: str, viewer: Viewer[User], shown: str) -> Table:
    """Let a person choose the move of this turn, and not their standing orders. Return the table. Safe to repeat.

    :param shown: the time of the orders that the page was about to play (`PendingOrders.iso`).
    :raises Denied: `not_found`, `not_seated`; `forbidden` if the table has no standing orders; `not_started`, `over`;
        `stale` if it is not the person's turn any more, or others are about to play.
    """
    with transaction.atomic():
        table = queries.load(lock_game(code=code))
        queries.require_access(table, viewer)
        row = seat_with_orders(table, viewer.user)
        pausing.require_playing(table)
        if table.on_turn.index != row.index:
            raise Denied("stale", "Your standing orders have played already.", version=table.game.version)
        if table.game.orders_at is not None:
            if table.game.orders_at.isoformat(timespec="seconds") != shown:
                raise Denied("stale", "Your standing orders have changed meanwhile.", version=table.game.version)
            _set_time(table.game, None, person=viewer.user)
        return table


def _set_time(game: Game, orders_at: datetime | None, *, person: User) -> None:
    """Save when a person's orders play, ask the worker to look then, and refresh the person's open pages.

    It raises no revision, because nobody else may learn it.
    """
    set_bot_times(game, with_orders_at(game, orders_at))
    game.save(update_fields=BOT_FIELDS)
    announce.person_news(person.pk)
    if game.wake_at is not None:
        transaction.on_commit(partial(announce.wake_bots, game.pk, game.wake_at - game.skew), robust=True)


def turn_moves(table: Table) -> list[rules.Move]:
    """Return what the standing orders of the seat on turn play now: one move, or a draw and what follows it.

    Empty if none fits.
    """
    position, options, seat = table.started.position, table.options, table.on_turn
    orders, moves = orders_of(seat), list[rules.Move]()
    shuffle = rules.Shuffler(bytes(table.started.round.secret)).shuffle
    while (move := move_by_order(orders, position, seat.index, options)) is not None:
        move = _with_call(orders, position, seat.index, move, options, shuffle)
        after, _ = rules.apply(position, seat.index, move, options, shuffle)
        moves.append(move)
        if rules.ends_turn(position, seat.index, move, after, options):
            break
        position = after
    return moves


def end_turn_orders(
    table: Table, before: rules.Position, after: rules.Position, events: Sequence[rules.Event]
) -> list[Seat]:
    """End in `table` the orders for their own turn that a line of the log ends; return their seats. Saves nothing.

    :param before: the position before the line of the table's version, `after` the one after it.
    """
    ended = []
    for seat, orders in _with_turn_orders(table):
        why, who = _why_ended(orders, seat.index, before, after, events, table.options)
        if why:
            order = FIRST if why == CARDS_GONE else orders.of_turn
            seat.orders = orders.without_turn(Ended(order, why, who, table.game.version)).to_row()
            ended.append(seat)
    return ended


def end_orders_of_void_round(table: Table) -> None:
    """End all orders for own turns, because the round that they were given in is void."""
    for seat, orders in _with_turn_orders(table):
        seat.orders = orders.without_turn(Ended(orders.of_turn, ROUND_OVER, None, table.game.version)).to_row()
        seat.save(update_fields=["orders"])


def _with_turn_orders(table: Table) -> Iterator[tuple[Seat, Orders]]:
    """Yield the seats of people with orders for their own turn."""
    for seat in table.seats:
        if seat.orders is not None and (orders := orders_of(seat)).of_turn:
            yield seat, orders


def _why_ended(
    orders: Orders,
    seat: int,
    before: rules.Position,
    after: rules.Position,
    events: Sequence[rules.Event],
    options: rules.Options,
) -> tuple[str, int | None]:
    """Return why a line ends a seat's orders (`Ended.why`), and the seat that has one card. Empty if it does not."""
    if after.phase == "over":
        return ROUND_OVER, None
    if HAND_CHANGED in orders.stop and any(_changes_hand(event, seat) for event in events):
        return HAND_CHANGED, None
    if ONE_CARD in orders.stop:
        for other in after.still_in():
            if other != seat and len(after.hands[other]) == 1 and len(before.hands[other]) != 1:
                return ONE_CARD, other
    cards = {play.card for play in orders.first}
    if cards and _holds(before, seat, cards, options) and not _holds(after, seat, cards, options):
        return CARDS_GONE, None
    return "", None


def _changes_hand(event: rules.Event, seat: int) -> bool:
    return event.kind in ("passed_hands", "flipped") or (event.kind == "swapped" and seat in (event.seat, event.target))


def _holds(position: rules.Position, seat: int, cards: AbstractSet[str], options: rules.Options) -> bool:
    return not cards.isdisjoint(options.rules.sides[position.extra.side].show(position.hands[seat]))


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
    return _with_call(orders, position, seat, rules.Move("play", card, target=target), options, shuffle)


def _with_call(
    orders: Orders,
    position: rules.Position,
    seat: int,
    move: rules.Move,
    options: rules.Options,
    shuffle: rules.Shuffle,
) -> rules.Move:
    """Return a move with a call of UNO, if it is a play that needs one and the orders call."""
    if move.kind != "play" or not orders.call_uno:
        return move
    after, _ = rules.apply(position, seat, move, options, shuffle)
    return replace(move, uno=seat in after.exposed)
