"""Account pages in a browser: the time zone of the browser, and the focus after errors."""

from __future__ import annotations

from django.utils import timezone
from playwright.sync_api import expect

from accounts import actions
from accounts.models import User
from tests.browser.checks import TOO_WIDE
from tests.browser.game_page import NewPage


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


def test_sign_up_selects_the_browsers_time_zone_under_old_and_new_names(new_page: NewPage) -> None:
    page = new_page(timezone_id="Asia/Calcutta")
    page.goto("/accounts/signup/")
    expect(page.get_by_label("Time zone")).to_have_value("Asia/Kolkata")


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


def test_a_phone_shows_the_api_tokens_whole(new_page: NewPage, alice: User) -> None:
    now = timezone.now()
    actions.create_token(user=alice, name="x" * 60, now=now, days=90)
    actions.create_token(user=alice, name="my bot at home", now=now)
    page = new_page(alice)
    page.goto("/accounts/me/")
    panel = page.locator("#tokens")
    for width in (390, 320):
        page.set_viewport_size({"width": width, "height": 844})
        for button in panel.get_by_role("button", name="Revoke").all():
            box = button.bounding_box()
            assert box is not None
            assert box["x"] + box["width"] <= width, width
        assert page.evaluate(TOO_WIDE) == {"page": 0, "parts": []}, width
