"""Columns in the words of the staff: seats counted from 1, and the move after which something was."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from django.contrib import admin
from django.utils import timezone
from django.utils.formats import localize


def seat_number(field: str, label: str) -> Callable[[Any], str]:
    """A column that tells a seat as people count them, from 1."""

    @admin.display(description=label, ordering=field)
    def number(row: Any) -> str:
        seat = getattr(row, field)
        return "–" if seat is None else str(seat + 1)

    return number


def named(field: str, label: str) -> Callable[[Any], str]:
    """A column under a name of its own."""

    @admin.display(description=label, ordering=field)
    def value(row: Any) -> str:
        told = getattr(row, field)
        if isinstance(told, datetime):
            return localize(timezone.localtime(told))
        return "–" if told in ("", None) else str(told)

    return value


class ByDate(admin.DateFieldListFilter):
    """The filter of a field that is called `at`, under a heading that reads as English."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.title = "date"


WHEN: Final = named("at", "when")
MOVE: Final = named("n", "move")
BY: Final = named("actor_name", "by")
ABOUT: Final = named("person_name", "about")
GAME: Final = named("game_code", "game")
SEAT: Final = seat_number("seat", "seat")
DEALER: Final = seat_number("dealer", "dealer’s seat")
WINNER: Final = seat_number("winner", "winner’s seat")
AFTER_MOVE: Final = named("version", "after move")
