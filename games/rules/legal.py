"""The only definition of legality: which moves are legal, why others are refused, and what the clock plays.

The turn moves of the seat on turn are judged by the row of the phase (``phases.py``). Calls, catches and leaving, which
any seat may make at any time, have rows in ``out_of_turn.py``.
"""

from __future__ import annotations

from games.rules.cards import Card
from games.rules.errors import Refused
from games.rules.moves import KINDS, TURN_MOVES, Move
from games.rules.options import Options
from games.rules.out_of_turn import OUT_OF_TURN_MOVES
from games.rules.phases import PHASES
from games.rules.position import OVER, Pending, Position


def legal_moves(position: Position, seat: int, options: Options) -> list[Move]:
    """Return every legal move of a seat, one for each colour and each swap target.

    ``leave``, the clock's moves and the ``uno`` suffix of a play are left out (NOTATION, "Console").
    """
    if position.phase == OVER or seat in position.out:
        return []
    result = PHASES[position.phase].moves(position, seat, options) if seat == position.turn else []
    # In most positions nobody can call or catch, and play-outs ask for thousands of lists a second.
    if position.exposed or options.false_catch_penalty:
        for row in OUT_OF_TURN_MOVES.values():
            result += row.moves(position, seat, options)
    return result


def default_move(position: Position, seat: int, options: Options) -> Move:
    """Return the move that the clock makes for the seat on turn (CLOCK-1).

    :raises Refused: ``over`` if the round is over, ``not_your_turn`` if another seat is on turn.
    """
    if position.phase == OVER:
        raise Refused("over")
    if seat != position.turn:
        raise Refused("not_your_turn")
    return PHASES[position.phase].default(position, seat, options)


def refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    """Return why a move is refused, or None if it is legal.

    The checks are made in the order of NOTATION's table of refusals.
    """
    kind = move.kind
    if kind not in KINDS or (kind == "play" and move.card not in options.rules.side.faces):
        return Refused("malformed")
    if kind == "pass" and options.drawn_must_play:
        return Refused("malformed")
    if seat == position.turn and kind in TURN_MOVES and position.phase != OVER:
        return _turn_refusal(position, seat, move, options)
    return _out_of_turn_refusal(position, seat, move, options)


def _turn_refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    phase = PHASES[position.phase]
    if move.kind not in phase.kinds:
        return Refused(phase.other_kinds_code)
    if move.clock:
        return None if move == phase.default(position, seat, options) else Refused("not_the_clocks_move")
    return phase.refusal(position, seat, move, options)


def _out_of_turn_refusal(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    """Judge calls, catches and leaving, and every turn move of a seat that is not on turn."""
    kind, players = move.kind, len(position.hands)
    if not 0 <= seat < players or (kind == "catch" and not 0 <= (move.target or 0) < players):
        return Refused("no_such_seat")
    if position.phase == OVER:
        return Refused("over")
    if seat in position.out:
        return Refused("out")
    row = OUT_OF_TURN_MOVES.get(kind)
    if row is None:
        return Refused("not_your_turn")
    code = row.refusal(position, seat, move, options)
    if code is None and move.clock and not row.by_clock:
        code = "not_the_clocks_move"
    return None if code is None else Refused(code)


def why_not(position: Position, seat: int, card: Card, options: Options) -> Refused | None:
    """Return why a seat cannot play a card now, or None if it can.

    A colour or a swap target that the card asks for need not be known yet.
    """
    refused = refusal(position, seat, Move("play", card), options)
    if refused is not None and refused.code in ("color_missing", "swap_missing"):
        return None
    return refused


def answers(pending: Pending, options: Options) -> frozenset[Card]:
    """Return the cards that may be played on a stack (STACK-1): none without the option ``stacking``."""
    return options.rules.side.answers[pending.value]
