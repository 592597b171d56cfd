"""The game page as a table: seats on an arc, fixed rows, and everything that a turn needs on the first screen."""

from __future__ import annotations

import base64
import os
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final, Literal

import pytest
from django.utils import timezone
from playwright.sync_api import FloatRect, Locator, Page, ViewportSize, expect

from accounts.models import User
from games.models import Game, Hand, Move, Seat
from games.queries import Table
from games.staff import tables
from tests.browser.game_page import LEFT_EDGE, NewPage, after, first_choice, load_game, open_game, play, wait_for_me
from tests.browser.pauses import pause
from tests.browser.places import DARK_SIDE, MANY, STACK, Cast
from tests.browser.test_connection import DESK
from tests.browser.test_layout import PHONE
from tests.browser.test_variants import CHALLENGED, OFFICIAL, at_live_table
from tests.support.tables import NOON, table_after, table_at

MOST_SHIFT: Final = 0.02
"""The most that the layout may shift in a turn (https://web.dev/cls)."""
MOST_TURNS: Final = int(os.environ.get("SHIFT_TURNS", "3"))
SMALL: Final[tuple[tuple[int, int], ...]] = ((390, 844), (844, 390), (320, 568), (640, 400))
"""Phones, and a window of 1280 x 800 at a zoom of 200 %."""
LOW: Final = SMALL[2:]
"""The windows that have no room for both rows of a hand."""
NEWS: Final = (
    (1, "play y4", [{"kind": "played", "seat": 1, "card": "y4"}]),
    (2, "play W6 color b", [
        {"kind": "played", "seat": 2, "card": "W6", "color": "b"}, {"kind": "owes", "seat": 3, "amount": 6},
    ]),
    (3, "take", [{"kind": "drew", "seat": 3, "amount": 6, "reason": "stack"}]),
)  # fmt: skip
LONG_HAND: Final = {**MANY, "hands": [[*MANY["hands"][0], *MANY["hands"][0][:8]], *MANY["hands"][1:]]}
"""Seat 0 has 24 cards."""
WATCH: Final = """() => {
    window.shifts = [];
    const nameOf = (source) => source.node?.id || source.node?.className || source.node?.nodeName;
    new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) window.shifts.push([entry.value, entry.sources.map(nameOf).join()]);
    }).observe({type: "layout-shift"});
}"""


class Box:
    """Where an element is on the screen."""

    def __init__(self, locator: Locator) -> None:
        box = locator.bounding_box()
        assert box is not None, locator
        self.left, self.top = box["x"], box["y"]
        self.width, self.height = box["width"], box["height"]
        self.right, self.bottom = self.left + self.width, self.top + self.height
        self.middle = (self.left + self.width / 2, self.top + self.height / 2)


def size(width: int, height: int) -> ViewportSize:
    return {"width": width, "height": height}


@pytest.fixture
def nine(db: None) -> list[User]:
    return [User.objects.create_user(username=f"player{n}", password="a long password") for n in range(9)]


def ten_at_a_table(cast: Cast, nine: list[User]) -> Table:
    """Return a table of ten where Alice is on turn."""
    for moves in range(20, 60):
        table = table_after([cast.alice, *nine], moves, 7, preset="classic")
        if table.started.position.turn == 0:
            return table
    raise AssertionError("Alice was never on turn.")


def with_news(cast: Cast) -> Game:
    """A match in its second round in which others have moved since."""
    table = cast.table(STACK, target=1000)
    round_ = table.started.round
    Move.objects.bulk_create(
        Move(game=table.game, round=round_, n=n, seat=seat, text=text, at=NOON, events=events)
        for n, (seat, text, events) in enumerate(NEWS, 1)
    )
    Game.objects.filter(pk=table.game.pk).update(version=len(NEWS))
    return table.game


def opponents(page: Page) -> list[Box]:
    """Return the boxes of the opponents' avatars, clockwise from the reader."""
    count = page.locator(".player:not(.you)").count()
    return [Box(page.locator(f".player.n-{n} .disc")) for n in range(1, count + 1)]


