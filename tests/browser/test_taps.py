"""Taps on cards and on the draw pile, what a card does, and the places of the buttons."""

from __future__ import annotations

from typing import Any, Final

from playwright.sync_api import Locator, Page, Position, Request, Route, ViewportSize, expect

from accounts.models import User
from tests.browser.game_page import NewPage, TableForTwo, focused, open_game, shows, version
from tests.browser.pauses import TO_READ, pause
from tests.browser.places import MANY, STACK, Cast
from tests.support.tables import TWO_HANDS, log_of, table_at

PHONE: Final[ViewportSize] = {"width": 390, "height": 844}
TOUCH: Final[dict[str, Any]] = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
BOXES: Final = "(all) => all.map((e) => [e.id, e.getBoundingClientRect().toJSON()])"
EDGE: Final[Position] = {"x": 10, "y": 40}
HAND: Final = ["r1", "r5", "r+2", "W6", "b2", "g8"]


def card(page: Page, name: str) -> Locator:
    return page.locator("#hand-cards .card").filter(has=page.get_by_text(name, exact=True))


def tap(control: Locator) -> None:
    """Tap on the left side, which no other card covers, as late as a press counts."""
    pause(control.page, TO_READ)
    control.tap(position=EDGE, force=True)


class Finger:
    """A finger on a page."""

    def __init__(self, page: Page) -> None:
        self._client = page.context.new_cdp_session(page)

    def put_on(self, control: Locator) -> None:
        box = control.bounding_box()
        assert box is not None
        self._at = box["x"] + 10, box["y"] + 40
        self._send("touchStart", 0)

    def lift(self) -> None:
        self._client.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})

    def flick(self, control: Locator, lasting: float = 0) -> None:
        """Move upwards from a control, in so many milliseconds."""
        self.put_on(control)
        for up in (20, 40, 60):
            control.page.wait_for_timeout(lasting / 3)
            self._send("touchMove", up)
        self.lift()

    def _send(self, kind: str, up: int) -> None:
        x, y = self._at
        point = {"x": x, "y": y - up}
        self._client.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": [point]})


def plays(page: Page, number: int) -> None:
    """Wait until the page shows this version, and on for what a press too many would do."""
    shows(page, number)
    pause(page)
    assert version(page) == number


def test_a_tap_lifts_a_card_where_turns_are_long(open_table: TableForTwo) -> None:
    page, table = open_table(hands=[HAND, ["r4", "g3", "W6"]], browser=TOUCH)
    line = page.locator("#lifted")
    tap(card(page, "Red 5"))
    expect(line).to_have_text("Red 5. It goes on red or on another 5. Press again to play it.")
    assert line.bounding_box()["x"] >= 0  # type: ignore[index]  # it is visible
    tap(card(page, "Red Draw Two"))  # the next card, whose corner stays uncovered; puts the other back
    expect(line).to_have_text(
        "Red Draw Two. Adds 2 to the stack. The next player draws it or stacks. Press again to play it."
    )
    expect(page.locator(".lifted")).to_have_count(1)
    tap(page.locator("#headline"))
    expect(page.locator(".lifted, #lifted")).to_have_count(0)
    card(page, "Red 5").dblclick(position=EDGE)  # by a mouse, which does not slip
    shows(page, 1)
    assert log_of(table) == ["0 play r5"]


def test_a_lifted_card_is_played_by_a_tap_or_a_flick(open_table: TableForTwo) -> None:
    page, table = open_table(hands=[["rS", "yS", "bS", "W6", "g8", "g9"], ["r4", "g3"]], browser=TOUCH)
    first, finger = card(page, "Red Skip"), Finger(page)
    pause(page)
    for _ in range(4):
        first.tap(position=EDGE)  # a burst is one tap
        pause(page, 300)
    plays(page, 0)
    tap(first)
    plays(page, 1)
    finger.flick(card(page, "Yellow Skip"))  # scrolls
    plays(page, 1)
    tap(card(page, "Yellow Skip"))
    pause(page, TO_READ)
    finger.flick(card(page, "Yellow Skip"), lasting=300)  # a slow swipe, as to scroll
    plays(page, 1)
    finger.flick(card(page, "Yellow Skip"))
    plays(page, 2)
    card(page, "Green 8").dispatch_event("click", {"detail": 1})  # as by the finger that flicked
    expect(page.locator("#refusal")).to_contain_text("does not match")  # not lifted, because it cannot be played
    tap(card(page, "Wild Draw Six"))
    expect(page.locator("#choose-r")).to_be_visible()  # a step of its own, so it is not lifted
    assert log_of(table) == ["0 play rS", "0 play yS"]


def test_a_tap_waits_for_the_module_that_lifts_and_plays_without_it(new_page: NewPage, alice: User, bob: User) -> None:
    page = new_page(alice, **TOUCH)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/card_info*.js", hold)
    for is_there in (True, False):
        table = table_at({**TWO_HANDS, "hands": [HAND, ["r4", "g3"]]}, [alice, bob])
        open_game(page, table.game)
        tap(card(page, "Red 1"))
        tap(card(page, "Red 5"))  # only the last one counts
        plays(page, 0)
        if is_there:
            held.pop().continue_()
            expect(page.locator("#lifted")).to_contain_text("Red 5. It goes on red or on another 5.")
        else:
            held.pop().fulfill(status=404)
            plays(page, 1)
    assert log_of(table) == ["0 play r5"]


