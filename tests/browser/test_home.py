"""The front page of somebody with games."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from accounts.models import User
from games.actions import lobby
from tests.browser.game_page import NewPage
from tests.browser.test_layout import PHONE
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.more


@pytest.mark.parametrize("javascript", [True, False])
def test_play_next_opens_the_most_urgent_game(new_page: NewPage, alice: User, bob: User, javascript: bool) -> None:
    now = timezone.now()
    table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=5))
    urgent = table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=2)).game
    page = new_page(alice, java_script_enabled=javascript)
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("2 games wait for you")
    if javascript:
        page.wait_for_load_state("networkidle")
        page.keyboard.press("n")
    else:
        page.get_by_role("link", name="Play next").click()
    page.wait_for_url(f"**/games/{urgent.code}/")


def test_a_row_says_its_game_to_a_screen_reader(new_page: NewPage, alice: User, bob: User) -> None:
    deadline = timezone.now() + timedelta(hours=5, minutes=5)
    table_at(TWO_HANDS, [alice, bob], deadline=deadline)
    page = new_page(alice)
    page.goto("/")
    row = page.get_by_role("region", name="Your turn").get_by_role("listitem").first
    expect(row.get_by_role("heading", level=3)).to_have_accessible_name("Play a card or draw with bob")
    expect(row.get_by_role("list", name="Hands")).to_contain_text("bob: 3 of 25 cards")
    expect(row).to_contain_text("5 h left")


TEN: Final = {**TWO_HANDS, "hands": [["r1"], *[["r5", "b6"] * 10] * 9], "turn": 7}
ON_TOP: Final = """(count) => {
    const { left, right, top, bottom } = count.getBoundingClientRect();
    const row = count.closest(".opponents");
    row.style.pointerEvents = "auto";
    const there = [left + 3, right - 3].map((x) => document.elementFromPoint(x, (top + bottom) / 2));
    row.style.pointerEvents = "";
    return there.every((element) => element === count);
}"""


def test_a_press_on_a_players_picture_opens_the_game(new_page: NewPage, alice: User, bob: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    page = new_page(alice)
    page.goto("/")
    box = page.locator(".opponents .disc").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_url(f"**/games/{game.code}/")


@pytest.mark.parametrize("width", [390, 1280])
def test_every_count_can_be_read_and_bots_differ_by_colour(
    new_page: NewPage, alice: User, bob: User, width: int
) -> None:
    table_at(TEN, [alice, bob, *("careful",) * 8])
    page = new_page(alice, viewport={**PHONE, "width": width})
    page.goto("/")
    page.locator(".opponents").scroll_into_view_if_needed()
    counts = page.locator(".opponents .count")
    expect(counts).to_have_count(9)
    assert [count.evaluate(ON_TOP) for count in counts.all()] == [True] * 9
    bots = page.locator(".opponents span.avatar")
    hues = bots.evaluate_all("(bots) => bots.map((bot) => getComputedStyle(bot).backgroundColor)")
    assert len(set(hues)) == len(hues) == 8


def test_an_open_table_stands_in_one_column_on_a_phone(new_page: NewPage, alice: User, bob: User) -> None:
    lobby.create_table(user=bob, options=lobby.TableOptions(), now=timezone.now())
    page = new_page(alice, viewport=PHONE)
    page.goto("/")
    row = page.locator(".beside .gamecard")
    lefts = [row.locator(part).bounding_box() for part in ("h3", "form", "form button")]
    assert len({box["x"] for box in lefts if box}) == 1, lefts
    assert row.locator("button").evaluate("(button) => button.scrollHeight") < 48  # one line
