"""Test that no answer depends on a card that its reader may not know.

Each game is read by every seat, an outsider and a visitor: first as it is, then with all cards hidden from that reader
dealt again among their places and in the log's events. Every byte must agree: bodies, headers, mails, answers to moves,
and the server's log of them. A mail names only cards that everybody sees, staff pages depend on no card in a hand or a
pile, and messages through Redis contain none. A finished round hides nothing, so earlier rounds of a match stay as they
are. The scan first proves itself on seeded leaks. `LEAK_GAMES=10000` is the long form.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
from collections.abc import Callable
from datetime import timedelta
from typing import Any, NamedTuple

import pytest
import structlog
from celery import current_app
from django.contrib.admin.options import ModelAdmin
from django.http import HttpResponse
from django.utils import timezone

from accounts.models import User
from common.read_only_admin import ReadOnlyAdmin
from games import announce, rules
from games.actions.play import play_move, play_seat
from games.admin.games import GameAdmin
from games.announce import group_of
from games.models import Game, Move, Round
from games.queries import GameView, Table, Viewer
from games.render import words
from games.rules.cards import card_name
from tests.conftest import staff
from tests.support.leaks import leak_in_page, leak_in_refusals
from tests.support.tables import NOON, now_of, table_after
from tests.support.worlds import Postbox, Reader, Staff, differences

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("one_moment")]

GAMES = int(os.environ.get("LEAK_GAMES", "20"))
PRESETS = tuple(rules.PRESETS)
PART = 20
"""The games of one test, so that a long run is split among processes."""
PARTS = [pytest.param(part, marks=pytest.mark.long if part else ()) for part in range(-(-GAMES // PART))]
PAGES_OF = 20
"""Pages are requested for one game in this many."""
MAILS_OF = 20
"""Mails are made and staff pages requested for one game in this many."""


@pytest.fixture
def people(db: None) -> list[User]:
    return [User.objects.create_user(f"reader{n}", email=f"reader{n}@example.org") for n in range(7)]


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_nobody_learns_a_hidden_card(people: list[User], part: int) -> None:
    readers = [Reader(user) for user in people] + [Reader(None)]
    looked = 0
    for seed in range(part * PART, min(GAMES, (part + 1) * PART)):
        rng = random.Random(seed)
        players, pages = rng.randint(2, 6), seed % PAGES_OF == 0
        earlier = (seed // PAGES_OF + 1) % 3 if pages else 0
        preset = PRESETS[(seed // PAGES_OF + seed) % len(PRESETS)]
        table = table_after(
            people[:players], rng.randint(0, 90), seed, earlier=earlier, preset=preset, **of_the_turn(pages)
        )
        if table.started.over:
            continue
        for reader in [*readers[:players], *readers[6:]]:
            assert differences(table, reader, rng, pages=pages) == [], f"game {seed}, reader {reader.user}"
            looked += 1
    assert looked > PART or GAMES % PART


@pytest.mark.long
@pytest.mark.parametrize("part", PARTS)
def test_no_mail_and_no_staff_page_depends_on_hidden_cards(people: list[User], part: int) -> None:
    moderator = Staff(staff("mo", "moderator"))
    postboxes = [Postbox(user) for user in people[:6]]
    for seed in range(part * PART, min(GAMES, (part + 1) * PART), MAILS_OF):
        rng = random.Random(seed)
        players = rng.randint(2, 6)
        preset = PRESETS[seed // MAILS_OF % len(PRESETS)]
        table = table_after(people[:players], rng.randint(0, 90), seed, preset=preset, **of_the_turn(True))
        if table.started.over:
            continue
        for reader in [moderator, *postboxes[:players]]:
            assert differences(table, reader, rng, pages=True) == [], f"game {seed}, reader {reader.user}"


def of_the_turn(pages: bool) -> dict[str, Any]:
    return {"deadline": timezone.now() + timedelta(hours=5)} if pages else {}


def _show_everything(events: Any, viewer: int | None, over: bool) -> tuple[rules.Event, ...]:
    return tuple(events)


def _first_seat(table: Table, user: User | None) -> int:
    return 0


def _open_hands(position: rules.Position, seat: int | None, options: rules.Options) -> rules.View:
    view = rules.views.view_for(position, seat, options)
    return rules.views.View(**{name: getattr(view, name) for name in view.__slots__} | {"hands": position.hands})


def _open_drawn(position: rules.Position, seat: int | None, options: rules.Options) -> rules.View:
    view = rules.views.view_for(position, seat, options)
    return rules.views.View(**{name: getattr(view, name) for name in view.__slots__} | {"drawn": position.draw_pile[0]})


def _header(patch: pytest.MonkeyPatch) -> None:
    def tell(answer: HttpResponse, table: Table) -> None:
        answer.headers["X-Next"] = table.started.position.draw_pile[0]

    leak_in_page(patch, tell)


def _log_line(patch: pytest.MonkeyPatch) -> None:
    log = structlog.get_logger("games")
    leak_in_page(patch, lambda _, table: log.info("shown", hands=table.started.position.hands))


def _headline(patch: pytest.MonkeyPatch) -> None:
    """Make the heading of mails and pages name a card that the reader holds."""
    headline = words.headline

    def leaky(view: GameView, *, spoken: bool = False) -> str:
        held = view.view.hand if view.view and view.view.hand else ()
        return f"{headline(view, spoken=spoken)} You hold {', '.join(map(card_name, held))}."

    patch.setattr(words, "headline", leaky)


def _people_of(admin: GameAdmin, game: Game) -> str:
    assert game.round is not None
    return json.dumps(game.round.state["draw_pile"])


def _refusal(patch: pytest.MonkeyPatch) -> None:
    """Make a refused move say what the player on turn could do."""
    legal = rules.legal_moves
    leak_in_refusals(
        patch, lambda position, seat, options: ", ".join(map(str, legal(position, position.turn, options)))
    )


class Leak(NamedTuple):
    """A leak to put into the site, and what a reader who sees it reads."""

    reader: type[Reader]
    put: Callable[[pytest.MonkeyPatch], None]


LEAKS = {
    "the log tells drawn cards": Leak(Reader, lambda patch: patch.setattr(rules, "redact", _show_everything)),
    "everybody is seat 0": Leak(Reader, lambda patch: patch.setattr(Table, "seat_of", _first_seat)),
    "all hands are open": Leak(Reader, lambda patch: patch.setattr(rules, "view_for", _open_hands)),
    "a header tells the next card": Leak(Reader, _header),
    "the server logs the hands": Leak(Reader, _log_line),
    "the next card shows": Leak(Reader, lambda patch: patch.setattr(rules, "view_for", _open_drawn)),
    "a mail names the hand": Leak(Postbox, _headline),
    "the staff see the draw pile": Leak(Staff, lambda patch: patch.setattr(GameAdmin, "people", _people_of)),
    "the staff may ask for any column": Leak(
        Staff, lambda patch: patch.setattr(ReadOnlyAdmin, "lookup_allowed", ModelAdmin.lookup_allowed)
    ),
    "a refusal tells the legal moves": Leak(Reader, _refusal),
}


@pytest.mark.long
@pytest.mark.parametrize("name", LEAKS)
def test_the_scan_finds_a_seeded_leak(people: list[User], monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    tables = [table_after(people[:3], moves, seed=moves, earlier=moves % 2) for moves in (9, 20, 30)]
    leak = LEAKS[name]
    reader = leak.reader(staff("mo", "moderator") if leak.reader is Staff else people[1])
    hidden = [reader.hidden_from(table) for table in tables]
    monkeypatch.setattr(Reader, "hidden_from", lambda reader, table: hidden[tables.index(table)])
    leak.put(monkeypatch)
    assert any(differences(table, reader, random.Random(1), pages=True) for table in tables)


class Layer:
    """A channel layer that keeps what is sent through it. Sockets of the table send nothing else."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        self.sent.append((group, message))


