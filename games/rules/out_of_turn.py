"""What seats may do that are not on turn: calls, catches, buzzers, leaving, and cards played out of turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from games.rules import moves
from games.rules.cards import Face
from games.rules.moves import Move
from games.rules.options import Options
from games.rules.position import DRAWN, PLAY, Position


class OutOfTurnMove(NamedTuple):
    """A kind of move that any seat still in may make, on turn or not, in any phase of a running round.

    ``moves`` returns the legal moves of the kind. ``refusal`` returns the code that refuses a move, or None. With
    ``by_clock`` the clock may make the move too (CLOCK-2).
    """

    moves: Callable[[Position, int, Options], list[Move]]
    refusal: Callable[[Position, int, Move, Options], str | None]
    by_clock: bool = False


def _calls(position: Position, seat: int, options: Options) -> list[Move]:
    return [moves.UNO] if seat in position.exposed else []


def _call_refusal(position: Position, seat: int, move: Move, options: Options) -> str | None:
    return None if seat in position.exposed else "nothing_owed"


def _may_catch(position: Position, seat: int, target: int, options: Options) -> bool:
    if target == seat or target in position.out:
        return False
    return target in position.exposed or options.false_catch_penalty > 0


def _catches(position: Position, seat: int, options: Options) -> list[Move]:
    seats = range(len(position.hands))
    return [moves.CATCH[target] for target in seats if _may_catch(position, seat, target, options)]


def _catch_refusal(position: Position, seat: int, move: Move, options: Options) -> str | None:
    return None if _may_catch(position, seat, move.target or 0, options) else "nobody_to_catch"


def _presses(position: Position, seat: int, options: Options) -> list[Move]:
    buzz = position.extra.buzz
    return [] if buzz is None or seat in buzz.pressed else [moves.BUZZ]


def _press_refusal(position: Position, seat: int, move: Move, options: Options) -> str | None:
    buzz = position.extra.buzz
    if buzz is None:
        return "no_buzz"
    if move.clock:
        return None if seat == position.turn else "not_the_clocks_move"
    return "already_pressed" if seat in buzz.pressed else None


def _not_listed(position: Position, seat: int, options: Options) -> list[Move]:
    return []


def _never_refused(position: Position, seat: int, move: Move, options: Options) -> str | None:
    return None


OUT_OF_TURN_MOVES: Final[dict[str, OutOfTurnMove]] = {
    "uno": OutOfTurnMove(_calls, _call_refusal, by_clock=True),
    "catch": OutOfTurnMove(_catches, _catch_refusal),
    "buzz": OutOfTurnMove(_presses, _press_refusal, by_clock=True),
    # Lists of legal moves leave out `leave` (docs/notation.md, "Console").
    "leave": OutOfTurnMove(_not_listed, _never_refused),
}
"""Every kind of move that is not a turn move."""


# Cards played out of turn: steps of a straight, interceptions and misses.


def is_step(position: Position, seat: int, card: str, options: Options) -> bool:
    """Return True if a card, the text of a face, goes on with the straight of a seat (RUN-2)."""
    run = position.extra.run
    if run is None or run.seat != seat or position.phase != PLAY or position.pending is not None:
        return False
    side = options.rules.sides[position.extra.side]
    return continues(side.faces[side.show_card(run.card)], side.faces[card])


def continues(last: Face, face: Face) -> bool:
    """Return True if a face is the next in a straight after another: 9 and 0 are neighbours (RUN-2)."""
    if face.number is None or last.number is None or face.color != last.color:
        return False
    return abs(face.number - last.number) in (1, 9)


def intercepts(position: Position, card: str, options: Options) -> bool:
    """Return True if a card, the text of a face, intercepts the top card (INT-1)."""
    if not may_miss(position, options):
        return False
    side = options.rules.sides[position.extra.side]
    face, top = side.faces[card], side.faces[side.show_card(position.top)]
    if not face.color or face.symbol != top.symbol or (options.interceptions == "exact" and face.color != top.color):
        return False
    if position.pending is None:
        return True
    return card in side.playable(position.top, position.color, position.pending) and card not in side.ending


def may_miss(position: Position, options: Options) -> bool:
    """Return True if the top card may be intercepted by some card, so that another card is a miss (INT-1, INT-4)."""
    side = options.rules.sides[position.extra.side]
    return can_be_intercepted(position.phase, side.faces[side.show_card(position.top)], options)


def can_be_intercepted(phase: str, top: Face, options: Options) -> bool:
    """Return True if some card intercepts this top face in this phase (INT-1)."""
    return options.interceptions != "off" and phase in (PLAY, DRAWN) and bool(top.color)


def fits_out_of_turn(position: Position, seat: int, card: str, options: Options) -> bool:
    """Return True if a seat that is not on turn may play a card, the text of a face (RUN-2, INT-1)."""
    return is_step(position, seat, card, options) or intercepts(position, card, options)