def shown(
    new_page: NewPage, cast: Cast, position: Mapping[str, Any] = MANY, window: ViewportSize = DESK, **options: Any
) -> Page:
    """Open a table of four in this position, in a window of this size."""
    page = new_page(cast.alice, viewport=window, **options)
    page.goto(cast.table(position).game.get_absolute_url())
    return page


def test_seats_are_on_an_arc_and_piles_show_their_size(new_page: NewPage, cast: Cast) -> None:
    page = shown(new_page, cast)
    left, top, right = (seat.middle for seat in opponents(page))
    assert left[0] < top[0] < right[0]
    assert top[1] < left[1]
    assert left[1] == pytest.approx(right[1], abs=2)
    names = page.locator(".player .name")
    assert names.all_inner_texts() == ["alice", "bob", "charlie", "mo"]
    expect(page.locator(".flow")).to_contain_text("Clockwise")
    ring = page.locator("#seat-2 .ring .fill")
    assert (ring.get_attribute("stroke-dasharray"), ring.get_attribute("pathLength")) == ("20 25", "25")
    expect(page.locator("#seat-1 .held i")).to_have_count(3)
    expect(page.locator("#seat-2 .held i")).to_have_count(9)
    assert 130 <= Box(page.locator(".top-card > .face")).height <= 180
    assert page.locator(".lower").count() == 2
    expect(page.locator(".layers i")).to_have_count(2)  # of 24 cards

    other = {**MANY, "turn": 1, "direction": -1, "draw_pile": ["b1"], "discard_pile": ["r4"]}
    page.goto(cast.table(other, options={"mercy_limit": 0}).game.get_absolute_url())
    # The seats stay where they are when the direction changes; the list is in turn order.
    assert [seat.middle for seat in opponents(page)] == [left, top, right]
    assert names.all_inner_texts() == ["alice", "mo", "charlie", "bob"]
    assert page.locator(".player.n-1 .name").inner_text() == "bob"
    expect(page.locator(".flow")).to_contain_text("Counter-clockwise")
    expect(page.locator(".ring")).to_have_count(0)
    assert page.locator(".lower").count() == 0
    expect(page.locator(".layers i")).to_have_count(1)
    expect(page.locator("time[data-left]")).to_have_text("14 h left")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (390, 844)])
def test_a_turn_shifts_nothing(new_page: NewPage, alice: User, width: int, height: int) -> None:
    game = table_after([alice, *["careful"] * 3], 0, seed=3, bot_pause=0.0).game  # a deal in which nobody wins soon
    page = new_page(alice, viewport=size(width, height))
    open_game(page, game)
    page.evaluate("document.fonts.ready")
    page.wait_for_load_state("networkidle")
    page.evaluate(WATCH)
    turns = 0
    for _ in range(MOST_TURNS):
        page.evaluate("window.shifts = []")
        if page.locator("#chooser").count() == 0:
            page.evaluate("scrollTo(0, 0)")
        after(page, lambda: first_choice(page).click(position=LEFT_EDGE))
        if not wait_for_me(page):
            break  # the end of the game has another page
        page.wait_for_timeout(100)
        found = page.evaluate("window.shifts")
        assert sum(value for value, _ in found) <= MOST_SHIFT, found
        turns += 1
    assert turns >= 3


HIDDEN: Final = """() => [...document.querySelectorAll("#hand-cards .card")].filter((card) => {
    const box = card.getBoundingClientRect();
    return document.elementFromPoint(box.left + 12, box.top + box.height / 2)?.closest(".card") !== card;
}).map((card) => card.id)"""
"""Returns the cards of the hand whose left edge is covered."""


NEEDED: Final = "#headline, .top-card > .face, .force dd, #card-0, .owed b, .owed dd, #move > *"
"""What a player needs to see of a turn."""
CUT: Final = """(needed) => [...document.querySelectorAll(needed)].filter((part) => {
    const {left, top, right, bottom} = part.getBoundingClientRect();
    return left < 0 || top < 0 || right > innerWidth || bottom > innerHeight;
}).map((part) => part.outerHTML.slice(0, 80))"""
"""Returns the parts that are not whole in the window."""


