"""Which cards may be played on a stack: a row for each value of the option ``stacking`` (STACK-1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from games.rules.cards import Card, Face


def _nothing(value: int, faces: Iterable[Face]) -> frozenset[Card]:
    return frozenset()


def _as_high_or_higher(value: int, faces: Iterable[Face]) -> frozenset[Card]:
    return frozenset(face.text for face in faces if face.value >= value)


STACKING: Final[dict[bool, Callable[[int, Iterable[Face]], frozenset[Card]]]] = {
    False: _nothing,
    True: _as_high_or_higher,
}
"""For each value of the option: a function from a draw value and the faces of a deck to the cards that answer it."""