@pytest.fixture
def announced(monkeypatch: pytest.MonkeyPatch) -> tuple[Layer, list[tuple[str, Any]]]:
    """Collect what is sent through the channel layer and to the worker."""
    layer, tasks = Layer(), []
    monkeypatch.setattr(announce, "get_channel_layer", lambda: layer)
    monkeypatch.setattr("games.announce.current_app.send_task", lambda name, args=(), **_: tasks.append((name, args)))
    return layer, tasks


def play_a_while(people: list[User], commits: Any, preset: str = "no-mercy") -> Table:
    """Play a game of two people and a bot through the real actions, with their messages after commits."""
    rng = random.Random(5)
    table = table_after([people[0], "careful", people[1]], 0, seed=5, preset=preset)
    with commits(execute=True):
        for _ in range(60):
            table = now_of(table)
            position = table.started.position
            if position.phase == "over":
                break
            move, version = rng.choice(rules.legal_moves(position, position.turn, table.options)), table.game.version
            user = table.seats[position.turn].user
            if user is None:
                play_seat(game_id=table.game.pk, seat=position.turn, move=move, version=version, now=NOON)
            else:
                play_move(code=table.game.code, viewer=Viewer(user), text=str(move), version=version, now=NOON)
    asyncio.run_coroutine_threadsafe(asyncio.sleep(0), announce._publisher().loop).result(
        10
    )  # everything before it is sent
    return table


