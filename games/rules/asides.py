"""What a seat may do whether it is on turn or not: a row for each kind of move that waits for no turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from games.rules import moves
from games.rules.moves import Move
from games.rules.options import Options
from games.rules.position import Position


class Aside(NamedTuple):
    """A row: a kind of move that any seat still in may make, in any phase of a running round.

    ``moves`` lists the legal ones, ``refusal`` is the code that refuses another, or None. ``by_clock``: the clock
    may make it as well (CLOCK-2).
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


ASIDES: Final[dict[str, Aside]] = {
    "uno": Aside(_calls, _call_refusal, by_clock=True),
    "catch": Aside(_catches, _catch_refusal),
    # Leaving changes nothing about a card, so no list of legal moves has it.
    "leave": Aside(_not_listed, _never_refused),
}
"""Every kind of move that waits for no turn."""
