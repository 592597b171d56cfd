"""Compares what a viewer is sent in two worlds that differ only in cards the viewer may not know."""

from __future__ import annotations

import json
import logging
import random
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.cookies import SimpleCookie
from typing import Any, Final, Self

from django.contrib import admin
from django.core.cache import cache
from django.db import transaction
from django.test import Client
from django.urls import reverse

from accounts.models import User
from games import queries, rules
from games.api.views import game_json, line_json
from games.models import Game, Notice
from games.notices import notice_mails
from games.notices.kinds import KINDS
from games.queries import Table
from games.rules.cards import card_name
from mail.models import EMAIL
from tests.conftest import logged_in
from tests.support.codes import staff_browser
from tests.support.logs import logging_as_on_a_site
from tests.support.swaps import Swap, everything
from tests.support.tables import NOON, now_of

LEFT_OUT_COUNT: Final = re.compile(r" \(\d+ more like this were not logged\)")
VARYING_LOG_FIELDS: Final = {"request_id", "timestamp", "ms"}
"""The fields of a log line that differ from one request to the next."""
VARYING_PARTS: Final = (
    ("each request has an id", re.compile(rb"(?m)(^X-Request-ID: )[0-9a-f]+")),
    (
        "cookies and pages expire by the clock of the process",
        re.compile(rb"(?m)(^Expires: |^Set-Cookie: [^\n]*expires=)[^;\n]+"),
    ),
    ("a CSRF token is masked in each answer", re.compile(rb'(name="csrfmiddlewaretoken" value=")[^"]*')),
    ("also where a page's scripts send it", re.compile(rb'("X-CSRFToken": ?")[^"]*')),
    ("also in its cookie", re.compile(rb"(?m)(^Set-Cookie: (?:__Host-)?csrf\w*=)[^;\n]+")),
    ("a session has a random key", re.compile(rb"(?m)(^Set-Cookie: (?:__Host-)?session\w*=)[^;\n]+")),
    ("an idempotent form has a random token", re.compile(rb'(name="(?:token|form)" value=")[^"]*')),
    ("a browser is given a random mark", re.compile(rb"(?m)(^Set-Cookie: (?:__Host-)?browser=)[^;\n]+")),
)
"""The parts of answers that differ between equal requests, and why. The first group is kept."""
SIGNED: Final = re.compile(r"/mail/(\w+)/[^/\s]+/")

_NAMES: Final = "|".join(sorted({re.escape(card_name(face)) for face in rules.FACES}, key=len, reverse=True))
NAMED: Final = re.compile(rf"\b(?:{_NAMES})\b".encode(), re.IGNORECASE)
"""The name of any card, as on pages."""


def names_in(text: bytes) -> set[bytes]:
    """Return the names of cards in a text, in lower case."""
    return {name.lower() for name in NAMED.findall(text)}


Transcript = dict[str, bytes]


