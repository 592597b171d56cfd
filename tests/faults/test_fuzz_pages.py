"""Test random visitors: no page breaks, no GET changes a game, and every game still replays.

Each visitor, staff among them, opens URLs found on earlier pages or made up, and sends the forms found there with some
fields changed. Hypothesis chooses. Changes of one walk stay for the next. The long form is
`FUZZ=5000 script/test --all tests/faults/test_fuzz_pages.py`, with this many requests; `FUZZ_SEED` changes them.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote, urljoin, urlsplit

import pytest
from django.db.models import F
from django.test import Client
from django.utils import timezone
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Flaky
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from accounts.models import User
from games import queries
from games.actions import lobby
from games.models import Game
from games.notices import inbox
from games.staff import people
from tests.conftest import Figure, logged_in
from tests.faults.state import faulty_games, stored
from tests.support.codes import staff_browser
from tests.support.tables import NOON

REQUESTS = int(os.environ.get("FUZZ", "100"))
WALK = 50
"""Requests of one walk."""
SEED = int(os.environ.get("FUZZ_SEED", "1"))
START = (
    "/",
    "/about/",
    "/notation/",
    "/privacy/",
    "/rules/",
    "/tables/new/",
    "/next/",
    "/accounts/me/",
    "/accounts/login/",
    "/accounts/signup/",
    "/move-seats/",
    "/notices/",
    "/admin/",
    "/admin/games/game/",
    "/admin/games/case/",
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
    "/people/{}/",
    "/admin/games/round/?{}",
    "/admin/games/game/?q={}",
    "/{}",
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]

Form = tuple[str, str, dict[str, list[str]]]


class Page(HTMLParser):
    """The URLs and forms of a page. A form is its method, its URL and the possible values of its fields."""

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
    """A browser that remembers its current page. That of a staff member may open the staff pages."""

    def __init__(self, user: User | None) -> None:
        self.user = user
        self.browser = self._fresh_browser()
        self.page = Page("/", "")

    def _fresh_browser(self) -> Client:
        if not self.user:
            return Client()
        return staff_browser(self.user) if self.user.is_staff else logged_in(self.user)

    def ask(self, method: str, address: str, fields: dict[str, str], *, fragment: bool) -> int:
        """Make the request and follow redirects. Raises exceptions of views."""
        target = urlsplit(address)
        path = target.path + (f"?{target.query}" if target.query else "")
        headers = {"HX-Request": "true"} if fragment else {}
        if method == "get":
            answer = self.browser.get(path, fields or None, headers=headers, follow=True)
        else:
            answer = self.browser.post(path, fields, headers=headers, follow=True)
        if self.user and "_auth_user_id" not in self.browser.session:
            self.browser = self._fresh_browser()
        if answer.headers.get("Content-Type", "").startswith("text/html") and not answer.streaming:
            self.page = Page(answer.request["PATH_INFO"], answer.content.decode())
        status: int = answer.status_code
        return status


noise = st.sampled_from(WORDS) | st.text(max_size=40)
chance = st.integers(0, 2**32).map(random.Random)
"""Chooses among the links and forms of a page. Hypothesis cannot, because pages differ from walk to walk."""


def walks_of(visitors: dict[str, Visitor], answered: Counter[int]) -> type[RuleBasedStateMachine]:
    """Return a state machine of walks of these visitors. It counts the statuses."""

    class Walk(RuleBasedStateMachine):
        @rule(
            who=st.sampled_from(sorted(visitors)),
            what=st.sampled_from(("follow", "follow", "send", "send", "make up")),
            rng=chance,
            fragment=st.booleans(),
            spoil=st.booleans(),
            words=st.tuples(noise, noise),
        )
        def step(
            self, who: str, what: str, rng: random.Random, fragment: bool, spoil: bool, words: tuple[str, str]
        ) -> None:
            """Make one request. This is one rule for all kinds, because Hypothesis leaves out rules for whole walks."""
            if what == "send" and visitors[who].page.forms:
                self._send(who, rng, words if spoil else (), fragment=fragment)
            elif what == "make up":
                address = rng.choice(ADDRESSES).format(rng.choice((*codes(), quote(words[0]))))
                self._get(who, address, fragment=fragment)
            else:
                here = [link for link in visitors[who].page.links if not urlsplit(link).netloc]
                self._get(who, rng.choice(rng.choice((here or START, here or START, START))), fragment=fragment)

        def _send(self, who: str, rng: random.Random, words: tuple[str, ...], *, fragment: bool) -> None:
            """Send a form of the current page with at most as many fields changed as there are words."""
            method, address, fields = rng.choice(visitors[who].page.forms)
            filled = {name: rng.choice(values) for name, values in fields.items()}
            filled |= {rng.choice(list(fields) or ["next"]): word for word in words}
            self._answered(visitors[who].ask(method, address, filled, fragment=fragment))

        def _get(self, who: str, address: str, *, fragment: bool) -> None:
            before = stored()
            self._answered(visitors[who].ask("get", address, {}, fragment=fragment))
            assert stored() == before

        def _answered(self, status: int) -> None:
            answered[status] += 1
            assert status < 500

    return Walk


def codes() -> list[str]:
    return list(Game.objects.order_by("pk").values_list("code", flat=True)[:20])


def walk(visitors: dict[str, Visitor], requests: int) -> Counter[int]:
    """Let these visitors walk; count the statuses. Raises exceptions of views."""
    answered: Counter[int] = Counter()
    chosen = settings(
        max_examples=max(1, requests // WALK),
        stateful_step_count=WALK,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],  # walks see each other's changes, so Hypothesis cannot repeat one
    )
    run_state_machine_as_test(seed(SEED)(walks_of(visitors, answered)), settings=chosen)
    return answered


@pytest.fixture
def visitors(alice: User, bob: User, charlie: User, mo: User) -> dict[str, Visitor]:
    """Return players at three tables, an outsider, a suspended person, a moderator, an admin, and a visitor."""
    lobby.create_table(user=alice, choices=lobby.TableChoices(players=3), now=NOON)
    lobby.create_table(user=alice, choices=lobby.TableChoices(players=2, bots=1, target=1000), now=NOON)
    lobby.create_table(user=bob, choices=lobby.TableChoices(players=2, public=False), now=NOON)
    dora = User.objects.create_user("dora", password="long enough a secret")
    people.suspend(person_id=dora.pk, by=mo, days=7, reason="Rude words at two tables", now=timezone.now())
    root = User.objects.create_superuser("root", password="long enough a secret")
    known = {user.username: Visitor(user) for user in (alice, bob, charlie, mo, dora, root)}
    return known | {"nobody": Visitor(None)}


def test_random_visitors_break_nothing(visitors: dict[str, Visitor], figure: Figure) -> None:
    answered = walk(visitors, REQUESTS)
    figure(f"{sum(answered.values())} requests, seed {SEED}: {dict(sorted(answered.items()))}")
    assert {200, 403, 404} <= answered.keys()
    assert answered[200] > answered.total() / 4
    assert faulty_games() == {}


def test_the_walk_sees_a_page_that_breaks(visitors: dict[str, Visitor], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise LookupError("seeded")

    monkeypatch.setattr(inbox, "badges_of", broken)
    with pytest.raises(LookupError, match="seeded"):
        walk(visitors, 100)


def test_the_walk_sees_a_get_that_changes_a_game(visitors: dict[str, Visitor], monkeypatch: pytest.MonkeyPatch) -> None:
    honest = queries.view_of

    def careless(*arguments: Any, **named: Any) -> Any:
        Game.objects.update(version=F("version") + 1)
        return honest(*arguments, **named)

    monkeypatch.setattr(queries, "view_of", careless)
    with pytest.raises((AssertionError, Flaky)):  # Hypothesis repeats the walk, but the state has changed
        walk(visitors, 100)
