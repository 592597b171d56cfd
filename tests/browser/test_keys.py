"""A turn by keyboard: few keys, and the focus stays in the hand."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from accounts.models import User
from tests.browser.game_page import NewPage, focused, open_page, shows
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.more

HANDS = [["r5", "b1", "b2", "y9", "r6"], ["r4", "g3"]]


@pytest.mark.parametrize(("key", "move"), [("x", "Draw"), ("x", "Take 6"), ("Space", "Draw")])
def test_draws_and_takes_from_anywhere_leave_the_focus_in_the_hand(
    new_page: NewPage, alice: User, bob: User, key: str, move: str
) -> None:
    owed = {"discard_pile": ["r+2"], "pending": {"total": 6, "value": 2}} if move == "Take 6" else {}
    table = table_at({**TWO_HANDS, "hands": HANDS, **owed}, [alice, bob])
    page = open_page(new_page, alice, table)
    expect(page.get_by_role("button", name=move)).to_be_visible()
    page.locator("#headline").focus()
    page.keyboard.press(key)
    shows(page, 1)
    expect(page.locator("#hand-cards .card:focus")).to_have_count(1)


def test_h_goes_to_the_hand_and_tab_to_the_next_playable_card(new_page: NewPage, alice: User, bob: User) -> None:
    page = open_page(new_page, alice, table_at({**TWO_HANDS, "hands": HANDS}, [alice, bob]))
    page.keyboard.press("h")
    assert focused(page) == "card-0"
    names = page.locator("#hand-cards .card .sr").all_inner_texts()
    assert names == ["Red 5", "Red 6", "Yellow 9", "Blue 1", "Blue 2"]
    page.keyboard.press("Tab")
    assert focused(page) == "card-1"
    page.keyboard.press("Shift+Tab")
    assert focused(page) == "card-0"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")  # no other card can be played, so it leaves the hand
    assert not focused(page).startswith("card-")


def test_tab_goes_on_at_the_first_card_from_one_that_cannot_be_played(
    new_page: NewPage, alice: User, bob: User
) -> None:
    table = table_at({**TWO_HANDS, "hands": [["r5", "b1", "b2"], ["r4", "g3"]]}, [alice, bob])
    page = open_page(new_page, alice, table)
    page.keyboard.press("h")
    page.keyboard.press("End")
    assert page.locator("#hand-cards .card:focus").get_attribute("aria-disabled") == "true"
    page.keyboard.press("Tab")
    expect(page.locator("#hand-cards .card:focus .sr")).to_have_text("Red 5")
    page.keyboard.press("Tab")  # from a card that can be played it leaves the hand
    assert not focused(page).startswith("card-")


def test_a_swap_with_the_only_other_player_needs_one_key(new_page: NewPage, alice: User, bob: User) -> None:
    table = table_at({**TWO_HANDS, "hands": [["r7", "b1", "b2"], ["r4", "g3"]]}, [alice, bob])
    page = open_page(new_page, alice, table)
    page.keyboard.press("h")
    page.keyboard.press("Enter")
    shows(page, 1)
    expect(page.locator("#hand-cards .card")).to_have_count(2)


def test_a_turn_in_the_list_takes_two_keys(new_page: NewPage, alice: User, bob: User) -> None:
    page = open_page(new_page, alice, table_at({**TWO_HANDS, "hands": HANDS}, [alice, bob]))
    page.locator("#hand-list").click()
    page.keyboard.press("h")
    assert focused(page) == "hand-cards"
    card = page.get_by_role("option", name="Red 5")
    name = card.locator(".sr").bounding_box()
    assert name is not None
    assert name["width"] > 30  # the list shows names
    page.keyboard.press("Tab")
    expect(page.locator("#hand-cards [aria-selected='true'] .sr")).to_have_text("Red 6")
    page.keyboard.press("Enter")
    shows(page, 1)
    assert focused(page) == "hand-cards"


def test_the_keys_are_a_dialog_beside_the_game(new_page: NewPage, alice: User, bob: User) -> None:
    page = open_page(new_page, alice, table_at({**TWO_HANDS, "hands": HANDS}, [alice, bob]))
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    expect(page.locator("#keys-title")).to_be_focused()
    expect(page.locator("#hand")).to_be_in_viewport()
    page.keyboard.press("x")
    shows(page, 1)
    expect(page.locator("#keys-help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys-help")).to_be_hidden()


def test_the_keys_are_shown_without_scripts(new_page: NewPage, alice: User, bob: User) -> None:
    page = new_page(alice, java_script_enabled=False)
    page.goto(table_at({**TWO_HANDS, "hands": HANDS}, [alice, bob]).game.get_absolute_url())
    page.locator("#keys").click()
    expect(page.locator("#keys-help")).to_be_visible()
    expect(page.locator("#keys-help")).to_contain_text("go to your hand")


def test_parts_of_the_game_have_headings(new_page: NewPage, alice: User, bob: User) -> None:
    page = new_page(alice, viewport={"width": 1440, "height": 900})
    page.goto(table_at({**TWO_HANDS, "hands": HANDS}, [alice, bob]).game.get_absolute_url())
    for name in ("Your move", "Your hand", "Table", "Players", "Log"):
        expect(page.get_by_role("heading", level=2, name=name, exact=name != "Your hand")).to_have_count(1)
