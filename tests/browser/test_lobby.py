"""Lobbies in browsers, invitation links, and the end of a game on the front page."""

from __future__ import annotations

import time
from typing import Any, Final

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from accounts.models import User
from games.actions import lobby
from games.models import Game
from games.queries import Viewer
from games.staff.browser_marks import mark_browser
from tests.browser.conftest import Visitors
from tests.browser.game_page import NewPage, load_game
from tests.browser.test_layout import PHONE
from tests.support.tables import table_after

MOVED_BY_NOBODY: Final = ".seat, #invite-link, #about-title"
"""The parts of a table before the start that stay where they are when somebody sits down."""


def test_a_table_fills_and_starts_without_a_reload(new_page: NewPage, alice: User) -> None:
    host = new_page(alice)
    host.goto("/tables/new/")
    host.get_by_role("radio", name="Friends").check()
    host.locator("summary", has_text="Seats").click()
    host.get_by_role("group", name="Players").get_by_label("3").check()
    host.get_by_role("button", name="Create table").click()
    expect(host.get_by_role("heading", level=1)).to_have_text("Your table: 2 seats are free")
    link = host.locator("#invite-link").text_content() or ""
    places = [part.bounding_box() for part in host.locator(MOVED_BY_NOBODY).all()]

    friend = new_page(java_script_enabled=False)
    friend.goto(link)
    friend.get_by_label("Your name").fill("Fern")
    friend.get_by_role("button", name="Sit down").click()
    expect(friend.get_by_role("heading", level=1)).to_have_text("alice’s table: 1 seat is free")
    expect(host.get_by_role("heading", level=1)).to_have_text("Your table: 1 seat is free")
    assert [part.bounding_box() for part in host.locator(MOVED_BY_NOBODY).all()] == places

    host.get_by_role("button", name="Add a bot").click()
    host.locator("#hand").wait_for()
    friend.reload()
    friend.locator("#hand").wait_for()


@pytest.mark.in_process
def test_a_visitor_who_takes_the_last_seat_gets_it(
    new_page: NewPage, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page learns that the game has started before the answer to its form arrives, and must not cancel that."""

    def slow(*args: Any, **kwargs: Any) -> None:
        time.sleep(1)  # as on a slow connection
        mark_browser(*args, **kwargs)

    monkeypatch.setattr("games.web.browser_marks.mark_browser", slow)
    game = lobby.create_table(user=alice, choices=lobby.TableChoices(players=2), now=timezone.now()).game
    page = new_page()
    page.goto(game.get_absolute_url())
    page.wait_for_load_state("networkidle")
    page.get_by_label("Your name").fill("Fern")
    page.get_by_role("button", name="Sit down").click()
    expect(page.locator("#headline")).to_contain_text("turn")
    expect(page.locator(".me .name")).to_have_text("Fern")
    expect(page.locator("#hand")).to_be_visible()


def test_an_error_does_not_take_the_place_of_a_lobby(visitors: Visitors, site: str, alice: User) -> None:
    game = lobby.create_table(user=alice, choices=lobby.TableChoices(players=4), now=timezone.now()).game
    page = visitors(alice)
    load_game(page, game)
    with page.expect_response(lambda answer: "lobby=" in answer.url):
        page.route("**/games/**lobby=**", lambda route: route.fulfill(status=429, body="<!doctype html><main id=main>"))
        page.evaluate("window.dispatchEvent(new Event('online'))")
    page.unroute("**/games/**lobby=**")
    lobby.add_bot(code=game.code, viewer=Viewer(alice), bot="careful", now=timezone.now())
    expect(page.get_by_role("heading", level=1)).to_have_text("Your table: 2 seats are free")
    assert [line for line in visitors.leave() if "429" not in line] == []


def test_one_click_copies_the_invitation_link(new_page: NewPage, alice: User, site: str) -> None:
    game: Game = lobby.create_table(user=alice, choices=lobby.TableChoices(), now=timezone.now()).game
    page = new_page(alice, permissions=["clipboard-read", "clipboard-write"])
    page.goto(f"/games/{game.code}/")
    page.get_by_role("button", name="Copy link").click()
    expect(page.locator("#copy-link")).to_have_text("Copied")
    expect(page.locator("#live-polite")).to_have_text("Copied.")
    assert page.evaluate("() => navigator.clipboard.readText()") == f"{site}/join/{game.invite_key}/"


def test_a_double_click_makes_one_table(new_page: NewPage, site: str) -> None:
    for tables, scripts in enumerate((True, False), 1):
        page = new_page(java_script_enabled=scripts)
        page.goto("/")
        page.get_by_role("button", name="Play now").dblclick()
        page.locator("#hand").wait_for()
        assert Game.objects.count() == tables


def test_the_end_of_a_game_is_marked_as_seen(new_page: NewPage, alice: User, bob: User) -> None:
    game = table_after([alice, bob], 10_000, seed=3).game
    page, without_scripts = new_page(alice), new_page(bob, java_script_enabled=False)
    page.goto("/")
    expect(page.locator("#group-over")).to_have_text("Just finished (1)")
    with page.expect_response("**/seen/"):
        page.goto(game.get_absolute_url())
    page.goto("/")
    without_scripts.goto(game.get_absolute_url())
    without_scripts.get_by_role("button", name="All games").click()
    for each in (page, without_scripts):
        expect(each.get_by_role("heading", level=1)).to_have_text("Games")
        expect(each.locator("#group-over")).to_have_count(0)
    for each, shown in ((page, "#invite-link"), (without_scripts, "#hand")):
        each.goto("/?finished=1")
        each.get_by_role("button", name="rematch").click()
        each.locator(shown).wait_for()
    page.locator("#hand").wait_for()  # the rematch has started


def test_a_host_with_a_phone_sees_how_to_invite_people(new_page: NewPage, alice: User) -> None:
    game = lobby.create_table(user=alice, choices=lobby.TableChoices(), now=timezone.now()).game
    page = new_page(alice, viewport=PHONE)
    page.goto(f"/games/{game.code}/")
    expect(page.locator("#copy-link")).to_be_in_viewport(ratio=1)
