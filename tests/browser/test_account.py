"""Guests and accounts in a browser: time zones, the way out, games that move to an account, invitations, and data."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from django.test import Client
from django.utils import timezone
from playwright.sync_api import expect
from pytest_django.fixtures import Settings

from accounts import actions, invitations
from accounts.models import User
from games.actions import lobby
from games.live import polling
from tests.browser.conftest import STACK
from tests.browser.game_page import NewPage, load_game, play, shows
from tests.browser.places import MANY, Cast
from tests.browser.test_layout import PHONE, assert_fits
from tests.conftest import logged_in
from tests.support.tables import TWO_HANDS, table_at


def test_who_signs_up_is_asked_for_the_time_zone_if_the_browser_names_none(new_page: NewPage, site: str) -> None:
    page = new_page()
    page.add_init_script("""
        const original = Intl.DateTimeFormat.prototype.resolvedOptions;
        Intl.DateTimeFormat.prototype.resolvedOptions = function () {
            return { ...original.call(this), timeZone: localStorage.getItem("zone") };
        };
    """)
    page.goto("/about/")
    for zone, required in (("Etc/GMT+5", True), ("+05:30", True), ("Etc/UTC", False), ("UTC", False)):
        page.evaluate("(zone) => localStorage.setItem('zone', zone)", zone)
        page.goto("/accounts/signup/")
        zones = page.get_by_label("Time zone")
        expect(zones).to_have_value("" if required else "UTC")
        assert zones.evaluate("(select) => [select.checkValidity(), select.selectedOptions[0].label]") == (
            [False, "Choose your time zone"] if required else [True, "UTC"]
        ), zone


def test_the_browsers_time_zone_comes_first(new_page: NewPage, alice: User) -> None:
    page = new_page(alice, timezone_id="Europe/Berlin")
    page.goto("/accounts/me/")
    zones = page.get_by_label("Time zone")
    expect(zones).to_have_value("UTC")
    expect(zones.locator("optgroup").first).to_have_attribute("label", "This browser’s time zone")
    zones.select_option(index=0)
    page.get_by_role("button", name="Save").first.click()
    expect(page.get_by_label("Time zone")).to_have_value("Europe/Berlin")
    alice.refresh_from_db()
    assert alice.time_zone == "Europe/Berlin"


def test_a_refused_form_focuses_its_errors(new_page: NewPage, alice: User) -> None:
    for scripts in (True, False):
        page = new_page(alice, java_script_enabled=scripts)
        page.goto("/tables/new/")
        page.locator("summary", has_text="Time").click()
        page.get_by_role("group", name="Pace").get_by_text("Custom").click()
        page.get_by_text("Custom clock").click()
        page.get_by_role("textbox", name="Added per turn").fill("1 s")
        page.get_by_role("button", name="Create table").click()
        expect(page.locator("#errors")).to_contain_text("Added per turn: Choose 10 s to 14 days.")
        expect(page.locator("#errors")).to_be_focused()
        page.locator("#errors a").click()
        expect(page.get_by_role("textbox", name="Added per turn")).to_be_in_viewport()


def test_sign_up_keeps_the_time_zone_of_a_guest(new_page: NewPage) -> None:
    guest = actions.create_guest()
    actions.choose_time_zone(user=guest, zone="Asia/Tokyo", now=timezone.now())
    page = new_page(guest, timezone_id="Europe/Berlin")
    page.goto("/accounts/signup/")
    zones = page.get_by_label("Time zone")
    expect(zones.locator("optgroup").first).to_have_attribute("label", "This browser’s time zone")
    expect(zones).to_have_value("Asia/Tokyo")


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
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=4), now=timezone.now())
    page = new_page(timezone_id="America/Lima")
    page.goto(table.game.get_absolute_url())
    browser = logged_in(bob)
    browser.post(f"{table.game.get_absolute_url()}join/")
    expect(page.get_by_role("link", name="bob", exact=True)).to_be_visible()
    page.get_by_label("Your name").fill("Ann")
    page.get_by_role("button", name="Sit down").click()
    expect(page.get_by_role("button", name="Leave the table")).to_be_visible()
    assert User.objects.get(is_guest=True).time_zone == "America/Lima"


def test_notes_and_messages_have_room_below(new_page: NewPage, cast: Cast) -> None:
    guest, player = new_page(actions.create_guest()), new_page(cast.alice)
    game, same = cast.table(MANY).game.get_absolute_url(), Client()
    for cookie in player.context.cookies():
        same.cookies[cookie["name"]] = cookie["value"]
    same.post("/notices/settings/", {"digest_hour": ""})  # its message waits for the next page
    # The first page has a message above the note about guests.
    for page, address, notes in ((guest, "/next/", 2), (player, game, 1)):
        page.goto(address)
        expect(page.locator(".messages, main > .note")).to_have_count(notes)
        for width in (PHONE["width"], 1280):
            page.set_viewport_size({"width": width, "height": 844})
            gaps = page.evaluate(ROOM)
            assert min(gaps) >= 12, (address, width, gaps)


def test_the_third_game_against_bots_takes_the_place_of_the_oldest(
    new_page: NewPage, site: str, settings: Settings
) -> None:
    settings.RATE_LIMITS = 100
    page = new_page()
    for button in ["Play now"] * 3:
        page.goto("/")
        with page.expect_navigation():
            page.get_by_role("button", name=button).click()
    assert_fits(page, "third-game")
    page.get_by_role("button", name="Give up the oldest and start").click()
    page.locator("#hand").wait_for()


def test_a_second_press_on_the_way_out_loses_nothing(new_page: NewPage, site: str, settings: Settings) -> None:
    settings.REGISTRATION = "closed"  # so that both buttons to lose the game stand in the same place
    page = new_page()
    page.goto("/")
    page.get_by_role("button", name="Play now").click()
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


@pytest.mark.in_process
def test_the_old_tab_shows_the_account_once_the_seats_have_moved(
    new_page: NewPage, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, the account may not see the table: its fetch and its socket are refused, and tried again."""
    monkeypatch.setattr(polling, "POLL_SECONDS", 0.2)
    monkeypatch.setattr(polling, "SESSION_CHECK_SECONDS", 0.4)
    guest = actions.create_guest()
    table = table_at({**TWO_HANDS, "turn": 1}, [guest, bob], is_public=False)
    old = new_page(guest)
    sockets: list[str] = []
    old.on("websocket", lambda socket: sockets.append(socket.url))
    load_game(old, table.game)
    page = old.context.new_page()
    page.goto("/accounts/login/")
    page.locator("#id_login").fill("alice")
    page.locator("#id_password").fill("alice")
    page.get_by_role("button", name="Log in").click()
    page.wait_for_url("**/move-seats/")
    with old.expect_response(lambda answer: answer.status == 404):
        play(table, bob, "play r4")
    while len(sockets) < 3:  # another try
        old.wait_for_event("websocket")
    expect(old.locator("#headline")).to_contain_text("bob’s turn")
    page.get_by_role("button", name="Move the games").click()
    page.wait_for_url("**/")
    shows(old, 1)
    expect(old.locator("#headline")).to_contain_text("Your turn")
    expect(old.locator(".me .name")).to_have_text("alice")
    page.close()


