"""Worlds: positions that a view allows, with the hidden cards dealt at random."""

from __future__ import annotations

from collections import Counter
from random import Random

from games.rules import DECKS, Card, Position, View


def unseen_cards(view: View) -> list[Card]:
    """Return the cards of the deck that are neither in the viewer's hand nor on the discard pile.

    Cards are added if a world needs more: a position made by hand may have more cards than the deck.
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


def sample_world(view: View, cards: list[Card], rng: Random) -> Position:
    """Return a random position that has this view. ``cards`` are the unseen cards, which are shuffled in place."""
    random = rng.random
    cards.sort(key=lambda _: random())  # several times faster than rng.shuffle, and just as fair
    hands, at = [], 0
    for seat, count in enumerate(view.counts):
        if seat == view.you:
            hands.append(view.hand or ())
        else:
            hands.append(tuple(cards[at : at + count]))
            at += count
    aside = at + view.set_aside
    return view.with_hidden(hands, draw_pile=cards[aside : aside + view.draw_pile], set_aside=cards[at:aside])
