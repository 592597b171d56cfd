"""axe finds violations. `test_layout.py` and `test_staff_pages.py` use it on every page."""

from __future__ import annotations

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.browser.game_page import NewPage

TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
LOOKS = ["color-contrast", "link-in-text-block", "scrollable-region-focusable", "target-size"]
"""The rules about colours and places, whose answers for an element depend on the scheme and the width."""

RUN = """async ({ tags, looks }) => {
    const options = { resultTypes: ["violations"], preload: false };
    const all = [...document.body.querySelectorAll("*")];
    const shown = all.filter((e) => e.checkVisibility({ visibilityProperty: true }));
    const before = window.shownToAxe;
    window.shownToAxe = new Set([...shown, ...(before ?? [])]);
    if (!before) return (await axe.run({ ...options, runOnly: tags })).violations;
    const found = (await axe.run({ ...options, runOnly: { type: "rule", values: looks } })).violations;
    const fresh = new Set(shown.filter((e) => !before.has(e)));
    const include = [...fresh].filter((e) => !fresh.has(e.parentElement));
    if (!include.length) return found;
    return [...found, ...(await axe.run({ include }, { ...options, runOnly: tags })).violations];
}"""
"""Runs all rules on a page. If it has run there before, in another scheme or at another width, it runs those of `looks`
again, and the others on elements that were hidden then: for all other elements their answers are the same. None of the
rules reads style sheets, which axe would preload into style elements: the site's policy refuses one with an import."""

UNFOLD = """() => {
    document.querySelectorAll("details").forEach((e) => { e.open = true; });
    return [window.innerWidth, document.documentElement.scrollHeight, !window.axe];
}"""

KEEP_COLORS = """() => {
    const known = new Map();
    const { Color } = axe.commons.color;
    const parse = Color.prototype.parseString;
    Color.prototype.parseString = function (text) {
        if (!known.has(text)) known.set(text, parse.call(new Color(), text));
        const { r, g, b, alpha } = known.get(text);
        return Object.assign(this, { r, g, b, alpha });
    };
}"""
"""Has axe parse each of the few colours of a page once, and not for every element."""

FAULTS = """() => {
    document.body.insertAdjacentHTML("beforeend", '<img src="data:,"><button></button>');
    document.querySelector("h1").style.color = "#ccc";
}"""


def violations(page: Page) -> list[str]:
    """What axe complains of, with everything unfolded, in a window as high as the page: what sticks to the edge of a
    lower one lies over targets that scrolling uncovers.
    """
    width, height, new = page.evaluate(UNFOLD)
    page.set_viewport_size({"width": width, "height": height})
    if new:
        page.evaluate(AXE_SCRIPT)
        page.evaluate(KEEP_COLORS)
    found = page.evaluate(RUN, {"tags": TAGS, "looks": LOOKS})
    return [f"{fault['id']}: {node['html'][:160]}" for fault in found for node in fault["nodes"]]


def test_axe_finds_seeded_violations(new_page: NewPage, site: str) -> None:
    page = new_page()
    for again in (False, True):
        page.goto("/about/")
        if again:
            assert violations(page) == []
        page.evaluate(FAULTS)
        assert {fault.split(":")[0] for fault in violations(page)} >= {"image-alt", "button-name", "color-contrast"}
