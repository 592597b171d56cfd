"""Which draw cards answer a draw card: a row for each value of the option ``stacking`` (RESP-1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from games.rules.cards import Face


def _none(card: Face, by: Face, value: int) -> bool:
    return False


def _same(card: Face, by: Face, value: int) -> bool:
    return card.symbol == by.symbol


def _family(card: Face, by: Face, value: int) -> bool:
    return card.value >= value and bool(card.color) == bool(by.color)


def _any(card: Face, by: Face, value: int) -> bool:
    return card.value >= value


STACKING: Final[dict[str, Callable[[Face, Face, int], bool]]] = {
    "off": _none,
    "same": _same,
    "family": _family,
    "any": _any,
}
"""For each value of the option: a function that says if a draw card answers another.

Its arguments are the draw card, the last draw card on the debt and the draw value of the debt.
"""
