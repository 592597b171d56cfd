"""Swaps cards that a viewer may not know in the rows of a running game. `SWAPS` has a row for each kind of swap.

Add a row for everything else that a new rule hides. All tests that compare worlds then swap it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

from django.db import connection

from games import rules
from games.models import Game, Move, Round, Seat
from games.models.orders import INTERCEPT, NEVER, STACK, FirstPlay, Orders
from games.queries import Table
from games.queries.orders import has_orders
from tests.support.tables import change_position, now_of

PILE: Final = "the draw pile"
ASIDE: Final = "cards set aside"
DISCARD: Final = "the discard pile"
Places = dict[str, list[str]]
"""Cards by place. The name of a hand is the number of its seat."""
Swap = Callable[[Table, int | None, random.Random], bool]
"""A function that swaps what a seat, or a spectator (None), may not know. It returns False if it can swap nothing."""


class Faces:
    """The two sides of a table's cards. A card of a deck with one side has no back."""

    def __init__(self, table: Table) -> None:
        rules_of, side = table.options.rules, table.started.position.extra.side
        self.front = rules_of.sides[side]
        self.back = None if side is None else rules_of.sides[rules_of.other_side(side)]
        self._is_light = side != "dark"

    def swapped(self, one: str, other: str) -> tuple[str, str]:
        """Return two cards with their faces in force swapped, or the same two if that makes no card of the deck."""
        if self.back is None:
            return other, one
        first = self._pair(self.front.show_card(other), self.back.show_card(one))
        second = self._pair(self.front.show_card(one), self.back.show_card(other))
        cards = self.front.shown or {}
        return (first, second) if first in cards and second in cards else (one, other)

    def with_backs_swapped(self, one: str, other: str) -> tuple[str, str]:
        """Return two cards with their hidden faces swapped, or the same two if that makes no card of the deck."""
        swapped = self.swapped(one, other)
        return (one, other) if self.back is None or swapped == (one, other) else swapped[::-1]

    def _pair(self, front: str, back: str) -> str:
        return rules.pair_text(front, back) if self._is_light else rules.pair_text(back, front)


def _places(table: Table) -> Places:
    position = table.started.position
    piles = {PILE: position.draw_pile, ASIDE: position.set_aside, DISCARD: position.discard_pile}
    hands = {str(n): hand for n, hand in enumerate(position.hands)}
    return {name: list(cards) for name, cards in (piles | hands).items()}


def _unknown(places: Places, seat: int | None) -> Places:
    """Return the places whose faces in force a seat may not know. The lists are the same ones."""
    return {name: cards for name, cards in places.items() if name not in (DISCARD, str(seat))}


def _store(table: Table, places: Places) -> None:
    position = table.started.position
    hands = tuple(tuple(places[str(n)]) for n in range(position.players))
    drawn, run = position.drawn, position.extra.run
    if drawn is not None:
        drawn = hands[position.turn][position.hands[position.turn].index(drawn)]
    extra = position.extra if run is None else replace(position.extra, run=run._replace(card=places[DISCARD][-1]))
    piles = {"draw_pile": places[PILE], "set_aside": places[ASIDE], "discard_pile": places[DISCARD]}
    change_position(
        table, hands=hands, drawn=drawn, extra=extra, **{name: tuple(cards) for name, cards in piles.items()}
    )


def _of_cards(choose: Callable[[Places, Faces, random.Random], object]) -> Swap:
    """Return a swap that moves faces in force between places with `choose`. Hidden faces stay where they are."""

    def swap(table: Table, seat: int | None, rng: random.Random) -> bool:
        places = _places(table)
        choose(_unknown(places, seat), Faces(table), rng)
        return _stored_if_changed(table, places)

    return swap


def _stored_if_changed(table: Table, places: Places) -> bool:
    if places == _places(table):
        return False
    _store(table, places)
    return True


def _two_hands(places: Places, faces: Faces, rng: random.Random) -> None:
    hands = _hands(places)
    if len(hands) > 1:
        one, other = rng.sample(hands, 2)
        _exchange(places[one], places[other], faces, rng)


def _hand_and_pile(places: Places, faces: Faces, rng: random.Random) -> None:
    hands = _hands(places)
    if hands:
        _exchange(places[rng.choice(hands)], places[PILE], faces, rng)


def _hands(places: Places) -> list[str]:
    """Return the names of hands that are not empty."""
    return [name for name, cards in places.items() if cards and name not in (PILE, ASIDE)]


def _aside_and_pile(places: Places, faces: Faces, rng: random.Random) -> None:
    _exchange(places[ASIDE], places[PILE], faces, rng)


def _exchange(one: list[str], other: list[str], faces: Faces, rng: random.Random) -> None:
    """Exchange the face in force of a card of one place and of a card of the other, if two of them differ."""
    pairs = [(i, j) for i, a in enumerate(one) for j, b in enumerate(other) if faces.swapped(a, b) != (a, b)]
    if pairs:
        i, j = rng.choice(pairs)
        one[i], other[j] = faces.swapped(one[i], other[j])


def _order_of_pile(places: Places, faces: Faces, rng: random.Random) -> None:
    rng.shuffle(places[PILE])


def _every_card(places: Places, faces: Faces, rng: random.Random) -> None:
    _mix(list(places.values()), faces.swapped, rng)


