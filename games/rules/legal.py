"""The only definition of legality: which moves are legal, why others are refused, and what the clock plays.

The turn moves of the seat on turn are judged by the row of the phase (``phases.py``). Calls, catches and leaving, which
any seat may make at any time, have rows in ``out_of_turn.py``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from games.rules.cards import Card
from games.rules.errors import Refused
from games.rules.moves import KINDS, TURN_MOVES, Move
from games.rules.options import Options
from games.rules.out_of_turn import OUT_OF_TURN_MOVES, fits_out_of_turn, may_miss
from games.rules.phases import PHASES, choice_refusal, not_in_hand, plays_of
from games.rules.position import BUZZ, OVER, Pending, Position


def legal_moves(position: Position, seat: int, options: Options) -> list[Move]:
    """Return every legal move of a seat, one for each colour and each swap target.

    ``leave``, the clock's moves and the ``uno`` suffix of a play are left out (docs/notation.md, "Console").
    """
    phase = position.phase
    if phase == OVER or seat in position.out:
        return []
    if seat == position.turn:
        moves_of_phase = PHASES[phase].moves  # not called as a method, which Python cannot speed up
        result = moves_of_phase(position, seat, options)
    else:
        result = _plays_out_of_turn(position, seat, options) if options.plays_out_of_turn else []
    # In most positions nobody can call, catch or press, and play-outs ask for thousands of lists a second.
    if position.exposed or options.false_catch_penalty or phase == BUZZ:
        for row in OUT_OF_TURN_MOVES.values():
            result += row.moves(position, seat, options)
    return result


def _plays_out_of_turn(position: Position, seat: int, options: Options) -> list[Move]:
    side, hand = options.rules.sides[position.extra.side], position.hands[seat]
    fitting = {card for card in side.show(hand) if fits_out_of_turn(position, seat, card, options)}
    return plays_of(position, seat, side.plays_from(hand), fitting)


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

    The checks are made in the order of the table of refusals in docs/notation.md.
    """
    kind = move.kind
    if kind not in KINDS or _is_unknown(position, move, options):
        return Refused("malformed")
    if seat == position.turn and kind in TURN_MOVES and position.phase != OVER:
        return _turn_refusal(position, seat, move, options)
    return _out_of_turn_refusal(position, seat, move, options)


_MISSING_KINDS: Final[dict[str, Callable[[Options], bool]]] = {
    "pass": lambda options: options.drawn_must_play,
    "challenge": lambda options: options.bluff == "off",
    "buzz": lambda options: options.buzzers != "race",
}
"""For some kinds of moves, a test that tells if a table has no such move."""


def _is_unknown(position: Position, move: Move, options: Options) -> bool:
    """Return True if a move names a card or a colour that the table does not have, or is of such a kind."""
    missing = _MISSING_KINDS.get(move.kind)
    if missing is not None:
        return missing(options)
    sides = options.rules.sides
    if move.kind == "play" and not any(move.card in side.faces for side in sides.values()):
        return True
    return move.color is not None and move.color not in sides[position.extra.side].colors


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
        return _play_refusal_out_of_turn(position, seat, move, options)
    code = row.refusal(position, seat, move, options)
    if code is None and move.clock and not row.by_clock:
        code = "not_the_clocks_move"
    return None if code is None else Refused(code)


def _play_refusal_out_of_turn(position: Position, seat: int, move: Move, options: Options) -> Refused | None:
    """Judge a turn move of a seat that is not on turn: it may only be a step, an interception or a miss (INT-4)."""
    if move.kind != "play" or not options.plays_out_of_turn:
        return Refused("not_your_turn")
    side = options.rules.sides[position.extra.side]
    card, hand = move.card or "", side.show(position.hands[seat])
    is_held = card in hand
    fits = is_held and fits_out_of_turn(position, seat, card, options)
    is_miss = may_miss(position, options) and (not is_held or options.interception_penalty > 0)
    if not fits and not is_miss:
        return Refused("not_your_turn")
    if move.clock:
        return Refused("not_the_clocks_move")
    if fits:
        return choice_refusal(position, seat, move, side)
    if not is_held:
        return not_in_hand(card)
    if any(fits_out_of_turn(position, seat, other, options) for other in hand):
        return Refused("wrong_card")
    return None


def why_not(position: Position, seat: int, card: Card, options: Options) -> Refused | None:
    """Return why a seat cannot play a card now, or None if it can.

    A colour or a swap target that the card asks for need not be known yet.
    """
    refused = refusal(position, seat, Move("play", card), options)
    if refused is not None and refused.code in ("color_missing", "swap_missing"):
        return None
    return refused


def answers(pending: Pending, options: Options, side: str | None = None) -> frozenset[Card]:
    """Return the draw cards that may be played on a debt (RESP-1): none without the option ``stacking``.

    ``side`` is the name of the side in force.
    """
    return options.rules.sides[side].answers[pending.by, pending.value]
