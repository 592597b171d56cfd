"""A move, the kinds there are, and the moves that are the same at every table."""

from __future__ import annotations

from typing import Final, NamedTuple

from games.rules.cards import Card

MAX_PLAYERS: Final = 6
MIN_PLAYERS: Final = 2


class Move(NamedTuple):
    """What a seat does. ``str(move)`` is its notation.

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
        if kind.needs:
            words.append(str(getattr(self, kind.needs)))
        for word, field in kind.may:
            value = getattr(self, field)
            if value is not None:
                words += [word, str(value)]
        if kind.uno and self.uno:
            words.append("uno")
        return " ".join(words)


class Kind(NamedTuple):
    """A row: a word of the notation, and what comes with it.

    ``needs`` is the field of a move that the word is followed by; ``may`` are words of which one can come next, each
    with the field behind it; ``uno``: a call can end the line. ``of_turn``: only the player on turn makes such a move,
    and chooses it on the position as it stands. All others (calls, catches, leaving) may come at any moment.
    """

    name: str
    of_turn: bool
    needs: str = ""
    may: tuple[tuple[str, str], ...] = ()
    uno: bool = False


KINDS: Final[dict[str, Kind]] = {
    kind.name: kind
    for kind in (
        Kind("play", of_turn=True, needs="card", may=(("color", "color"), ("swap", "target")), uno=True),
        Kind("draw", of_turn=True),
        Kind("take", of_turn=True),
        Kind("color", of_turn=True, needs="color"),
        Kind("pass", of_turn=True),
        Kind("uno", of_turn=False),
        Kind("catch", of_turn=False, needs="target"),
        Kind("leave", of_turn=False),
    )
}
"""Every kind of move there is: notation, legality and what carries a move out go by these rows."""

TURN_MOVES: Final = frozenset(kind.name for kind in KINDS.values() if kind.of_turn)

DRAW: Final = Move("draw")
TAKE: Final = Move("take")
PASS: Final = Move("pass")
UNO: Final = Move("uno")
CATCH: Final = tuple(Move("catch", target=seat) for seat in range(MAX_PLAYERS))
