"""A player who is out sees the hand they lost, and watches the rest of the round at a move each second."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest
from playwright.sync_api import Page, Route, expect

from accounts.models import User
from games.models import Game, Move
from games.queries import Table
from tests.browser.game_page import NewPage, focused, load_game, open_page, play, shows
from tests.browser.pauses import pause
from tests.browser.test_layout import assert_fits, have_width
from tests.support.tables import now_of, table_after
from tests.support.waiting import until

OUT_AT, LAST = 22, 25
"""The move that knocks bob out in this game, and its last one."""
RECORD = """
window.versions = [];
setInterval(() => {
  const version = Number(document.getElementById("main")?.dataset.version ?? 0);
  if (version !== window.versions.at(-1)?.[0]) window.versions.push([version, performance.now()]);
}, 20);
"""
FIRST_STEP = re.compile(rf"since={OUT_AT - 1}&deal=1&revision=\d+(&tip=\w+)?$")
NEXT_STEP = re.compile(rf"since={OUT_AT}&deal=1&revision=\d+(&tip=\w+)?$")
"""The fetch after the move that knocks bob out, but not that of the link to the end."""


@pytest.fixture
def table(site: str, alice: User, bob: User, charlie: User) -> Table:
    """The game before the move that knocks bob out."""
    return table_after([alice, bob, charlie], OUT_AT - 1, seed=3)


def stopped_at_first_step(page: Page, finish_it: Callable[[], None]) -> None:
    """Let the page fetch its first step once the game has ended, and no step after that."""
    held: list[Route] = []
    page.route(FIRST_STEP, lambda route: held.append(route))  # noqa: PLW0108  # Playwright takes no built-in
    page.route(NEXT_STEP, lambda route: None)
    finish_it()
    while not held:
        page.wait_for_timeout(50)
    page.unroute(FIRST_STEP)
    for route in held:
        route.continue_()
    shows(page, OUT_AT)


def finish(table: Table) -> None:
    """Make the moves that are left, one right after the other."""
    whole = table_after([seat.user for seat in table.seats if seat.user], 10_000, seed=3)
    assert whole.game.version == LAST
    for seat, text in Move.objects.filter(game=whole.game, n__gte=OUT_AT).order_by("n").values_list("seat", "text"):
        play(table, seat, text)
    assert now_of(table).game.status == Game.Status.OVER


def recorded(new_page: NewPage, user: User, table: Table) -> Page:
    """Open the page of a game, which records each version that it shows, and when."""
    page = new_page(user, script=RECORD)
    load_game(page, table.game)
    return page


def one_a_second(page: Page, first: int, last: int) -> None:
    """Wait until the page shows version `last`. Check that it has shown each since `first` for a second."""
    page.wait_for_function("(last) => window.versions.some(([version]) => version === last)", arg=last)
    shown = [(version, at) for version, at in page.evaluate("window.versions") if version >= first]
    assert [version for version, _ in shown][: last - first + 1] == list(range(first, last + 1))
    times = [at for _, at in shown]
    assert min(after - before for before, after in pairwise(times)) > 600  # a busy machine shows one later


def test_the_rest_of_a_round_comes_at_a_move_each_second(new_page: NewPage, table: Table, bob: User) -> None:
    page = recorded(new_page, bob, table)
    finish(table)
    one_a_second(page, OUT_AT, LAST)
    expect(page.locator("#over")).to_be_visible()
    expect(page.locator("#lost-hand")).to_have_count(0)


def test_a_reload_shows_the_present(new_page: NewPage, table: Table, bob: User) -> None:
    page = open_page(new_page, bob, table)
    finish(table)
    shows(page, OUT_AT)
    page.reload()
    expect(page.locator("#over")).to_be_visible()


def test_bots_that_finish_without_a_pause_are_watched(new_page: NewPage, site: str, alice: User) -> None:
    table = table_after(["careful", alice, "careful"], OUT_AT - 1, seed=3, bot_pause=0.0)
    page = recorded(new_page, alice, table)
    play(table, 1, "color y")  # she is out, and nobody but bots is left
    until("the end", lambda: now_of(table).game.status == Game.Status.OVER)
    assert now_of(table).game.version > OUT_AT + 2
    one_a_second(page, OUT_AT, OUT_AT + 2)
    pause(page)
    page.locator("#skip-to-end").click()
    expect(page.locator("#over")).to_be_visible()


def test_who_is_out_sees_the_lost_hand_and_skips_to_the_end(new_page: NewPage, table: Table, bob: User) -> None:
    page = new_page(bob, reduced_motion="reduce")
    load_game(page, table.game)
    stopped_at_first_step(page, lambda: finish(table))
    expect(page.locator(".banner")).to_have_count(0)
    for width in (390, 1280):
        have_width(page, width)
        expect(page.locator("#lost-title")).to_be_in_viewport(ratio=1)
        parts = ".you", ".stage", "#lost-title", "#watching .hint"
        you, stage, title, hint = (page.locator(part).bounding_box() for part in parts)
        assert you is not None
        assert stage is not None
        assert title is not None
        assert hint is not None
        assert width > 800 or you["y"] + you["height"] <= stage["y"] + 1  # in the row of the players, above the table
        assert width < 800 or title["x"] + title["width"] < hint["x"]  # beside each other, in one row
    assert_fits(page, "out")
    page.locator("#skip-to-end").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#over")).to_be_visible(timeout=900)
    page.wait_for_timeout(1500)
    expect(page.locator("#over")).to_be_visible()
    assert focused(page) == "ended-heading", page.evaluate("document.activeElement.outerHTML.slice(0, 200)")
