"""What the standing orders of a seat play on its own turn."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from games import rules
from games.models.orders import ASK, HIGHEST, TAKE, FirstPlay, Orders

_TAKE: Final = rules.Move("take")


def move_by_order(orders: Orders, position: rules.Position, seat: int, options: rules.Options) -> rules.Move | None:
    """Return the move that these orders make for the seat on turn, without a call of UNO; None if none fits.

    It depends only on what the player of the seat sees.
    """
    if not orders.of_turn:
        return None
    legal = [move for move in rules.legal_moves(position, seat, options) if move.kind in rules.TURN_MOVES]
    chosen = _answer(orders, legal) if position.pending is not None and orders.stack != ASK else []
    if not chosen and orders.forced:
        # Almost all tables allow to draw although a card fits. That is no reason to wait.
        needed = [move for move in legal if move.kind not in ("draw", "pass")] or legal
        chosen = needed if len({(move.kind, move.card) for move in needed}) == 1 else []
    for play in orders.first:
        chosen = chosen or [move for move in legal if move.card == play.card]
    if not chosen and orders.then_draw:
        chosen = [move for move in legal if move.kind in ("draw", "pass")]
    return _best(chosen, orders.first, position, seat, options) if chosen else None


def _answer(orders: Orders, legal: Sequence[rules.Move]) -> list[rules.Move]:
    """Return the plays of the draw card with which these orders answer a debt, or the move that takes the cards."""
    values = {move.card: rules.face_of(move.card).value for move in legal if move.card and _is_draw_card(move.card)}
    if orders.stack == TAKE or not values:
        return [_TAKE]
    wanted = (max if orders.stack == HIGHEST else min)(values.values())
    # Coloured cards before wilds, which fit later as well.
    card = min(
        (card for card in values if values[card] == wanted), key=lambda card: (not rules.face_of(card).color, card)
    )
    return [move for move in legal if move.card == card]


def _is_draw_card(card: rules.Card) -> bool:
    return rules.face_of(card).kind == "draw"


def _best(
    moves: Sequence[rules.Move], first: Sequence[FirstPlay], position: rules.Position, seat: int, options: rules.Options
) -> rules.Move:
    """Return one of these moves, which differ in colour or target: as `first` says, else as the clock's (CLOCK-1)."""
    if len(moves) == 1:
        return moves[0]
    card = moves[0].card
    side = options.rules.sides[position.extra.side]
    rest = list(side.show(position.hands[seat]))
    if card is not None:
        rest.remove(card)
    named = next((play for play in first if play.card == card), FirstPlay(""))
    colors = {move.color for move in moves}
    color = named.color if named.color in colors else rules.most_held(rest, side.colors)
    targets = {move.target for move in moves}
    target = named.target if named.target in targets else rules.fewest_cards(position, seat)
    return next(move for move in moves if move.color in (None, color) and move.target in (None, target))
