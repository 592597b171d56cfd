"""Deal a round: from shuffled cards to the first position."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import count
from sys import intern

from games.rules.cards import Card, Deck, pair_text
from games.rules.errors import BadInput
from games.rules.first_discard import may_start, start_round
from games.rules.moves import MAX_PLAYERS, MIN_PLAYERS
from games.rules.options import Options
from games.rules.position import NO_EXTRA, Extra, Position
from games.rules.shuffle import DEAL, Shuffle, pairing


def next_dealer(dealer: int, players: int, absent: Collection[int]) -> int:
    """Return the seat that deals after ``dealer``: the next seat that is not in ``absent`` (SETUP-5).

    >>> next_dealer(1, 4, (2,))
    3
    """
    seat = (dealer + 1) % players
    while seat in absent:
        seat = (seat + 1) % players
    return seat


def shuffled_cards(options: Options, shuffle: Shuffle) -> list[Card]:
    """Return the cards of a deck in the order dealt and drawn (docs/notation.md, "Shuffle"; PAIR-1)."""
    deck = options.rules.deck
    cards = deck.cards or _paired(deck, shuffle)
    return shuffle(cards, DEAL)


def _paired(deck: Deck, shuffle: Shuffle) -> tuple[Card, ...]:
    """Return the cards of a deck with two sides, in the order of their light faces (PAIR-1)."""
    light, dark = deck.sides
    # About one try in ten has no pair that is wild or Flip on both sides.
    for number in count():
        backs = shuffle(dark.printed, pairing(number))
        cards = tuple(map(pair_text, light.printed, backs))
        if all(card in (light.shown or {}) for card in cards):
            return tuple(map(intern, cards))
    raise AssertionError("unreachable")


def is_deck(cards: Sequence[Card], options: Options) -> bool:
    """Return True if ``cards`` are all cards of a deck, in any order."""
    deck = options.rules.deck
    if deck.cards:
        return sorted(cards) == sorted(deck.cards)
    return all(
        all(card in (side.shown or {}) for card in cards)
        and sorted((side.shown or {})[card] for card in cards) == sorted(side.printed)
        for side in deck.sides
    )


def deal(
    options: Options,
    players: int,
    shuffle: Shuffle,
    *,
    dealer: int | None = None,
    absent: Collection[int] = (),
) -> Position:
    """Shuffle the deck and return the first position of a round (SETUP-1 to SETUP-4, FIRST-1).

    ``dealer`` defaults to the last seat, so that seat 0 gets the first card and starts. The seats in ``absent`` have
    left the match and get no cards.

    :raises BadInput: as ``deal_cards``.
    """
    cards = shuffled_cards(options, shuffle)
    return deal_cards(options, players, cards, shuffle, dealer=dealer, absent=absent)


def deal_cards(
    options: Options,
    players: int,
    cards: list[Card],
    shuffle: Shuffle,
    *,
    dealer: int | None = None,
    absent: Collection[int] = (),
) -> Position:
    """Return the first position of a round, dealt from ``cards`` in order. See ``deal``.

    :raises BadInput: if the number of players is wrong, or no card is left to start with.
    """
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise BadInput(f"A table has {MIN_PLAYERS} to {MAX_PLAYERS} players.")
    last = players - 1 if dealer is None else dealer
    start = next_dealer(last, players, absent)
    seats = [seat for k in range(players) if (seat := (start + k) % players) not in absent]
    if len(seats) < MIN_PLAYERS:
        raise BadInput("A round needs at least 2 players.")
    dealt = options.hand_size * len(seats)
    hands: list[list[Card]] = [[] for _ in range(players)]
    for k, seat in enumerate(seats):
        hands[seat] = cards[k : dealt : len(seats)]
    side = options.rules.first
    faces = (side.faces[side.show_card(card)] for card in cards[dealt:])
    starter = next((at for at, face in enumerate(faces, dealt) if may_start(face, options)), None)
    if starter is None:
        raise BadInput("The cards left after the deal hold no card to start with.")
    above, rest = cards[dealt:starter], cards[starter + 1 :]
    face = side.faces[side.show_card(cards[starter])]
    to_the_bottom = options.first_discard == "official"
    position = Position(
        hands=hands,
        turn=start,
        discard_pile=[cards[starter]] if to_the_bottom else [*above, cards[starter]],
        draw_pile=rest + above if to_the_bottom else rest,
        color=face.color or None,
        out=sorted(absent),
        absent=sorted(absent),
        extra=NO_EXTRA if side.name is None else Extra(side=side.name),
    )
    return start_round(position, face, options, shuffle)