def test_the_first_screen_has_what_a_turn_needs(
    new_page: NewPage, cast: Cast, nine: list[User], subtests: pytest.Subtests
) -> None:
    page = new_page(cast.alice)
    for what, game, query in (
        ("debt", cast.table(STACK).game, ""),
        ("news", with_news(cast), ""),
        ("ten", ten_at_a_table(cast, nine).game, ""),
        ("chooser", cast.table(MANY).game, "?choose=W6"),
    ):
        with subtests.test(what):
            page.set_viewport_size(size(*LOW[0]))
            page.goto(game.get_absolute_url() + query)
            page.locator("#hand-list").wait_for(state="attached")
            if what in ("news", "ten"):
                page.locator("#news[open] > summary").click()
            for width, height in (*reversed(SMALL), (768, 1024), (1280, 800)):
                page.set_viewport_size(size(width, height))
                has_what_a_turn_needs(page, what, width, height)


def has_what_a_turn_needs(page: Page, what: str, width: int, height: int) -> None:
    window = f"at {width} x {height}"
    assert page.evaluate(CUT, NEEDED) == [], window
    # Nothing lies over the middle of the first card, and the actions begin below it.
    assert page.evaluate("""() => {
        const box = document.querySelector("#card-0").getBoundingClientRect();
        const found = document.elementFromPoint(box.left + 12, box.top + box.height / 2);
        return Boolean(found.closest("#card-0"));
    }"""), window
    if what != "ten" and (width, height) not in LOW:
        assert page.evaluate(HIDDEN) == [], window
        expect(page.locator(".catches")).to_be_visible(visible=what in ("debt", "news"))
    assert page.evaluate("scrollY") == 0, window
    if what == "chooser":
        assert Box(page.locator("#chooser")).bottom <= height, window
    if what == "news" and (width, height) in ((1280, 800), (390, 844)):
        assert Box(page.locator("#headline")).bottom < height / 3, window
        # On a phone the actions stay at the bottom, above the hand that scrolls.
        lowest = height if width == 1280 else Box(page.locator("#move")).top
        assert Box(page.locator("#card-3")).bottom <= lowest, window


BOTTOMS: Final = """() => [...document.querySelectorAll("#hand-cards .card")]
    .map((card) => Math.round(card.getBoundingClientRect().bottom / 40))"""


def test_a_long_hand_has_at_most_three_rows_and_leaves_the_headline_in_view(new_page: NewPage, cast: Cast) -> None:
    page = shown(new_page, cast, LONG_HAND)
    page.locator("#hand-list").wait_for()
    page.locator("#card-0").focus()
    assert page.evaluate("scrollY") == 0
    for _ in range(8):  # the second row stands partly below the window
        page.keyboard.press("ArrowRight")
    assert Box(page.locator("#card-8")).bottom <= 800
    assert Box(page.locator("#headline")).top >= Box(page.locator("header.top")).bottom
    assert page.locator("#hand-cards .card").count() == 24
    for width, height in ((1280, 800), (390, 844), (844, 390)):
        page.set_viewport_size(size(width, height))
        assert len(set(page.evaluate(BOTTOMS))) <= 3, (width, height)  # the playable ones stand a little higher


CUT_OFF: Final = "line => line.scrollWidth > line.clientWidth || line.scrollHeight > line.clientHeight"


