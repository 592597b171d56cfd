"""Every page opens in a browser and fits a phone, for the default run.

With `--all` these tests are left out: `test_layout.py` and `test_staff_pages.py` test the same on each page, and more.
"""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.checks import TOO_WIDE
from tests.browser.game_page import NewPage
from tests.browser.places import PLACES, Cast
from tests.browser.test_axe import violations
from tests.browser.test_layout import PHONE
from tests.browser.test_staff import dealt, staff
from tests.browser.test_staff_pages import PLACES as STAFF_PLACES
from tests.browser.test_staff_pages import WIDER, Desk, desk

__all__ = ["dealt", "desk", "staff"]  # the fixtures of those modules

pytestmark = pytest.mark.smoke


def test_every_page_opens_and_fits_a_phone(new_page: NewPage, cast: Cast) -> None:
    # A page that logs an error or violates the content security policy fails in `new_page`.
    pages = {True: new_page(cast.alice, viewport=PHONE), False: new_page(viewport=PHONE)}
    # Four places come last: three log the visitor in, and after the other Alice can open no other page.
    last = ("guest-is-asked-again", "guest-logs-out", "move-seats", "suspended")
    for place in sorted(PLACES, key=lambda place: place.name in last):
        page = pages[place.logged_in]
        place.open(page, cast)
        expect(page.locator("h1").first, place.name).to_be_visible()
        assert page.evaluate(TOO_WIDE) == {"page": 0, "parts": []}, place.name


def test_every_page_of_the_staff_opens_and_fits_a_phone(staff: Page, desk: Desk) -> None:
    staff.set_viewport_size(PHONE)
    for name, go in STAFF_PLACES.items():
        go(staff, desk)
        expect(staff.locator("h1").first, name).to_be_visible()
        assert staff.evaluate(WIDER) <= 0, name


@pytest.mark.parametrize("name", ["landing", "new-table", "my-turn"])
def test_axe_finds_nothing_on_the_pages_that_everybody_needs(new_page: NewPage, cast: Cast, name: str) -> None:
    place = next(place for place in PLACES if place.name == name)
    page = new_page(cast.person(place), reduced_motion="reduce")
    place.open(page, cast)
    assert violations(page) == []
