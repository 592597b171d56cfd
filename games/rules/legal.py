"""May I make this move? Why not? What would the clock do? The one definition of legality.

The seat on turn is judged by the row of its phase (phases.py). Calls, catches and leaving, which wait for no turn, have
rows of their own (asides.py).
"""

from __future__ import annotations

from games.rules.asides import ASIDES
from games.rules.cards import Card
from games.rules.errors import Refused
from games.rules.moves import KINDS, TURN_MOVES, Move
from games.rules.options import Options
from games.rules.phases import PHASES
from games.rules.position import OVER, Pending, Position


def legal_moves(position: Position, seat: int, options: Options) -> list[Move]:
    """Return every move a seat may make, colours and swap targets spelled out.

    ``leave``, the clock's moves and the ``uno`` suffix of a play are left out: they change nothing about a card.
    """
    if position.phase == OVER or seat in position.out:
        return []
    result = PHASES[position.phase].moves(position, seat, options) if seat == position.turn else []
    # Nobody has an aside to make in most positions, and play-outs ask for thousands of lists a second.
    if position.exposed or options.false_catch_penalty:
        for aside in ASIDES.values():
            result += aside.moves(position, seat, options)
    return result


def default_move(position: Position, seat: int, options: Options) -> Move:
    """Return the move the clock would make now (CLOCK-1); raises Refused if the seat is not on turn."""
    if position.phase == OVER:
        raise Refused("over")
    if seat != position.turn:
        raise Refused("not_your_turn")
    return PHASES[position.phase].default(position, seat, options)


def refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    """Return why a move is not accepted, or None if it is. The order of the checks is NOTATION's table."""
    kind = move.kind
    if kind not in KINDS or (kind == "play" and move.card not in options.rules.side.faces):
        return Refused("malformed")
    if kind == "pass" and options.drawn_must_play:
        return Refused("malformed")
    if seat == position.turn and kind in TURN_MOVES and position.phase != OVER:
        return _turn_refusal(position, seat, move, options)
    return _aside_refusal(position, seat, move, options)


def _turn_refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    phase = PHASES[position.phase]
    if move.kind not in phase.kinds:
        return Refused(phase.otherwise)
    if move.clock:
        return None if move == phase.default(position, seat, options) else Refused("not_the_clocks_move")
    return phase.refusal(position, seat, move, options)


def _aside_refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    """Judge calls, catches and leaving, and every move of a seat that is not on turn."""
    kind, players = move.kind, len(position.hands)
    if not 0 <= seat < players or (kind == "catch" and not 0 <= (move.target or 0) < players):
        return Refused("no_such_seat")
    if position.phase == OVER:
        return Refused("over")
    if seat in position.out:
        return Refused("out")
    aside = ASIDES.get(kind)
    if aside is None:
        return Refused("not_your_turn")
    code = aside.refusal(position, seat, move, options)
    if code is None and move.clock and not aside.by_clock:
        code = "not_the_clocks_move"
    return None if code is None else Refused(code)


def why_not(position: Position, seat: int, card: Card, options: Options) -> Refused | None:
    """Return why a seat cannot play a card now, or None if it can (its colour or swap target yet to be named)."""
    refused = refusal(position, seat, Move("play", card), options)
    if refused is not None and refused.code in ("color_missing", "swap_missing"):
        return None
    return refused


def answers(pending: Pending, options: Options) -> frozenset[Card]:
    """Return the cards that may be played on a stack (STACK-1); none where owed cards are drawn at once."""
    return options.rules.side.answers[pending.value]
