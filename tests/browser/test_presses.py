"""One gesture makes one move: a press soon after another, or soon after a change of what is pressed, does nothing."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial, wraps
from typing import Any, Final, ParamSpec

import pytest
from django.utils import timezone
from playwright.sync_api import Page, Route, expect

from accounts.models import User
from games.actions import lobby
from games.queries import Table
from tests.browser.game_page import NewPage, TableForTwo, play, shows, version
from tests.browser.pauses import BETWEEN_PRESSES, TO_READ, pause
from tests.support.tables import log_of

SKIPS: Final = ["r1", "r2", "r5", *["rS"] * 8, "b2"]
"""A hand of twelve: with two players, whoever plays a Skip is on turn again."""
OTHERS: Final = ["r+2", "g3", "r6"]
OWES_TWO: Final[dict[str, Any]] = {"pending": {"total": 2, "value": 2}, "discard_pile": ["r+2"]}
TRIES: Final = 5
"""A gesture is tried so often, because a busy machine may press too late."""

Press = Callable[[], object]
OpenHand = Callable[..., tuple[Page, Table]]
Args = ParamSpec("Args")


@pytest.fixture
def open_hand(open_table: TableForTwo) -> OpenHand:
    """A function that opens a table where Alice has this hand."""
    return lambda hand=SKIPS, **more: open_table(hands=[hand, OTHERS], **more)


def middle(page: Page, control: str) -> tuple[float, float]:
    """Return a place on a control where the next card does not cover it."""
    box = page.locator(control).bounding_box()
    assert box is not None
    return box["x"] + 10, box["y"] + box["height"] / 2


def by_pointer(press: Callable[[Page, float, float], object]) -> Callable[[Page, str], Press]:
    return lambda page, control: partial(press, page, *middle(page, control))


def by_key(name: str) -> Callable[[Page, str], Press]:
    def prepare(page: Page, control: str) -> Press:
        page.locator(control).focus()
        return lambda: page.keyboard.press(name)

    return prepare


def in_the_list(page: Page, control: str) -> Press:
    page.locator("#hand-list").click()
    page.keyboard.press("h")
    page.keyboard.press("Home")
    for _ in range(int(control.removeprefix("#card-"))):
        page.keyboard.press("ArrowDown")
    return lambda: page.keyboard.press("Enter")


INPUTS: Final[dict[str, Callable[[Page, str], Press]]] = {
    "mouse": by_pointer(lambda page, x, y: page.mouse.click(x, y)),
    "touch": by_pointer(lambda page, x, y: page.touchscreen.tap(x, y)),
    "Enter": by_key("Enter"),
    "Space": by_key("Space"),
    "assistive technology": lambda page, control: lambda: page.locator(control).evaluate("(card) => card.click()"),
    "the list": in_the_list,
}
"""Each makes a function that presses the place of a control, whatever is there at the second press."""


class TooLate(Exception):
    """The machine was too busy for a second press."""


def in_time(gesture: Callable[Args, None]) -> Callable[Args, None]:
    """Repeat a test or a part of it until it is not too late."""

    @wraps(gesture)
    def repeated(*args: Args.args, **kwargs: Args.kwargs) -> None:
        for _ in range(TRIES - 1):
            with suppress(TooLate):
                return gesture(*args, **kwargs)
        return gesture(*args, **kwargs)

    return repeated


def press_again(press: Press, apart: int, *, times: int = 1, before: int = BETWEEN_PRESSES) -> None:
    """Press, and so many times again, each `apart` ms after the last. Raise `TooLate` if one was not well `before`."""
    press_at = time.monotonic()
    press()
    for _ in range(times):
        time.sleep(max(0, press_at + apart / 1000 - time.monotonic()))
        last, press_at = press_at, time.monotonic()
        press()
        if time.monotonic() - last > before / 1000 - 0.05:
            raise TooLate


def note_changes(page: Page) -> None:
    """Let the page remember when it next changes, for `was_soon`."""
    # Only once: a press that came too late and counted changes the page again.
    page.evaluate("""() => document.addEventListener(
        "htmx:afterSwap", () => { window.changedAt = performance.now(); }, { once: true })""")


def was_soon(page: Page) -> None:
    """Raise `TooLate` unless the change that `note_changes` waited for was less than 350 ms ago."""
    if page.evaluate("performance.now() - window.changedAt >= 350"):
        raise TooLate


def press_key_after_move(page: Page, key: str, table: Table) -> None:
    """Let Bob play red 6, and press a key as soon as the page shows that."""
    note_changes(page)
    before = version(page)
    play(table, 1, "play r6")
    shows(page, before + 1)
    page.keyboard.press(key)
    was_soon(page)


def stays_at(page: Page, number: int) -> None:
    """Wait until the page shows this version, and long enough for a further move."""
    shows(page, number)
    pause(page)
    assert version(page) == number


def test_a_double_press_plays_one_card(
    new_page: NewPage, open_hand: OpenHand, alice: User, subtests: pytest.Subtests
) -> None:
    User.objects.filter(pk=alice.pk).update(confirm=User.Confirm.NEVER)
    page = new_page(alice, has_touch=True)

    @in_time
    def attempt(by: str, apart: int) -> None:
        open_hand(page=page)
        press = INPUTS[by](page, "#card-5")
        press_again(press, apart)
        stays_at(page, 1)
        press()
        shows(page, 2)

    # Inputs other than the mouse share its code.
    for by, apart in (("mouse", 40), ("mouse", 500), *((by, 200) for by in INPUTS if by != "mouse")):
        with subtests.test(by, apart=apart):
            attempt(by, apart)


def test_a_burst_of_presses_plays_one_card(new_page: NewPage, open_hand: OpenHand, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(confirm=User.Confirm.NEVER)
    page = new_page(alice, has_touch=True)

    @in_time
    def attempt(by: str) -> None:
        open_hand(page=page)
        press = INPUTS[by](page, "#card-5")
        press_again(press, 300, times=3)
        stays_at(page, 1)
        press()
        shows(page, 2)

    for by in ("touch", "Enter"):
        attempt(by)


def test_a_burst_plays_no_card_whose_sentence_came_late(new_page: NewPage, open_hand: OpenHand, alice: User) -> None:
    page, held = new_page(alice, has_touch=True), list[Route]()

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/cards/", hold)

    @in_time
    def attempt() -> None:
        open_hand(page=page)
        press = INPUTS["touch"](page, "#card-5")
        press()
        pause(page, TO_READ)
        held.pop().continue_()
        expect(page.locator("#lifted")).to_contain_text("Press again")
        press_again(press, 300, before=400)
        stays_at(page, 0)

    attempt()


def test_a_held_key_plays_one_card(open_hand: OpenHand) -> None:
    page, _ = open_hand()
    page.locator("#card-5").focus()
    for _ in range(20):
        page.keyboard.down("Enter")
        page.wait_for_timeout(50)
    page.keyboard.up("Enter")
    stays_at(page, 1)


def test_a_double_press_of_a_button_makes_one_move(new_page: NewPage, open_hand: OpenHand, alice: User) -> None:
    page = new_page(alice, has_touch=True)

    @in_time
    def attempt(by: str) -> None:
        open_hand(["b1", "b2", "y9"], page=page)
        note_changes(page)
        press = INPUTS[by](page, "#draw")
        press()
        expect(page.locator("#play-drawn")).to_be_visible()  # at the place of the other button
        press()
        was_soon(page)
        stays_at(page, 1)
        pause(page, TO_READ - BETWEEN_PRESSES)
        INPUTS[by](page, "#play-drawn")()
        shows(page, 2)

    for by in ("mouse", "touch", "Enter"):
        attempt(by)


def test_a_slow_double_press_plays_nothing_else_at_its_place(
    new_page: NewPage, open_hand: OpenHand, alice: User
) -> None:
    page = new_page(alice, has_touch=True)

    @in_time
    def attempt(control: str, moves: int) -> None:
        open_hand(["r1", "b1", "y9", "y8", "y7", "y6"] if moves == 0 else ["b1", "b2", "y9"], page=page)
        press = INPUTS["touch"](page, control)
        press_again(press, 680, before=TO_READ)
        stays_at(page, moves)
        pause(page, TO_READ - BETWEEN_PRESSES)
        press()
        shows(page, moves + 1)

    attempt("#draw", 1)
    attempt(".card:not([aria-disabled])", 0)  # lifts it


@in_time
def test_a_key_pressed_twice_makes_one_move_and_says_no_reason(open_hand: OpenHand) -> None:
    page, _ = open_hand(**OWES_TWO)
    press_again(lambda: page.keyboard.press("x"), 300)
    stays_at(page, 1)
    expect(page.locator("#live-polite")).not_to_contain_text("nothing to draw")


@in_time
def test_a_double_press_opens_a_chooser_and_chooses_nothing(open_hand: OpenHand) -> None:
    page, _ = open_hand(["W6", "b1", "b2"])
    note_changes(page)
    page.get_by_role("button", name="Wild Draw Six").press("Enter")
    expect(page.locator("#choose-r")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("g")
    was_soon(page)
    stays_at(page, 0)
    page.keyboard.press("g")
    shows(page, 1)
    expect(page.locator("#current-color dd")).to_contain_text("Green")


def test_a_call_of_uno_and_a_play_follow_at_once(open_hand: OpenHand) -> None:
    page, _ = open_hand(["r5", "b1"])
    page.locator("#card-0").focus()
    page.keyboard.press("u")
    page.keyboard.press("Enter")
    shows(page, 1)
    expect(page.locator("#seat-0")).to_contain_text("UNO")


@in_time
def test_uno_is_called_also_when_the_turn_has_just_come(open_hand: OpenHand) -> None:
    """The card counts at once, because it has not changed, so it would be played without the call."""
    page, table = open_hand(["r5", "b1"], turn=1)
    press_key_after_move(page, "u", table)
    expect(page.locator("#uno")).to_be_checked()


@in_time
def test_enter_plays_no_card_that_has_just_been_selected(open_hand: OpenHand) -> None:
    """The card has not changed, but Enter would have played another one before."""
    page, table = open_hand(["r5", "y9", "g4", "b6"])
    page.locator("#card-0").focus()
    page.keyboard.press("Enter")
    shows(page, 1)
    pause(page)
    press_key_after_move(page, "Enter", table)
    stays_at(page, 2)


@in_time
def test_a_button_that_has_just_come_under_the_pointer_does_nothing(open_hand: OpenHand) -> None:
    page, _ = open_hand(**OWES_TWO)
    x, y = middle(page, "#draw")
    _, table = open_hand(page=page, turn=1)
    note_changes(page)
    expect(page.locator("#draw")).to_have_count(0)
    play(table, 1, "play r+2")
    expect(page.get_by_role("button", name="Take 2")).to_be_visible()
    page.mouse.click(x, y)
    was_soon(page)
    stays_at(page, 1)
    page.mouse.click(x, y)
    shows(page, 2)


def test_another_players_move_does_not_stop_a_press_of_the_same_card(open_hand: OpenHand) -> None:
    page, table = open_hand(["r5", "b1", "b2"], turn=1)
    x, y = middle(page, "#card-0")
    play(table, 1, "play r6")
    shows(page, 1)
    page.mouse.click(x, y)
    shows(page, 2)
    assert log_of(table)[-1] == "0 play r5"


@in_time
def test_a_card_that_sorting_has_brought_under_the_pointer_does_nothing(open_hand: OpenHand) -> None:
    page, _ = open_hand(["b1", "b2", "r1", "r9"])
    note_changes(page)
    x, y = middle(page, "#card-1")
    expect(page.locator("#card-1 .sr")).to_have_text("Red 9")
    page.keyboard.press("Shift+N")
    expect(page.locator("#card-1 .sr")).to_have_text("Blue 1")
    page.mouse.click(x, y)
    was_soon(page)
    pause(page)
    expect(page.locator("#refusal")).to_have_count(0)
    page.mouse.click(x, y)
    expect(page.locator("#refusal")).to_contain_text("Blue 1 does not match")


@in_time
def test_a_double_press_does_not_remove_the_reason_of_a_refusal(open_hand: OpenHand) -> None:
    page, _ = open_hand(["r1", "b2"])
    note_changes(page)
    x, y = middle(page, "#card-1")
    page.mouse.click(x, y)
    expect(page.locator("#refusal")).to_be_visible()
    page.mouse.click(x, y)
    was_soon(page)
    pause(page)
    expect(page.locator("#refusal")).to_be_visible()


def test_a_page_that_a_press_has_led_to_takes_none_at_once(open_hand: OpenHand) -> None:
    page, table = open_hand()
    page.add_init_script("""addEventListener("DOMContentLoaded", () => {
        setTimeout(() => document.getElementById("card-5")?.click(), 50);
    });""")
    page.goto("/")
    page.locator(".button.big").click()
    expect(page.locator("#hand-cards")).to_be_visible()
    stays_at(page, 0)
    page.goto(table.game.get_absolute_url())  # by its address, so the player is looking at it
    shows(page, 1)


def test_next_game_goes_one_game_on_by_two_presses(open_hand: OpenHand) -> None:
    page, first = open_hand()
    open_hand(page=page)
    open_hand(page=page)
    page.add_init_script("""addEventListener("DOMContentLoaded", () => setTimeout(() => {
        const press = new MouseEvent("click", { bubbles: true, cancelable: true, detail: 1 });
        document.getElementById("next-game").dispatchEvent(press);
    }, 50));""")
    page.goto(first.game.get_absolute_url())
    page.wait_for_url(lambda url: first.game.code not in url)
    second = page.url
    pause(page)
    assert page.url == second


def test_two_presses_send_a_form_that_leads_to_another_page_once(new_page: NewPage, alice: User) -> None:
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=3), now=timezone.now())
    page, sent = new_page(), list[str]()
    page.goto(table.game.get_absolute_url())
    page.get_by_label("Your name").fill("Ann")
    page.on("request", lambda request: sent.append(request.url) if request.method == "POST" else None)
    page.get_by_role("button", name="Sit down").evaluate(
        "(button) => { button.click(); setTimeout(() => button.click(), 20); }"
    )
    expect(page.get_by_role("button", name="Leave the table")).to_be_visible()
    assert len(sent) == 1


def test_a_page_without_scripts_takes_each_press(open_hand: OpenHand) -> None:
    page, _ = open_hand(browser={"java_script_enabled": False})
    for number in (1, 2):
        page.locator("#card-5").click()
        shows(page, number)


def test_keys_that_only_speak_are_never_too_fast(open_hand: OpenHand) -> None:
    page, _ = open_hand(["r5", "b1"])
    for key in "cve":
        page.keyboard.press(key)
    for said in ("Red 3.", "Red.", "You: 2 cards"):
        expect(page.locator("#live-polite")).to_contain_text(said)
