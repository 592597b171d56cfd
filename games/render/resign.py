"""The page that asks once more before somebody resigns."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from games.queries import GameView
from games.render import words


@dataclass(frozen=True, slots=True)
class ResignPage:
    """The question; `what` says what happens to the reader and to the others."""

    table: str
    what: str
    move_url: str
    table_url: str


def resign_page_of(view: GameView) -> ResignPage:
    """Return the question for a reader who can resign, see `may_leave`."""
    code = [view.id]
    return ResignPage(
        words.crumb(view), words.what_leaving_does(view), reverse("move", args=code), reverse("game", args=code)
    )
