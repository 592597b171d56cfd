"""Every page opens in a browser and fits a phone, for the default run.

With `--all` these tests are left out: `test_layout.py` and `test_staff_pages.py` test the same on each page, and more.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.checks import TOO_WIDE
from tests.browser.game_page import NewPage
from tests.browser.places import MANY, PLACES, Cast
from tests.browser.test_axe import violations
from tests.browser.test_layout import PHONE
from tests.browser.test_staff import dealt, staff
from tests.browser.test_staff_pages import PLACES as STAFF_PLACES
from tests.browser.test_staff_pages import WIDER, Desk, desk

__all__ = ["dealt", "desk", "staff"]  # the fixtures of those modules

pytestmark = [pytest.mark.smoke, pytest.mark.contained]


def test_every_page_opens_and_fits_a_phone(new_page: NewPage, cast: Cast) -> None:
    # A page that logs an error or violates the content security policy fails in `new_page`.
    alice, visitor = new_page(cast.alice, viewport=PHONE), new_page(viewport=PHONE)
    for group, places in PLACES.items():
        page = visitor if group == "visitors" else alice
        for name, open_place in places.items():
            open_place(page, cast)
            expect(page.locator("h1").first, name).to_be_visible()
            assert page.evaluate(TOO_WIDE) == {"page": 0, "parts": []}, name


def test_every_page_of_the_staff_opens_and_fits_a_phone(staff: Page, desk: Desk) -> None:
    staff.set_viewport_size(PHONE)
    for name, go in STAFF_PLACES.items():
        go(staff, desk)
        expect(staff.locator("h1").first, name).to_be_visible()
        assert staff.evaluate(WIDER) <= 0, name


def test_axe_finds_nothing_on_the_pages_that_everybody_needs(new_page: NewPage, cast: Cast) -> None:
    for place, user in (
        ("/", None),
        ("/tables/new/", cast.alice),
        (cast.table(MANY).game.get_absolute_url(), cast.alice),
    ):
        page = new_page(user, reduced_motion="reduce")
        page.goto(place)
        assert violations(page) == []
