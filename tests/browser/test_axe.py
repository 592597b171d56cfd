"""axe finds no violations on any page: light on a phone, dark on a desktop."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.places import PLACES, Cast, Place

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
VIEWS: tuple[tuple[Literal["light", "dark"], int], ...] = (("light", 390), ("dark", 1280))
FAULT = "() => document.body.insertAdjacentHTML('beforeend', '<img src=\"data:,\"><button></button>')"


def violations(page: Page, *, preload: bool = True) -> list[str]:
    """What axe complains of, with everything unfolded, in a window as high as the page: what sticks to the edge of a
    lower one lies over targets that scrolling uncovers.

    Where a style sheet imports another, axe would `preload` it into a style element, which the site's policy refuses.
    """
    page.evaluate("() => document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    width, height = page.evaluate("() => [window.innerWidth, document.documentElement.scrollHeight]")
    page.set_viewport_size({"width": width, "height": height})
    found = (
        Axe()
        .run(page, options={"runOnly": TAGS, "resultTypes": ["violations"], "preload": preload})
        .response["violations"]
    )
    return [f"{fault['id']}: {node['html'][:160]}" for fault in found for node in fault["nodes"]]


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.name)
def test_axe_finds_no_violations(new_page: Callable[..., Page], cast: Cast, place: Place) -> None:
    page = new_page(cast.person(place), reduced_motion="reduce")
    place.open(page, cast)
    for scheme, width in VIEWS:
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        page.set_viewport_size({"width": width, "height": 900})
        assert violations(page) == [], f"{place.name}, {scheme}, at {width} px"


def test_axe_finds_seeded_violations(new_page: Callable[..., Page], site: str) -> None:
    page = new_page()
    page.goto("/about/")
    page.evaluate(FAULT)
    assert {fault.split(":")[0] for fault in violations(page)} >= {"image-alt", "button-name"}
