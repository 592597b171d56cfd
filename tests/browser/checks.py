"""Scripts that look for faults in a page, the same in every browser. Each is a JavaScript function."""

from __future__ import annotations

from typing import Final

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
        const [x, y] = [left + width / 2, top + height / 2];
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
scrolls, is scrolled into view first. The middle of a link that is broken into lines is that of its first line. Links to
skip to a part of the page are left out, because they show only while they have the focus.
"""

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
