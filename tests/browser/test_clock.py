"""Clocks in browsers: pauses, resigning, taking a seat back, and a clock that plays on an open page."""

from __future__ import annotations

import re
from datetime import timedelta

from django.utils import timezone
from playwright.sync_api import Route, expect

from accounts.models import User
from games.queries import Table
from tests.browser.game_page import NewPage, load_game
from tests.support.tables import TWO_HANDS, table_at
from tests.support.times_left import TIMES_LEFT


def in_two_days(people: list[User | str]) -> Table:
    return table_at(TWO_HANDS, people, deadline=timezone.now() + timedelta(days=2))


def test_an_open_page_shows_the_clock_playing(new_page: NewPage, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], pace="live", deadline=timezone.now() + timedelta(seconds=1))
    page = new_page(bob)
    page.goto(f"/games/{table.game.code}/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Your turn")
    expect(page.locator("#log")).to_contain_text("Time ran out. alice plays Yellow 3.", ignore_case=True)
    expect(page.get_by_text("missed 1 of 3 turns")).to_be_visible()


def test_browser_and_server_say_the_time_left_in_the_same_words(new_page: NewPage) -> None:
    page = new_page(None)
    page.goto("/about/")
    said = page.evaluate(
        "async (times) => { const clock = await import('/static/js/clock.js'); return times.map(clock.timeLeft); }",
        [seconds for seconds, _ in TIMES_LEFT],
    )
    assert said == [text for _, text in TIMES_LEFT]


WRONG_CLOCK = """
const right = Date.now;
window.wrongBy = %d;
Date.now = () => right() + window.wrongBy;
"""


def test_the_time_left_ignores_the_computers_clock(new_page: NewPage, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], pace="live", deadline=timezone.now() + timedelta(seconds=100))
    page = new_page(alice, script=WRONG_CLOCK % (3 * 60_000))
    page.goto(f"/games/{table.game.code}/")
    left = page.locator("time[data-left]")
    expect(left).to_have_text(re.compile(r"^\d\d s left$"))
    first = left.inner_text()
    expect(left).not_to_have_text(first)
    seconds = re.fullmatch(r"(\d\d) s left", left.inner_text())
    assert seconds is not None
    assert int(seconds[1]) < int(first.split()[0])


def test_a_page_is_fetched_again_after_the_computer_slept(new_page: NewPage, alice: User, bob: User) -> None:
    table = in_two_days([alice, bob])
    page = new_page(alice, script=WRONG_CLOCK % 0)
    fetches = re.compile(r"[?&]since=")
    load_game(page, table.game)
    with page.expect_response(fetches, timeout=20_000):
        page.evaluate("window.wrongBy = 3600000")
    expect(page.locator("time[data-left]")).to_have_text("47 h left")


# Resolves once the page has noticed that the computer slept for an hour.
SLEEP = """
() => new Promise((done) => {
  for (const name of ["woke-up", "refetch"]) document.addEventListener(name, () => setTimeout(done), { once: true });
  window.wrongBy = 3600000;
})
"""


def test_a_fetch_after_sleep_waits_for_the_running_request(new_page: NewPage, alice: User, bob: User) -> None:
    table = in_two_days([alice, bob])
    page = new_page(alice, script=WRONG_CLOCK % 0)
    fetches = re.compile(r"[?&]since=")
    load_game(page, table.game)
    held: list[Route] = []
    page.route("**/move/", lambda route: held.append(route))  # noqa: PLW0108  # Playwright marks it
    with page.expect_request("**/move/"):
        page.locator("#draw").click()
    asked: list[str] = []
    page.on("request", lambda one: asked.append(one.url))
    page.evaluate(SLEEP)
    assert [url for url in asked if fetches.search(url)] == []
    with page.expect_response(fetches):
        held[0].continue_()
    expect(page.locator("#main")).to_have_attribute("data-version", "1")
