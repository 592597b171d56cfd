"""A person's page, and the names of their tables in the form of a report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from accounts.models import User
from accounts.zones import formatted
from common.readers_language import say
from common.say import N_
from games.models import Game
from games.queries import GameView, Table, profiles
from games.queries.profiles import PlayerStats
from games.render import words
from games.render.game_cards import GameCard, begun_at, game_card


@dataclass(frozen=True, slots=True)
class ProfilePage:
    """What everyone may know of a person, and the tables that the reader shares with them.

    `is_own`: the reader is this person. `shared` are tables of both, `current` other public tables of this person that
    are open or in progress. `only` is the number of shared tables if there may be more than are listed, else 0.
    """

    person: User
    is_own: bool
    tally: PlayerStats
    shared: Sequence[GameCard]
    only: int
    current: Sequence[GameCard]


def profile_of(
    person: User,
    *,
    is_own: bool,
    tally: PlayerStats,
    shared: Sequence[tuple[Table, GameView]],
    current: Sequence[GameView],
    now: datetime,
) -> ProfilePage:
    """Return the page of a person. Tables in `shared` and `current` are seen as the reader of the page sees them."""
    return ProfilePage(
        person=person,
        is_own=is_own,
        tally=tally,
        shared=[_shared_card(table, view, now) for table, view in shared],
        only=most_listed(shared),
        current=[game_card(view, now) for view in current],
    )


def most_listed(tables: Sequence[object]) -> int:
    """Return the number of these tables if it is the most that a page lists, else 0."""
    return profiles.SHOWN if len(tables) == profiles.SHOWN else 0


def _shared_card(table: Table, view: GameView, now: datetime) -> GameCard:
    # Two tables with the same player have the same name, so add when each began.
    card, begun = game_card(view, now), formatted(begun_at(table.game), N_("j F Y, H:i"))
    return card._replace(about=" · ".join((card.about, say.text("list", "from {time}", time=begun))))


_STATES: Final = {
    Game.Status.OPEN: N_("open"),
    Game.Status.PLAYING: N_("playing"),
    Game.Status.OVER: N_("over"),
    Game.Status.VOID: N_("void"),
}


def table_label(table: Table, view: GameView, them: User) -> str:
    """Return a table's name in the form of a report about `them`, with what tells it from other tables.

    It says so if they have lost their seat there to an act of staff.
    """
    begun = formatted(begun_at(table.game), N_("j F, H:i"))
    others = [seat.name for seat in view.seats if seat.seat != view.you]
    parts = [
        words.crumb(view),
        say.text("list", "with {names}", names=words.listed(others)),
        say.text("list", "from {time}", time=begun),
        say.text("list", _STATES[Game.Status(table.game.status)]),
        view.id,
    ]
    if not table.own_seat(them):
        parts.append(say.text("list", "{name} had a seat", name=them.name))
    return " · ".join(parts)
