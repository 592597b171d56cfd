"""What may be played on a running stack: a table of which the option ``stacking`` chooses the row (STACK-1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from games.rules.cards import FACES, Card
from games.rules.options import Options
from games.rules.position import Pending

_OF_AT_LEAST: Final = {
    value: frozenset(card for card, face in FACES.items() if face.value >= value)
    for value in {face.value for face in FACES.values() if face.value}
}


def _nothing(_: Pending) -> frozenset[Card]:
    return frozenset()


def _as_high_or_higher(pending: Pending) -> frozenset[Card]:
    return _OF_AT_LEAST[pending.value]


_ANSWERS: Final[dict[bool, Callable[[Pending], frozenset[Card]]]] = {
    False: _nothing,
    True: _as_high_or_higher,
}


def answers(pending: Pending, options: Options) -> frozenset[Card]:
    """Return the cards that may be played on a stack; none where owed cards are drawn at once.

    A row goes by what ``Pending`` says of the stack, and by nothing else on the table.
    """
    return _ANSWERS[options.stacking](pending)