@pytest.mark.parametrize("what", ["a round cancelled", "a stack"])
def test_the_line_of_news_is_whole_on_small_screens(new_page: NewPage, cast: Cast, ann: User, what: str) -> None:
    if what == "a stack":
        game = with_news(cast)
    else:
        game = table_after([cast.alice, cast.bob, cast.charlie], 7, seed=0).game
        Game.objects.filter(pk=game.pk).update(target=500)
        tables.void_round(game_id=game.pk, by=ann, reason="Asked for by all of them", now=timezone.now())
    page = new_page(cast.alice, script="localStorage.setItem('sounds', 'off')")
    load_game(page, game)  # before the window gets small: on a phone the news lie over the tip at first
    title = page.locator("#news > summary")
    said = "Staff cancelled round 1" if what == "a round cancelled" else "3 things"
    expect(title).to_contain_text(f"So far {said}", use_inner_text=True)
    if what == "a stack":  # news.js opens the list where it lies over the table, so it looks at the window first
        expect(page.locator("#play-news:not([hidden])")).to_be_attached()
    page.set_viewport_size(size(390, 844))
    expect(title).to_be_hidden()  # a tip has its place
    pause(page)
    page.get_by_role("button", name="No tips").click()
    expect(title).to_be_visible()
    for width, height in ((390, 844), (844, 390), (640, 400)):
        page.set_viewport_size(size(width, height))
        assert not page.locator("#news .brief").evaluate(CUT_OFF), width
        assert Box(page.locator(".due")).bottom <= Box(title).top, width
        assert Box(title).bottom <= Box(page.locator("#table")).top, width
        assert Box(page.locator(".hand .card").last).top < height - 40, width


@pytest.mark.parametrize("window", [(320, 568), (844, 390)])
def test_what_others_did_opens_once_over_the_table_of_a_phone(
    new_page: NewPage, cast: Cast, window: tuple[int, int]
) -> None:
    page, game = new_page(cast.alice, viewport=size(*window)), with_news(cast)
    page.goto(game.get_absolute_url())
    expect(page.locator("#news[open] li > span")).to_have_text(
        ["bob: Yellow 4.", "charlie: Wild Draw Six, blue.", "mo draws 6."]
    )
    expect(page.locator("#news li").first).to_be_in_viewport(ratio=1)
    sheet, skip = Box(page.locator("#news")), page.get_by_role("link", name="Skip", exact=True)
    assert Box(page.locator(".due")).bottom <= sheet.top
    assert (
        max(sheet.bottom, Box(skip).bottom) <= Box(page.locator("#move :is(.hint, .button)").first).top
        or window[0] > 800
    )
    skip.click()
    expect(page.locator("#hand-cards .card:focus")).to_have_count(1)
    expect(page.locator("#news[open]")).to_have_count(0)
    page.reload()
    page.wait_for_load_state("networkidle")
    expect(page.locator("#news[open]")).to_have_count(0)


def test_a_chooser_does_not_scroll_the_table(new_page: NewPage, cast: Cast) -> None:
    page = new_page(cast.alice)
    for width, height in ((844, 390), (320, 568)):
        page.set_viewport_size(size(width, height))
        open_game(page, cast.table(MANY).game)
        after(page, lambda: page.get_by_role("button", name="Wild Draw Six").press("Enter"))
        expect(page.locator("#choose-r")).to_be_focused()
        assert page.evaluate("scrollY") == 0, width
        after(page, lambda: page.locator("#choose-g").press("Enter"))
        expect(page.locator("#chooser")).to_have_count(0)
        assert page.evaluate("scrollY") == 0, width


def test_the_cost_of_a_challenge_can_be_read(new_page: NewPage, alice: User, bob: User) -> None:
    User.objects.filter(pk=alice.pk).update(display_name="Sly Lemur 95 Junior")
    table = table_at(CHALLENGED, [alice, bob], **OFFICIAL)
    play(table, 0, "play W4 color g")
    page = new_page(bob)
    open_game(page, table.game)
    for width in (1280, 900):
        page.set_viewport_size(size(width, 800))
        hint, order = Box(page.locator(".hint")), Box(page.locator(".sort"))
        assert hint.right <= order.left, width
        assert hint.height <= 72, width
        assert Box(page.locator("#challenge")).right <= hint.left, width
        assert Box(page.locator("#table")).top >= Box(page.locator(".due")).bottom, width


