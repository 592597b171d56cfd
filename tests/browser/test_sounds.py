"""Sounds and the vibration of an open game."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from games.queries import Table
from tests.browser.game_page import TableForTwo, play, shows
from tests.browser.pauses import pause
from tests.browser.speech import MOST_WAITING

RECORD = """
window.tones = [];
window.vibrations = [];
const start = OscillatorNode.prototype.start;
OscillatorNode.prototype.start = function (at) {
  window.tones.push(this.frequency.value);
  return start.call(this, at);
};
const ramp = AudioParam.prototype.linearRampToValueAtTime;
window.loudest = 0;
AudioParam.prototype.linearRampToValueAtTime = function (value, at) {
  window.loudest = Math.max(window.loudest, value);
  return ramp.call(this, value, at);
};
navigator.vibrate = (pattern) => window.vibrations.push(pattern);
"""
NOT_PRESSED = "Object.defineProperty(navigator, 'userActivation', {value: {hasBeenActive: false}});"
TURN = [587, 784]
CARD = [480]
TICK = 1400
SETTINGS = "#browser-settings"
Listening = Callable[..., tuple[Page, Table]]


@pytest.fixture
def listening(open_table: TableForTwo) -> Listening:
    """A function that opens a table, where Bob is on turn, in a browser that records tones and vibrations."""
    position = {"hands": [["r5", "r6", "b2"], ["r4", "r3", "g4", "g5"]], "turn": 1}
    return lambda **more: open_table(**{**position, "script": RECORD, **more})


def choose(page: Page, label: str, value: str) -> None:
    """Choose a setting of this browser."""
    page.evaluate(f"document.querySelector('{SETTINGS}').open = true")
    page.locator(SETTINGS).get_by_label(label, exact=True).select_option(value)


def turn_on(page: Page) -> None:
    """Press the button in the header."""
    page.get_by_role("button", name="Sound", exact=True).click()


def tones(page: Page, count: int) -> list[float]:
    """Wait until `count` tones have begun, and return the frequencies of all."""
    wait_for(page, f"window.tones.length >= {count}")
    found: list[float] = page.evaluate("window.tones.map(Math.round)")
    return found


def wait_for(page: Page, condition: str) -> None:
    """Wait until a condition in JavaScript is true. Playwright's own way needs `unsafe-eval`."""
    end = time.monotonic() + MOST_WAITING / 1000
    while not page.evaluate(condition):
        assert time.monotonic() < end, condition
        page.wait_for_timeout(20)


def test_sounds_are_off_until_they_are_chosen(listening: Listening) -> None:
    page, table = listening()
    page.locator("#headline").click()
    with page.expect_request("**/sounds.js"):
        play(table, 1, "play r4")
    shows(page, 1)
    wait_for(page, "window.vibrations.length === 1")
    assert page.evaluate("window.tones") == []


def test_a_chosen_sound_is_heard_at_once_and_at_each_event(listening: Listening) -> None:
    page, table = listening()
    turn_on(page)
    assert tones(page, 2) == TURN
    play(table, 1, "play r4")
    shows(page, 1)
    assert tones(page, 5) == [*TURN, *CARD, *TURN]
    page.reload()
    page.locator("#headline").click()
    page.get_by_role("button", name="Red 5").click()
    assert tones(page, 1) == CARD
    play(table, 1, "play r3")
    assert tones(page, 4) == [*CARD, *CARD, *TURN]


def test_sounds_are_offered_once_at_the_first_stack(listening: Listening) -> None:
    page, table = listening(hands=[["r5", "r6", "b+2"], ["r+2", "r3", "r9", "g5"]])
    question = page.get_by_role("group", name="Sound")
    expect(question).to_be_hidden()
    play(table, 1, "play r+2")
    expect(page.get_by_role("button", name="No tips")).to_be_visible()
    pause(page)
    page.get_by_role("button", name="No tips").click()
    expect(question).to_be_visible()
    page.reload()
    page.wait_for_load_state("networkidle")
    expect(question).to_be_hidden()
    assert page.evaluate("localStorage.getItem('sounds')") == "off"
    page.evaluate("localStorage.clear()")
    page.reload()
    question.get_by_role("button", name="Turn on").click()
    expect(question).to_be_hidden()
    assert tones(page, 2) == TURN
    turn_on(page)
    expect(page.locator("#sound")).to_have_attribute("aria-pressed", "false")


def test_a_roulette_ticks_with_each_card(listening: Listening) -> None:
    page, table = listening(
        phase="choose_color", discard_pile=["r4", "WC"], color=None, draw_pile=["b9", "g1", "y1", "b8", "r1", "r2"]
    )
    turn_on(page)
    tones(page, 2)
    play(table, 1, "color g")
    assert tones(page, 6) == [*TURN, TICK, TICK, *TURN]


def test_the_volume_is_chosen_and_kept(listening: Listening) -> None:
    page, _ = listening()
    turn_on(page)
    tones(page, 2)
    assert page.evaluate("window.loudest") == pytest.approx(0.1)
    assert page.evaluate("window.vibrations") == []
    page.locator(f"{SETTINGS} > summary").click()
    volume = page.locator(SETTINGS).get_by_label("Volume")
    volume.focus()
    page.keyboard.press("End")
    tones(page, 4)
    assert page.evaluate("window.loudest") == pytest.approx(0.4)
    page.reload()
    expect(page.locator("#volume")).to_have_value("100")
    expect(page.get_by_role("button", name="Sound")).to_have_attribute("aria-pressed", "true")


def test_a_vibration_can_be_switched_off(listening: Listening) -> None:
    page, table = listening()
    choose(page, "Vibration on my turn", "off")
    with page.expect_request("**/sounds.js") as asked:
        play(table, 1, "play r4")
    shows(page, 1)
    asked.value.response()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.vibrations") == []


def test_nothing_sounds_before_a_press(listening: Listening) -> None:
    script = f"{RECORD} localStorage.setItem('sounds', 'on'); {NOT_PRESSED}"
    page, table = listening(script=script)
    with page.expect_request("**/sounds.js") as asked:
        play(table, 1, "play r4")
    asked.value.response()
    shows(page, 1)
    page.wait_for_load_state("networkidle")
    assert page.evaluate("[window.tones, window.vibrations]") == [[], []]


def test_a_turn_that_goes_on_is_told_once(listening: Listening) -> None:
    hands = [["r5", "r6", "b2", "b3"], ["r4", "r3", "g4", "g5"]]
    page, table = listening(hands=hands, draw_pile=["r7", "r8", "b4", "b5"], rules={"preset": "classic"})
    page.locator("#headline").click()
    play(table, 1, "play r4")
    wait_for(page, "window.vibrations.length === 1")
    pause(page)
    page.locator("#draw").click()
    expect(page.locator("#play-drawn")).to_be_visible()
    page.wait_for_load_state("networkidle")
    assert page.evaluate("window.vibrations.length") == 1
