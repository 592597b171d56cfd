"""Scripts that look for faults in a page, the same in every browser. Each is a JavaScript function.

`assert_nothing_is_covered` runs two of them at several sizes.
"""

from __future__ import annotations

import os
from typing import Final

from playwright.sync_api import Page

TOO_WIDE: Final = """() => {
    const width = document.documentElement.clientWidth;
    const scrolls = (e) => e && (/auto|scroll/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
    const wide = [...document.querySelectorAll("main *, header *, footer *")].filter((e) =>
        !e.closest(".sr, .fan, svg") && e.getBoundingClientRect().right > width + 1 && !scrolls(e));
    const parts = wide.slice(0, 3).map((e) => e.outerHTML.slice(0, 120));
    return {page: document.documentElement.scrollWidth - width, parts};
}"""
"""Returns by how many pixels the page is wider than its window, and the first parts that are."""

COVERED_CONTROLS: Final = """(within) => {
    const controls = "a[href], button, summary, input:not([type=hidden]), select, textarea";
    const inAScrolledBox = (e) => {
        for (let box = e.parentElement; box && box !== document.body; box = box.parentElement) {
            if (/auto|scroll/.test(getComputedStyle(box).overflow)) return true;
        }
        return false;
    };
    const covering = (e) => {
        const {left, top, width, height} = e.getClientRects()[0];
        const [x, y] = e.matches(".cards .card") ? [left + 12, top + 22] : [left + width / 2, top + height / 2];
        const hit = document.elementFromPoint(x, y);
        if (hit && (e.contains(hit) || hit.closest("label")?.control === e)) return null;
        return {below: y > innerHeight, over: hit ? `${hit.tagName} ${hit.id || hit.className}` : "cut off"};
    };
    scrollTo(0, 0);
    const asked = [...document.querySelectorAll(controls)].filter((e) =>
        e.closest(within ?? "body") && !e.closest("[inert], .skips") && !e.matches(":disabled")
        && e.checkVisibility({visibilityProperty: true}) && e.getClientRects()[0]?.width > 1);
    const found = asked.map((e) => [e, covering(e)]).filter(([, hit]) => hit);
    return found.flatMap(([e, {below, over}]) => {
        if (below || inAScrolledBox(e)) {
            e.scrollIntoView({block: "center", inline: "center"});
            over = covering(e)?.over;
        }
        return over ? [`${e.id || e.outerHTML.slice(0, 60)} under ${over}`] : [];
    });
}"""
"""Returns the visible controls that a press on their middle does not reach, each with what it reaches.

``within`` is a selector of the part of the page to look at, or null for the whole page.
A control in the window is asked where it stands when the page is opened. One further down, and one in a box that
scrolls, is scrolled into view first. The middle of a link that is broken into lines is that of its first line. A card
of the hand is asked at the upper end of its left edge, where its colour is: other cards may cover the rest. Links to
skip to a part of the page are left out, because they show only while they have the focus.
"""

ALL_WIDTHS: Final = os.environ.get("NOMERCY_ALL_WIDTHS") == "1"
PHONES_AND_DESKTOP: Final = ((390, 844), (320, 568), (844, 390), (1280, 800))
PAIRS: Final = (PHONES_AND_DESKTOP[::2], PHONES_AND_DESKTOP[1::2])
SIZES: Final = ((*PHONES_AND_DESKTOP, (600, 900), (820, 1180)),) if ALL_WIDTHS else PAIRS
"""The windows, in px, that pages of a game have by turns: a phone upright and one on its side, a small phone and a
desktop. In a long run each page has all of them, and two tablets."""
CUT_PLAYERS: Final = """() => {
    const shown = "disc, .name, .state, .held, .backs";
    const parts = [...document.querySelectorAll(`.player :is(.${shown})`)].filter((e) =>
        e.checkVisibility() && e.offsetWidth > 9 && getComputedStyle(e).clipPath === "none");
    const boxes = new Map(parts.map((e) => [e, e.getBoundingClientRect()]));
    const text = (e) => `${e.className} of ${e.closest(".player").id}`;
    const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    return parts.flatMap((e, n) => [
        ...parts.slice(0, n).filter((other) => other.closest(".player") !== e.closest(".player")
            && over(boxes.get(e), boxes.get(other))).map((other) => `${text(e)} over ${text(other)}`),
        ...(boxes.get(e).left < 0 || boxes.get(e).right > innerWidth ? [`${text(e)} cut`] : []),
        ...(e.matches(".name") && e.textContent.length < 9 && e.scrollWidth > e.clientWidth ? [`${text(e)} cut`] : []),
    ]);
}"""
"""Returns the parts of players that lie over those of others, or are cut. Names of nine letters and more may be."""

STRETCHED_PICTURES: Final = """() => [...document.querySelectorAll("img.avatar")]
    .map((e) => [e, e.getBoundingClientRect()])
    .filter(([, { width, height }]) => Math.abs(width - height) > 1)
    .map(([e, { width, height }]) => `${e.getAttribute("src")}: ${width} x ${height}`)"""
"""Returns the pictures of players that are not square, each with its size in pixels."""

COLLECT_ERRORS: Final = """(target) => {
    const errors = target.loggedErrors = [];
    const add = (e) => errors.push([e.type, e.message ?? e.reason ?? e.violatedDirective, e.blockedURI
        ?? e.target.src ?? e.target.href ?? ""].join(" "));
    for (const type of ["error", "unhandledrejection", "securitypolicyviolation"])
        target.addEventListener(type, add, true);
    const log = target.console.error;
    target.console.error = (...said) => { errors.push(["console.error", ...said].join(" ")); log(...said); };
}"""
"""Collects in `loggedErrors` of a window: uncaught errors and rejections, violations of the content security policy,
files that an element failed to load, and calls of `console.error`. Does not see errors in workers, or messages that
only the browser writes, like that of a refused websocket."""


def assert_nothing_is_covered(page: Page, sizes: tuple[tuple[int, int], ...], within: str = "body") -> None:
    """Assert that at none of these sizes a control inside of `within`, or a player, is covered."""
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(COVERED_CONTROLS, within) == [], (width, height)
        if within == "body":
            assert page.evaluate(CUT_PLAYERS) == [], (width, height)
