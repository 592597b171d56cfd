"""What a move would lead to, as far as one player can know. Bots and pages use it."""

from __future__ import annotations

from collections.abc import Sequence

from games.rules.apply import push
from games.rules.moves import Move
from games.rules.out_of_turn import can_be_intercepted, continues
from games.rules.position import NO_EXTRA, Extra, Position
from games.rules.views import View


def cards_after(view: View, move: Move) -> int:
    """Return how many cards the viewer holds after a play (DISC-1, SEVEN-1, ZERO-1).

    ``move`` is a play of a card that the viewer holds. A hand received by a swap or a pass of hands counts. Cards drawn
    in the same move do not, as after a last Wild Reverse Draw Four with two players left (WR4-2).
    """
    card, side = move.card or "", view.options.rules.sides[view.side]
    hand, sheds = view.hand or (), side.sheds.get(card)
    left = len(hand) - 1 if sheds is None else sum([held not in sheds for held in hand])
    if not left or view.you is None:
        return left
    effects = side.effects[card]
    if "swap_hands" in effects and move.target is not None:
        return view.counts[move.target]
    if "pass_hands" in effects:
        return view.counts[view.previous_seat(view.you)]
    return left


def next_steps(view: View, plays: Sequence[Move]) -> list[Move]:
    """Return the steps that can follow these plays of the viewer in the same straight (RUN-1, RUN-2).

    ``plays`` are a play in the viewer's turn, and steps that follow it. The list is empty if they open no straight, or
    end it.
    """
    options, side = view.options, view.options.rules.sides[view.side]
    if not options.straights or view.pending is not None or not plays:
        return []
    hand = list(view.hand or ())
    for play in plays:
        card = play.card or ""
        if card not in hand or side.faces[card].number is None or side.effects[card]:
            return []
        hand.remove(card)
    last, targets = plays[-1].card or "", {None, *range(len(view.counts))} - {view.you, *view.out}
    return [
        move
        for card in sorted(set(hand))
        if continues(side.faces[last], side.faces[card])
        for move in side.plays_from(tuple(hand)).moves[card]
        if move.target in targets
    ]


def continues_straight(view: View, card: str) -> bool:
    """Return True if a card, the text of a face, goes on with the straight of the viewer (RUN-2).

    ``card`` is one that the viewer may play out of turn, so that the rest of the rule is not checked again.
    """
    run, faces = view.run, view.options.rules.sides[view.side].faces
    return run is not None and run.seat == view.you and continues(faces[run.card], faces[card])


def cost_of_miss(view: View) -> int:
    """Return how many points the viewer may get for playing a card now that does not fit out of turn (INT-4).

    It is 0 for the player on turn, for a spectator and a player who is out, and where such a play is only refused.
    """
    top = view.options.rules.sides[view.side].faces[view.top]
    out_of_turn = view.you is not None and view.you != view.turn and view.you not in view.out
    if not out_of_turn or not can_be_intercepted(view.phase, top, view.options):
        return 0
    return view.options.interception_penalty


def winner_by_leaving(view: View) -> int | None:
    """Return the seat that wins the round if the viewer leaves now, or None if it goes on (LEAVE-1, END-3, END-4).

    Return None for a spectator.
    """
    if view.you is None:
        return None
    # Leaving draws no card, so nobody's cards change the result: the position needs no hands and no draw pile.
    hands = [()] * len(view.counts)
    position = Position(
        hands=hands,
        turn=view.turn,
        discard_pile=view.discard_pile,
        out=view.out,
        going_out=view.going_out,
        extra=NO_EXTRA if view.side is None else Extra(side=view.side),
    )
    after, _ = push(position, view.you, Move("leave"), view.options, lambda cards, _: list(cards))
    return after.winner
