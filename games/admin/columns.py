"""Columns and filters of the staff's lists. Seats are counted from 1."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.utils import timezone
from django.utils.formats import localize


def seat_number(field: str, label: str) -> Callable[[Any], str]:
    """Return a column that shows a seat's index, counted from 1."""

    @admin.display(description=label, ordering=field)
    def number(row: Any) -> str:
        seat = getattr(row, field)
        return "–" if seat is None else str(seat + 1)

    return number


def named(field: str, label: str, ordering: str = "") -> Callable[[Any], str]:
    """Return a column that shows a field or property under another label. `ordering` is the field it is sorted by."""

    @admin.display(description=label, ordering=ordering or field)
    def value(row: Any) -> str:
        content = getattr(row, field)
        if isinstance(content, datetime):
            return localize(timezone.localtime(content))
        return "–" if content in ("", None) else str(content)

    return value


class ByDate(admin.DateFieldListFilter):
    """A filter of the field `at` with the title "date"."""

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        self.title = "date"


def titled(field: str, title_of: Callable[[str], str]) -> Callable[[Any], str]:
    """Return a column that shows the title of a stored name."""

    @admin.display(description=field, ordering=field)
    def value(row: Any) -> str:
        return title_of(getattr(row, field))

    return value


def by_title(titles: Mapping[str, str]) -> type[admin.ChoicesFieldListFilter]:
    """Return a filter like Django's for choices, for a field without choices. `titles` maps stored names to titles."""

    class ByTitle(admin.ChoicesFieldListFilter):
        def choices(self, changelist: ChangeList) -> Iterator[Any]:
            chosen = self.lookup_val or ()
            for name, title in (("", "All"), *titles.items()):
                asked = {self.lookup_kwarg: name} if name else {}
                yield {
                    "selected": name in chosen if name else not chosen,
                    "query_string": changelist.get_query_string(asked, [self.lookup_kwarg, self.lookup_kwarg_isnull]),
                    "display": title,
                }

    return ByTitle


WHEN: Final = named("at", "when")
MOVE: Final = named("n", "move")
BY: Final = named("actor_name", "by", ordering="actor_called__name")
ABOUT: Final = named("about", "about", ordering="person_called__name")
GAME: Final = named("game_code", "game")
SEAT: Final = seat_number("seat", "seat")
DEALER: Final = seat_number("dealer", "dealer’s seat")
WINNER: Final = seat_number("winner", "winner’s seat")
AFTER_MOVE: Final = named("version", "after move")
