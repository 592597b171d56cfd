"""Two worlds that differ only in cards somebody may not know, and all that this somebody is sent in each."""

from __future__ import annotations

import json
import logging
import random
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Self

from django.contrib import admin
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from accounts.models import User
from games import queries, rules
from games.actions.notices import letters
from games.api.views import game_json, line_json
from games.models import Hand, Move, Notice, Round
from games.models.notices import EMAIL, KINDS
from games.queries import Table
from games.rules.cards import card_name
from tests.conftest import logged_in
from tests.support.codes import staff_browser
from tests.support.tables import NOON, now_of

OF_THE_REQUEST: Final = {"X-Request-ID", "Set-Cookie", "Expires"}
OF_THE_MOMENT: Final = {"request_id", "timestamp", "ms"}
VARYING: Final = re.compile(rb'(name="(?:csrfmiddlewaretoken|token|form)" value=")[^"]*|("X-CSRFToken": ?")[^"]*')
SIGNED: Final = re.compile(r"/mail/(\w+)/[^/\s]+/")

_NAMES: Final = "|".join(re.escape(card_name(face)) for face in rules.DECKS["nomercy168"].faces)
NAMED: Final = re.compile(rf"\b(?:{_NAMES})\b".encode(), re.IGNORECASE)
"""The name of any card, as pages say it."""

Transcript = dict[str, bytes]


class Overheard(logging.Handler):
    """What the server logs meanwhile, but for what differs from one request to the next."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        said: object = record.msg
        if isinstance(said, dict):
            said = {name: value for name, value in said.items() if name not in OF_THE_MOMENT}
        error = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
        self.lines.append(f"{record.name} {said!r} {record.args!r} {error}")

    def __enter__(self) -> Self:
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)


def fetched(browser: Client, path: str, *, form: dict[str, object] | None = None, fragment: bool = False) -> bytes:
    """Status, headers and body of a page, of what is answered to a form, or of what an open page fetches."""
    headers = {"HX-Request": "true"} if fragment else {}
    answer = browser.get(path, headers=headers) if form is None else browser.post(path, form, headers=headers)
    told = [f"{name}: {value}" for name, value in answer.items() if name not in OF_THE_REQUEST]
    return "\n".join([str(answer.status_code), *told, ""]).encode() + VARYING.sub(rb"\1\2", answer.content)


class Reader:
    """Somebody who looks at a table, and tries what they may; `user` None is a visitor who has not logged in."""

    may_name_cards = True
    """Whether the cards that this reader knows may be named."""

    def __init__(self, user: User | None) -> None:
        self.user = user
        self.browser = logged_in(user) if user else Client()

    def hidden_from(self, table: Table) -> int | None:
        """The seat whose own cards this reader knows."""
        return table.seat_of(self.user)

    def transcript(self, table: Table, *, pages: bool) -> Transcript:
        """Everything this reader can fetch about a table; its pages only if asked, for they take most of the time."""
        view = queries.view_of(table, self.user)
        lines = queries.log_of(table, self.user)
        told = [rules.sentence(event, view.you, view.names) for line in lines for event in line.events]
        read = {
            "view": json.dumps(game_json(view), default=str).encode(),
            "log": json.dumps([line_json(line) for line in lines], default=str).encode(),
            "sentences": "\n".join(told).encode(),
        }
        if pages:
            with Overheard() as overheard:
                read |= self._pages(table) | self._tries(table, view)
            read["the server's log"] = "\n".join(overheard.lines).encode()
        return read

    def _pages(self, table: Table) -> Transcript:
        code = table.game.code
        page, call = f"/games/{code}/", f"/api/v1/games/{code}"
        pages = (f"{page}{more}" for more in ("", "log/", "replay/", "record/"))
        # the first may leave a message, which the next shows
        paths = ["/next/", *pages, call, f"{call}/moves", "/", f"/people/{table.seats[0].username}/"]
        read = {path: fetched(self.browser, path) for path in paths}
        return read | {"fragment": fetched(self.browser, f"{page}?since=0", fragment=True)}

    def _tries(self, table: Table, view: queries.GameView) -> Transcript:
        """What is answered to moves whose outcome nobody's hidden cards decide: refused ones, and a number card."""
        page, call = f"/games/{table.game.code}/move/", f"/api/v1/games/{table.game.code}/moves"
        mine = [card for card in (view.view.hand or () if view.view else ()) if re.fullmatch(r"[rygb][1-689]", card)]
        form: dict[str, object] = {"move": f"play {mine[0] if mine else 'W10 r'}", "version": view.version}
        read: Transcript = {}
        with undone():
            read["a card by the page"] = fetched(self.browser, page, form=form, fragment=True)
        with undone():
            read["a card by the API"] = fetched(self.browser, call, form=form)
            read["and then"] = fetched(self.browser, call)
        with undone():
            read["a catch"] = fetched(self.browser, page, form={"move": "catch 1"}, fragment=True)
        return read


