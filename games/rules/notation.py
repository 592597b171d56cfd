"""Moves from their notation."""

from __future__ import annotations

import re
from typing import Final

from games.rules.cards import FACES
from games.rules.errors import Refused
from games.rules.moves import Move

_NUMBER: Final = "0|[1-9][0-9]*"
_CARD: Final = "|".join(re.escape(card) for card in sorted(FACES, key=len, reverse=True))
_MOVE: Final = re.compile(
    r"(?P<clock>clock )?(?:"
    rf"(?P<play>play) (?P<card>{_CARD})(?: color (?P<wild>[rygb])| swap (?P<swap>{_NUMBER}))?(?P<uno> uno)?"
    r"|(?P<name>color) (?P<color>[rygb])"
    rf"|(?P<catch>catch) (?P<target>{_NUMBER})"
    r"|(?P<plain>draw|take|pass|uno|leave)"
    r")"
)
_LINE: Final = re.compile(rf"(?P<seat>{_NUMBER}) (?P<move>.*)", re.DOTALL)


def _seat(digits: str) -> int:
    # The first digits of a number without leading zeros already say that it is no seat; int() caps long ones.
    return int(digits[:9])


def parse_move(text: str) -> Move:
    """Return the move a text says; raises ``Refused("malformed")``.

    >>> parse_move("play W10 color g uno")
    Move(kind='play', card='W10', color='g', target=None, uno=True, clock=False)
    """
    found = _MOVE.fullmatch(text)
    if found is None:
        raise Refused("malformed")
    clock = found["clock"] is not None
    if found["play"]:
        target = None if found["swap"] is None else _seat(found["swap"])
        return Move("play", FACES[found["card"]].text, found["wild"], target, found["uno"] is not None, clock)
    if found["name"]:
        return Move("color", color=found["color"], clock=clock)
    if found["catch"]:
        return Move("catch", target=_seat(found["target"]), clock=clock)
    return Move(found["plain"], clock=clock)


def parse_line(text: str) -> tuple[int, Move]:
    """Return seat and move of a line; raises ``Refused("malformed")``.

    >>> parse_line("2 clock take")
    (2, Move(kind='take', card=None, color=None, target=None, uno=False, clock=True))
    """
    found = _LINE.fullmatch(text)
    if found is None:
        raise Refused("malformed")
    return _seat(found["seat"]), parse_move(found["move"])
