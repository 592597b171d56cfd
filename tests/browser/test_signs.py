"""What counts as a sign that somebody looks at an open page, and what the page tells the server of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final

import pytest
from django.core.cache import cache
from django.utils import timezone
from playwright.sync_api import Page, Request, WebSocketRoute, expect

from accounts.models import User
from games import presence
from games.actions.next_round import deal_next
from games.queries import Table
from tests.browser.game_page import NewPage, load_game, play, shows
from tests.browser.places import MANY, Cast
from tests.browser.test_layout import PHONE
from tests.browser.test_round_end import LAST_CARD
from tests.support.tables import TWO_HANDS, now_of, table_at
from tests.support.waiting import until

MINUTE: Final = 60_000  # ms, of the page's clock
LAST_CARDS: Final = {**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"]]}
HEADER: Final = "x-idle-seconds"


class Watched:
    """A page of a game with a clock of its own, and the fetches that it sent. Its socket stays open."""

    def __init__(self, page: Page, table: Table) -> None:
        self.page, self.fetches, self.answered = page, list[Request](), 0
        self.pair = (table.game.pk, table.seats[0].user_id or 0)
        self.beat = json.dumps({"game": table.game.code, "version": 0, "revision": table.game.revision, "beat": True})
        page.clock.install()
        page.route_web_socket("**/ws/**", self._connect)
        load_game(page, table.game)
        page.on("request", lambda request: self.fetches.append(request) if "since=" in request.url else None)
        page.on("requestfinished", self._answer)

    def _connect(self, route: WebSocketRoute) -> None:
        self.socket = route
        route.connect_to_server()

    def _answer(self, request: Request) -> None:
        self.answered += request in self.fetches

    def let_pass(self, ms: int) -> list[str | None]:
        """Let so much time pass on the page. Return what each fetch in it told of the last sign, if anything."""
        before = len(self.fetches)
        for _ in range(0, ms, 10_000):
            self.socket.send(self.beat)
            self.page.clock.run_for(10_000)
            until("answered", lambda: self.page.evaluate("true") and self.answered == len(self.fetches))
        return [request.headers.get(HEADER) for request in self.fetches[before:]]

    def act(self, do: Callable[[Page], None]) -> None:
        """Do this after a silence, and wait until the page has told of it."""
        self.let_pass(100_000)
        self.page.clock.run_for(2_000)  # what soon follows a change of the page is no sign
        with self.page.expect_request(lambda request: request.headers.get(HEADER) in ("0", "1", "2")):
            do(self.page)
            self.page.clock.run_for(2_000)

    def counts(self) -> bool:
        return presence.viewing([self.pair]) == {self.pair}


@pytest.fixture
def table(site: str, cast: Cast) -> Table:
    return cast.table(MANY)


SIGNS: Final[dict[str, Callable[[Page], None]]] = {
    "scroll": lambda page: page.evaluate("window.scrollBy(0, 40)"),
    "focus": lambda page: page.evaluate("document.querySelector('.bell').focus()"),
    "touch": lambda page: page.touchscreen.tap(5, 200),
    "move the pointer": lambda page: page.mouse.move(300, 300, steps=3),
    "turn the wheel": lambda page: page.mouse.wheel(0, 5),
    "press a key": lambda page: page.keyboard.press("Shift"),
    "press the pointer": lambda page: page.mouse.click(2, 400),
}


@pytest.mark.in_process
def test_a_visible_page_that_nobody_touches_does_not_count_as_viewing(
    new_page: NewPage, table: Table, bob: User
) -> None:
    open_page = Watched(new_page(table.seats[0].user), table)
    assert open_page.counts()  # for three minutes, because it was loaded
    cache.clear()
    told = open_page.let_pass(9 * MINUTE)
    assert 8 <= len(told) <= 10
    assert set(told) == {None}
    assert not open_page.counts()


def test_a_page_tells_of_a_sign_after_a_silence_and_then_how_old_it_is(new_page: NewPage, table: Table) -> None:
    open_page = Watched(new_page(table.seats[0].user), table)
    open_page.let_pass(4 * MINUTE)
    cache.clear()
    open_page.act(SIGNS["move the pointer"])
    until("counted", lambda: open_page.page.evaluate("true") and open_page.counts())
    ages = [int(age or -1) for age in open_page.let_pass(2 * MINUTE) + open_page.let_pass(2 * MINUTE)]
    assert ages == sorted(ages)
    assert 60 < ages[-1] < 250


def test_each_of_these_is_a_sign(new_page: NewPage, table: Table) -> None:
    open_page = Watched(new_page(table.seats[0].user, has_touch=True), table)
    assert set(open_page.let_pass(2 * MINUTE)) == {None}
    for act in SIGNS.values():
        open_page.act(act)


def test_the_moves_of_others_are_no_sign(new_page: NewPage, cast: Cast, bob: User) -> None:
    """The page scrolls and moves the focus by itself when a round ends."""
    table = table_at(LAST_CARD, [bob, cast.alice, cast.charlie, cast.mo], target=1000, deadline=None)
    open_page = Watched(new_page(cast.charlie, viewport=PHONE), table)
    open_page.page.mouse.move(100, 300)  # it then rests over the table
    open_page.page.evaluate("window.scrollTo(0, 10_000)")
    open_page.page.locator("#hand-cards .card").first.focus()  # the card will be gone
    open_page.act(SIGNS["press a key"])
    open_page.let_pass(4 * MINUTE)
    play(table, 0, "play r5")
    deal_next(game_id=table.game.pk, now=timezone.now())
    until("the next round", lambda: now_of(table).started.round.number == 2)
    expect(open_page.page.locator("#main")).to_have_attribute("data-deal", "2")
    expect(open_page.page.locator("#ended.layer")).to_be_visible()
    told = open_page.let_pass(MINUTE)
    expect(open_page.page.locator("#ended.layer")).to_have_count(0)
    assert min(int(age or 0) for age in told + open_page.let_pass(MINUTE)) >= 240


def test_a_page_in_the_background_tells_of_no_sign(new_page: NewPage, table: Table) -> None:
    open_page = Watched(new_page(table.seats[0].user), table)
    SIGNS["move the pointer"](open_page.page)
    open_page.page.evaluate("() => Object.defineProperty(document, 'hidden', { value: true })")
    with open_page.page.expect_response(lambda answer: "since=" in answer.url) as fetched:
        open_page.page.evaluate("() => htmx.trigger('#main', 'refetch')")
    assert HEADER not in fetched.value.request.headers


def test_the_end_of_a_game_is_marked_as_seen_when_somebody_is_back(new_page: NewPage, cast: Cast, bob: User) -> None:
    table = table_at(LAST_CARDS, [bob, cast.alice], deadline=None)
    page = new_page(cast.alice)
    open_page = Watched(page, table)
    open_page.let_pass(4 * MINUTE)
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url) if request.url.endswith("/seen/") else None)
    play(table, 0, "play r5")
    shows(page, 1)
    expect(page.get_by_role("button", name="All games")).to_be_visible()
    open_page.let_pass(MINUTE)
    assert seen == []
    with page.expect_response("**/seen/") as told:
        SIGNS["press a key"](page)
        page.clock.run_for(2_000)
    assert told.value.status == 204
