"""Play games against bots by keyboard in a browser, and measure what a screen reader would say and the keys pressed.

    PORT=8500 RATE_LIMITS=0 script/run
    .venv/bin/python -m bench.speech [--url http://127.0.0.1:8500] [--games 10]

Half of the games are played with the hand as buttons, half with the hand as a list. A turn is everything from the end
of the player's move to the end of the next one. The player listens to the end before a move. The command exits with 1
if an event is said twice, an important one is not said, the median turn has more than 3 announcements or 30 words, or a
turn takes on average more than 2.0 keys in the list or 2.5 with buttons.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.pauses import pause
from tests.browser.speech import RECORD_SPEECH, spoken
from tests.support.programs import CHROMIUM_FLAGS, CHROMIUM_NAMES, program

MOST_KEYS: Final = {"list": 2.0, "buttons": 2.5}
MOST_ANNOUNCEMENTS: Final = 3
MOST_WORDS: Final = 30
MOST_TURNS: Final = 400
LAST_WORDS: Final = 15_000
"""Milliseconds after the end of a game within which everything has been said."""
SILENCE: Final = 1_000
"""Milliseconds without an announcement after which a player who listens goes on."""
READING: Final = 25
"""Milliseconds that `announce.js` gives to each character of an announcement before the next one."""

RECORD_EVENTS: Final = """
window.told = {};
document.addEventListener("DOMContentLoaded", () => {
  document.body.addEventListener("htmx:afterSwap", () => {
    for (const event of document.querySelectorAll("#events li")) {
      window.told[event.dataset.key] = [event.firstElementChild.textContent, "kept" in event.dataset];
    }
  });
});
"""
STATE: Final = """() => {
  const all = [...document.querySelectorAll("#hand-cards .card")];
  const at = all.findIndex((card) => card === document.activeElement || card.getAttribute("aria-selected") === "true");
  const fits = all.map((card) => card.getAttribute("aria-disabled") !== "true");
  return {
    version: document.getElementById("main").dataset.version,
    over: Boolean(document.getElementById("over")),
    mine: Boolean(document.querySelector("#draw, #play-drawn, #chooser") || fits.some(Boolean)),
    chooser: document.querySelector("#chooser .swatch[data-key]")?.dataset.key ?? "",
    other: Boolean(document.querySelector("#chooser")),
    call: Boolean(document.querySelector("#uno:not(:checked)")) && all.length === 2,
    inHand: Boolean(document.activeElement.closest("#hand-cards")),
    here: at >= 0 && fits[at],
    after: fits.slice(at + 1).includes(true),
    before: fits.slice(0, Math.max(at, 0)).includes(true),
    drawn: Boolean(document.getElementById("play-drawn")),
  };
}"""


@dataclass
class Figures:
    """What was measured in the games with one rendering of the hand."""

    keys: list[int] = field(default_factory=list)
    announcements: list[int] = field(default_factory=list)
    words: list[int] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


def play_game(browser: Browser, url: str, rendering: str, figures: Figures) -> None:
    """Play one game against bots to its end."""
    context = browser.new_context(base_url=url)
    page = context.new_page()
    page.add_init_script(RECORD_SPEECH)
    page.add_init_script(RECORD_EVENTS)
    page.goto("/")
    page.get_by_role("button", name="Play now").click()
    page.locator("#hand-cards").wait_for()
    if rendering == "list":
        page.locator("#hand-list").click()
    page.keyboard.press("h")
    keys = heard = 0
    for _ in range(MOST_TURNS):
        state = wait_for_turn(page)
        if state["over"]:
            break
        if not state["other"]:
            listen(page)
        keys += press(page, state)
        after = wait_for_change(page, state)
        if after["version"] == state["version"] and not after["over"]:
            continue  # a chooser is open
        said = spoken(page)
        new, heard = said[heard:], len(said)
        figures.keys.append(keys)
        figures.announcements.append(len(new))
        figures.words.append(sum(len(text.split()) for text in new))
        keys = 0
    else:
        figures.faults.append(f"a game with {rendering} did not end")
    page.wait_for_timeout(LAST_WORDS)
    figures.faults += faults_of(page)
    context.close()


def wait_for_turn(page: Page) -> dict[str, Any]:
    """Wait until the player must move or the game is over, and return the state of the page."""
    while True:
        state: dict[str, Any] = page.evaluate(STATE)
        if state["over"] or state["mine"]:
            return state
        page.wait_for_timeout(50)


def listen(page: Page) -> None:
    """Wait until everything has been said: who moves at once never hears that it is their turn."""
    heard, said = None, spoken(page)
    while heard != said:
        page.wait_for_timeout(SILENCE + READING * len(said[-1] if said else ""))
        heard, said = said, spoken(page)


def wait_for_change(page: Page, before: dict[str, Any]) -> dict[str, Any]:
    """Wait until the page shows the answer: another version, a chooser, or the end of the game."""
    for _ in range(600):
        state: dict[str, Any] = page.evaluate(STATE)
        if state["over"] or state["version"] != before["version"] or state["other"] != before["other"]:
            return state
        page.wait_for_timeout(20)
    raise TimeoutError(f"A key changed nothing for 12 seconds: {before}")


def press(page: Page, state: dict[str, Any]) -> int:
    """Press the keys of a move, or those that open a chooser, and return how many."""
    went = 0
    if not state["other"] and not state["drawn"] and not state["inHand"]:
        page.keyboard.press("h")
        state, went = page.evaluate(STATE), 1
    if state["chooser"]:
        keys = [state["chooser"]]
    elif state["other"] or state["drawn"]:
        keys = ["Enter"]  # the focus is on the first choice, or on the drawn card
    else:
        keys = ["u"] if state["call"] else []
        if state["here"]:
            keys.append("Enter")
        elif state["after"]:
            keys += ["Tab", "Enter"]
        elif state["before"]:
            keys += ["Shift+Tab", "Enter"]
        else:
            keys.append("x")
    pause(page)
    for key in keys:
        page.keyboard.press(key)
    return went + len(keys)


def faults_of(page: Page) -> list[str]:
    """Return the important events that were not said, and the events that were said more often than they happened."""
    said = " ".join(spoken(page))
    events: list[tuple[str, bool]] = list(page.evaluate("window.told").values())
    happened = Counter(text for text, _ in events if text)
    important = Counter(text for text, kept in events if kept)
    # A sentence can be a part of another one, as "You draw 1 card." is not, but "Bob wins." could be.
    parts = {
        text: sum(count for other, count in happened.items() if other != text and text in other) for text in happened
    }
    found = [f"not said: {text}" for text, count in important.items() if said.count(text) < count]
    found += [f"said twice: {text}" for text, count in happened.items() if said.count(text) > count + parts[text]]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="http://127.0.0.1:8500")
    parser.add_argument("--games", type=int, default=10)
    arguments = parser.parse_args()
    results = {rendering: Figures() for rendering in MOST_KEYS}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program(CHROMIUM_NAMES), args=CHROMIUM_FLAGS)
        for number in range(arguments.games):
            rendering = tuple(results)[number % len(results)]
            play_game(browser, arguments.url, rendering, results[rendering])
        browser.close()
    return max(report(rendering, figures) for rendering, figures in results.items() if figures.keys)


def report(rendering: str, figures: Figures) -> int:
    """Print the figures of a rendering and return 1 if one of them is over its limit."""
    keys, announcements = statistics.mean(figures.keys), statistics.median(figures.announcements)
    words = statistics.median(figures.words)
    print(f"{rendering}: {len(figures.keys)} turns, {len(figures.faults)} faults")
    print(f"  {keys:.2f} keys a turn (at most {MOST_KEYS[rendering]})")
    print(f"  at the median {announcements:g} announcements (at most {MOST_ANNOUNCEMENTS}) a turn")
    print(f"  at the median {words:g} words (at most {MOST_WORDS}) a turn")
    for fault in figures.faults:
        print(f"  {fault}")
    over = keys > MOST_KEYS[rendering] or announcements > MOST_ANNOUNCEMENTS or words > MOST_WORDS
    return int(over or bool(figures.faults))


if __name__ == "__main__":
    sys.exit(main())
