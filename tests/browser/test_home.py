"""The front page of somebody with games."""

from __future__ import annotations

from datetime import timedelta
from typing import Final
from urllib.parse import urlsplit

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Request, ViewportSize, expect

from accounts.models import User
from games.actions import lobby
from tests.browser.conftest import Visitors
from tests.browser.game_page import NewPage, play
from tests.browser.test_connection import leave_offline
from tests.browser.test_installed_app import BADGES
from tests.browser.test_layout import PHONE
from tests.support.tables import TWO_HANDS, table_at
from tests.support.waiting import until

DESKTOP: Final[ViewportSize] = {"width": 1280, "height": 720}


def test_play_next_opens_the_most_urgent_game(new_page: NewPage, alice: User, bob: User) -> None:
    now = timezone.now()
    other = table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=5, minutes=5)).game
    urgent = table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=2)).game
    page = new_page(alice)
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("2 games wait for you")
    row = page.get_by_role("listitem").filter(has=page.locator(f"#game-{other.code}"))
    expect(row.get_by_role("heading", level=3)).to_have_accessible_name("Play or draw with bob")
    expect(row.get_by_role("list", name="Hands")).to_contain_text("bob: 3 of 25 cards")
    expect(row).to_contain_text("5 h left")
    page.wait_for_load_state("networkidle")
    page.keyboard.press("n")
    page.wait_for_url(f"**/games/{urgent.code}/")
    page.goto("/")
    box = page.locator(".opponents .disc").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)  # on the picture of a player
    page.wait_for_url(f"**/games/{urgent.code}/")


def test_a_visitor_can_start_from_the_first_screen(new_page: NewPage, site: str) -> None:
    page = new_page()
    for size in (PHONE, DESKTOP):
        page.set_viewport_size(size)
        page.goto("/")
        expect(page.get_by_role("button", name="Play now")).to_be_in_viewport(ratio=1)
        for door in ("Bots now", "Friends", "Open tables"):
            expect(page.get_by_role("link", name=door)).to_be_in_viewport(ratio=1)
        expect(page.locator(".picture .felt")).to_be_in_viewport(ratio=1)


def hide(page: Page, *, hidden: bool) -> None:
    """Let the page believe that the reader has left its tab, or has come back."""
    page.evaluate(
        "(hidden) => Object.defineProperty(document, 'hidden', { value: hidden, configurable: true })", hidden
    )
    page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")


def list_fetches(page: Page) -> list[int]:
    """Return a list that gets the status of each answer to a fetch of the list from now on."""
    statuses: list[int] = []
    page.on("response", lambda answer: statuses.append(answer.status) if is_fetch(answer.request) else None)
    return statuses


def is_fetch(request: Request) -> bool:
    return urlsplit(request.url).path == "/" and request.headers.get("hx-request") == "true"


@pytest.mark.parametrize("keeps_focus", [True, False])
def test_the_list_changes_while_it_is_open(new_page: NewPage, alice: User, bob: User, keeps_focus: bool) -> None:
    """Nothing is reloaded. The focus stays on a row that moves to another group, and what is selected stays."""
    theirs, other, same = (table_at({**TWO_HANDS, "turn": 1}, [alice, bob]) for _ in range(3))
    page = new_page(alice, script=BADGES)
    if not keeps_focus:  # as in browsers that cannot move an element without taking it out
        page.add_init_script("delete Element.prototype.moveBefore")
    page.clock.install()
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Games")
    statuses = list_fetches(page)
    link = page.locator(f"#game-{theirs.game.code} a")
    link.focus()
    page.locator(f"#game-{same.game.code} .about").evaluate("(text) => getSelection().selectAllChildren(text)")
    page.evaluate("window.same = true")
    play(other, bob, "play r4")
    play(theirs, bob, "play r4")
    page.clock.run_for(20_000)
    expect(page.get_by_role("heading", level=1)).to_have_text("2 games wait for you")
    expect(page).to_have_title("(2) Games · No Mercy")
    expect(page.get_by_role("link", name="Play next")).to_be_visible()
    expect(page.locator("#next-count")).to_have_text("2")
    assert page.evaluate("window.badges").pop() == 2
    expect(page.get_by_role("region", name="Your turn").locator(f"#game-{theirs.game.code} a")).to_be_focused()
    assert page.evaluate("[getSelection().toString(), window.same]") == ["No Mercy · Standard pace", True]
    page.clock.run_for(20_000)
    until("unchanged", lambda: page.evaluate("true") and statuses == [200, 304])
    expect(link).to_be_focused()
    expect(page.get_by_role("heading", level=1)).to_have_text("2 games wait for you")


