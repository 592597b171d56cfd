"""Two worlds that differ only in cards somebody may not know, and all that this somebody is sent in each."""

from __future__ import annotations

import json
import logging
import random
import re
from collections.abc import Iterator
from contextlib import contextmanager
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
from games.models import Notice
from games.models.notices import EMAIL
from games.notices import notice_mails
from games.notices.kinds import KINDS
from games.queries import Table
from games.rules.cards import card_name
from tests.conftest import logged_in
from tests.support.codes import staff_browser
from tests.support.swaps import Swap, everything
from tests.support.tables import NOON, now_of

LEFT_OUT: Final = re.compile(r" \(\d+ more like this were not logged\)")
OF_THE_MOMENT: Final = {"request_id", "timestamp", "ms"}
"""What of a line that the server logs differs from one request to the next."""
ASIDE: Final = (
    ("each request has a number", re.compile(rb"(?m)(^X-Request-ID: )[0-9a-f]+")),
    (
        "cookies and pages run out by the clock of the process",
        re.compile(rb"(?m)(^Expires: |^Set-Cookie: [^\n]*expires=)[^;\n]+"),
    ),
    ("a CSRF token is masked in each answer", re.compile(rb'(name="csrfmiddlewaretoken" value=")[^"]*')),
    ("also where a page's scripts send it", re.compile(rb'("X-CSRFToken": ?")[^"]*')),
    ("also in its cookie", re.compile(rb"(?m)(^Set-Cookie: (?:__Host-)?csrf\w*=)[^;\n]+")),
    ("a session has a random key", re.compile(rb"(?m)(^Set-Cookie: (?:__Host-)?session\w*=)[^;\n]+")),
    ("a form that may act once has a random name", re.compile(rb'(name="(?:token|form)" value=")[^"]*')),
    ("a browser is given a random mark", re.compile(rb"(?m)(^Set-Cookie: (?:__Host-)?browser=)[^;\n]+")),
)
"""What differs between two answers to one question, and why; the first group stays."""
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
        if isinstance(said, str):  # how many were left out depends on what ran within the last minute
            said = LEFT_OUT.sub("", said)
        self.lines.append(f"{record.name} {said!r} {record.args!r} {error}")

    def __enter__(self) -> Self:
        logging.getLogger().addHandler(self)
        return self

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)


def fetched(
    browser: Client, path: str, *, form: dict[str, object] | None = None, fragment: bool = False, program: bool = False
) -> bytes:
    """Return the answer to a GET, or to a POST of `form`, as `comparable` bytes.

    `fragment`: ask as HTMX does on an open page. `program`: send the form as JSON.
    """
    headers = {"HX-Request": "true"} if fragment else {}
    if form is None:
        return comparable(browser.get(path, headers=headers))
    if program:
        return comparable(browser.post(path, json.dumps(form), content_type="application/json", headers=headers))
    return comparable(browser.post(path, form, headers=headers))


def comparable(answer: Any) -> bytes:
    """Return the status, headers, cookies and body of an answer, without what `ASIDE` lists."""
    head = [str(answer.status_code), *(f"{name}: {value}" for name, value in answer.items())]
    body = b"".join(answer.streaming_content) if answer.streaming else answer.content
    told = "\n".join([*head, *answer.cookies.output().splitlines(), ""]).encode() + body
    for _, varying in ASIDE:
        told = varying.sub(rb"\1-", told)
    return bytes(told)


class Reader:
    """Somebody who looks at a table, and tries what they may; `user` None is a visitor who has not logged in."""

    may_name_cards = True
    """Whether the cards that this reader knows may be named."""

    def __init__(self, user: User | None, browser: Client | None = None) -> None:
        self.user = user
        self.browser = browser or (logged_in(user) if user else Client())

    def looks(self, table: Table, *, pages: bool) -> Transcript:
        """Return the transcript, and leave rows, cookies and the counters of limits as they were."""
        cookies = {name: morsel.value for name, morsel in self.browser.cookies.items()}
        cache.clear()
        with undone():
            read = self.transcript(table, pages=pages)
        self.browser.cookies = SimpleCookie(cookies)
        return read

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
            read["a card by the API"] = fetched(self.browser, call, form=form, program=True)
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
        for group, mail in notice_mails.compose(rows, now=NOON):
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
        asked = [f"/admin/games/round/?state__draw_pile__0__startswith={color}" for color in "rgybW"]
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
def another_world(
    table: Table, seat: int | None, rng: random.Random, swap: Swap = everything
) -> Iterator[Table | None]:
    """Yield the table after a swap of what `seat` (None: a spectator) may not know; None if nothing can be swapped."""
    with undone():
        yield now_of(table) if swap(table, seat, rng) else None


def differences(table: Table, reader: Reader, rng: random.Random, *, pages: bool) -> list[str]:
    """Which of the reader's answers depend on hidden cards, or name a card where none may be named."""
    here = reader.looks(table, pages=pages)
    with another_world(table, reader.hidden_from(table), rng) as other:
        assert other is not None
        there = reader.looks(other, pages=pages)
    named = [] if reader.may_name_cards else [name for name in here if NAMED.search(here[name])]
    return named + [name for name in here if here[name] != there.get(name)]
