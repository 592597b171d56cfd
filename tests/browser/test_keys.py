"""A turn by keyboard: few keys, and the focus stays in the hand."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from games.queries import Table
from tests.browser.game_page import NewPage, focused, open_page, pause, play, shows, version
from tests.browser.speech import hears, record_speech, spoken
from tests.support.tables import TWO_HANDS, log_of, table_at

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


def at_a_table(people: list[User], hand: list[str], others: list[str], **position: Any) -> Table:
    return table_at({**TWO_HANDS, "hands": [hand, others], **position}, people)


def listener(new_page: NewPage, user: User, table: Table, *, in_list: bool = True) -> Page:
    """Open the game with the focus in the hand, in a browser that records what it says."""
    page = new_page(user)
    record_speech(page)
    page.goto(table.game.get_absolute_url())
    if in_list:
        page.locator("#hand-list").click()
    page.keyboard.press("h")
    return page


def is_on(page: Page, card: str) -> None:
    """Wait until the keyboard is on this card of the list."""
    expect(page.locator("#hand-cards [aria-selected='true'] .sr")).to_have_text(card)
    selected = page.locator("#hand-cards [aria-selected='true']").get_attribute("id")
    assert page.locator("#hand-cards").get_attribute("aria-activedescendant") == selected


def test_a_drawn_card_is_selected_and_said_and_the_keys_say_what_to_do(
    new_page: NewPage, alice: User, bob: User
) -> None:
    table = at_a_table([alice, bob], ["b1", "b2", "y9"], ["r4", "g3"], draw_pile=["r8"] * 9)
    page = listener(new_page, alice, table)
    page.keyboard.press("x")
    hears(page, "Selected: Red 8.")
    is_on(page, "Red 8")
    page.keyboard.press("ArrowDown")
    is_on(page, "Yellow 9")
    for key in ("x", "Space"):
        pause(page)
        page.evaluate("window.spoken = []")
        page.keyboard.press(key)
        hears(page, "There is nothing to draw now. Your turn: play the Red 8 you drew.")
    page.keyboard.press("h")
    is_on(page, "Red 8")
    page.keyboard.press("Enter")
    shows(page, 2)


@pytest.mark.parametrize("in_list", [True, False])
def test_the_keyboard_stays_on_its_card_when_the_hand_changes(
    new_page: NewPage, alice: User, bob: User, in_list: bool
) -> None:
    owed = {"draw_pile": ["r1"] * 9, "discard_pile": ["r+2"], "pending": {"total": 2, "value": 2}}
    page = listener(
        new_page, alice, at_a_table([alice, bob], ["b1", "b2", "y9"], ["r4", "g3"], **owed), in_list=in_list
    )
    page.keyboard.press("End")
    page.keyboard.press("x")
    shows(page, 1)
    expect(page.locator("#hand-cards .card")).to_have_count(5)
    if in_list:
        is_on(page, "Blue 2")
    else:
        expect(page.locator("#hand-cards .card:focus .sr")).to_have_text("Blue 2")
    page.keyboard.press("Shift+N")
    expect(page.locator("#sort-number")).to_have_attribute("aria-current", "true")
    expect(page.locator("#hand-cards .card").nth(3).locator(".sr")).to_have_text("Blue 2")
    if in_list:
        is_on(page, "Blue 2")
    else:
        expect(page.locator("#hand-cards .card:focus .sr")).to_have_text("Blue 2")


@pytest.mark.parametrize("in_list", [True, False])
def test_after_a_played_card_the_first_that_fits_is_selected_and_said(
    new_page: NewPage, alice: User, bob: User, in_list: bool
) -> None:
    table = at_a_table([alice, bob], ["r5", "b1", "b2", "b9"], ["r2", "g3", "g6"])
    page = listener(new_page, alice, table, in_list=in_list)
    page.keyboard.press("Enter")
    shows(page, 1)
    play(table, bob, "play r2")
    hears(page, "Selected: Blue 2.")
    pause(page)
    page.keyboard.press("Enter")
    shows(page, 3)
    assert log_of(table)[-1] == "0 play b2"


def test_a_card_that_is_still_in_the_hand_is_not_said_again(new_page: NewPage, alice: User, bob: User) -> None:
    table = at_a_table([alice, bob], ["b1", "b2", "y9"], ["r2", "g3", "g6"], turn=1)
    page = listener(new_page, alice, table)
    play(table, bob, "play r2")
    hears(page, "Your turn.")
    is_on(page, "Yellow 9")
    pause(page)
    assert "Selected" not in " ".join(spoken(page))


@pytest.mark.parametrize("in_list", [True, False])
def test_escape_closes_a_chooser(new_page: NewPage, alice: User, bob: User, in_list: bool) -> None:
    table = at_a_table([alice, bob], ["r5", "b1", "W6"], ["r4", "g3"])
    page = listener(new_page, alice, table, in_list=in_list)
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.locator("#choose-r")).to_be_focused()
    expect(page.locator(".htmx-settling")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("#chooser")).to_have_count(0)
    expect(page.locator("#hand-cards" if in_list else "#card-2")).to_be_focused()
    assert version(page) == 0


def test_escape_says_that_a_drawn_card_must_be_played(new_page: NewPage, alice: User, bob: User) -> None:
    table = at_a_table([alice, bob], ["b1", "y9"], ["r4", "g3"], draw_pile=["W6"] * 9)
    page = listener(new_page, alice, table)
    page.keyboard.press("x")
    expect(page.locator("#choose-r")).to_be_focused()
    page.keyboard.press("Escape")
    hears(page, "You cannot choose another card. Which colour for Wild Draw Six?")
    expect(page.locator("#chooser")).to_have_count(1)


def test_each_key_without_effect_says_why(new_page: NewPage, alice: User, bob: User) -> None:
    page = listener(new_page, alice, at_a_table([alice, bob], ["r5", "b1"], ["r4", "g3"], turn=1))
    for key, why in (
        ("x", "There is nothing to draw now. bob’s turn: play or draw."),
        ("u", "There is no UNO to call and nobody to catch now."),
        ("f", "There is nothing to challenge now."),
        ("r", "There is no colour to choose now."),
        ("b", "There is no colour to choose now."),
        ("Home", "First card."),
        ("ArrowUp", "First card."),
    ):
        page.evaluate("window.spoken = []")
        page.keyboard.press(key)
        hears(page, why)
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    hears(page, "Last card.")
    page.keyboard.press("Enter")
    expect(page.locator("#live-assertive")).to_contain_text("not your turn")


def test_who_watches_hears_why_the_keys_of_the_hand_do_nothing(
    new_page: NewPage, alice: User, bob: User, charlie: User
) -> None:
    page = new_page(charlie)
    record_speech(page)
    page.goto(at_a_table([alice, bob], ["r5", "b1"], ["r4", "g3"]).game.get_absolute_url())
    for key in ("h", "Shift+N"):
        page.evaluate("window.spoken = []")
        page.keyboard.press(key)
        hears(page, "You hold no cards.")


def type_on(page: Page, letter: str, code: str, *, shift: bool = False) -> None:
    """Press a key of a keyboard on which the key with this code has this letter."""
    client = page.context.new_cdp_session(page)
    for kind in ("keyDown", "keyUp"):
        client.send("Input.dispatchKeyEvent", {"type": kind, "key": letter, "code": code, "modifiers": 8 * shift})


LAYOUTS = {
    "Cyrillic": ("с", "п", "Т"),
    "Greek": ("ψ", "γ", "Ν"),
    "Hebrew": ("ב", "ע", "מ"),
    "Arabic": ("ؤ", "ل", "آ"),
    "Thai": ("แ", "เ", "์"),
}
"""The letters on the keys of C, G and Shift+N."""


def test_letters_work_on_keyboards_without_latin_letters(new_page: NewPage, alice: User, bob: User) -> None:
    page = new_page(alice)
    record_speech(page)
    for layout, (c, g, shift_n) in LAYOUTS.items():
        page.goto(at_a_table([alice, bob], ["W6", "b1", "b2"], ["r4", "g3"]).game.get_absolute_url())
        page.evaluate("localStorage.removeItem('sort')")
        type_on(page, c, "KeyC")
        hears(page, "Red 3.")
        type_on(page, shift_n, "KeyN", shift=True)
        expect(page.locator("#sort-number")).to_have_attribute("aria-current", "true")
        pause(page)
        page.get_by_role("button", name="Wild Draw Six").press("Enter")
        expect(page.locator("#choose-g")).to_be_visible()
        pause(page)
        type_on(page, g, "KeyG")
        shows(page, 1)
        expect(page.locator("#current-color"), layout).to_contain_text("Green")


def test_on_a_keyboard_with_latin_letters_the_letter_counts(new_page: NewPage, alice: User, bob: User) -> None:
    page = listener(new_page, alice, at_a_table([alice, bob], ["r5", "b1", "b2"], ["r4", "g3"]))
    for letter, code in (("j", "KeyC"), (".", "KeyE"), ("’", "KeyN"), ("é", "KeyD")):  # Dvorak, Bépo
        type_on(page, letter, code)
    type_on(page, "v", "Period")
    hears(page, "Red.")
    assert page.evaluate("window.spoken") == ["Red."]
