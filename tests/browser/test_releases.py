"""Open pages after the site has been upgraded: they reload once, when that interrupts nobody."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import pytest
from django.contrib.staticfiles.storage import staticfiles_storage
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from accounts.models import User
from games.actions import lobby
from tests.browser.game_page import NewPage, play, shows
from tests.browser.places import MANY, Cast
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.in_process

QUIET: Final = 16_000
"""More ms than a page waits after the last press, and until it looks again."""
NEW: Final = "#main[data-release='0a1b']"
WAITING: Final = {**MANY, "turn": 1}
Upgrade = Callable[[], None]


@pytest.fixture
def upgrade(monkeypatch: pytest.MonkeyPatch) -> Upgrade:
    """A function that upgrades the site. Pages that are made afterwards are of the next release."""
    return lambda: monkeypatch.setattr(staticfiles_storage, "manifest_hash", "0a1b", raising=False)


def old_page(page: Page, address: str, upgrade: Upgrade | None = None) -> Page:
    """Open a page with a clock of its own, mark it, and upgrade the site."""
    page.clock.install()
    page.goto(address, wait_until="networkidle")
    page.evaluate("window.old = true")
    if upgrade is not None:
        upgrade()
    return page


def is_old(page: Page) -> bool:
    return bool(page.evaluate("window.old === true"))


def is_reloaded(page: Page) -> None:
    """Let the time go by that a page waits, and expect that it reloads."""
    with page.expect_event("load"):
        page.clock.run_for(QUIET)
    assert not is_old(page)
    expect(page.locator(NEW)).to_be_attached()


def test_a_game_page_reloads_between_two_turns(new_page: NewPage, cast: Cast, upgrade: Upgrade) -> None:
    table = cast.table(WAITING)
    page = old_page(new_page(cast.alice), table.game.get_absolute_url(), upgrade)
    page.keyboard.press("?")
    play(table, 1, "play r1")
    shows(page, table.game.version + 1)
    page.clock.run_for(QUIET)
    assert is_old(page)  # what the reader has opened is not lost
    page.keyboard.press("Escape")
    page.clock.run_for(6_000)  # the reader has just pressed a key
    assert is_old(page)
    is_reloaded(page)


def test_a_game_page_does_not_reload_while_its_reader_has_the_turn(
    new_page: NewPage, alice: User, bob: User, upgrade: Upgrade
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    page = old_page(new_page(alice), table.game.get_absolute_url(), upgrade)
    page.clock.run_for(70_000)  # the page has fetched itself
    expect(page.locator(NEW)).to_be_attached()
    page.clock.run_for(QUIET)
    assert is_old(page)
    page.get_by_role("button", name="Red 5").click()
    shows(page, 1)
    assert is_old(page)
    is_reloaded(page)


def test_a_visitor_who_types_a_name_is_not_interrupted(
    new_page: NewPage, alice: User, bob: User, upgrade: Upgrade
) -> None:
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=4), now=timezone.now())
    page = old_page(new_page(), table.game.get_absolute_url(), upgrade)
    page.get_by_label("Your name").fill("Ann")
    page.get_by_role("heading", level=1).click()
    page.clock.run_for(70_000)
    expect(page.locator(NEW)).to_be_attached()
    page.clock.run_for(QUIET)
    assert is_old(page)
    page.get_by_label("Your name").fill("")
    page.get_by_role("heading", level=1).click()
    is_reloaded(page)


def test_the_list_of_games_reloads(new_page: NewPage, alice: User, upgrade: Upgrade) -> None:
    page = old_page(new_page(alice), "/", upgrade)
    page.clock.run_for(20_000)
    expect(page.locator(NEW)).to_be_attached()
    is_reloaded(page)


def test_servers_of_two_releases_make_a_page_reload_once(new_page: NewPage, alice: User) -> None:
    """The one that answers fetches stays newer than the one that answers with whole pages."""

    def newer(route: Route) -> None:
        if route.request.headers.get("hx-request") != "true":
            route.fallback()
            return
        answer = route.fetch()
        route.fulfill(response=answer, body=re.sub('data-release="[^"]*"', 'data-release="0a1b"', answer.text()))

    page = new_page(alice)
    page.route("/", newer)
    page.clock.install()
    loads: list[str] = []
    page.on("load", lambda loaded: loads.append(loaded.url))
    page.goto("/")
    page.wait_for_load_state("networkidle")
    for _ in range(4):
        page.clock.run_for(20_000)
        expect(page.locator(NEW)).to_be_attached()
        page.clock.run_for(QUIET)
        page.wait_for_load_state("networkidle")
    assert len(loads) == 2


def test_a_page_reloads_for_another_reader(new_page: NewPage, alice: User, bob: User) -> None:
    page = old_page(new_page(alice), "/")
    other = page.context.new_page()
    other.goto("/accounts/logout/")
    other.get_by_role("button", name="Log out").click()
    other.goto("/accounts/login/")
    other.locator("#id_login").fill("bob")
    other.locator("#id_password").fill("bob")
    other.get_by_role("button", name="Log in").click()
    expect(other.locator(".me .name")).to_have_text("bob")
    page.clock.run_for(20_000)
    page.clock.run_for(QUIET)
    expect(page.locator(".me .name")).to_have_text("bob")
    other.close()