def test_a_short_headline_leaves_room_for_the_button_of_the_log(new_page: NewPage, alice: User, bob: User) -> None:
    table = at_live_table([alice, bob], [["BZ", "r5", "y1"], ["b1", "b2", "g8"]], {"buzzers": "race"})
    play(table, 0, "play BZ")
    page = new_page(bob, viewport=size(390, 844))
    page.goto(table.game.get_absolute_url())
    assert Box(page.locator("#headline")).height < 50
    assert Box(page.locator(".due")).top >= Box(page.locator("#show-log > summary")).bottom


def test_a_chooser_without_scripts_leaves_the_table_in_view(new_page: NewPage, cast: Cast) -> None:
    page = new_page(cast.alice, java_script_enabled=False)
    for width, height in ((1280, 800), (844, 390)):
        page.set_viewport_size(size(width, height))
        page.goto(cast.table(MANY).game.get_absolute_url())
        page.get_by_role("button", name="Wild Draw Six").click()
        page.wait_for_url("**#move")
        assert Box(page.locator(".top-card > .face")).top >= 0, width
        assert Box(page.locator("#choose-b")).bottom <= height, width
    User.objects.filter(pk=cast.alice.pk).update(confirm=User.Confirm.ALWAYS)
    for width, height in ((390, 844), (844, 390)):
        page.set_viewport_size(size(width, height))
        page.goto(cast.table(MANY).game.get_absolute_url())
        page.get_by_role("button", name="Draw until one fits").click()
        page.wait_for_url("**#choose-yes")
        assert Box(page.locator(".top-card > .face")).top >= 0, width
        assert Box(page.locator("#choose-yes")).bottom <= height, width
        expect(page.locator("#choose-yes")).to_be_focused()


def test_the_card_under_the_pointer_or_the_focus_comes_out_whole(new_page: NewPage, cast: Cast) -> None:
    page = shown(new_page, cast, reduced_motion="reduce")
    card = page.locator("#card-5")
    top = Box(card).top
    whole = """(card) => {
        const box = card.getBoundingClientRect();
        return document.elementFromPoint(box.right - 6, box.top + box.height / 2).closest(".card") === card;
    }"""
    assert not card.evaluate(whole)
    card.hover(position={"x": 20, "y": 80})
    assert Box(card).top < top
    assert card.evaluate(whole)
    page.mouse.move(5, 5)
    page.locator("#card-4").focus()
    page.keyboard.press("ArrowRight")
    assert Box(card).top < top
    assert card.evaluate(whole)


def test_nothing_lifts_under_a_finger(new_page: NewPage, cast: Cast) -> None:
    page = shown(new_page, cast, window=PHONE, has_touch=True, is_mobile=True, reduced_motion="reduce")
    place = "(part) => part.getBoundingClientRect().top + scrollY"
    for name in ("#card-12", "#draw"):
        part = page.locator(name)
        top = part.evaluate(place)
        part.hover(force=True)
        assert part.evaluate(place) == top


COLORS: Final = """async (png) => {
    const bytes = Uint8Array.from(atob(png), (letter) => letter.charCodeAt(0));
    const image = await createImageBitmap(new Blob([bytes]));
    const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
    canvas.drawImage(image, 0, 0);
    const {data} = canvas.getImageData(0, 0, image.width, image.height);
    const counts = new Map();
    for (let n = 0; n < data.length; n += 4) {
        const color = data.slice(n, n + 3).join();
        counts.set(color, (counts.get(color) ?? 0) + 1);
    }
    const linear = (part) => part <= 10 ? part / 3294.6 : ((part / 255 + .055) / 1.055) ** 2.4;
    const luminance = (color) => {
        const [r, g, b] = color.split(",").map((part) => linear(Number(part)));
        return .2126 * r + .7152 * g + .0722 * b;
    };
    const [ground] = [...counts].reduce((one, other) => one[1] >= other[1] ? one : other);
    const seen = [...counts].filter(([, count]) => count > 9).map(([color]) => luminance(color));
    return [luminance(ground), Math.min(...seen), Math.max(...seen)];
}"""
"""Returns the luminance of a picture's most frequent colour, and of the darkest and the lightest of the others."""