def says_more_than_it_may(table: Table, layer: Layer, tasks: list[tuple[str, Any]]) -> list[str]:
    """Return messages with more than the table's code, version and revision, or to the worker more than a game's id."""
    code = table.game.code
    versions, revisions = Game.objects.values_list("version", "revision").get(code=code)
    may = [
        json.dumps(
            [group_of(code), {"game": code, "type": "game.changed", "version": n, "revision": r}], sort_keys=True
        )
        for n in range(versions + 1)
        for r in range(revisions + 1)
    ]
    said = [json.dumps(message, sort_keys=True) for message in layer.sent]
    asked = [json.dumps([name, list(args)]) for name, args in tasks]
    return sorted({*said} - {*may} | {*asked} - {json.dumps([announce.BOT_TURN, [table.game.pk]])})


@pytest.mark.long
@pytest.mark.parametrize("preset", ["no-mercy", "flip", "house-party"])
def test_announcements_contain_no_card(
    people: list[User],
    announced: tuple[Layer, list[tuple[str, Any]]],
    django_capture_on_commit_callbacks: Any,
    preset: str,
) -> None:
    layer, tasks = announced
    table = play_a_while(people, django_capture_on_commit_callbacks, preset)
    assert len(layer.sent) > 20
    assert tasks
    assert says_more_than_it_may(table, layer, tasks) == []


def _changed(game: Game) -> None:
    top = Round.objects.values_list("state__draw_pile__0", flat=True).get(game=game)
    announce._send_to_group(group_of(game.code), {"type": "game.changed", "game": game.code, "next": top})


def _task(game_id: int, at: float, now: float) -> None:
    drawn = Move.objects.filter(game=game_id).order_by("-n").values_list("events", flat=True).first()
    current_app.send_task(announce.BOT_TURN, args=(game_id, json.dumps(drawn)))


@pytest.mark.long
@pytest.mark.parametrize(("part", "leak"), [("_send_changed", _changed), ("_send_bot_turn", _task)])
def test_the_scan_of_announcements_finds_a_seeded_leak(
    people: list[User],
    announced: tuple[Layer, list[tuple[str, Any]]],
    django_capture_on_commit_callbacks: Any,
    monkeypatch: pytest.MonkeyPatch,
    part: str,
    leak: Callable[..., None],
) -> None:
    monkeypatch.setattr(announce, part, leak)
    table = play_a_while(people, django_capture_on_commit_callbacks)
    assert says_more_than_it_may(table, *announced)