def test_the_list_is_fetched_when_the_reader_returns_and_not_while_nobody_sees_it(
    new_page: NewPage, alice: User, bob: User
) -> None:
    table = table_at({**TWO_HANDS, "turn": 1}, [alice, bob])
    page = new_page(alice)
    page.clock.install()
    page.goto("/")
    page.wait_for_load_state("networkidle")
    statuses = list_fetches(page)
    hide(page, hidden=True)
    play(table, bob, "play r4")
    page.clock.run_for(60_000)
    expect(page).to_have_title("Games · No Mercy")
    assert statuses == []
    hide(page, hidden=False)
    expect(page).to_have_title("(1) Games · No Mercy")


def test_the_times_in_the_list_count_down(new_page: NewPage, alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=timezone.now() + timedelta(minutes=50, seconds=30))
    page = new_page(alice)
    page.clock.install()
    page.goto("/")
    row = page.get_by_role("listitem").filter(has=page.locator(f"#game-{table.game.code}"))
    expect(row).to_contain_text("50 min left")
    page.evaluate("document.getElementById('main').setAttribute('data-seen', '')")  # an update removes it
    page.clock.run_for(20_000)
    expect(page.locator("#main[data-seen]")).to_have_count(0)
    page.route("/", lambda route: route.fulfill(status=304))  # also if this machine takes long for the next 10 minutes
    page.clock.run_for(10 * 60_000)
    expect(row).to_contain_text("40 min left")
    expect(page.locator(".lead")).to_have_text("The most urgent one: 40 min left.")


def test_an_open_list_outlives_a_time_without_a_server(visitors: Visitors, site: str, alice: User, bob: User) -> None:
    table = table_at({**TWO_HANDS, "turn": 1}, [alice, bob])
    page = visitors(alice)
    page.clock.install()
    page.goto("/")
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    page.clock.run_for(20_000)
    page.context.set_offline(False)
    expect(page.locator(f"#game-{table.game.code}")).to_be_visible()
    page.route("/", lambda route: route.fulfill(status=409, body="<!doctype html><main id=main>Refused</main>"))
    with page.expect_response(lambda answer: answer.status == 409):
        page.clock.run_for(20_000)
    expect(page.locator(f"#game-{table.game.code}")).to_be_visible()
    page.unroute_all()
    play(table, bob, "play r4")
    page.clock.run_for(20_000)
    expect(page).to_have_title("(1) Games · No Mercy")
    leave_offline(visitors)


TEN: Final = {**TWO_HANDS, "hands": [["r1"], *[["r5", "b6"] * 10] * 9], "turn": 7}
ON_TOP: Final = """(count) => {
    const { left, right, top, bottom } = count.getBoundingClientRect();
    const row = count.closest(".opponents");
    row.style.pointerEvents = "auto";
    for (const one of row.querySelectorAll(".count")) one.style.pointerEvents = "auto";
    const there = [left + 3, right - 3].map((x) => document.elementFromPoint(x, (top + bottom) / 2));
    row.style.pointerEvents = "";
    return there.every((element) => element === count);
}"""


def test_every_count_can_be_read_and_bots_differ_by_colour(new_page: NewPage, alice: User, bob: User) -> None:
    table_at(TEN, [alice, bob, *("careful",) * 8])
    page = new_page(alice, viewport=PHONE)
    page.goto("/")
    counts = page.locator(".opponents .count")
    for width in (PHONE["width"], 1280):
        page.set_viewport_size({**PHONE, "width": width})
        page.locator(".opponents").scroll_into_view_if_needed()
        expect(counts).to_have_count(9)
        assert [count.evaluate(ON_TOP) for count in counts.all()] == [True] * 9, width
    bots = page.locator(".opponents span.avatar")
    hues = bots.evaluate_all("(bots) => bots.map((bot) => getComputedStyle(bot).backgroundColor)")
    assert len(set(hues)) == len(hues) == 8


def test_an_open_table_stands_in_one_column_on_a_phone(new_page: NewPage, alice: User, bob: User) -> None:
    lobby.create_table(user=bob, choices=lobby.TableChoices(), now=timezone.now())
    page = new_page(alice, viewport=PHONE)
    page.goto("/")
    row = page.locator(".beside .gamecard")
    lefts = [row.locator(part).bounding_box() for part in ("h3", "form", "form button")]
    assert len({box["x"] for box in lefts if box}) == 1, lefts
    assert row.locator("button").evaluate("(button) => button.scrollHeight") < 48  # one line
