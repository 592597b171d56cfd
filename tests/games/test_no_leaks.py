"""No answer depends on a card its reader may not know: two worlds that differ only in hidden cards look the same.

Each game is read by everybody (every seat, an outsider, nobody at all) as it is, then with all cards hidden from that
reader dealt anew among the places they lie in, and in what the log tells of them; every byte must agree: bodies,
headers and what the server logs of it. A round that is over hides nothing any more; what is told of earlier rounds of a
match stays as it is. The scan first proves itself on seeded leaks. `LEAK_GAMES=10000` is the long form.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import pytest
import structlog
from django.db import connection, transaction
from django.http import HttpRequest, HttpResponse
from django.test import Client

from accounts.models import User
from games import announce, queries, rules
from games.actions.play import play_move, play_seat
from games.api.views import game_json, line_json
from games.models import Hand, Move, Round
from games.queries import Table
from games.web import game as game_views
from tests.conftest import logged_in
from tests.support.tables import NOON, now_of, table_after

pytestmark = pytest.mark.django_db

GAMES = int(os.environ.get("LEAK_GAMES", "200"))
VARYING = re.compile(rb'(name="(?:csrfmiddlewaretoken|token)" value=")[^"]*|("X-CSRFToken": ?")[^"]*')


OF_THE_REQUEST = {"X-Request-ID", "Set-Cookie"}
OF_THE_MOMENT = {"request_id", "timestamp", "ms"}


class Overheard(logging.Handler):
    """What the server logs meanwhile, but for what differs from one request to the next."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        said: object = record.msg
        if isinstance(said, dict):
            said = {name: value for name, value in said.items() if name not in OF_THE_MOMENT}
        self.lines.append(f"{record.name} {said!r} {record.args!r} {record.exc_info!r}")

    def __enter__(self) -> Self:
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)


class Reader:
    """Somebody who looks at a table; `user` None is a visitor who has not logged in."""

    def __init__(self, user: User | None) -> None:
        self.user = user
        self.browser = logged_in(user) if user else Client()

    def transcript(self, table: Table, *, pages: bool) -> list[bytes]:
        """Everything this reader can fetch about a table; its pages only if asked, for they take most of the time."""
        view = queries.view_of(table, self.user)
        lines = queries.log_of(table, self.user)
        told = [rules.sentence(event, view.you, view.names) for line in lines for event in line.events]
        page = f"/games/{table.game.code}/"
        with Overheard() as overheard:
            fetched = [self._fetch(f"{page}{more}") for more in ("", "log/", "replay/", "record/") if pages]
            fetched += [self._fetch(f"{page}?since=0", fragment=True)] if pages else []
        return [
            json.dumps(game_json(view), default=str).encode(),
            json.dumps([line_json(line) for line in lines], default=str).encode(),
            "\n".join(told).encode(),
            *(VARYING.sub(rb"\1\2", one) for one in fetched),
            "\n".join(overheard.lines).encode(),
        ]

    def _fetch(self, path: str, *, fragment: bool = False) -> bytes:
        """Status, headers and body of a page, or of the fragment that an open page fetches."""
        headers = {"HX-Request": "true"} if fragment else {}
        answer = self.browser.get(path, headers=headers)
        told = [f"{name}: {value}" for name, value in answer.items() if name not in OF_THE_REQUEST]
        return "\n".join([str(answer.status_code), *told, ""]).encode() + answer.content


@contextmanager
def another_world(table: Table, seat: int | None, rng: random.Random) -> Iterator[Table]:
    """The same table with the cards hidden from `seat` (None: a spectator) exchanged among themselves."""
    with transaction.atomic():
        _scramble(table, seat, rng)
        yield now_of(table)
        transaction.set_rollback(True)


def _scramble(table: Table, seat: int | None, rng: random.Random) -> None:
    round_, hands, position = table.playing
    others = [hand for hand in hands if hand.seat.index != seat]
    hidden = (
        round_.draw_pile.split() + round_.set_aside.split() + [card for hand in others for card in hand.cards.split()]
    )
    rng.shuffle(hidden)
    cards = iter(hidden)

    def redeal(text: str) -> str:
        return " ".join(next(cards) for _ in text.split())

    changes = {
        "deal": " ".join(rng.sample(round_.deal.split(), len(round_.deal.split()))),
        "draw_pile": redeal(round_.draw_pile),
        "set_aside": redeal(round_.set_aside),
        "secret": rng.randbytes(32),
    }
    for hand in others:
        hand.cards = redeal(hand.cards)
        Hand.objects.filter(pk=hand.pk).update(cards=hand.cards)
        if position.drawn is not None and hand.seat.index == position.turn:
            changes["drawn"] = hand.cards.split()[0]
    Round.objects.filter(pk=round_.pk).update(**changes)
    moves = list(Move.objects.filter(round=round_))
    for event in (event for move in moves for event in move.events if event["seat"] != seat):
        for field in set(rules.EVENTS[event["kind"]].private) & set(event):
            event[field] = [rng.choice(hidden) for _ in event[field]] if field == "cards" else rng.choice(hidden)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE games_move SET events = v.events::jsonb FROM unnest(%s::bigint[], %s::text[]) AS v (id, events)"
            " WHERE games_move.id = v.id",
            [[move.pk for move in moves], [json.dumps(move.events) for move in moves]],
        )


