"""Why a press did nothing is said where the player pressed, in view, and once."""

from __future__ import annotations

from typing import Any, Final

from playwright.sync_api import Locator, Page, ViewportSize, expect

from tests.browser.conftest import Visitors
from tests.browser.game_page import NewPage, load_game, play, shows, version
from tests.browser.pauses import pause
from tests.browser.places import MANY, Cast
from tests.browser.test_axe import violations
from tests.browser.test_connection import DESK, SAID
from tests.browser.test_layout import PHONE
from tests.support.waiting import until

WINDOWS: Final[dict[str, ViewportSize]] = {
    "phone": PHONE, "small phone": {"width": 320, "height": 568}, "phone on its side": {"width": 844, "height": 390},
    "desk": DESK,
}  # fmt: skip
NEAR: Final = 16
"""The most px between the sentence and what was pressed, of which it may cover a part at the edge of a window."""
GAPS: Final = """([one, other]) => {
    const [a, b] = [one, other].map((element) => element.getBoundingClientRect());
    return [Math.max(a.top - b.bottom, b.top - a.bottom), Math.max(a.left - b.right, b.left - a.right)];
}"""


def stands_at(page: Page, sentence: Locator, control: Locator) -> None:
    """Assert that this sentence is in view, beside this control."""
    expect(sentence).to_be_visible()
    expect(sentence).to_be_in_viewport(ratio=1)
    gaps = page.evaluate(GAPS, [sentence.element_handle(), control.element_handle()])
    assert max(gaps) <= NEAR, gaps


def spoken(page: Page) -> list[str]:
    return [" ".join(text.split()) for text in page.evaluate("window.said")]


def is_spoken(page: Page, sentence: str) -> None:
    """Wait until a live region says this, and long enough for a repetition."""
    until("spoken", lambda: sentence in spoken(page))
    page.wait_for_timeout(300)


def press(control: Locator) -> None:
    """Press a control. A part of a card in the hand may be covered by the next card."""
    pause(control.page)
    control.evaluate("(button) => button.click()")


def test_a_refused_card_says_why_beside_it(new_page: NewPage, cast: Cast) -> None:
    page = new_page(cast.alice, script=SAID)
    load_game(page, cast.table(MANY).game)
    for window in ("small phone", "phone on its side"):
        page.set_viewport_size(WINDOWS[window])
        page.evaluate("window.said = []")
        for card in (page.locator("#card-4"), page.locator("#card-12")):
            press(card)
            sentence = page.locator("#refusal", has_text="does not match")
            stands_at(page, sentence, card)
            said = " ".join((sentence.text_content() or "").split())
            is_spoken(page, said)
            assert spoken(page).count(said) == 1
        if window == "small phone":
            assert violations(page) == []
        page.keyboard.press("Escape")
        expect(sentence).to_have_count(0)


def test_a_refusal_goes_at_the_next_press_and_at_the_next_update(new_page: NewPage, cast: Cast) -> None:
    table = cast.table(MANY)
    page = new_page(cast.alice, viewport=PHONE)
    load_game(page, table.game)
    refusal = page.locator("#refusal")
    press(page.locator("#card-4"))
    expect(refusal).to_be_visible()
    page.locator("#headline").click()
    expect(refusal).to_have_count(0)
    press(page.locator("#card-4"))
    expect(refusal).to_be_visible()
    play(table, cast.alice, "play r3")
    shows(page, table.game.version + 1)
    expect(refusal).to_have_count(0)


def test_a_refusal_stays_at_its_card_when_the_page_scrolls(new_page: NewPage, cast: Cast) -> None:
    page = new_page(cast.alice, viewport=DESK)
    load_game(page, cast.table(MANY).game)
    press(page.locator("#card-4"))
    page.locator("#refusal").wait_for()
    page.mouse.wheel(0, 120)
    page.wait_for_function("() => window.scrollY > 50")
    stands_at(page, page.locator("#refusal"), page.locator("#card-4"))


def test_a_late_press_says_at_the_same_card_that_the_game_has_moved_on(new_page: NewPage, cast: Cast) -> None:
    table = cast.table(MANY)
    page = new_page(cast.alice, viewport=PHONE)
    page.route_web_socket("**/ws/**", lambda route: None)  # this page is told of nothing
    load_game(page, table.game)
    play(table, cast.alice, "play r3")
    before = version(page)
    press(page.locator("#card-1"))
    shows(page, before + 1)
    red_seven = page.locator("#hand-cards .card", has_text="Red 7")
    stands_at(page, page.locator("#refusal", has_text="The game has moved on"), red_seven)


ANSWERS: Final[dict[str, dict[str, Any]]] = {
    "forbidden": {
        "status": 403,
        "body": "<!doctype html><main id=main><p class=lead>This page is out of date.</p></main>",
    },
    "too often": {
        "status": 429,
        "body": "<!doctype html><main id=main><p class=lead>Try again in 9 seconds.</p></main>",
    },
    "broken": {"status": 502, "body": "<html>Bad gateway</html>"},
}
SENTENCES: Final = {
    "forbidden": "This page is out of date.",
    "too often": "Try again in 9 seconds.",
    "broken": "The server couldn’t do that (error 502). Reload the page.",
}


def test_an_error_page_is_summed_up_at_the_button(visitors: Visitors, site: str, cast: Cast) -> None:
    page = visitors(cast.alice, script=SAID)
    load_game(page, cast.table(MANY).game)
    for window, answer in (*(("phone", answer) for answer in ANSWERS), ("desk", "forbidden")):
        page.set_viewport_size(WINDOWS[window])
        page.evaluate("window.said = []")
        page.unroute_all()
        page.route("**/move/", lambda route: route.fulfill(content_type="text/html; charset=utf-8", **ANSWERS[answer]))  # noqa: B023
        pause(page)
        page.locator("#draw").click()
        stands_at(page, page.locator("#trouble", has_text=SENTENCES[answer]), page.locator("#draw"))
        is_spoken(page, SENTENCES[answer])
        assert spoken(page) == [SENTENCES[answer]]
    complaints = [line for line in visitors.leave() if "status of" not in line and "Status Error Code" not in line]
    assert complaints == []


def test_without_an_answer_the_card_says_so_until_the_next_press(visitors: Visitors, site: str, cast: Cast) -> None:
    table = cast.table(MANY)
    page = visitors(cast.alice, viewport=PHONE)
    load_game(page, table.game)
    page.context.set_offline(True)
    card = page.locator("#card-0")
    press(card)
    stands_at(page, page.locator("#trouble", has_text="The server didn’t answer. Try again"), card)
    page.context.set_offline(False)
    press(card)
    shows(page, table.game.version + 1)
    expect(page.locator("#trouble")).to_be_hidden()
    assert [line for line in visitors.leave() if "net::ERR_" not in line and "htmx:" not in line] == []
