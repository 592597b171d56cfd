"""Deal a round: from shuffled cards to the first position."""

from __future__ import annotations

from collections.abc import Collection

from games.rules.cards import Card
from games.rules.errors import BadInput
from games.rules.moves import MAX_PLAYERS, MIN_PLAYERS
from games.rules.options import Options
from games.rules.position import Position
from games.rules.shuffle import DEAL, Shuffle


def next_dealer(dealer: int, players: int, absent: Collection[int]) -> int:
    """Return the seat that deals after ``dealer``: the next seat that is not in ``absent`` (SETUP-5).

    >>> next_dealer(1, 4, (2,))
    3
    """
    seat = (dealer + 1) % players
    while seat in absent:
        seat = (seat + 1) % players
    return seat


def deal(
    options: Options,
    players: int,
    shuffle: Shuffle,
    *,
    dealer: int | None = None,
    absent: Collection[int] = (),
) -> Position:
    """Shuffle the deck and return the first position of a round (SETUP-1 to SETUP-4).

    ``dealer`` defaults to the last seat, so that seat 0 gets the first card and starts. The seats in ``absent`` have
    left the match and get no cards.

    :raises BadInput: as ``deal_cards``.
    """
    cards = shuffle(options.rules.deck.cards, DEAL)
    return deal_cards(options, players, cards, dealer=dealer, absent=absent)


def deal_cards(
    options: Options,
    players: int,
    cards: list[Card],
    *,
    dealer: int | None = None,
    absent: Collection[int] = (),
) -> Position:
    """Return the first position of a round, dealt from ``cards`` in order. See ``deal``.

    :raises BadInput: if the number of players is wrong, or no number card is left to start with.
    """
    if not MIN_PLAYERS <= players <= MAX_PLAYERS:
        raise BadInput("A table has 2 to 6 players.")
    last = players - 1 if dealer is None else dealer
    start = next_dealer(last, players, absent)
    seats = [seat for k in range(players) if (seat := (start + k) % players) not in absent]
    if len(seats) < MIN_PLAYERS:
        raise BadInput("A round needs at least 2 players.")
    dealt = options.hand_size * len(seats)
    hands: list[list[Card]] = [[] for _ in range(players)]
    for k, seat in enumerate(seats):
        hands[seat] = cards[k : dealt : len(seats)]
    faces = options.rules.side.faces
    starter = next((k for k in range(dealt, len(cards)) if faces[cards[k]].kind == "number"), None)
    if starter is None:
        raise BadInput("The cards left after the deal hold no number card to start with.")
    return Position(
        hands=hands,
        turn=start,
        discard_pile=cards[dealt : starter + 1],
        draw_pile=cards[starter + 1 :],
        color=faces[cards[starter]].color,
        out=sorted(absent),
        absent=sorted(absent),
    )
