"""A turn by keyboard: few keys, and the focus stays in the hand."""

from __future__ import annotations

from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from games.queries import Table
from tests.browser.game_page import NewPage, TableForTwo, focused, load_game, play, shows, version
from tests.browser.pauses import pause
from tests.browser.speech import RECORD_SPEECH, hears, spoken
from tests.support.tables import log_of

HAND: Final = ["r5", "b1", "b2", "y9", "r6"]
OTHER: Final = ["r4", "g3"]
SELECTED: Final = "#hand-cards [aria-selected='true']"
FOCUSED: Final = "#hand-cards .card:focus"


def test_draws_and_takes_from_anywhere_leave_the_focus_in_the_hand(open_table: TableForTwo) -> None:
    page: Page | None = None
    owes: dict[str, Any] = {"discard_pile": ["r+2"], "pending": {"total": 6, "value": 2}}
    nothing: dict[str, Any] = {}
    for key, move, owed in (("x", "Draw", nothing), ("x", "Take 6", owes), ("Space", "Draw", nothing)):
        page, _ = open_table(page=page, hands=[HAND, OTHER], **owed)
        expect(page.get_by_role("button", name=move)).to_be_visible()
        page.locator("#headline").focus()
        page.keyboard.press(key)
        shows(page, 1)
        expect(page.locator(FOCUSED)).to_have_count(1)


def test_h_goes_to_the_hand_and_tab_to_the_next_playable_card(open_table: TableForTwo) -> None:
    page, _ = open_table(hands=[HAND, OTHER])
    page.keyboard.press("h")
    assert focused(page) == "card-0"
    names = page.locator("#hand-cards .card .sr").all_inner_texts()
    assert names == ["Red 5", "Red 6", "Yellow 9", "Blue 1", "Blue 2"]
    page.keyboard.press("Tab")
    assert focused(page) == "card-1"
    page.keyboard.press("Shift+Tab")
    assert focused(page) == "card-0"
    page.keyboard.press("End")
    assert page.locator(FOCUSED).get_attribute("aria-disabled") == "true"
    page.keyboard.press("Tab")  # from a card that cannot be played it goes on at the first that can
    assert focused(page) == "card-0"
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")  # no other card can be played, so it leaves the hand
    assert not focused(page).startswith("card-")


def test_at_a_zoom_of_400_percent_the_move_stands_above_the_table(open_table: TableForTwo) -> None:
    page, _ = open_table(hands=[HAND, OTHER])
    page.set_viewport_size({"width": 320, "height": 256})
    parts = ("#headline", "#move", "#hand-cards", "#table")
    tops = [page.locator(part).evaluate("(part) => part.getBoundingClientRect().top") for part in parts]
    assert tops == sorted(tops)
    assert tops[1] < 200


def test_a_swap_with_the_only_other_player_needs_one_key(open_table: TableForTwo) -> None:
    page, _ = open_table(hands=[["r7", "b1", "b2"], OTHER])
    page.keyboard.press("h")
    page.keyboard.press("Enter")
    shows(page, 1)
    expect(page.locator("#hand-cards .card")).to_have_count(2)


def test_a_turn_in_the_list_takes_two_keys(open_table: TableForTwo) -> None:
    page, _ = open_table(hands=[HAND, OTHER])
    page.locator("#hand-list").click()
    page.keyboard.press("h")
    assert focused(page) == "hand-cards"
    expect(page.get_by_role("option", name="Blue 1 does not match Red 3")).to_have_attribute("aria-disabled", "true")
    for width, height in ((390, 844), (1280, 720)):
        page.set_viewport_size({"width": width, "height": height})
        first = page.locator("#card-0").bounding_box()
        assert first is not None
        assert first["y"] < height / 2, (width, height)
    name = page.get_by_role("option", name="Red 5 fits").locator(".sr").bounding_box()
    assert name is not None
    assert name["width"] > 30  # the list shows names
    page.keyboard.press("Tab")
    expect(page.locator(f"{SELECTED} .sr")).to_have_text("Red 6")
    page.keyboard.press("Enter")
    shows(page, 1)
    assert focused(page) == "hand-cards"


