"""The account page in a browser: the zone one is in comes first."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Page, expect

from accounts.models import User


def test_the_browser_s_own_time_zone_is_offered_first(new_page: Callable[..., Page], alice: User) -> None:
    page = new_page(alice, timezone_id="Europe/Berlin")
    page.goto("/accounts/me/")
    zones = page.get_by_label("Time zone")
    expect(zones).to_have_value("UTC")
    expect(zones.locator("optgroup").first).to_have_attribute("label", "Where this browser is")
    zones.select_option(index=0)
    page.get_by_role("button", name="Save").first.click()
    expect(page.get_by_label("Time zone")).to_have_value("Europe/Berlin")
    alice.refresh_from_db()
    assert alice.time_zone == "Europe/Berlin"