def differences(table: Table, reader: Reader, rng: random.Random, *, pages: bool) -> int:
    """How many of the reader's answers depend on hidden cards."""
    here = reader.transcript(table, pages=pages)
    with another_world(table, table.seat_of(reader.user), rng) as other:
        there = reader.transcript(other, pages=pages)
    return sum(a != b for a, b in zip(here, there, strict=True))


@pytest.fixture
def people(db: None) -> list[User]:
    return [User.objects.create_user(f"reader{n}") for n in range(7)]


def test_nobody_learns_a_hidden_card(people: list[User]) -> None:
    readers = [Reader(user) for user in people] + [Reader(None)]
    looked = 0
    for seed in range(GAMES):
        rng = random.Random(seed)
        players = rng.randint(2, 6)
        table = table_after(people[:players], rng.randint(0, 90), seed, earlier=seed // 6 % 3 if seed % 6 == 0 else 0)
        if table.playing[2].phase == "over":
            continue
        for reader in [*readers[:players], *readers[6:]]:
            assert differences(table, reader, rng, pages=seed % 6 == 0) == 0, f"game {seed}, reader {reader.user}"
            looked += 1
    assert looked > GAMES * 3


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
    show = game_views._show

    def leaky(request: HttpRequest, table: Table, *args: Any, **named: Any) -> HttpResponse:
        response = show(request, table, *args, **named)
        response.headers["X-Next"] = table.playing[2].draw_pile[0]
        return response

    patch.setattr(game_views, "_show", leaky)


def _log_line(patch: pytest.MonkeyPatch) -> None:
    show = game_views._show

    def leaky(request: HttpRequest, table: Table, *args: Any, **named: Any) -> HttpResponse:
        structlog.get_logger("games").info("shown", hands=table.playing[2].hands)
        return show(request, table, *args, **named)

    patch.setattr(game_views, "_show", leaky)


LEAKS: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "the log tells drawn cards": lambda patch: patch.setattr(rules, "redact", _show_everything),
    "everybody is seat 0": lambda patch: patch.setattr(Table, "seat_of", _first_seat),
    "all hands are open": lambda patch: patch.setattr(rules, "view_for", _open_hands),
    "a header tells the next card": _header,
    "the server logs the hands": _log_line,
    "the next card shows": lambda patch: patch.setattr(rules, "view_for", _open_drawn),
}


@pytest.mark.parametrize("leak", LEAKS)
def test_the_scan_finds_a_seeded_leak(people: list[User], monkeypatch: pytest.MonkeyPatch, leak: str) -> None:
    tables = [table_after(people[:3], moves, seed=moves, earlier=moves % 2) for moves in (9, 20, 30)]
    seats = {
        reader.user: table.seat_of(reader.user) for table in tables for reader in map(Reader, [people[1], people[6]])
    }
    LEAKS[leak](monkeypatch)
    found = 0
    for table in tables:
        for user, seat in seats.items():
            reader = Reader(user)
            here = reader.transcript(table, pages=True)
            with another_world(table, seat, random.Random(1)) as other:
                found += here != reader.transcript(other, pages=True)
    assert found


class Layer:
    """A channel layer that keeps what is sent through it: what a socket of the table is told is made of that alone."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, dict[str, Any]]] = []

    async def group_send(self, group: str, message: dict[str, Any]) -> None:
        self.sent.append((group, message))


def test_what_is_announced_names_the_table_and_no_card(
    people: list[User], monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    layer, tasks = Layer(), []
    monkeypatch.setattr(announce, "get_channel_layer", lambda: layer)
    monkeypatch.setattr("games.announce.current_app.send_task", lambda name, args=(), **_: tasks.append((name, args)))
    rng = random.Random(5)
    table = table_after([people[0], "careful", people[1]], 0, seed=5)
    with django_capture_on_commit_callbacks(execute=True):
        for _ in range(60):
            table = now_of(table)
            position = table.playing[2]
            if position.phase == "over":
                break
            move, version = rng.choice(rules.legal_moves(position, position.turn, table.options)), table.game.version
            user = table.seats[position.turn].user
            if user is None:
                play_seat(game_id=table.game.pk, seat=position.turn, move=move, version=version, now=NOON)
            else:
                play_move(code=table.game.code, user=user, text=str(move), version=version, now=NOON)
    asyncio.run_coroutine_threadsafe(asyncio.sleep(0), announce._publisher().loop).result(10)  # all before it is sent
    code = table.game.code
    assert len(layer.sent) > 20
    assert {message["type"] for _, message in layer.sent} == {"game.changed"}
    assert all(set(message) == {"type", "game", "version"} and message["game"] == code for _, message in layer.sent)
    assert all(isinstance(message["version"], int) for _, message in layer.sent)
    assert tasks
    assert {(name, args) for name, args in tasks} == {(announce.BOT_TURN, (table.game.pk,))}
