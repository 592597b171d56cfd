"""What a person is offered who has as many games against bots as they may."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from games.queries import GameView
from games.render import words
from games.render.resign import may_leave


class BotTables(NamedTuple):
    """The offer to go on with the newest of `number` games, or to give up the oldest for a new one.

    `oldest` is the code of the oldest game that the person can resign from, and `opponents` who plays there. Both are
    empty if there is none: the person is out until the next deal everywhere.
    """

    number: int
    newest_url: str
    oldest: str
    opponents: str


def bot_tables_of(views: Sequence[GameView]) -> BotTables | None:
    """Return the offer to the reader of these games, which are the newest first. None without a game."""
    if not views:
        return None
    old = next((view for view in reversed(views) if may_leave(view)), None)
    opponents = words.listed([seat.name for seat in old.seats if seat.seat != old.you]) if old else ""
    return BotTables(len(views), words.table_url("game", views[0].id), old.id if old else "", opponents)