def test_a_tap_does_nothing_before_the_scripts_are_there(new_page: NewPage, alice: User, bob: User) -> None:
    page = new_page(alice, reduced_motion="reduce", **TOUCH)
    held, sent = list[Route](), list[str]()

    def hold(route: Route) -> None:
        held.append(route)

    def note(request: Request) -> None:
        if request.method == "POST":
            sent.append(request.url)

    page.route("**/js/hand*.js", hold)
    page.on("request", note)
    for is_there in (True, False):
        table = table_at({**TWO_HANDS, "hands": [HAND, ["r4", "g3"]]}, [alice, bob])
        page.goto(table.game.get_absolute_url(), wait_until="commit")
        for control in (card(page, "Red 5"), page.locator("#draw")):
            control.tap(position=EDGE, force=True)
        pause(page)
        assert sent == []
        if is_there:
            held.pop().continue_()
            expect(page.locator("body.ready")).to_be_attached()
            tap(card(page, "Red 5"))
            expect(page.locator("#lifted")).to_be_visible()
            plays(page, 0)
        else:
            held.pop().fulfill(status=404)
            page.evaluate("for (const wait of document.getAnimations()) wait.finish()")
            card(page, "Red 5").tap(position=EDGE)
            shows(page, 1)
    assert len(sent) == 1


def test_the_draw_pile_is_a_button(open_table: TableForTwo) -> None:
    page, table = open_table(hands=[HAND, ["r4", "g3", "W6"]], browser=TOUCH)
    pile = page.locator(".drawpile")
    expect(page.get_by_role("button", name="Draw until one fits")).to_have_count(1)
    tap(pile)
    expect(page.locator("#lifted")).to_have_text("Draw until one fits. Press again to draw.")
    plays(page, 0)
    tap(pile)
    expect(page.locator("#play-drawn, #chooser, .due").first).to_be_visible()
    shows(page, 1)
    assert log_of(table)[0] == "0 draw"


def test_a_reader_chooses_how_many_taps_a_card_takes(open_table: TableForTwo, new_page: NewPage, alice: User) -> None:
    page = new_page(alice, **TOUCH)
    for pace, chosen, taps in (("live", "taps", 1), ("live", "all", 2), ("standard", "off", 1)):
        User.objects.filter(pk=alice.pk).update(confirm=chosen)
        page, table = open_table(page=page, hands=[HAND, ["r4", "g3"]], rules={"pace": pace})
        for _ in range(taps):
            assert log_of(table) == []
            tap(card(page, "Red 5"))
        shows(page, 1)


def test_clicks_lift_and_keys_are_asked_about_where_the_reader_wants_that(open_table: TableForTwo, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(confirm=User.Confirm.ALWAYS)
    page, table = open_table(hands=[["rS", "rS", "r5", "g8", "g9"], ["r4", "g3", "W6"]])
    for _ in range(2):
        assert log_of(table) == []
        pause(page, TO_READ)
        page.locator("#card-2").click(position=EDGE)
    shows(page, 1)  # whoever has clicked twice is not asked as well
    page.locator("#card-1").focus()
    pause(page)
    page.keyboard.press("Enter")
    yes = page.get_by_role("button", name="Yes, play it")
    expect(yes).to_be_focused()
    expect(page.get_by_role("group", name="Play Red Skip?")).to_be_visible()
    page.keyboard.press("Escape")
    expect(yes).to_have_count(0)
    expect(page.locator("#card-1")).to_be_focused()
    pause(page)
    page.keyboard.press("Enter")
    expect(yes).to_be_focused()
    pause(page)
    page.keyboard.press("Enter")
    shows(page, 2)
    pause(page)
    page.keyboard.press("x")
    expect(page.get_by_role("button", name="Yes, draw")).to_be_focused()
    assert log_of(table) == ["0 play rS", "0 play rS"]


def test_what_a_card_does_is_shown(open_table: TableForTwo) -> None:
    page, table = open_table(hands=[HAND, ["r4", "g3", "W6"]], browser=TOUCH)
    dialog = page.get_by_role("dialog")
    finger = Finger(page)
    finger.put_on(card(page, "Red Draw Two"))
    expect(dialog).to_contain_text("Adds 2 to the stack. The next player draws it or stacks. Rule DRAW-1")
    finger.lift()
    expect(dialog.get_by_role("link")).to_have_attribute("href", "/rules/#DRAW-1")
    dialog.get_by_role("button", name="Close").click()
    expect(page.locator("dialog[open]")).to_have_count(0)
    card(page, "Wild Draw Six").focus()
    page.keyboard.press("i")
    expect(page.get_by_role("dialog", name="Wild Draw Six")).to_be_visible()
    page.keyboard.press("x")  # draws nothing meanwhile
    page.keyboard.press("Escape")
    expect(page.locator("dialog[open]")).to_have_count(0)
    assert focused(page) == card(page, "Wild Draw Six").get_attribute("id")
    page.locator(".top-card").click(button="right")
    expect(page.get_by_role("dialog", name="Red 3")).to_be_visible()
    plays(page, 0)
    assert log_of(table) == []


def test_a_button_stays_in_its_place_when_somebody_can_be_caught(new_page: NewPage, cast: Cast) -> None:
    page = new_page(cast.alice)
    for position in (MANY, STACK):
        places: list[list[object]] = []
        for exposed in ([], [3]):
            page.goto(cast.table({**position, "exposed": exposed}).game.get_absolute_url())
            expect(page.locator("#catch-3")).to_have_count(len(exposed))
            for width, height in ((320, 568), (844, 390), (1280, 800)):
                page.set_viewport_size({"width": width, "height": height})
                places.append(page.locator("#draw, #move .toggle").evaluate_all(BOXES))
        assert places[:3] == places[3:]