def contrast(one: float, other: float) -> float:
    """Return the contrast ratio of two luminances, as WCAG defines it."""
    low, high = sorted((one, other))
    return (high + 0.05) / (low + 0.05)


def ground_and_contrast(page: Page, card: str) -> tuple[float, float]:
    """Return the luminance of a card's ground and the contrast of what is printed on it, from a screenshot.

    It shows the upper left quarter of the card, which no other card covers.
    """
    box = Box(page.get_by_role("button", name=card, exact=True))
    part: FloatRect = {"x": box.left + 3, "y": box.top + 3, "width": box.width / 2 - 6, "height": box.height / 2}
    png = page.screenshot(clip=part)
    ground, darkest, lightest = page.evaluate(COLORS, base64.b64encode(png).decode())
    return ground, max(contrast(ground, darkest), contrast(ground, lightest))


def test_a_card_that_cannot_be_played_looks_like_that(new_page: NewPage, cast: Cast) -> None:
    page = shown(new_page, cast, STACK, reduced_motion="reduce")
    schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        wild, _ = ground_and_contrast(page, "Wild Draw Six")
        for name in ("Wild Color Roulette", "Red 3", "Yellow 5", "Green 9", "Blue 2"):
            ground, legible = ground_and_contrast(page, name)
            assert legible >= 4.5, (scheme, name)
            if name.startswith("Wild"):
                assert contrast(wild, ground) >= 1.5, scheme


def test_out_of_turn_only_a_card_that_can_be_played_stands_out(
    new_page: NewPage, cast: Cast, alice: User, bob: User
) -> None:
    page = shown(new_page, cast, {**MANY, "turn": 1})
    pale = """() => [...document.querySelectorAll("#hand-cards .face")].map((face) =>
        getComputedStyle(face).filter.startsWith("saturate"))"""
    assert set(page.evaluate(pale)) == {False}
    table = at_live_table([bob, alice], [["y2", "y5", "b1"], ["g3", "r1", "W"]], {})
    page.goto(table.game.get_absolute_url())
    assert page.evaluate(pale) == [True, False, True]


@pytest.mark.parametrize("scripts", [True, False])
def test_the_log_is_a_panel_or_a_drawer(new_page: NewPage, cast: Cast, scripts: bool) -> None:
    page = new_page(cast.alice, viewport=size(1440, 900), java_script_enabled=scripts)
    url = cast.table(MANY).game.get_absolute_url()
    page.goto(url)
    expect(page.locator("#log-all")).to_be_visible()
    expect(page.locator("#show-log > summary")).to_be_hidden()
    for width, height in ((1280, 800), *SMALL[:2]):
        page.set_viewport_size(size(width, height))
        if scripts:
            page.goto(url)
        expect(page.locator("#log-all")).to_be_hidden()
        expect(page.locator("#show-log > summary")).to_have_text("Log", use_inner_text=True)
        page.locator("#show-log > summary").click()
        expect(page.locator("#show-log > summary")).to_have_text(re.compile("^Close"), use_inner_text=True)
        expect(page.locator("#log-all")).to_be_visible()
        if width == 390:
            assert Box(page.locator("#log .drawer")).left == 0  # a tap beside it would lift a card
        page.locator("#show-log > summary").click()
        expect(page.locator("#log-all")).to_be_hidden()
    if scripts:
        page.keyboard.press("l")
        expect(page.locator("#log")).to_be_focused()
        expect(page.locator("#log-all")).to_be_visible()
        page.keyboard.press("Escape")
        expect(page.locator("#log-all")).to_be_hidden()


