"""Every page fits its window, down to the narrowest phone, and axe finds nothing there. On the pages of a game nothing
is covered.

`NOMERCY_SCREENSHOTS=folder` stores screenshots. `NOMERCY_ALL_WIDTHS=1` tries more widths, and axe in both themes at
each.
"""

from __future__ import annotations

import os
from collections import defaultdict
from itertools import cycle, product
from pathlib import Path
from typing import Literal, NamedTuple

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from tests.browser.checks import TOO_WIDE, assert_nothing_is_covered
from tests.browser.game_page import NewPage
from tests.browser.places import MANY, PLACES, Cast
from tests.browser.test_axe import violations

SCREENSHOTS = os.environ.get("NOMERCY_SCREENSHOTS")
ALL_WIDTHS = os.environ.get("NOMERCY_ALL_WIDTHS") == "1"
PHONE: ViewportSize = {"width": 390, "height": 844}
Scheme = Literal["light", "dark"]
SCHEMES: tuple[Scheme, ...] = ("light", "dark")


class Form(NamedTuple):
    """The widths at which a page must fit, and where axe runs on it."""

    widths: tuple[int, ...]
    for_axe: tuple[tuple[Scheme, int], ...]


ALL = (320, 390, 768, 1280, 1920)
SHORT_FORMS = (Form((1280, 320), (("light", 320),)), Form((320, 1280), (("dark", 1280),)))
FORMS = (Form(ALL, tuple(product(SCHEMES, ALL))),) if ALL_WIDTHS else SHORT_FORMS
"""The pages of a group have these by turns."""

NAME_INSIDE = """(table) => {
    const [outer, name] = [table, table.querySelector("figcaption")].map((e) => e.getBoundingClientRect());
    return name.left > outer.left + 8 && name.right < outer.right;
}"""


@pytest.mark.parametrize("group", PLACES)
def test_pages_fit_their_windows_and_axe_finds_no_violations(
    new_page: NewPage, cast: Cast, group: str, subtests: pytest.Subtests
) -> None:
    page = new_page(None if group == "visitors" else cast.alice, reduced_motion="reduce")
    for (name, open_place), form in zip(PLACES[group].items(), cycle(FORMS)):
        with subtests.test(name):
            page.set_viewport_size(window(form.widths[0]))
            open_place(page, cast)
            expect(page.locator("h1").first).to_be_visible()
            if group == "tables":
                assert_nothing_is_covered(page)
            assert_fits(page, name, form)


def assert_fits(page: Page, name: str, form: Form = SHORT_FORMS[0]) -> None:
    """Assert that a page fits its window, and that axe finds nothing there."""
    page.wait_for_load_state()
    page.evaluate("document.fonts.ready")  # another font is wider
    for width in form.widths:
        have_width(page, width)
        assert page.evaluate(TOO_WIDE) == {"page": 0, "parts": []}, f"{name} at {width} px"
        if SCREENSHOTS:
            take_pictures(page, Path(SCREENSHOTS) / f"{name}-{width}")
    assert_axe_finds_nothing(page, name, form)


def assert_axe_finds_nothing(page: Page, name: str, form: Form) -> None:
    for scheme, width in form.for_axe:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        have_width(page, width)
        assert violations(page) == [], f"{name}, {scheme}, at {width} px"


def window(width: int) -> ViewportSize:
    return {"width": width, "height": 844 if width < 800 else 800}


def have_width(page: Page, width: int) -> None:
    """Give a page this width, unless it has it already. A page is laid out again each time, which takes long."""
    if page.viewport_size is None or page.viewport_size["width"] != width:
        page.set_viewport_size(window(width))


def take_pictures(page: Page, name: Path) -> None:
    """Take a screenshot of the whole page in both colour schemes, like `home-390-dark.png`."""
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        page.screenshot(path=f"{name}-{scheme}.png", full_page=True)


def test_the_height_of_the_table_does_not_depend_on_the_top_cards_name(new_page: NewPage, cast: Cast) -> None:
    # Otherwise the hand would move between two turns.
    page, heights = new_page(cast.alice), defaultdict[int, set[float]](set)
    for top in ("r4", "yE", "WR4"):
        code = cast.table({**MANY, "discard_pile": ["y4", "b4", top], "color": "r" if top == "r4" else "y"}).game.code
        page.goto(f"/games/{code}/")
        for width in (390, 860, 1280):
            have_width(page, width)
            assert width < 800 or page.locator("#table").evaluate(NAME_INSIDE), f"{top} at {width} px"
            heights[width].add(page.locator("#table").evaluate("(table) => table.getBoundingClientRect().height"))
            assert page.evaluate(TOO_WIDE) == {"page": 0, "parts": []}, f"{top} at {width} px"
            if SCREENSHOTS:
                take_pictures(page, Path(SCREENSHOTS) / f"table-{top}-{width}")
    assert [len(found) for found in heights.values()] == [1, 1, 1], heights
