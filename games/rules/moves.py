"""Moves, the kinds of moves, and the moves that are the same at every table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from games.rules.cards import Card

MAX_PLAYERS: Final = 10
MIN_PLAYERS: Final = 2


@dataclass(frozen=True, slots=True)
class Move:
    """A move of a seat. ``str(move)`` is its notation.

    ``target`` is a seat. With ``uno`` the play calls UNO. With ``clock`` the clock makes the move (CLOCK-1).

    >>> str(Move("play", "r7", target=2, uno=True))
    'play r7 swap 2 uno'
    """

    kind: str
    card: Card | None = None
    color: str | None = None
    target: int | None = None
    uno: bool = False
    clock: bool = False

    def __str__(self) -> str:
        kind = KINDS[self.kind]
        words = ["clock"] if self.clock else []
        words.append(kind.name)
        if kind.required:
            words.append(str(getattr(self, kind.required)))
        for word, field in kind.optional:
            value = getattr(self, field)
            if value is not None:
                words += [word, str(value)]
        if kind.uno and self.uno:
            words.append("uno")
        return " ".join(words)


class MoveKind(NamedTuple):
    """A kind of move, and its notation.

    ``name`` is the first word of the notation. ``required`` is the field of the move that follows it. ``optional`` are
    pairs of a word and a field, of which one may come next. With ``uno`` the notation may end with a call.

    With ``of_turn`` the move belongs to the player on turn, although some tables let others play cards too (RUN-2,
    INT-1). The other kinds may come at any time.
    """

    name: str
    of_turn: bool
    required: str = ""
    optional: tuple[tuple[str, str], ...] = ()
    uno: bool = False


KINDS: Final[dict[str, MoveKind]] = {
    kind.name: kind
    for kind in (
        MoveKind("play", of_turn=True, required="card", optional=(("color", "color"), ("swap", "target")), uno=True),
        MoveKind("draw", of_turn=True),
        MoveKind("take", of_turn=True),
        MoveKind("color", of_turn=True, required="color"),
        MoveKind("pass", of_turn=True),
        MoveKind("challenge", of_turn=True),
        MoveKind("uno", of_turn=False),
        MoveKind("catch", of_turn=False, required="target"),
        MoveKind("buzz", of_turn=False),
        MoveKind("leave", of_turn=False),
    )
}
"""Every kind of move, by name."""

TURN_MOVES: Final = frozenset(kind.name for kind in KINDS.values() if kind.of_turn)

DRAW: Final = Move("draw")
TAKE: Final = Move("take")
PASS: Final = Move("pass")
CHALLENGE: Final = Move("challenge")
BUZZ: Final = Move("buzz")
UNO: Final = Move("uno")
CATCH: Final = tuple(Move("catch", target=seat) for seat in range(MAX_PLAYERS))
