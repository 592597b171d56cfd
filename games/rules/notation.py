"""Reads moves and lines in the notation (docs/notation.md, "Moves"). ``str(move)`` writes them."""

from __future__ import annotations

import re
from typing import Final

from games.rules.cards import COLORS, DARK_COLORS, FACES
from games.rules.errors import Refused
from games.rules.moves import KINDS, Move, MoveKind

_NUMBER: Final = "0|[1-9][0-9]*"
_FIELDS: Final = {
    "card": "|".join(re.escape(card) for card in sorted(FACES, key=len, reverse=True)),
    "color": "|".join(COLORS + DARK_COLORS),
    "target": _NUMBER,
}


def _group(kind: MoveKind, field: str) -> str:
    return rf"(?P<{kind.name}_{field}>{_FIELDS[field]})"


def _pattern(kind: MoveKind) -> str:
    pattern = f"(?P<{kind.name}>{kind.name})"
    if kind.required:
        pattern += f" {_group(kind, kind.required)}"
    if kind.optional:
        pattern += f"(?:{'|'.join(f' {word} {_group(kind, field)}' for word, field in kind.optional)})?"
    return pattern + (f"(?P<{kind.name}_uno> uno)?" if kind.uno else "")


_MOVE: Final = re.compile(rf"(?P<clock>clock )?(?:{'|'.join(map(_pattern, KINDS.values()))})")
_LINE: Final = re.compile(rf"(?P<seat>{_NUMBER}) (?P<move>.*)", re.DOTALL)


def _seat(digits: str) -> int:
    # Nine digits are enough to tell that a number is no seat, and `int` raises ValueError above 4,300 digits.
    return int(digits[:9])


def parse_move(text: str) -> Move:
    """Return the move that ``text`` describes.

    :raises Refused: ``malformed`` if it is not the notation of a move.

    >>> parse_move("play W10 color g uno")
    Move(kind='play', card='W10', color='g', target=None, uno=True, clock=False)
    """
    found = _MOVE.fullmatch(text)
    if found is None:
        raise Refused("malformed")
    groups = found.groupdict()
    kind = next(kind for kind in KINDS if groups[kind])
    target = groups.get(f"{kind}_target")
    return Move(
        kind,
        groups.get(f"{kind}_card"),
        groups.get(f"{kind}_color"),
        None if target is None else _seat(target),
        uno=groups.get(f"{kind}_uno") is not None,
        clock=groups["clock"] is not None,
    )


def parse_line(text: str) -> tuple[int, Move]:
    """Return the seat and the move of a line.

    :raises Refused: ``malformed`` if it is not a line of the notation.

    >>> parse_line("2 clock take")
    (2, Move(kind='take', card=None, color=None, target=None, uno=False, clock=True))
    """
    found = _LINE.fullmatch(text)
    if found is None:
        raise Refused("malformed")
    return _seat(found["seat"]), parse_move(found["move"])
