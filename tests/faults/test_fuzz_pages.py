"""Visitors who click anything and type anything: no page breaks, no GET changes a game, every game still replays.

Each visitor opens addresses found on the pages before, or made up, and sends the forms found there with some of their
fields changed. The long form is `FUZZ=5000 script/test tests/faults/test_fuzz_pages.py`: so many requests; `FUZZ_SEED`
chooses others.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from html.parser import HTMLParser
from urllib.parse import quote, urljoin, urlsplit

import pytest
from django.test import Client

from accounts.models import User
from games.actions import lobby
from games.models import Game
from tests.conftest import logged_in
from tests.faults.state import faulty_games, stored
from tests.support.tables import NOON

REQUESTS = int(os.environ.get("FUZZ", "400"))
SEED = int(os.environ.get("FUZZ_SEED", "1"))
START = (
    "/",
    "/about/",
    "/rules/",
    "/tables/new/",
    "/next/",
    "/accounts/me/",
    "/accounts/login/",
    "/accounts/signup/",
    "/move-seats/",
)
WORDS = (
    "",
    "0",
    "-1",
    "6",
    "99999999999999999999",
    "r5",
    "play r5",
    "draw",
    "uno",
    "catch 1",
    "leave",
    "\x00",
    "é" * 200,
    "x" * 5000,
    "//evil.example",
    "<b>",
)
ADDRESSES = (
    "/games/{}/",
    "/games/{}/log/",
    "/games/{}/record/",
    "/games/{}/move/",
    "/join/{}/",
    "/accounts/me/tokens/{}/revoke/",
    "/{}",
)

pytestmark = pytest.mark.django_db(transaction=True)

Form = tuple[str, str, dict[str, list[str]]]


class Page(HTMLParser):
    """The addresses and the forms of a page; a form is its method, its address, and what its fields may say."""

    def __init__(self, address: str, html: str) -> None:
        super().__init__()
        self.address = address
        self.links: list[str] = []
        self.forms: list[Form] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = {name: value or "" for name, value in attrs}
        if tag == "a" and "href" in told:
            self.links.append(urljoin(self.address, told["href"]))
        elif tag == "form":
            self.forms.append((told.get("method", "get").lower(), urljoin(self.address, told.get("action", "")), {}))
        elif tag in ("input", "button", "select", "textarea") and "name" in told and self.forms:
            self.forms[-1][2].setdefault(told["name"], []).append(told.get("value", ""))


class Visitor:
    """A browser that remembers the page it is on."""

    def __init__(self, user: User | None) -> None:
        self.user = user
        self.browser = logged_in(user) if user else Client()
        self.page = Page("/", "")

    def ask(self, method: str, address: str, fields: dict[str, str], *, fragment: bool) -> int:
        """Make the request; an exception in a view is raised here."""
        target = urlsplit(address)
        path = target.path + (f"?{target.query}" if target.query else "")
        headers = {"HX-Request": "true"} if fragment else {}
        if method == "get":
            answer = (
                self.browser.get(path, fields, headers=headers) if fields else self.browser.get(path, headers=headers)
            )
        else:
            answer = self.browser.post(path, fields, headers=headers)
        if self.user and "_auth_user_id" not in self.browser.session:
            self.browser = logged_in(User.objects.get(pk=self.user.pk))
        if answer.headers.get("Content-Type", "").startswith("text/html") and not answer.streaming:
            self.page = Page(path, answer.content.decode())
        status: int = answer.status_code
        return status


def noise(rng: random.Random) -> str:
    """A word that means something somewhere, or characters that mean nothing anywhere."""
    strange = "".join(chr(rng.choice((rng.randrange(128), rng.randrange(0xD800)))) for _ in range(rng.randrange(40)))
    return rng.choice((*WORDS, strange))


def step(rng: random.Random, visitor: Visitor) -> int:
    """One request of a visitor, to somewhere the page leads or to somewhere made up; gives the status."""
    fragment = rng.random() < 0.5
    if visitor.page.forms and rng.random() < 0.6:
        method, address, fields = rng.choice(visitor.page.forms)
        filled = {name: rng.choice(values) for name, values in fields.items()}
        if rng.random() < 0.5:
            filled |= {rng.choice(list(fields) or ["next"]): noise(rng) for _ in range(2)}
        return visitor.ask(method, address, filled, fragment=fragment)
    here = [link for link in visitor.page.links if not urlsplit(link).netloc]
    made_up = rng.choice(ADDRESSES).format(rng.choice((*codes(), quote(noise(rng)))))
    before = stored()
    status = visitor.ask(
        "get", rng.choice((rng.choice(here or START), rng.choice(START), made_up)), {}, fragment=fragment
    )
    assert stored() == before
    return status


def codes() -> list[str]:
    return list(Game.objects.order_by("pk").values_list("code", flat=True)[:20])


def test_visitors_who_do_anything_break_nothing(alice: User, bob: User, charlie: User, mo: User) -> None:
    lobby.create_table(user=alice, options=lobby.TableOptions(players=3), now=NOON)
    lobby.create_table(user=alice, options=lobby.TableOptions(players=2, bots=1, target=1000), now=NOON)
    lobby.create_table(user=bob, options=lobby.TableOptions(players=2, public=False), now=NOON)
    visitors = [Visitor(user) for user in (alice, bob, charlie, mo, None)]
    rng, answered = random.Random(SEED), Counter[int]()
    for _ in range(REQUESTS):
        status = step(rng, rng.choice(visitors))
        answered[status] += 1
        assert status < 500
    print(f"{REQUESTS} requests, seed {SEED}: {dict(sorted(answered.items()))}")
    assert {200, 302, 404} <= answered.keys()
    assert faulty_games() == {}
