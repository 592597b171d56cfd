"""Standing orders reach nobody but their player before they act, and leaks of them are found."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

import pytest
import structlog
from django.http import HttpResponse
from pytest_django import DjangoDbBlocker

from accounts.models import User
from games import queries
from games.admin.games import GameAdmin
from games.models import Game
from games.models.orders import orders_of
from games.queries import GameView, Table
from tests.security.viewers import ABOUT_GAMES, LOOKERS, THE_GAME, Compared, Viewer
from tests.security.world import World
from tests.support.leaks import leak_in_page
from tests.support.swaps import ORDERS
from tests.support.tables import now_of, table_at
from tests.support.worlds import undone

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_moment"), pytest.mark.long]

Patch = pytest.MonkeyPatch
POSITION: Final = {
    "hands": [["r5", "b1", "g4"], ["r4", "r5", "W"], ["y1", "y5", "b3"]],
    "turn": 0,
    "discard_pile": ["g9", "r3"],
    "draw_pile": ["b2", "g7", "y9", "r8", "gS"],
}
"""Both other seats hold a card that intercepts the red 5 of seat 0."""


@pytest.fixture(scope="module")
def party(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[tuple[World, Table]]:
    """Return a game where cards can be intercepted. It is rolled back at the end."""
    tables: list[Table] = []

    def deal(people: Sequence[User]) -> Table:
        tables.append(table_at(POSITION, people, preset="house-party"))
        return tables[0]

    with django_db_blocker.unblock(), undone():
        yield World(deal, public=True), now_of(tables[0])


def compared(party: tuple[World, Table], role: str, about: re.Pattern[str] = ABOUT_GAMES) -> Compared:
    world, table = party
    done = Compared()
    done.look(table, Viewer(world, role, few=True, about=about), [ORDERS], random.Random(3))
    assert done.answers
    return done


@pytest.mark.parametrize("role", LOOKERS)
def test_no_answer_depends_on_the_orders_of_others(party: tuple[World, Table], role: str) -> None:
    assert compared(party, role).different == []


def _orders_of_the_next_seat(patch: Patch) -> None:
    view_of = queries.view_of

    def leaky(table: Table, user: User | None) -> GameView:
        view = view_of(table, user)
        return replace(view, orders=None if view.you is None else orders_of(table.seats[view.you - 1]))

    patch.setattr(queries, "view_of", leaky)


def _length_of_the_page(patch: Patch) -> None:
    def longer(answer: HttpResponse, table: Table) -> None:
        answer.content += b" " * len(str([seat.orders for seat in table.seats]))

    leak_in_page(patch, longer)


def _time_of_the_orders(patch: Patch) -> None:
    def longer(answer: HttpResponse, table: Table) -> None:
        answer.content += b" " * (table.game.orders_at is not None)

    leak_in_page(patch, longer)


def _log_of_the_server(patch: Patch) -> None:
    load_for = queries.load_for

    def leaky(*args: Any) -> Table:
        table = load_for(*args)
        structlog.get_logger("games").info("loaded", orders=[seat.orders for seat in table.seats])
        return table

    patch.setattr(queries, "load_for", leaky)


def _staff_list(patch: Patch) -> None:
    patch.setattr(GameAdmin, "people", lambda admin, game: str(_stored_orders(game)))


def _stored_orders(game: Game) -> list[object]:
    return list(game.seats.order_by("index").values_list("orders", flat=True))


class Leak(NamedTuple):
    """A leak to put into the site, and who can see it."""

    viewer: str
    put: Callable[[Patch], None]


LEAKS: Final = {
    "the orders of another seat in the view": Leak("seated", _orders_of_the_next_seat),
    "a length that depends on orders": Leak("spectator", _length_of_the_page),
    "whether orders are about to play": Leak("opponent", _time_of_the_orders),
    "orders in the server's log": Leak("opponent", _log_of_the_server),
    "orders in a list of the staff": Leak("moderator", _staff_list),
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_seeded_leak_is_found(party: tuple[World, Table], monkeypatch: Patch, name: str) -> None:
    leak = LEAKS[name]
    leak.put(monkeypatch)
    assert compared(party, leak.viewer, THE_GAME).different != []
