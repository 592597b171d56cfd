"""Columns in the words of the staff: seats counted from 1, and the move after which something was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from django.contrib import admin


def seat_number(field: str, label: str) -> Callable[[Any], str]:
    """A column that tells a seat as people count them, from 1."""

    @admin.display(description=label, ordering=field)
    def number(row: Any) -> str:
        seat = getattr(row, field)
        return "–" if seat is None else str(seat + 1)

    return number


def named(field: str, label: str) -> Callable[[Any], object]:
    """A column under a name of its own."""

    @admin.display(description=label, ordering=field)
    def value(row: Any) -> object:
        return getattr(row, field)

    return value


WHEN: Final = named("at", "when")
BY: Final = named("actor_name", "by")
ABOUT: Final = named("person_name", "about")
GAME: Final = named("game_code", "game")
SEAT: Final = seat_number("seat", "seat")
DEALER: Final = seat_number("dealer", "dealer's seat")
WINNER: Final = seat_number("winner", "winner's seat")
AFTER_MOVE: Final = named("version", "after move")