def test_a_copy_is_made_and_downloaded(new_page: NewPage, alice: User) -> None:
    page = new_page(alice)
    page.goto("/accounts/me/")
    page.get_by_role("link", name="Copy of your data").click()
    page.get_by_label("Password").fill("alice")
    page.get_by_role("button", name="Confirm").click()
    page.get_by_role("button", name="Make a copy").click()
    ready = page.get_by_role("link", name="Download the copy")
    for _ in range(60):
        if ready.is_visible():
            break
        page.wait_for_timeout(500)
        page.reload()
    with page.expect_download() as download:
        ready.click()
    assert download.value.suggested_filename == "my-data.json"
    assert json.loads(Path(download.value.path()).read_text())["account"]["username"] == "alice"


@pytest.mark.skipif(STACK, reason="its processes have settings of their own")
def test_the_pages_of_invitations_fit_and_axe_finds_nothing(new_page: NewPage, alice: User, settings: Any) -> None:
    settings.REGISTRATION, settings.INVITATIONS = "invite", "members"
    settings.GUESTS, settings.LOGIN_REQUIRED = False, True
    now, page = timezone.now(), new_page(alice, viewport=PHONE)
    invitations.invite(user=alice, note="An old one", days=1, now=now - timedelta(days=2))
    page.goto("/accounts/invitations/")
    page.get_by_label("Who it is for").fill("Dora from the chess club, who plays at night")
    page.get_by_role("button", name="Make the link").click()
    link = page.get_by_label("Copy the link now").input_value()
    assert_fits(page, "new-invitation")
    visitor = new_page(viewport=PHONE)
    visitor.goto("/accounts/signup/")
    assert_fits(visitor, "sign-up-refused")
    visitor.goto(link)
    assert_fits(visitor, "invited")
    visitor.get_by_label("Username").fill("dora")
    for field in ("#id_password1", "#id_password2"):
        visitor.locator(field).fill("four green reverses")
    visitor.get_by_role("button", name="Sign up").click()
    expect(visitor.get_by_text("Welcome, dora.")).to_be_visible()
    page.goto("/accounts/invitations/")
    expect(page.get_by_text("Used by dora")).to_be_visible()
    assert_fits(page, "invitations")
