"""The hands of players who are knocked out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from games.rules.events import Event
from games.rules.options import Options
from games.rules.position import Position


def lost_hands(before: Position, events: Sequence[Event], options: Options) -> Mapping[int, tuple[str, ...]]:
    """Return the faces of the hand with which each seat was knocked out by a move, as its player saw them (MERCY-1).

    ``before`` is the position before the move, and ``events`` are those of the move. A hand has what the seat held and
    what it drew with the move, without what it played: a card can make its own player draw.
    """
    side = options.rules.sides[before.extra.side]
    lost = {}
    for out in (event.seat for event in events if event.kind == "knocked_out"):
        hand = list(side.show(before.hands[out]))
        for event in (event for event in events if event.seat == out):
            if event.kind in ("drew", "turned_over"):
                hand += event.cards or ()
            elif event.kind in ("played", "shed"):
                for played in event.cards or [event.card or ""]:
                    hand.remove(played)
        lost[out] = tuple(hand)
    return lost
