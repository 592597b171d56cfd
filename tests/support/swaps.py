"""Swaps cards that a viewer may not know in the rows of a running game. `SWAPS` has a row for each kind of swap.

Add a row for everything else that a new rule hides. All tests that compare worlds then swap it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from typing import Final

from django.db import connection

from games import rules
from games.models import Move, Round
from games.queries import Table
from tests.support.tables import change_position

PILE: Final = "the draw pile"
ASIDE: Final = "cards set aside"
Places = dict[str, list[str]]
"""The hidden cards by place. The name of a hand is the number of its seat."""
Swap = Callable[[Table, int | None, random.Random], bool]
"""A function that swaps what a seat, or a spectator (None), may not know. It returns False if it can swap nothing."""


def _hidden(table: Table, seat: int | None) -> Places:
    position = table.started.position
    places = {PILE: list(position.draw_pile), ASIDE: list(position.set_aside)}
    return places | {str(n): list(hand) for n, hand in enumerate(position.hands) if n != seat}


def _store(table: Table, seat: int | None, places: Places) -> None:
    position = table.started.position
    hands = [tuple(places.get(str(n), hand)) for n, hand in enumerate(position.hands)]
    drawn = position.drawn
    if drawn is not None:
        drawn = hands[position.turn][position.hands[position.turn].index(drawn)]
    piles = {"draw_pile": tuple(places[PILE]), "set_aside": tuple(places[ASIDE])}
    change_position(table, hands=tuple(hands), drawn=drawn, **piles)


def _of_cards(choose: Callable[[Places, random.Random], bool]) -> Swap:
    """Return a swap that moves cards between places with `choose`."""

    def swap(table: Table, seat: int | None, rng: random.Random) -> bool:
        places = _hidden(table, seat)
        if not choose(places, rng):
            return False
        _store(table, seat, places)
        return True

    return swap


def _two_hands(places: Places, rng: random.Random) -> bool:
    hands = _hands(places)
    if len(hands) < 2:
        return False
    one, other = rng.sample(hands, 2)
    return _exchange(places, one, other, rng)


def _hand_and_pile(places: Places, rng: random.Random) -> bool:
    hands = _hands(places)
    return bool(hands) and _exchange(places, rng.choice(hands), PILE, rng)


def _hands(places: Places) -> list[str]:
    """Return the names of hands that are not empty."""
    return [name for name, cards in places.items() if cards and name not in (PILE, ASIDE)]


def _aside_and_pile(places: Places, rng: random.Random) -> bool:
    return _exchange(places, ASIDE, PILE, rng)


def _exchange(places: Places, one: str, other: str, rng: random.Random) -> bool:
    """Exchange a card of one place for a different card of the other. Return False if there is none."""
    pairs = [(i, j) for i, a in enumerate(places[one]) for j, b in enumerate(places[other]) if a != b]
    if not pairs:
        return False
    i, j = rng.choice(pairs)
    places[one][i], places[other][j] = places[other][j], places[one][i]
    return True


def _order_of_pile(places: Places, rng: random.Random) -> bool:
    before = list(places[PILE])
    rng.shuffle(places[PILE])
    return places[PILE] != before


def _every_card(places: Places, rng: random.Random) -> bool:
    cards = [card for place in places.values() for card in place]
    rng.shuffle(cards)
    before = {name: list(place) for name, place in places.items()}
    for place in places.values():
        place[:] = [cards.pop() for _ in place]
    return places != before


def _deal_and_secret(table: Table, seat: int | None, rng: random.Random) -> bool:
    deal = table.started.round.deal.split()
    changes = {"deal": " ".join(rng.sample(deal, len(deal))), "secret": rng.randbytes(32)}
    Round.objects.filter(pk=table.started.round.pk).update(**changes)
    return True


def _told_cards(table: Table, seat: int | None, rng: random.Random) -> bool:
    """Replace the private cards in the log of all seats except `seat`."""
    hidden = [card for place in _hidden(table, seat).values() for card in place]
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
    """Swap everything that is hidden: the places of cards, the deal, the secret and the cards in the log."""
    _told_cards(table, seat, rng)
    _deal_and_secret(table, seat, rng)
    return _of_cards(_every_card)(table, seat, rng)


SWAPS: Final[dict[str, Swap]] = {
    "a card of one hand and one of another": _of_cards(_two_hands),
    "a card of a hand and one of the draw pile": _of_cards(_hand_and_pile),
    "the order of the draw pile": _of_cards(_order_of_pile),
    "a card set aside and one of the draw pile": _of_cards(_aside_and_pile),
    "the deal and the secret of the shuffle": _deal_and_secret,
    "what the log tells of drawn cards": _told_cards,
    "everything": everything,
}