def _mix(places: Sequence[list[str]], swapped: Callable[[str, str], tuple[str, str]], rng: random.Random) -> None:
    """Exchange what `swapped` exchanges between random cards of all places."""
    slots = [(place, at) for place in places for at in range(len(place))]
    for k in range(len(slots) - 1, 0, -1):
        (one, i), (other, j) = slots[k], slots[rng.randrange(k + 1)]
        if (one, i) != (other, j):
            one[i], other[j] = swapped(one[i], other[j])


def _backs(table: Table, seat: int | None, rng: random.Random) -> bool:
    """Swap hidden faces of Flip (FLIP-6).

    A player who sees the backs of the other hands does not know which card each of them belongs to. So they are only
    mixed within those hands.
    """
    places, faces = _places(table), Faces(table)
    if faces.back is None:
        return False
    seen = seat is not None and table.options.flip_backs == "seen"
    apart = _hands(_unknown(places, seat)) if seen else []
    together = [cards for name, cards in places.items() if name not in apart]
    for group in (together, *([places[name]] for name in apart)):
        _mix(group, faces.with_backs_swapped, rng)
    return _stored_if_changed(table, places)


def _bluff(table: Table, seat: int | None, rng: random.Random) -> bool:
    """Swap whether the card that can be challenged was a bluff (BLUFF-6)."""
    extra = table.started.position.extra
    if extra.challenge is None:
        return False
    claim = extra.challenge._replace(bluff=not extra.challenge.bluff)
    change_position(table, extra=replace(extra, challenge=claim))
    return True


def _orders(table: Table, seat: int | None, rng: random.Random) -> bool:
    """Change the standing orders of the other people, and when they play.

    They keep all cards or intercept never, and play their own turn in ten years, so they do not act.
    """
    if not has_orders(table):
        return False
    faces = [text for side in table.options.rules.sides.values() for text in side.faces]
    for other in Seat.objects.filter(game=table.game, user__isnull=False):
        if other.index == seat:
            continue
        intercept = rng.choice(INTERCEPT)
        keep = rng.sample(faces, rng.randrange(len(faces)) if intercept == NEVER else len(faces))
        calls, forced, draws = (rng.random() < 0.5 for _ in range(3))
        first = tuple(map(FirstPlay, rng.sample(faces, rng.randrange(3))))
        orders = Orders(intercept, tuple(keep), calls, forced, rng.choice(STACK), first, draws)
        other.orders = orders.to_row()
        other.save(update_fields=["orders"])
    if table.started.position.turn != seat and table.game.paused_at is None and table.game.wake_at is None:
        orders_at = table.game.created_at + timedelta(days=3650)
        Game.objects.filter(pk=table.game.pk).update(orders_at=orders_at, wake_at=orders_at)
    return True


def _deal_and_secret(table: Table, seat: int | None, rng: random.Random) -> bool:
    deal = table.started.round.deal.split()
    changes = {"deal": " ".join(rng.sample(deal, len(deal))), "secret": rng.randbytes(32)}
    Round.objects.filter(pk=table.started.round.pk).update(**changes)
    return True


def _told_cards(table: Table, seat: int | None, rng: random.Random) -> bool:
    """Replace the private cards in the log of all seats except `seat`."""
    unknown = _unknown(_places(table), seat).values()
    hidden = Faces(table).front.show(tuple(card for place in unknown for card in place))
    moves = list(Move.objects.filter(round=table.started.round))
    for event in (event for move in moves for event in move.events if event["seat"] != seat):
        for field in set(rules.EVENTS[event["kind"]].private) & set(event):
            event[field] = [rng.choice(hidden) for _ in event[field]] if field == "cards" else rng.choice(hidden)
    _write_events(moves)
    return bool(moves)


def _write_events(moves: Sequence[Move]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE games_move SET events = v.events::jsonb FROM unnest(%s::bigint[], %s::text[]) AS v (id, events)"
            " WHERE games_move.id = v.id",
            [[move.pk for move in moves], [json.dumps(move.events) for move in moves]],
        )


def everything(table: Table, seat: int | None, rng: random.Random) -> bool:
    """Swap everything that is hidden: faces, the deal, the cards in the log, orders, and whether it was a bluff."""
    _orders(table, seat, rng)
    _told_cards(table, seat, rng)
    _deal_and_secret(table, seat, rng)
    _bluff(table, seat, rng)
    changed = _backs(now_of(table), seat, rng)
    return _of_cards(_every_card)(now_of(table), seat, rng) or changed


BACKS: Final = "hidden faces"
BLUFF: Final = "whether a card was a bluff"
ORDERS: Final = "the standing orders of the others"
SWAPS: Final[dict[str, Swap]] = {
    "a card of one hand and one of another": _of_cards(_two_hands),
    "a card of a hand and one of the draw pile": _of_cards(_hand_and_pile),
    "the order of the draw pile": _of_cards(_order_of_pile),
    "a card set aside and one of the draw pile": _of_cards(_aside_and_pile),
    BACKS: _backs,
    BLUFF: _bluff,
    ORDERS: _orders,
    "the deal and the secret of the shuffle": _deal_and_secret,
    "what the log tells of drawn cards": _told_cards,
    "everything": everything,
}
"""The kinds of swaps. `BACKS`, `BLUFF` and `ORDERS` need two sides, a right to challenge, and a pace without races."""
