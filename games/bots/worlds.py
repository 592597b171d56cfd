"""Worlds: positions that a view allows, with the hidden cards dealt at random."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from random import Random
from typing import Final

from games.rules import DECKS, Card, Position, View, face_of, is_bluff

BLUFFS: Final = 0.35
"""The probability that a player who could play another card plays a wild draw card that can be challenged.

Measured on rounds among careful bots with two players.
"""


def unseen_cards(view: View) -> list[str]:
    """Return the cards of the deck that are neither in the viewer's hand nor on the discard pile.

    Of a deck with two sides these are the faces of the side in force. Cards are added if a world needs more: a position
    made by hand may have more cards than the deck.
    """
    sides = view.options.rules.deck.sides
    deck = next(side.printed for side in sides if side.name == view.side)
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


def sample_world(view: View, cards: list[str], rng: Random) -> Position:
    """Return a random position that has this view. ``cards`` are the unseen cards, which are shuffled in place.

    Where a card can be challenged, a world in which it was a bluff is less likely than its cards alone say: most
    players who can play another card do so.
    """
    while True:
        world, bluff = _deal_world(view, cards, rng)
        if not bluff or rng.random() < BLUFFS:
            return world


def _deal_world(view: View, cards: list[str], rng: Random) -> tuple[Position, bool]:
    """Return a position that has this view, and whether the card that may be challenged was a bluff in it."""
    _shuffle(cards, rng)
    hands, at = [], 0
    for seat, count in enumerate(view.counts):
        if seat == view.you:
            hands.append(view.hand or ())
        else:
            hands.append(tuple(cards[at : at + count]))
            at += count
    aside = at + view.set_aside
    draw_pile, set_aside = cards[aside : aside + view.draw_pile], cards[at:aside]
    bluff = view.challenge is not None and _would_be_a_bluff(view, hands[view.challenge], rng)
    if view.side is not None:
        return _with_two_sides(view, hands, draw_pile, set_aside, bluff, rng), bluff
    return view.with_hidden(hands, draw_pile=draw_pile, set_aside=set_aside, bluff=bluff), bluff


def _shuffle(cards: list[str], rng: Random) -> None:
    """Shuffle a list in place, several times faster than ``rng.shuffle``, and just as fair."""
    random = rng.random
    cards.sort(key=lambda _: random())


def _with_two_sides(
    view: View,
    hands: Sequence[Sequence[str]],
    draw_pile: Sequence[str],
    set_aside: Sequence[str],
    bluff: bool,
    rng: Random,
) -> Position:
    """Return a world of a deck with two sides: give each face in force a random hidden face (PAIR-1).

    The hidden faces of other players' hands are used where they are seen (FLIP-6).
    """
    rules = view.options.rules
    hidden, pairs = rules.sides[rules.other_side(view.side)], _pairs(rules.deck.name, view.side)
    printed = next(side.printed for side in rules.deck.sides if side.name == hidden.name)
    backs = view.backs or ((),) * len(view.counts)
    pool = list((Counter(printed) - Counter(face for hand in backs for face in hand)).elements())
    _shuffle(pool, rng)
    spare = list(draw_pile)

    def paired(faces: Sequence[str], known: Sequence[str] = ()) -> list[Card]:
        """Give faces of the side in force hidden faces from ``known``, then from the pool.

        A face that no card has together with the last of ``known`` is exchanged for one of the draw pile (PAIR-1).
        """
        left = rng.sample(known, len(known))
        cards = {}
        # Wild cards and Flips choose first, because they go with fewer hidden faces.
        for at in sorted(range(len(faces)), key=lambda at: len(pairs[faces[at]])):
            face = faces[at]
            if left and pairs[face].keys().isdisjoint(left):
                fits = next((n for n, other in enumerate(spare) if left[-1] in pairs[other]), None)
                if fits is not None:
                    face, spare[fits] = spare[fits], face
            cards[at] = _take_pair(pairs[face], left or pool, printed)
        return [cards[at] for at in range(len(faces))]

    dealt = [paired(hand, known) for hand, known in zip(hands, backs, strict=True)]
    return view.with_hidden(
        dealt,
        draw_pile=paired(spare),
        set_aside=paired(set_aside),
        bluff=bluff,
        discard_pile=paired(view.discard_pile),
        drawn=_drawn(view, dealt),
    )


@cache
def _pairs(deck: str, side: str | None) -> Mapping[str, Mapping[str, Card]]:
    """Return every card of a deck with two sides by its face on a side, then by its hidden face (PAIR-1)."""
    first, second = DECKS[deck].sides
    shown, hidden = (first, second) if first.name == side else (second, first)
    pairs: dict[str, dict[str, Card]] = {face: {} for face in shown.faces}
    for card, face in (shown.shown or {}).items():
        pairs[face][(hidden.shown or {})[card]] = card
    return pairs


def _take_pair(fitting: Mapping[str, Card], backs: list[str], printed: Sequence[str]) -> Card:
    """Return the card of ``fitting`` with the last hidden face of ``backs`` that has one. The hidden face is taken out.

    A position made by hand may have more cards than the deck: then any hidden face of the deck will do.
    """
    for at in range(len(backs) - 1, -1, -1):
        if backs[at] in fitting:
            return fitting[backs.pop(at)]
    return next(fitting[back] for back in printed if back in fitting)


def _drawn(view: View, dealt: Sequence[Sequence[Card]]) -> Card | None:
    """Return a card of the viewer's hand in a world that has the face of the drawn card."""
    if view.drawn is None or view.you is None or view.hand is None:
        return None
    return dealt[view.you][view.hand.index(view.drawn)]


def _would_be_a_bluff(view: View, rest: Sequence[str], rng: Random) -> bool:
    """Return True if the card that may be challenged was a bluff, should its player hold ``rest``.

    The colour in force under a wild card is not part of the view: a random one is taken.
    """
    side = view.options.rules.sides[view.side]
    if len(view.discard_pile) < 2:
        return rng.random() < 0.5
    top = view.discard_pile[-2]
    color = face_of(top).color or rng.choice(side.colors)
    return is_bluff(view.options.bluff, view.top, rest, side, top=top, color=color)
