"""Forms with one button, for what players do besides moves."""

from __future__ import annotations

from typing import NamedTuple

from games.queries import GameView
from games.render.words import table_url


class Action(NamedTuple):
    """A form with one button.

    `id` is also the name of the URL. `style` is the button's CSS classes. `fields` are names and values of hidden
    fields. `off`: the button only says what is missing.
    """

    id: str
    url: str
    label: str
    style: str
    fields: tuple[tuple[str, str], ...] = ()
    off: bool = False


def action_at(view: GameView, name: str, label: str, style: str = "", *fields: tuple[str, str]) -> Action:
    """Return the form that posts to the URL of this name at this table."""
    return Action(name, table_url(name, view.id), label, style, fields)
