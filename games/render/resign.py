"""Whether the reader can resign, and the page that asks for confirmation."""

from __future__ import annotations

from dataclasses import dataclass

from django.urls import reverse

from games.queries import GameView
from games.render import words


def may_leave(view: GameView) -> bool:
    """Return True if the reader can resign: they are still in a round that is being played."""
    seen = view.view
    return view.turn is not None and seen is not None and view.you is not None and view.you not in seen.out


@dataclass(frozen=True, slots=True)
class ResignPage:
    """The page that asks for confirmation. `what` says what happens to the reader and to the others.

    `deal` is the number of the deal, which the form sends: staff can deal the round again.
    """

    table: str
    what: str
    deal: int
    move_url: str
    table_url: str


def resign_page_of(view: GameView) -> ResignPage:
    """Return the page for a reader who can resign."""
    return ResignPage(
        table=words.crumb(view),
        what=words.what_leaving_does(view),
        deal=view.deal,
        move_url=reverse("move", args=[view.id]),
        table_url=reverse("game", args=[view.id]),
    )