def test_the_keys_are_a_dialog_beside_the_game(open_table: TableForTwo) -> None:
    page, _ = open_table(hands=[HAND, OTHER])
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    expect(page.locator("#keys-title")).to_be_focused()
    expect(page.locator("#hand")).to_be_in_viewport()
    page.keyboard.press("x")
    shows(page, 1)
    expect(page.locator("#keys-help")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#keys-help")).to_be_hidden()


def test_without_scripts_the_keys_are_shown_and_parts_have_headings(open_table: TableForTwo) -> None:
    page, _ = open_table(browser={"java_script_enabled": False})
    page.set_viewport_size({"width": 1440, "height": 900})
    for name in ("Your move", "Your hand", "Table", "Players", "Log"):
        expect(page.get_by_role("heading", level=2, name=name, exact=name != "Your hand")).to_have_count(1)
    page.locator("#keys").click()
    expect(page.locator("#keys-help")).to_be_visible()
    expect(page.locator("#keys-help")).to_contain_text("go to your first card that fits")


def at_hand(
    open_table: TableForTwo, hand: list[str], others: list[str] = OTHER, *, in_list: bool = True, **more: Any
) -> tuple[Page, Table]:
    """Open the game with the focus in Alice's hand, in a browser that records what it says."""
    page, table = open_table(script=RECORD_SPEECH, hands=[hand, others], **more)
    if in_list:
        page.locator("#hand-list").click()
    page.keyboard.press("h")
    return page, table


def is_on(page: Page, card: str, *, in_list: bool = True) -> None:
    """Wait until the keyboard is on this card of the list or of the fan."""
    expect(page.locator(f"{SELECTED if in_list else FOCUSED} .sr")).to_have_text(card)
    if in_list:
        selected = page.locator(SELECTED).get_attribute("id")
        assert page.locator("#hand-cards").get_attribute("aria-activedescendant") == selected


def hears_at(page: Page, key: str, text: str) -> None:
    """Press a key, and wait until it is answered with this text."""
    page.evaluate("window.spoken = []")
    page.keyboard.press(key)
    hears(page, text)


def test_a_drawn_card_is_selected_and_said_and_the_keys_say_what_to_do(open_table: TableForTwo) -> None:
    page, _ = at_hand(open_table, ["b1", "b2", "y9"], draw_pile=["r8"] * 9)
    page.keyboard.press("x")
    hears(page, "You draw Red 8. Play it.")  # No sentence names it again.
    is_on(page, "Red 8")
    page.keyboard.press("ArrowDown")
    is_on(page, "Yellow 9")
    for key in ("x", "Space"):
        pause(page)
        hears_at(page, key, "Nothing to draw now. Your turn. You drew Red 8: play it.")
    page.keyboard.press("h")
    is_on(page, "Red 8")
    page.keyboard.press("Enter")
    shows(page, 2)


@pytest.mark.parametrize("in_list", [True, False])
def test_the_keyboard_stays_on_its_card_when_the_hand_changes(open_table: TableForTwo, in_list: bool) -> None:
    owed: dict[str, Any] = {"discard_pile": ["r+2"], "pending": {"total": 2, "value": 2}}
    page, _ = at_hand(open_table, ["b1", "b2", "y9"], in_list=in_list, draw_pile=["r1"] * 9, **owed)
    page.keyboard.press("End")
    page.keyboard.press("x")
    shows(page, 1)
    expect(page.locator("#hand-cards .card")).to_have_count(5)
    is_on(page, "Blue 2", in_list=in_list)
    page.keyboard.press("Shift+N")
    expect(page.locator("#sort-number")).to_have_attribute("aria-current", "true")
    expect(page.locator("#hand-cards .card").nth(3).locator(".sr")).to_have_text("Blue 2")
    is_on(page, "Blue 2", in_list=in_list)


@pytest.mark.parametrize(
    ("in_list", "hand", "first", "said"),
    [
        (True, ["r5", "b1", "b2", "b9"], "b2", "bob: Red 2. Your turn. 1 of 3 fits: Blue 2."),
        (False, ["r5", "r6", "r7", "r8", "r9"], "r6", "Selected: Red 6. Your turn. 4 of 4 fit."),
    ],
)
def test_after_a_played_card_the_first_that_fits_is_selected_and_said_once(
    open_table: TableForTwo, in_list: bool, hand: list[str], first: str, said: str
) -> None:
    page, table = at_hand(open_table, hand, ["r2", "g3", "g6"], in_list=in_list)
    page.keyboard.press("Enter")
    shows(page, 1)
    play(table, 1, "play r2")
    hears(page, said)
    pause(page)
    page.keyboard.press("Enter")
    shows(page, 3)
    assert log_of(table)[-1] == f"0 play {first}"


@pytest.mark.parametrize(
    ("key", "hand", "said"),
    [
        ("End", ["b2", "b1", "y9"], "Your turn. 1 of 3 fits: Blue 2."),
        ("Home", ["b2", "b1", "y9"], "Selected: Yellow 9. Your turn."),
        ("Home", ["b1", "y9"], "Your turn. Nothing fits."),
    ],
)
def test_a_card_that_is_still_in_the_hand_is_said_again_if_another_one_fits_first(
    open_table: TableForTwo, key: str, hand: list[str], said: str
) -> None:
    page, table = at_hand(open_table, hand, ["r2", "g3", "g6"], turn=1)
    page.keyboard.press(key)
    play(table, 1, "play r2")
    hears(page, said)
    assert ("Selected" in " ".join(spoken(page))) == ("Selected" in said)


def test_of_two_cards_that_are_alike_the_one_that_is_left_is_not_chosen(open_table: TableForTwo) -> None:
    page, table = at_hand(open_table, ["r5", "r5", "b2"], ["rS", "bS", "b3", "g6"])
    page.keyboard.press("Enter")
    shows(page, 1)
    for card in ("rS", "bS", "b3"):
        play(table, 1, f"play {card}")
    hears(page, "Your turn. 1 of 2 fits: Blue 2.")
    is_on(page, "Blue 2")
    assert "Selected" not in " ".join(spoken(page))


@pytest.mark.parametrize("in_list", [True, False])
def test_h_while_others_move_does_not_choose_the_card_that_it_goes_to(open_table: TableForTwo, in_list: bool) -> None:
    page, table = at_hand(open_table, ["b2", "b1", "y9"], ["r2", "g3", "g6"], in_list=in_list, turn=1)
    is_on(page, "Yellow 9", in_list=in_list)
    play(table, 1, "play r2")
    hears(page, "bob: Red 2. Your turn. 1 of 3 fits: Blue 2.")
    is_on(page, "Blue 2", in_list=in_list)


def test_escape_closes_a_chooser(open_table: TableForTwo) -> None:
    page, _ = at_hand(open_table, ["r5", "b1", "W6"])
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.locator("#choose-r")).to_be_focused()
    expect(page.locator("#chooser")).to_have_accessible_description("bob draws 6 or stacks.")
    expect(page.locator(".htmx-settling")).to_have_count(0)
    page.keyboard.press("Escape")
    expect(page.locator("#chooser")).to_have_count(0)
    expect(page.locator("#hand-cards")).to_be_focused()
    assert version(page) == 0


