"""Test that the comparison of worlds finds leaks: each leak is put into the site and must be found by a viewer."""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

import pytest
from django.http import HttpResponse
from pytest_django import DjangoDbBlocker

from games import queries, rules
from games.admin.games import GameAdmin
from games.models import Game, Move
from games.queries import LogLine, Table
from tests.security.viewers import KINDS, THE_GAME, Compared, Viewer, game_of, played_on
from tests.security.world import World
from tests.support.leaks import leak_in_page, leak_in_refusals
from tests.support.swaps import BACKS, BLUFF, ORDERS, SWAPS
from tests.support.tables import now_of
from tests.support.worlds import another_world, undone

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_moment"), pytest.mark.long]

Patch = pytest.MonkeyPatch


def _count_of_playable(patch: Patch) -> None:
    view_for = rules.view_for

    def leaky(position: rules.Position, seat: int | None, options: rules.Options) -> rules.View:
        playable = sum(card[0] in (position.color, "W") for card in position.hands[position.turn])
        return replace(view_for(position, seat, options), draw_pile=playable)

    patch.setattr(rules, "view_for", leaky)


def _answer_with(change: Callable[[HttpResponse, rules.Position], None]) -> Callable[[Patch], None]:
    """Return a leak that puts something computed from the whole position into the answer with the game page."""
    return lambda patch: leak_in_page(patch, lambda answer, table: change(answer, table.started.position))


def _etag(answer: HttpResponse, position: rules.Position) -> None:
    answer.headers["ETag"] = hashlib.sha256(repr(position).encode()).hexdigest()


def _cookie(answer: HttpResponse, position: rules.Position) -> None:
    answer.set_cookie("at", hashlib.sha256(repr(position.hands).encode()).hexdigest())


def _timing(answer: HttpResponse, position: rules.Position) -> None:
    """Leak how long the search for a playable card took, which depends on the order of the draw pile."""
    fits = [n for n, card in enumerate(position.draw_pile) if card[0] in (position.color, "W")]
    answer.headers["Server-Timing"] = f"search;dur={fits[0] if fits else 0}"


def _length(answer: HttpResponse, position: rules.Position) -> None:
    answer.content += b" " * sum(card[0] == "W" for hand in position.hands for card in hand)


def _sorted_log(patch: Patch) -> None:
    """Leak by reading the log in an order that depends on the drawn cards."""
    log_of = queries.log_of

    def leaky(table: Table, *args: Any, **named: Any) -> list[LogLine]:
        drawn = dict(Move.objects.filter(game=table.game).values_list("n", "events"))
        return sorted(log_of(table, *args, **named), key=lambda line: json.dumps(drawn[line.n]))

    patch.setattr(queries, "log_of", leaky)


def _refusal_names_cards(patch: Patch) -> None:
    leak_in_refusals(patch, lambda position, seat, options: f" The others hold {position.hands}.")


def _refusal_by_draw_pile(patch: Patch) -> None:
    codes = {"r": "out", "y": "over", "g": "nothing_to_take", "b": "no_roulette", "W": "nothing_owed"}

    def leaky(position: rules.Position, *rest: Any) -> Any:
        raise rules.Refused(codes[position.draw_pile[0][0]])

    patch.setattr(rules, "apply", leaky)


def _staff_count_wild_cards(patch: Patch) -> None:
    def people(admin: GameAdmin, game: Game) -> str:
        return str(json.dumps(game.round.state["draw_pile"]).count("W") if game.round else 0)

    patch.setattr(GameAdmin, "people", people)


class Leak(NamedTuple):
    """A leak to put into the site, who can see it, and which cards to swap to show it."""

    viewer: str
    swap: str
    put: Callable[[Patch], None]


LEAKS: Final = {
    "a count of the cards that the player on turn can play": Leak("spectator", "everything", _count_of_playable),
    "an entity tag of the whole position": Leak("seated", "the order of the draw pile", _answer_with(_etag)),
    "a cookie made of the hands": Leak("spectator", "a card of one hand and one of another", _answer_with(_cookie)),
    "a timing that depends on the draw pile": Leak("spectator", "the order of the draw pile", _answer_with(_timing)),
    "a length that depends on the hands": Leak("spectator", "everything", _answer_with(_length)),
    "a log sorted by the cards drawn": Leak("seated", "what the log tells of drawn cards", _sorted_log),
    "a refusal that names a card": Leak("seated", "a card of a hand and one of the draw pile", _refusal_names_cards),
    "a refusal that depends on the draw pile": Leak("seated", "everything", _refusal_by_draw_pile),
    "a page of the staff that counts cards": Leak("moderator", "everything", _staff_count_wild_cards),
}


@pytest.fixture(scope="module")
def played(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[tuple[World, Table]]:
    """Return a game in which one player is out, for all tests here. It is rolled back at the end."""
    with django_db_blocker.unblock(), undone():
        world, table = game_of(KINDS[0], 11)
        rng = random.Random(11)
        while not table.started.position.set_aside:
            table = played_on(world, table, rng, most=1)
        yield world, table


@pytest.mark.parametrize("name", LEAKS)
def test_a_seeded_leak_is_found(played: tuple[World, Table], monkeypatch: Patch, name: str) -> None:
    world, table = played
    leak = LEAKS[name]
    leak.put(monkeypatch)
    viewer = Viewer(world, leak.viewer, few=True, about=THE_GAME)
    rng, done = random.Random(1), Compared()
    for _ in range(5):  # some leaks reveal one bit, which a swap may not change
        done.look(now_of(table), viewer, [leak.swap], rng)
        if done.different:
            return
    raise AssertionError(f"{done.answers} answers compared, and none is different")


@pytest.mark.parametrize("name", [name for name in SWAPS if name not in (BACKS, BLUFF, ORDERS)])
def test_a_swap_changes_hidden_cards_only(played: tuple[World, Table], name: str) -> None:
    before = now_of(played[1])
    hidden = hidden_of(before)
    with another_world(before, None, random.Random(1), SWAPS[name]) as after:
        assert after is not None
        one, other = before.started.position, after.started.position
        assert hidden_of(after) != hidden
        assert sorted(cards_of(one)) == sorted(cards_of(other))
        assert rules.view_for(one, None, before.options) == rules.view_for(other, None, after.options)


def cards_of(position: rules.Position) -> list[str]:
    return [*position.draw_pile, *position.set_aside, *(card for hand in position.hands for card in hand)]


def hidden_of(table: Table) -> tuple[object, ...]:
    round_, position = table.started.round, table.started.position
    events = list(Move.objects.filter(game=table.game).order_by("n").values_list("events", flat=True))
    return position.draw_pile, position.set_aside, position.hands, round_.deal, bytes(round_.secret), events