def test_a_phone_on_its_side_has_the_header_behind_a_button(new_page: NewPage, cast: Cast) -> None:
    page = shown(new_page, cast, {**MANY, "turn": 1}, size(844, 390), java_script_enabled=False)
    assert Box(page.locator(".player.now .disc")).top >= 6  # the outline that marks the player on turn
    page.goto(cast.table(MANY).game.get_absolute_url())
    expect(page.locator(".brand")).to_be_hidden()
    assert Box(page.locator("#table")).right <= min(Box(page.locator(part)).left for part in ("#hand", "#move"))
    page.locator("#menu > summary").click()
    expect(page.get_by_role("link", name="Rules").first).to_be_visible()
    page.get_by_role("link", name="Games").first.click()
    page.wait_for_url("**/")


def test_a_phone_leads_from_a_game_to_the_rules_of_its_table(new_page: NewPage, cast: Cast) -> None:
    table = cast.table(DARK_SIDE, preset="flip")
    page = new_page(cast.alice)
    page.goto(table.game.get_absolute_url())
    rules = page.locator(".top").get_by_role("link", name="Rules", exact=True)
    for width in (390, 320):
        page.set_viewport_size(size(width, 800))
        expect(rules).to_be_visible()
        assert Box(rules).right <= Box(page.locator(".top .bell")).left, width
        assert Box(page.locator(".top")).height <= 48, width
        expect(page.get_by_role("link", name=re.compile("^alice ?, your account$"))).to_be_visible()
        rules.click(trial=True)
    rules.click()
    page.wait_for_url("**/rules/?preset=flip")
    expect(page.get_by_role("heading", name="How to play")).to_be_visible()


def test_the_header_is_one_line(new_page: NewPage, cast: Cast) -> None:
    cast.table(MANY)
    page, widths = new_page(cast.alice), (320, 390, 640)
    page.goto("/")
    for width in widths:
        page.set_viewport_size(size(width, 800))
        expect(page.locator(".top .next")).to_be_visible()
        assert Box(page.locator(".top")).height <= 64, width
        assert Box(page.get_by_role("link", name="Rules").first).right <= Box(page.locator(".top .next")).left, width
    page.goto(cast.table(MANY).game.get_absolute_url())
    for width in widths:
        page.set_viewport_size(size(width, 800))
        expect(page.locator(".top .next")).to_be_visible()
        assert Box(page.locator(".top")).height <= 48, width
        assert Box(page.locator(".top .me")).bottom <= 48, width


def test_the_backs_of_the_other_hands_are_shown(new_page: NewPage, cast: Cast) -> None:
    page = new_page(cast.alice)
    page.goto(cast.table(DARK_SIDE, preset="flip").game.get_absolute_url())
    backs, title = page.locator("#seat-1 .backs"), page.locator("#show-backs > summary")
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size(size(width, height))
        expect(backs).to_be_visible(visible=width > 800)
        title.click()
        for name in ("Red 1", "Red 2"):
            expect(backs).to_contain_text(name)
        assert Box(backs.locator(".face").first).width >= 28
        title.click()
        expect(backs).to_be_visible(visible=width > 800)


def test_forced_colours_keep_the_player_on_turn_and_the_order_of_the_hand(new_page: NewPage, cast: Cast) -> None:
    page = shown(new_page, cast, {**MANY, "turn": 1}, forced_colors="active")

    def style(selector: str, name: str) -> Any:
        return page.locator(selector).evaluate("(e, name) => getComputedStyle(e)[name]", name)

    assert style("#seat-1 .disc", "outlineStyle") == "solid"
    assert style("#seat-2 .disc", "outlineStyle") == "none"
    assert style("#seat-1 .name", "backgroundColor") != style("#seat-2 .name", "backgroundColor")
    assert style("#sort-color", "backgroundColor") != style("#sort-number", "backgroundColor")


def test_the_space_key_fits_its_picture_and_nothing_cuts_you_off(new_page: NewPage, cast: Cast) -> None:
    User.objects.filter(pk=cast.alice.pk).update(display_name="A name that is thirty long, ok")
    page = shown(new_page, cast)
    you = page.locator(".you small")
    assert you.evaluate("(e) => e.scrollWidth <= e.clientWidth + 1 || getComputedStyle(e).overflow === 'visible'")
    assert Box(you).right <= 640
    page.locator("#keys").click()
    for key in page.locator("#keys-help kbd").all():
        assert key.evaluate("(e) => e.scrollWidth <= e.clientWidth"), key.inner_text()


