"""New guests and accounts in a browser: their time zone, the way back to a game, and the room around notes."""

from __future__ import annotations

from typing import Final

from django.test import Client
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts import actions
from accounts.models import User
from games.actions import lobby
from tests.browser.game_page import NewPage
from tests.browser.places import MANY, Cast
from tests.browser.test_layout import PHONE
from tests.conftest import logged_in
from tests.support.tables import table_after

ROOM: Final = """() => [...document.querySelectorAll("main > .note, .messages > :last-child")].map((note) => {
    const all = [...document.querySelectorAll("h1, h2, .note")].filter((one) => one !== note && one.checkVisibility());
    const end = note.getBoundingClientRect().bottom;
    return Math.min(...all.map((one) => one.getBoundingClientRect().top - end).filter((gap) => gap > -1));
})"""
"""Returns the px between each note of a page and the next heading or note below it."""


def test_play_now_takes_the_time_zone_of_the_browser(new_page: NewPage, site: str) -> None:
    page = new_page(timezone_id="Asia/Calcutta")
    page.goto("/")
    page.get_by_role("button", name="Play now").click()
    page.wait_for_url("**/games/*/")
    assert User.objects.get().time_zone == "Asia/Kolkata"


def test_sitting_down_takes_it_also_after_an_update_of_the_page(new_page: NewPage, alice: User, bob: User) -> None:
    table = lobby.create_table(user=alice, options=lobby.TableOptions(players=4), now=timezone.now())
    page = new_page(timezone_id="America/Lima")
    page.goto(table.game.get_absolute_url())
    browser = logged_in(bob)
    browser.post(f"{table.game.get_absolute_url()}join/")
    expect(page.get_by_role("link", name="bob", exact=True)).to_be_visible()
    page.get_by_label("Your name").fill("Ann")
    page.get_by_role("button", name="Sit down").click()
    expect(page.get_by_role("button", name="Leave the table")).to_be_visible()
    assert User.objects.get(is_guest=True).time_zone == "America/Lima"


def test_without_scripts_a_guest_has_utc_until_the_sign_up(new_page: NewPage, site: str) -> None:
    page = new_page(timezone_id="America/Lima", java_script_enabled=False)
    page.goto("/")
    page.get_by_role("button", name="Play now").click()
    page.wait_for_url("**/games/*/")
    assert User.objects.get().time_zone == "UTC"


def test_a_guest_signs_up_at_the_end_of_a_game_and_is_there_again(new_page: NewPage, alice: User) -> None:
    guest = actions.create_guest()
    table = table_after([guest, alice], 10_000, seed=3)
    page = new_page(guest, timezone_id="America/Lima")
    page.goto(table.game.get_absolute_url())
    page.locator("#keep-games").get_by_role("link", name="Sign up").click()
    expect(page.get_by_label("Time zone")).to_have_value("America/Lima")
    page.get_by_label("Username").fill("dora")
    page.locator("#id_password1").fill("four green reverses")
    page.locator("#id_password2").fill("four green reverses")
    page.get_by_role("button", name="Sign up").click()
    page.wait_for_url(f"**{table.game.get_absolute_url()}")
    guest.refresh_from_db()
    assert (guest.username, guest.is_guest, guest.time_zone) == ("dora", False, "America/Lima")


def has_room(page: Page) -> None:
    gaps = page.evaluate(ROOM)
    assert gaps
    assert min(gaps) >= 12, gaps


def test_a_note_has_room_above_the_heading_below_it(new_page: NewPage, alice: User) -> None:
    page = new_page(actions.create_guest())
    for width in (PHONE["width"], 1280):
        page.set_viewport_size({"width": width, "height": 844})
        page.goto("/next/")  # with a message above the note about guests
        expect(page.locator(".messages, main > .note")).to_have_count(2)
        has_room(page)


def test_a_message_has_room_above_a_game(new_page: NewPage, cast: Cast) -> None:
    game = cast.table(MANY).game.get_absolute_url()
    page = new_page(cast.alice)
    same = Client()
    for cookie in page.context.cookies():
        same.cookies[cookie["name"]] = cookie["value"]
    for width in (PHONE["width"], 1280):
        page.set_viewport_size({"width": width, "height": 844})
        same.post("/notices/settings/", {"digest_hour": ""})  # its message waits for the next page
        page.goto(game)
        expect(page.get_by_text("Saved.")).to_be_visible()
        has_room(page)
