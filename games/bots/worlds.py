"""Worlds that a view allows: the hidden cards dealt out by chance."""

from __future__ import annotations

from collections import Counter
from random import Random

from games.rules import DECKS, Card, Position, View


def unseen(view: View) -> list[Card]:
    """Return the cards that are neither in the viewer's hand nor on the discard pile.

    There are always enough for a world: a position made by hand may hold cards that the deck has not.
    """
    deck = DECKS[view.options.deck].cards
    seen = Counter(view.hand)
    seen.update(view.discard_pile)
    cards = []
    for card in deck:
        if seen[card] > 0:
            seen[card] -= 1
        else:
            cards.append(card)
    hidden = sum(view.counts) - len(view.hand or ()) + view.draw_pile + view.set_aside
    while len(cards) < hidden:
        cards += deck
    return cards


def imagine(view: View, cards: list[Card], rng: Random) -> Position:
    """Return a position that looks to the viewer as the view does; shuffles ``cards``, the unseen ones."""
    random = rng.random
    cards.sort(key=lambda _: random())  # as fair as rng.shuffle, and several times faster
    hands, at = [], 0
    for seat, count in enumerate(view.counts):
        if seat == view.you:
            hands.append(view.hand or ())
        else:
            hands.append(tuple(cards[at : at + count]))
            at += count
    aside = at + view.set_aside
    return view.with_hidden(hands, draw_pile=cards[aside : aside + view.draw_pile], set_aside=cards[at:aside])
