"""What a move would come to, as far as a view can tell: for those who choose moves and those who show them."""

from __future__ import annotations

from games.rules.apply import push
from games.rules.effects import parted
from games.rules.moves import Move
from games.rules.position import Position
from games.rules.views import View


def cards_after(view: View, move: Move) -> int:
    """Return how many cards a play leaves the viewer, a swap and a pass of hands included (DISC-1, SEVEN-1, ZERO-1).

    Cards drawn in the same move do not count, as after a last card that comes straight back (WR4-2). ``move`` is a
    play of a card that the viewer holds.
    """
    card, side = move.card or "", view.options.rules.side
    left = len(parted(view.hand or (), card, side)[0])
    if not left or view.you is None:
        return left
    effects = side.effects[card]
    if "swap_hands" in effects and move.target is not None:
        return view.counts[move.target]
    if "pass_hands" in effects:
        return view.counts[view.seat_before(view.you)]
    return left


def winner_by_leaving(view: View) -> int | None:
    """Return who wins the round if the viewer leaves it now, or None if it goes on (LEAVE-1, END-3, END-4).

    The move is made on a position that has what decides this and nothing else: leaving draws no card.
    """
    if view.you is None:
        return None
    hands = [()] * len(view.counts)
    position = Position(
        hands=hands, turn=view.turn, discard_pile=view.discard_pile, out=view.out, going_out=view.going_out
    )
    after, _ = push(position, view.you, Move("leave"), view.options, lambda cards, _: list(cards))
    return after.winner
