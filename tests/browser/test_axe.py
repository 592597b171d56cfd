"""axe finds violations. `test_layout.py` and `test_staff_pages.py` use it on every page."""

from __future__ import annotations

from collections.abc import Callable

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
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


def test_axe_finds_seeded_violations(new_page: Callable[..., Page], site: str) -> None:
    page = new_page()
    page.goto("/about/")
    page.evaluate(FAULT)
    assert {fault.split(":")[0] for fault in violations(page)} >= {"image-alt", "button-name"}
