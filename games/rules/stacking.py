"""What may be played on a running stack: a table of which the option ``stacking`` chooses the row (STACK-1)."""

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
"""Which of a deck's cards answer a draw card of a value; none where owed cards are drawn at once."""