def test_targets_are_large_enough_for_a_finger(new_page: NewPage, cast: Cast) -> None:
    table = table_after([cast.alice, cast.bob, cast.charlie], 20, 4)
    page = new_page(cast.alice, viewport=size(1280, 800))
    page.goto(table.game.get_absolute_url())
    page.locator("#show-log > summary").click()
    page.evaluate("document.querySelectorAll('.table-options details').forEach((e) => { e.open = true; })")
    targets = ".log .when, #log-all, #keys-help .link, #report, #resign, .foot li a, .tool, .switch > summary, .button"
    for width in (1280, 390):
        page.set_viewport_size(size(width, 800))
        assert page.evaluate(TOO_SMALL, targets) == [], width
    User.objects.filter(pk=cast.alice.pk).update(no_tips=True)
    page.goto(cast.table(STACK).game.get_absolute_url())
    expect(page.locator("#ask-sound")).to_be_visible()
    assert page.evaluate(TOO_SMALL, targets) == []


TOO_SMALL: Final = """(targets) => [...document.querySelectorAll(targets)].filter((e) => {
    const box = e.getBoundingClientRect();
    return box.width && (box.height < 43.9 || box.width < 43.9);
}).map((e) => e.outerHTML)"""


def test_a_player_who_is_out_sits_in_the_row_of_players_on_small_screens(new_page: NewPage, cast: Cast) -> None:
    hand = [color + "7" for color in "rbgy"] * 5
    table = cast.table({**STACK, "hands": [hand, *STACK["hands"][1:]]})
    play(table, 0, "take")
    Hand.objects.update(lost=[])  # as in a round from before lost hands were stored
    page = new_page(cast.alice)
    page.goto(table.game.get_absolute_url())
    for width, height in ((390, 844), (768, 1024), (844, 390)):
        page.set_viewport_size(size(width, height))
        felt = Box(page.locator("#table"))
        assert Box(page.locator(".you")).bottom <= felt.top, width
        assert felt.width > width * 0.9, width  # there is no hand beside it


def test_the_reader_sits_above_the_options_of_a_table_that_is_over(new_page: NewPage, cast: Cast) -> None:
    page = new_page(cast.alice, viewport=size(1280, 800))
    table = cast.table(MANY)
    Game.objects.filter(pk=table.game.pk).update(status=Game.Status.VOID)
    page.goto(table.game.get_absolute_url())
    assert Box(page.locator(".you .count")).bottom <= Box(page.locator(".table-options")).top


def test_a_hint_beside_the_actions_leaves_the_hand_whole_on_a_tablet(new_page: NewPage, cast: Cast) -> None:
    page = shown(new_page, cast, STACK, size(768, 1024))
    assert Box(page.locator("#hand-cards .card").last).bottom <= Box(page.locator("#move")).top


def test_small_screens_say_in_a_word_who_is_a_bot_or_away(new_page: NewPage, cast: Cast) -> None:
    table = cast.table({**MANY, "turn": 1})
    Seat.objects.filter(game=table.game, index=2).update(bot="careful")
    User.objects.filter(pk=cast.bob.pk).update(vacation_until=timezone.now() + timedelta(days=3))
    page = new_page(cast.alice, viewport=size(390, 844))
    page.goto(table.game.get_absolute_url())
    for place, word in ((1, "away"), (2, "bot")):
        tag, disc = page.locator(f".player.n-{place} .tag"), Box(page.locator(f".player.n-{place} .disc"))
        expect(tag).to_contain_text(f"{word} ")  # the whole text is still read out
        shown = Box(tag)
        assert 12 < shown.width < 40
        assert shown.bottom < disc.bottom  # beside the picture, not over the name
