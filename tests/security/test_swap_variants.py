"""The hidden faces of Flip and the verdict on a bluff reach nobody (FLIP-6, BLUFF-6), and leaks of them are found."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, Final, NamedTuple

import pytest
import structlog
from pytest_django import DjangoDbBlocker

from accounts.models import User
from games import rules
from games.queries import Table, records
from tests.security.viewers import LOOKERS, THE_GAME, Compared, Viewer
from tests.security.world import World
from tests.support.leaks import leak_in_page, leak_in_refusals
from tests.support.swaps import BACKS, BLUFF
from tests.support.tables import now_of, table_at
from tests.support.worlds import another_world, undone

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_moment"), pytest.mark.long]

Patch = pytest.MonkeyPatch
EVERYTHING: Final = "everything"
POSITION: Final = {
    "hands": [["r5/o2", "b1/pF", "r3/W", "g4/tE"], ["r4/t1", "g3/W", "y2/p7"], ["y1/u9", "y2/WD", "b3/o1"]],
    "turn": 1,
    "discard_pile": ["g9/t4", "r3/p5", "W2/u7"],
    "draw_pile": ["b2/o5", "g7/p8", "y9/tR", "r8/u2", "W/o9", "gS/t8"],
    "side": "light",
    "color": "g",
    "pending": {"total": 2, "value": 2},
    "challenge": {"seat": 0, "bluff": True},
}
"""Seat 1 may challenge the Wild Draw Two of seat 0, who holds a green card."""


@pytest.fixture(scope="module")
def flip(request: Any, django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[tuple[World, Table]]:
    """Return a game of Flip whose players see backs, unless the parameter is "hidden". It is rolled back at the end."""
    backs = getattr(request, "param", "seen")
    tables: list[Table] = []

    def deal(people: Sequence[User]) -> Table:
        tables.append(table_at(POSITION, people, preset="flip", options={"flip_backs": backs}))
        return tables[0]

    with django_db_blocker.unblock(), undone():
        yield World(deal, public=True), now_of(tables[0])


# Where players do not see backs, only they are shown less: "opponent", who is on turn, and the others alike.
# `EVERYTHING` swaps the backs and the verdict, too.
@pytest.mark.parametrize(
    ("flip", "role"),
    [*product(["seen"], LOOKERS), ("hidden", "seated"), ("hidden", "opponent")],
    indirect=["flip"],
    scope="module",
)
def test_no_answer_depends_on_hidden_faces_or_a_bluff(flip: tuple[World, Table], role: str) -> None:
    world, table = flip
    done = Compared()
    done.look(table, Viewer(world, role, few=True), [EVERYTHING], random.Random(3))
    assert done.different == []
    assert done.pairs == {(role, EVERYTHING)}


@pytest.mark.parametrize(
    ("flip", "seat"), [*product(["seen", "hidden"], [None, 0, 2])], indirect=["flip"], scope="module"
)
def test_swapped_backs_leave_what_a_viewer_knows(flip: tuple[World, Table], seat: int | None) -> None:
    table = flip[1]
    with another_world(table, seat, random.Random(1)) as after:
        assert after is not None
        here, there = table.started.position, after.started.position
        assert here.hands != there.hands
        assert rules.view_for(here, seat, table.options) == rules.view_for(there, seat, table.options)
        side = table.options.rules.sides
        assert all(card in (side["light"].shown or {}) for hand in there.hands for card in hand)


def _view_with(change: Callable[[rules.Position, rules.View], rules.View]) -> Callable[[Patch], None]:
    """Return a leak that changes what every view contains."""
    view_for = rules.view_for

    def leaky(position: rules.Position, seat: int | None, options: rules.Options) -> rules.View:
        return change(position, view_for(position, seat, options))

    return lambda patch: patch.setattr(rules, "view_for", leaky)


def _dark(hand: Sequence[rules.Card]) -> tuple[str, ...]:
    return tuple(card.partition("/")[2] for card in hand)


def _own_backs(position: rules.Position, view: rules.View) -> rules.View:
    return replace(view, backs=tuple(tuple(sorted(_dark(hand))) for hand in position.hands))


def _backs_in_order(position: rules.Position, view: rules.View) -> rules.View:
    """Show which hidden face belongs to which card, by their order."""
    hands = enumerate(position.hands)
    return replace(view, backs=tuple(() if seat == view.you else _dark(hand) for seat, hand in hands))


def _backs_to_everybody(position: rules.Position, view: rules.View) -> rules.View:
    return _own_backs(position, view) if view.you is None else view


def _both_faces_of_the_top(position: rules.Position, view: rules.View) -> rules.View:
    return replace(view, fines=(len(_dark(position.discard_pile)[-1]), ord(_dark(position.discard_pile)[-1][0]), 0))


def _verdict(position: rules.Position, view: rules.View) -> rules.View:
    claim = position.extra.challenge
    return replace(view, passes=1 + bool(claim and claim.bluff))


def _record_of_a_running_game(patch: Patch) -> None:
    def leaky(table: Table) -> rules.Record:
        pile = table.started.position.draw_pile
        round_ = rules.RoundRecord(1, 0, pile, (), None)
        return rules.Record("flip", table.options, tuple(table.names), "", (), (), None, (round_,))

    patch.setattr(records, "record_of", leaky)


def _log_of_the_server(patch: Patch) -> None:
    log = structlog.get_logger("games")
    leak_in_page(patch, lambda _, table: log.info("shown", challenge=str(table.started.position.extra.challenge)))


def _refusal_names_the_back(patch: Patch) -> None:
    """Say in a refusal what is on the back of a card that the player holds."""
    leak_in_refusals(patch, lambda position, seat, options: f" Its back is {_dark(position.hands[seat])[0]}.")


class Leak(NamedTuple):
    """A leak to put into the site, who can see it, and which swap shows it."""

    viewer: str
    swap: str
    put: Callable[[Patch], None]


LEAKS: Final = {
    "a player's own hidden faces": Leak("seated", BACKS, _view_with(_own_backs)),
    "which card a hidden face belongs to": Leak("seated", BACKS, _view_with(_backs_in_order)),
    "hidden faces shown to visitors": Leak("anonymous", BACKS, _view_with(_backs_to_everybody)),
    "the hidden face of the top card": Leak("opponent", BACKS, _view_with(_both_faces_of_the_top)),
    "a refusal that names a hidden face": Leak("seated", BACKS, _refusal_names_the_back),
    "the verdict on a challenge in the view": Leak("opponent", BLUFF, _view_with(_verdict)),
    "the verdict on a challenge in the server's log": Leak("seated", BLUFF, _log_of_the_server),
    "the record of a running game": Leak("spectator", EVERYTHING, _record_of_a_running_game),
}


@pytest.mark.parametrize("name", LEAKS)
def test_a_seeded_leak_is_found(flip: tuple[World, Table], monkeypatch: Patch, name: str) -> None:
    world, table = flip
    leak = LEAKS[name]
    leak.put(monkeypatch)
    done, rng = Compared(), random.Random(1)
    for _ in range(3):  # a swap may leave the one face that the leak shows
        done.look(table, Viewer(world, leak.viewer, few=True, about=THE_GAME), [leak.swap], rng)
        if done.different:
            return
    raise AssertionError(f"{done.answers} answers compared, and none is different")
