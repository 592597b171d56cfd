"""Every page fits its window, down to the narrowest phone, and axe finds nothing there. On the pages of a game nothing
is covered.

`NOMERCY_SCREENSHOTS=folder` stores screenshots. `NOMERCY_ALL_WIDTHS=1` tries more sizes, and axe in both themes at
each width.
"""

from __future__ import annotations

import os
from collections import defaultdict
from itertools import cycle, product
from pathlib import Path
from typing import Final, Literal, NamedTuple

import pytest
from playwright.sync_api import Page, ViewportSize, expect

from accounts.models import User
from tests.browser.checks import ALL_WIDTHS, CUT_PLAYERS, SIZES, TOO_WIDE, assert_nothing_is_covered
from tests.browser.game_page import NewPage
from tests.browser.places import MANY, PLACES, Cast
from tests.browser.test_axe import violations
from tests.support.tables import table_at

SCREENSHOTS = os.environ.get("NOMERCY_SCREENSHOTS")
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

WINDOWS: Final = ((320, 568), (390, 844), (844, 390), (768, 1024), (1280, 800))
HAND: Final = [*MANY["hands"][0], "r1", "g3", "b9", "y8", "g0", "b5", "W10", "r9"]

FAULTS: Final = """() => {
    const all = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility());
    const name = (e) => e.id || e.getAttribute("class") || `${e.tagName} of ${e.closest("[id]").id}`;
    const at = (x, y, card) => document.elementFromPoint(x, y)?.closest(".card") === card;
    const cards = all("#hand-cards .card");
    const found = cards.flatMap((card, n) => {
        const [box, next] = [card, cards[n + 1]].map((e) => e?.getBoundingClientRect());
        const parts = [...card.querySelectorAll(".idx, .letter")].map((e) => e.getBoundingClientRect());
        const seen = parts.every(({left, right, top, bottom}) =>
            at(left + 1, (top + bottom) / 2, card) && at(right - 1, (top + bottom) / 2, card));
        const narrow = box.width < 43.9 || box.height < 43.9 || (next?.left > box.left && next.left - box.left < 23.9);
        return [...(seen ? [] : [`${card.id} covered`]), ...(narrow ? [`${card.id} narrow`] : [])];
    });
    const overlaps = (selector) => {
        const boxes = all(selector).map((e) => [e, e.getBoundingClientRect()]);
        const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
        return boxes.flatMap(([e, a], n) =>
            boxes.slice(0, n).filter(([, b]) => over(a, b)).map(([other]) => `${name(e)} over ${name(other)}`));
    };
    found.push(...overlaps(".say h1, .due span, .tip, #table, #hand-cards, .tool:not(.tip *), #move > *, .you .disc"));
    found.push(...overlaps("#hand-cards, #move"));
    const players = ".player:not(.you) :is(.disc, .name, .state)";
    found.push(...overlaps(`.tip, .drawpile, .top-card > .face, .stage :not(.pile-size) > dd, ${players}`));
    const felt = document.getElementById("table").getBoundingClientRect();
    for (const e of all(".arrow, .flow dd")) {
        const {top, bottom} = e.getBoundingClientRect();
        if (top < felt.top || bottom > felt.bottom) found.push(`${name(e)} cut`);
    }
    for (const e of all("#move :is(.button, input), .sort a, #hand-list, .who, .board summary")) {
        const {width, height, bottom} = e.getBoundingClientRect();
        if (width < 43.9 || height < 43.9 || bottom > innerHeight + .1) found.push(`${name(e)} small or cut`);
    }
    return found;
}"""
"""Returns what is covered, too small for a finger, or cut off on the page of a game.

Of each card, index and colour must be seen, and 24 px stay uncovered. Other targets have at least 44 px.
"""

