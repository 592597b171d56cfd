"""The front page of somebody who is logged in: their games in groups, or the finished ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from games.queries import GameView
from games.render.game_cards import GameCard, game_card, open_card


class Group(NamedTuple):
    """Games under one heading. Without games it shows the sentence `empty`, and without that sentence nothing."""

    id: str
    title: str
    games: Sequence[GameCard]
    empty: str = ""
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class HomePage:
    """The front page.

    `finished`: it lists finished games. `left_guest` is the name of the guest that this browser was before it logged
    in, empty if that guest has no games. `away_until` is the end of the reader's vacation, if they are away.
    """

    groups: Sequence[Group]
    finished: bool
    left_guest: str
    away_until: datetime | None


def current_games(mine: Sequence[GameView], open_tables: Sequence[GameView], now: datetime) -> list[Group]:
    """Return the groups of the reader's games and of the tables where they can sit down."""
    turn = [game_card(view, now) for view in mine if view.my_turn]
    waiting = [game_card(view, now) for view in mine if not view.my_turn and view.status in ("open", "playing")]
    ended = [game_card(view, now) for view in mine if view.ended]
    return [
        Group("turn", "Your turn", turn, "No games are waiting for you.", urgent=True),
        Group("wait", "Waiting for others", waiting),
        Group("open", "Open tables", [open_card(view) for view in open_tables]),
        Group("over", "Just finished", ended),
    ]


def finished_games(mine: Sequence[GameView], now: datetime) -> list[Group]:
    """Return the one group of games that have ended."""
    games = [game_card(view, now) for view in mine]
    return [Group("finished", "Finished", games, "You haven’t finished a game yet.")]
