"""Moves that any player may make at any time: a row for each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from games.rules import moves
from games.rules.moves import Move
from games.rules.options import Options
from games.rules.position import Position


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


def _not_listed(position: Position, seat: int, options: Options) -> list[Move]:
    return []


def _never_refused(position: Position, seat: int, move: Move, options: Options) -> str | None:
    return None


OUT_OF_TURN_MOVES: Final[dict[str, OutOfTurnMove]] = {
    "uno": OutOfTurnMove(_calls, _call_refusal, by_clock=True),
    "catch": OutOfTurnMove(_catches, _catch_refusal),
    # Lists of legal moves leave out `leave` (NOTATION, "Console").
    "leave": OutOfTurnMove(_not_listed, _never_refused),
}
"""Every kind of move that is not a turn move."""