CROWDED: Final = """() => {
    const all = (selector) => [...document.querySelectorAll(selector)].filter((e) => e.checkVisibility());
    const boxes = all("#table, #move .toggle, #chooser > *, .swatch").map((e) => [e, e.getBoundingClientRect()]);
    const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1
        && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
    const name = (e) => e.id || e.className;
    const found = boxes.flatMap(([e, a], n) => boxes.slice(0, n).filter(([other, b]) =>
        !other.contains(e) && over(a, b)).map(([other]) => `${name(e)} over ${name(other)}`));
    const lines = (e) => Math.round(e.offsetHeight / parseFloat(getComputedStyle(e).lineHeight));
    const broken = all(".swatch small").filter((e) => lines(e) > 1);
    return [...found, ...broken.map((e) => `${e.parentElement.textContent} on two lines`)];
}"""
"""Returns which parts of a chooser lie over each other or over the felt, and whose note does not fit on one line."""


@pytest.mark.parametrize("group", PLACES)
def test_pages_fit_their_windows_and_axe_finds_no_violations(
    new_page: NewPage, cast: Cast, group: str, subtests: pytest.Subtests
) -> None:
    page = new_page(None if group == "visitors" else cast.alice, reduced_motion="reduce")
    for (name, open_place), form, sizes in zip(PLACES[group].items(), cycle(FORMS), cycle(SIZES)):
        with subtests.test(name):
            page.set_viewport_size(window(form.widths[0]))
            open_place(page, cast)
            expect(page.locator("h1").first).to_be_visible()
            if group == "tables" or name == "replay":
                assert_nothing_is_covered(page, sizes)
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


def test_a_table_fits_its_window_with_few_and_many_players_and_cards(new_page: NewPage, cast: Cast) -> None:
    page, heights = new_page(cast.alice, reduced_motion="reduce"), defaultdict[tuple[int, int], set[float]](set)
    more = [User.objects.create(username=f"player{n}") for n in range(6)]
    people = [cast.alice, cast.bob, cast.charlie, cast.mo, *more]
    # The names of the top cards differ in length. If the height of the table did, the hand would move between turns.
    for players, cards, tops in ((2, 7, ["r4"]), (6, 15, ["r4", "yE", "WR4"]), (10, 24, ["r4"])):
        for top in tops:
            hands = [HAND[:cards], *[["r1", "r2", "y2"], ["g1"] * 21, ["b0"]] * 3][:players]
            color = "r" if top == "r4" else "y"
            position = {**MANY, "hands": hands, "discard_pile": ["y4", "b4", top], "color": color, "direction": -1}
            page.goto(table_at(position, people[:players]).game.get_absolute_url())
            page.locator("#hand-list").wait_for()
            for width, height in WINDOWS:
                page.set_viewport_size({"width": width, "height": height})
                what = f"{players} players and {cards} cards at {width} x {height}"
                assert page.evaluate(FAULTS) == [], what
                assert page.evaluate(CUT_PLAYERS) == [], what
                assert page.evaluate(TOO_WIDE) == {"page": 0, "parts": []}, what
                felt = page.locator("#table").evaluate("(table) => table.getBoundingClientRect().height")
                heights[players, width].add(felt)
                if (width, height) == (PHONE["width"], PHONE["height"]):
                    assert felt <= 180, what
                    assert cards > 7 or page.locator("#card-0").evaluate("(card) => card.offsetHeight") >= 150
                if SCREENSHOTS:
                    take_pictures(page, Path(SCREENSHOTS) / f"table-{players}-{cards}-{top}-{width}")
    assert {len(found) for found in heights.values()} == {1}, heights


@pytest.mark.parametrize("card", ["W6", "r7"])
def test_the_parts_of_a_chooser_lie_side_by_side(new_page: NewPage, cast: Cast, card: str) -> None:
    page = new_page(cast.alice, reduced_motion="reduce")
    page.goto(f"{cast.table(MANY).game.get_absolute_url()}?choose={card}")
    page.locator("#move .toggle").wait_for()
    for width, height in ((390, 844), (844, 390), (768, 1024), (1024, 768), (1280, 800), (1920, 1080)):
        page.set_viewport_size({"width": width, "height": height})
        assert page.evaluate(CROWDED) == [], f"{width} x {height}"