class CollectedLog(logging.Handler):
    """Collects what the server logs in a block, without what differs from one request to the next."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []
        self._exit_stack = ExitStack()

    def emit(self, record: logging.LogRecord) -> None:
        said: object = record.msg
        if isinstance(said, dict):
            said = {name: value for name, value in said.items() if name not in VARYING_LOG_FIELDS}
        error = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
        if isinstance(said, str):  # the number left out depends on the last minute
            said = LEFT_OUT_COUNT.sub("", said)
        self.lines.append(f"{record.name} {said!r} {record.args!r} {error}")

    def __enter__(self) -> Self:
        self._exit_stack.enter_context(logging_as_on_a_site())
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)
        self._exit_stack.close()


def fetched(
    browser: Client, path: str, *, form: dict[str, object] | None = None, fragment: bool = False, program: bool = False
) -> bytes:
    """Return the answer to a GET, or to a POST of `form`, as `comparable` bytes.

    With `fragment` the request is one of HTMX. With `program` the form is sent as JSON.
    """
    headers = {"HX-Request": "true"} if fragment else {}
    if form is None:
        return comparable(browser.get(path, headers=headers))
    if program:
        return comparable(browser.post(path, json.dumps(form), content_type="application/json", headers=headers))
    return comparable(browser.post(path, form, headers=headers))


def comparable(answer: Any) -> bytes:
    """Return the status, headers, cookies and body of an answer, without the parts in `VARYING_PARTS`."""
    head = [str(answer.status_code), *(f"{name}: {value}" for name, value in answer.items())]
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    told = "\n".join([*head, *answer.cookies.output().splitlines(), ""]).encode() + body
    for _, varying in VARYING_PARTS:
        told = varying.sub(rb"\1-", told)
    return bytes(told)


class Reader:
    """A viewer of a table who also tries moves. `user` None is a visitor who is not logged in."""

    def __init__(self, user: User | None, browser: Client | None = None) -> None:
        self.user = user
        self.browser = browser or (logged_in(user) if user else Client())

    def looks(self, table: Table, *, pages: bool) -> Transcript:
        """Return the transcript, and leave the database, cookies and limits unchanged."""
        cookies = {name: morsel.value for name, morsel in self.browser.cookies.items()}
        cache.clear()
        with undone():
            read = self.transcript(table, pages=pages)
        self.browser.cookies = SimpleCookie(cookies)
        return read

    def hidden_from(self, table: Table) -> int | None:
        """Return the seat whose cards the reader knows, or None."""
        return table.seat_of(self.user)

    def may_name(self) -> set[bytes] | None:
        """Return the names of the cards that the answers may name, None for all that the reader knows."""
        return None

    def transcript(self, table: Table, *, pages: bool) -> Transcript:
        """Return everything that the reader can fetch about a table. Without `pages` it is faster and has no pages."""
        view = queries.view_of(table, self.user)
        lines = queries.log_of(table, self.user)
        told = [rules.sentence(event, view.you, view.names) for line in lines for event in line.events]
        read = {
            "view": json.dumps(game_json(view), default=str).encode(),
            "log": json.dumps([line_json(line) for line in lines], default=str).encode(),
            "sentences": "\n".join(told).encode(),
        }
        if pages:
            with CollectedLog() as collected:
                read |= self._pages(table) | self._tries(table, view)
            read["the server's log"] = "\n".join(collected.lines).encode()
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
        """Return the answers to moves that do not depend on hidden cards: refused moves, and a number card."""
        page, call = f"/games/{table.game.code}/move/", f"/api/v1/games/{table.game.code}/moves"
        hand = view.view.hand or () if view.view else ()
        # Not the last card: it would show all hands.
        mine = [card for card in hand if re.fullmatch(r"[rygboput][1-689]", card) and len(hand) > 1]
        form: dict[str, object] = {"move": f"play {mine[0] if mine else 'W10 r'}", "version": view.version}
        read: Transcript = {}
        with undone():
            read["a card by the page"] = fetched(self.browser, page, form=form, fragment=True)
        with undone():
            read["a card by the API"] = fetched(self.browser, call, form=form, program=True)
            read["and then"] = fetched(self.browser, call)
        with undone():
            read["a catch"] = fetched(self.browser, page, form={"move": "catch 1"}, fragment=True)
        return read


class Postbox(Reader):
    """The mails of a player. They may name cards that everybody sees, but none that only the player knows."""

    def may_name(self) -> set[bytes]:
        """Return the top cards of all tables, and what a visitor reads in the newest lines of their logs."""
        said = []
        for table in queries.with_tables(Game.objects.filter(round__isnull=False)):
            seen = queries.view_of(table, None).view
            said.append(card_name(seen.top) if seen else "")
            for line in queries.log_of(table, None, last=1):
                said += [rules.sentence(event, None, table.names) for event in line.events]
        return names_in("\n".join(said).encode())

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
        for group, mail in notice_mails.compose(rows, now=NOON):
            assert mail is not None, group[0].kind
            parts = [str(mail.subject), str(sorted(mail.extra_headers.items())), str(mail.body), str(mail.alternatives)]
            read[f"mail: {group[0].kind}"] = SIGNED.sub(r"/mail/\1/", "\n".join(parts)).encode()
        return read


class Staff(Reader):
    """A moderator without a seat, who reads every staff page about the game."""

    def __init__(self, user: User) -> None:
        self.user = user
        self.browser = staff_browser(user)

    def transcript(self, table: Table, *, pages: bool) -> Transcript:
        asked = [f"/admin/games/round/?state__draw_pile__0__startswith={color}" for color in "rgybW"]
        paths = [f"/admin/games/game/?q={table.game.code}", "/admin/", *_row_pages(table), *asked]
        with CollectedLog() as collected:
            read = {path: fetched(self.browser, path) for path in paths}
        return read | {"the server's log": "\n".join(collected.lines).encode()}


def _row_pages(table: Table) -> Iterator[str]:
    """Yield the paths of the list and of the newest row of each model that the staff pages show."""
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
    """Roll back every change that the block makes in the database."""
    with transaction.atomic():
        yield
        transaction.set_rollback(True)


@contextmanager
def another_world(
    table: Table, seat: int | None, rng: random.Random, swap: Swap = everything
) -> Iterator[Table | None]:
    """Yield the table after swapping what `seat`, or a spectator (None), may not know; None if nothing can be swapped.

    The swap is rolled back at the end of the block.
    """
    with undone():
        yield now_of(table) if swap(table, seat, rng) else None


def differences(table: Table, reader: Reader, rng: random.Random, *, pages: bool) -> list[str]:
    """Return the names of answers that depend on hidden cards, or that name a card that they may not name."""
    here = reader.looks(table, pages=pages)
    with another_world(table, reader.hidden_from(table), rng) as other:
        assert other is not None
        there = reader.looks(other, pages=pages)
    known = reader.may_name()
    named = [] if known is None else [name for name in here if not names_in(here[name]) <= known]
    return named + [name for name in here if here[name] != there.get(name)]
