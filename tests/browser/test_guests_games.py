"""A guest keeps the games: before a log-out, and where there is no room for another game against bots."""

from __future__ import annotations

from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from games.models import Game, Seat
from tests.browser.game_page import NewPage
from tests.browser.test_axe import violations


def play_now(page: Page, button: str) -> None:
    page.goto("/")
    page.get_by_role("button", name=button).click()


def test_the_third_game_against_bots_takes_the_place_of_the_oldest(
    new_page: NewPage, site: str, settings: Settings
) -> None:
    settings.RATE_LIMITS = 100
    page = new_page()
    for button in ("Play now", "Play against bots"):
        play_now(page, button)
        page.locator("#hand").wait_for()
    oldest, newest = Game.objects.order_by("pk")
    play_now(page, "Play against bots")
    expect(page.get_by_role("link", name="Go on with the newest")).to_have_attribute("href", f"/games/{newest.code}/")
    assert violations(page) == []
    page.get_by_role("button", name="Give up the oldest and start").click()
    page.locator("#hand").wait_for()
    assert Game.objects.latest("pk").get_absolute_url() in page.url
    assert Seat.objects.get(game=oldest, bot="").left


def test_a_guest_finds_the_way_to_sign_up_and_logs_out_in_three_presses(new_page: NewPage, site: str) -> None:
    page = new_page(java_script_enabled=False)
    play_now(page, "Play now")
    page.locator("#hand").wait_for()
    page.goto("/accounts/me/")
    page.get_by_role("link", name="Log out").click()
    page.get_by_role("link", name="Sign up and keep it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Keep your games")
    page.goto("/accounts/logout/")
    page.get_by_role("link", name="Log out and lose 1 game").click()
    lose = page.get_by_role("button", name="Log out and lose 1 game")
    lose.click()
    page.get_by_role("checkbox", name="Yes, I am sure").check()
    lose.click()
    expect(page.get_by_role("button", name="Play now")).to_be_visible()


def test_a_second_press_on_the_way_out_loses_nothing(new_page: NewPage, site: str, settings: Settings) -> None:
    settings.REGISTRATION = "closed"  # so that both buttons to lose the game stand in the same place
    page = new_page()
    play_now(page, "Play now")
    page.locator("#hand").wait_for()
    for width, part in ((390, 0.1), (390, 0.9), (1280, 0.5)):
        page.set_viewport_size({"width": width, "height": 720})
        page.goto("/accounts/logout/")
        box = page.get_by_role("link", name="Log out and lose 1 game").bounding_box()
        assert box is not None
        for address in ("**/logout/?lose=1", "**/logout/*"):
            page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] * part)
            page.wait_for_url(address)
        page.goto("/")
        expect(page.get_by_text("You are playing as a guest.")).to_be_visible()