def test_escape_says_that_a_drawn_card_must_be_played(open_table: TableForTwo) -> None:
    page, _ = at_hand(open_table, ["b1", "y9"], draw_pile=["W6"] * 9)
    page.keyboard.press("x")
    expect(page.locator("#choose-r")).to_be_focused()
    page.keyboard.press("Escape")
    hears(page, "You cannot choose another card. Which colour for Wild Draw Six?")
    expect(page.locator("#chooser")).to_have_count(1)


def test_each_key_without_effect_says_why(open_table: TableForTwo, new_page: NewPage, charlie: User) -> None:
    page, table = at_hand(open_table, ["r5", "b1"], turn=1)
    for key, why in (
        ("x", "Nothing to draw now. bob’s turn."),
        ("u", "No UNO to call and nobody to catch now."),
        ("f", "Nothing to challenge now."),
        ("r", "No colour to choose now."),
        ("b", "No colour to choose now."),
        ("Home", "First card."),
        ("ArrowUp", "First card."),
    ):
        hears_at(page, key, why)
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    hears(page, "Last card.")
    page.keyboard.press("Enter")
    expect(page.locator("#live-assertive")).to_contain_text("not your turn")
    watching = new_page(charlie, script=RECORD_SPEECH)
    load_game(watching, table.game)
    for key in ("h", "Shift+N"):
        hears_at(watching, key, "You hold no cards.")


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


def test_letters_work_on_keyboards_without_latin_letters(open_table: TableForTwo) -> None:
    page, _ = at_hand(open_table, ["W6", "b1", "b2"], in_list=False)
    for c, g, shift_n in LAYOUTS.values():
        pause(page)
        page.locator("#sort-color").click()
        expect(page.locator("#sort-color")).to_have_attribute("aria-current", "true")
        page.evaluate("window.spoken = []")
        type_on(page, c, "KeyC")
        hears(page, "Red 3.")
        type_on(page, shift_n, "KeyN", shift=True)
        expect(page.locator("#sort-number")).to_have_attribute("aria-current", "true")
        type_on(page, g, "KeyG")
        hears(page, "There is no stack.")
    pause(page)
    page.get_by_role("button", name="Wild Draw Six").press("Enter")
    expect(page.locator("#choose-g")).to_be_visible()
    pause(page)
    type_on(page, LAYOUTS["Greek"][1], "KeyG")
    shows(page, 1)
    expect(page.locator("#current-color")).to_contain_text("Green")


def test_on_a_keyboard_with_latin_letters_the_letter_counts(open_table: TableForTwo) -> None:
    page, _ = at_hand(open_table, ["r5", "b1", "b2"])
    for letter, code in (("j", "KeyC"), (".", "KeyE"), ("’", "KeyN"), ("é", "KeyD")):  # Dvorak, Bépo
        type_on(page, letter, code)
    type_on(page, "v", "Period")
    hears(page, "Red.")
    assert page.evaluate("window.spoken") == ["Red."]