class Postbox(Reader):
    """The mails of somebody who plays: no card is named in any, not even their own."""

    may_name_cards = False

    def transcript(self, table: Table, *, pages: bool) -> Transcript:
        assert self.user is not None
        rows = [
            Notice(
                user=self.user, game=table.game, version=table.game.version, kind=kind, channel=EMAIL,
                text="" if one.turn else "Something happened.", created_at=NOON, due_at=NOON, since=NOON, pk=number,
            )
            for number, (kind, one) in enumerate(KINDS.items(), 1)
        ]  # fmt: skip
        read: Transcript = {}
        for group, mail in letters.compose(rows, now=NOON):
            assert mail is not None, group[0].kind
            parts = [str(mail.subject), str(sorted(mail.extra_headers.items())), str(mail.body), str(mail.alternatives)]
            read[f"mail: {group[0].kind}"] = SIGNED.sub(r"/mail/\1/", "\n".join(parts)).encode()
        return read


class Staff(Reader):
    """A moderator who sits nowhere, on every page of the staff about this game, and its export."""

    def __init__(self, user: User) -> None:
        self.user = user
        self.browser = staff_browser(user)

    def transcript(self, table: Table, *, pages: bool) -> Transcript:
        asked = [f"/admin/games/round/?draw_pile__startswith={color}" for color in "rgybW"]
        paths = [f"/admin/games/game/?q={table.game.code}", "/admin/", *_row_pages(table), *asked]
        with Overheard() as overheard:
            read = {path: fetched(self.browser, path) for path in paths}
        return read | {"the server's log": "\n".join(overheard.lines).encode()}


def _row_pages(table: Table) -> Iterator[str]:
    """The list and the newest row of everything about a game that the staff pages show."""
    for model in admin.site._registry:
        name = model._meta.model_name
        if model._meta.app_label != "games":
            continue
        yield reverse(f"admin:games_{name}_changelist")
        newest = table.game if name == "game" else model._default_manager.order_by("-pk").first()
        if newest is not None:
            yield reverse(f"admin:games_{name}_change", args=[newest.pk])


@contextmanager
def undone() -> Iterator[None]:
    """Nothing that happens in the block is kept."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@contextmanager
def another_world(table: Table, seat: int | None, rng: random.Random) -> Iterator[Table]:
    """The same table with the cards hidden from `seat` (None: a spectator) exchanged among themselves."""
    with undone():
        _scramble(table, seat, rng)
        yield now_of(table)


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

    changes: dict[str, Any] = {
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
    _retell(list(Move.objects.filter(round=round_)), seat, hidden, rng)


def _retell(moves: Sequence[Move], seat: int | None, hidden: Sequence[str], rng: random.Random) -> None:
    """Put other cards into what the log tells of them to others than `seat`."""
    for event in (event for move in moves for event in move.events if event["seat"] != seat):
        for field in set(rules.EVENTS[event["kind"]].private) & set(event):
            event[field] = [rng.choice(hidden) for _ in event[field]] if field == "cards" else rng.choice(hidden)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE games_move SET events = v.events::jsonb FROM unnest(%s::bigint[], %s::text[]) AS v (id, events)"
            " WHERE games_move.id = v.id",
            [[move.pk for move in moves], [json.dumps(move.events) for move in moves]],
        )


def differences(table: Table, reader: Reader, rng: random.Random, *, pages: bool) -> list[str]:
    """Which of the reader's answers depend on hidden cards, or name a card where none may be named."""
    here = reader.transcript(table, pages=pages)
    with another_world(table, reader.hidden_from(table), rng) as other:
        there = reader.transcript(other, pages=pages)
    named = [] if reader.may_name_cards else [name for name in here if NAMED.search(here[name])]
    return named + [name for name in here if here[name] != there.get(name)]
