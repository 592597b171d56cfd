"""Scripts that look for faults in a page, the same in every browser. Each is a JavaScript function."""

from __future__ import annotations

TOO_WIDE = """() => {
    const width = document.documentElement.clientWidth;
    const scrolls = (e) => e && (/auto|scroll/.test(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
    const wide = [...document.querySelectorAll("main *, header *, footer *")].filter((e) =>
        !e.closest(".sr, .fan, svg") && e.getBoundingClientRect().right > width + 1 && !scrolls(e));
    const parts = wide.slice(0, 3).map((e) => e.outerHTML.slice(0, 120));
    return {page: document.documentElement.scrollWidth - width, parts};
}"""
"""Returns by how many pixels the page is wider than its window, and the first parts that are."""

COVERED_CONTROLS = """() => {
    const name = (e) => e.outerHTML.replace(/\\s+/g, " ").slice(0, 120);
    const shown = (e) => e.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && !e.closest(".sr");
    const found = [];
    for (const e of document.querySelectorAll("a[href], button, input, select, textarea, summary")) {
        if (!shown(e) || e.type === "hidden") continue;
        e.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
        const box = [...e.getClientRects()].find(({ width, height }) => width > 1 && height > 1);
        if (!box || box.bottom + scrollY <= 0) continue;
        const hit = document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
        if (e.contains(hit) || hit?.closest("label")?.control === e) continue;
        found.push(`${name(e)} is under ${hit && name(hit)}`);
    }
    scrollTo(0, 0);
    return found;
}"""
"""Returns the controls that a click in their middle does not hit, each with what it hits instead. Leaves out links
above the page, which appear when they have the focus."""

STRETCHED_PICTURES = """() => [...document.querySelectorAll("img.avatar")]
    .map((e) => [e, e.getBoundingClientRect()])
    .filter(([, { width, height }]) => Math.abs(width - height) > 1)
    .map(([e, { width, height }]) => `${e.getAttribute("src")}: ${width} x ${height}`)"""
"""Returns the pictures of players that are not square, each with its size in pixels."""

COLLECT_ERRORS = """(target) => {
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
