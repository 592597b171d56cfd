"""Finished games: the replay by keys and by mouse, and the pages of a long log."""

from __future__ import annotations

from collections import defaultdict

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from games.queries import Table
from games.web.log import LINES
from tests.browser.game_page import NewPage
from tests.browser.pauses import pause
from tests.support.tables import table_after


@pytest.fixture
def table(site: str, alice: User, bob: User) -> Table:
    return table_after([alice, bob, "careful"], 10_000, seed=3)


def test_arrow_keys_step_and_keep_the_focus(new_page: NewPage, alice: User, table: Table) -> None:
    page = new_page(alice)
    page.goto(f"/games/{table.game.code}/")
    expect(page.locator("#ended-heading")).to_be_focused()
    pause(page)
    page.locator("#continue").click()
    page.locator("#replay").click()
    heading, last = page.locator("#headline"), table.game.version
    expect(heading).to_have_text("Round 1 is dealt")
    page.wait_for_load_state()  # before the scripts are there, a link loads the page, and the focus is lost
    page.locator("#seat-from-0").click()
    expect(page.locator("#seat-from-0")).to_have_attribute("aria-current", "true")
    pause(page)
    for key, text in (
        ("ArrowRight", f"Move 1 of {last}"),
        ("ArrowRight", f"Move 2 of {last}"),
        ("ArrowLeft", f"Move 1 of {last}"),
        ("End", f"Move {last} of {last}"),
        ("Home", "Round 1 is dealt"),
    ):
        page.keyboard.press(key)
        expect(heading).to_have_text(text)
        expect(page).to_have_title(f"{text} · Replay · No Mercy")
        expect(page.locator("#seat-from-0")).to_be_focused()
        expect(page.locator("#live-polite")).to_contain_text(text)
    page.keyboard.press("ArrowLeft")
    expect(heading).to_have_text("Round 1 is dealt")
    page.keyboard.press("ArrowRight")
    expect(heading).to_have_text(f"Move 1 of {last}")
    page.go_back()
    expect(heading).to_have_text("Round 1 is dealt")


def steps_of(page: Page) -> int:
    """Return the step that the replay shows."""
    return int(page.locator("#n").input_value())


def replay_of(page: Page, table: Table, query: str = "") -> Page:
    """Open the replay of a game. Its clock is that of the test."""
    page.goto(f"/games/{table.game.code}/replay/{query}")
    page.clock.install()
    return page


def test_a_replay_plays_by_itself_and_stops_at_the_end(new_page: NewPage, alice: User, table: Table) -> None:
    begin = table.game.version - 8
    page = replay_of(new_page(alice), table, f"?n={begin}")
    page.get_by_label("Speed").select_option("4")
    page.locator("#play").click()
    expect(page.locator("#play")).to_have_text("Pause")
    page.clock.run_for(250)  # the clock also goes by itself
    expect(page.locator("#n")).not_to_have_value(str(begin))
    assert begin < steps_of(page)
    page.clock.run_for(8 * 250)
    expect(page.locator("#n")).to_have_value(str(table.game.version))
    expect(page.locator("#play")).to_have_text("Play again")
    assert f"n={table.game.version}" in page.url
    page.go_back()  # the steps that followed by themselves are no steps of the history
    assert "replay" not in page.url


def test_space_plays_and_pauses_at_the_chosen_speed_and_a_hidden_page_waits(
    new_page: NewPage, alice: User, table: Table
) -> None:
    page = replay_of(new_page(alice), table, "?seat=1")
    page.get_by_label("Speed").select_option("0.5")
    page.locator("#headline").focus()
    page.keyboard.press("Space")
    page.clock.run_for(1000)  # the clock also goes by itself
    assert steps_of(page) == 0
    page.clock.run_for(1100)
    expect(page.locator("#n")).to_have_value("1")
    assert "seat=1" in page.url
    page.keyboard.press("Space")
    page.clock.run_for(10_000)
    assert steps_of(page) == 1
    page.locator("#play").click()
    hide = """(hidden) => {
        Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));
    }"""
    page.evaluate(hide, True)
    page.clock.run_for(10_000)
    assert steps_of(page) == 1
    page.evaluate(hide, False)
    page.clock.run_for(2000)
    expect(page.locator("#n")).to_have_value("2")
    page.reload()
    expect(page.get_by_label("Speed")).to_have_value("0.5")


def test_a_step_of_the_reader_ends_the_playing(new_page: NewPage, alice: User, table: Table) -> None:
    page = replay_of(new_page(alice), table)
    for how in ("ArrowRight", "#step-on", "#moment-1"):
        before = steps_of(page)
        page.locator("#play").click()
        expect(page.locator("#play")).to_have_text("Pause")
        if how.startswith("#"):
            page.locator(how).click()
        else:
            page.keyboard.press(how)
        expect(page.locator("#play")).to_have_text("Play")
        expect(page.locator("#n")).not_to_have_value(str(before))
        here = steps_of(page)
        page.clock.run_for(5000)
        assert steps_of(page) == here, how


def test_with_less_motion_a_step_stays_a_second(new_page: NewPage, alice: User, table: Table) -> None:
    page = new_page(alice, reduced_motion="reduce")
    page.goto(f"/games/{table.game.code}/replay/")
    page.clock.install()
    page.evaluate("localStorage.setItem('replay-speed', '4')")
    expect(page.locator("#speed option[value='4']")).to_be_disabled()
    page.locator("#play").click()
    page.clock.run_for(900)
    assert steps_of(page) == 0
    page.clock.run_for(200)
    expect(page.locator("#n")).to_have_value("1")


def test_a_press_on_the_chart_shows_that_step(new_page: NewPage, alice: User, table: Table) -> None:
    page = new_page(alice)
    page.goto(f"/games/{table.game.code}/replay/?seat=1")
    plot = page.locator(".plot")
    box = plot.bounding_box()
    assert box is not None
    plot.click(position={"x": box["width"] * 0.5, "y": 20})
    half = table.game.version / 2
    expect(page.locator("#n")).not_to_have_value("0")
    assert abs(steps_of(page) - half) <= 1
    assert "seat=1" in page.url
    page.go_back()
    expect(page.locator("#n")).to_have_value("0")


def test_the_header_begins_where_the_replay_does_and_the_controls_stay_where_they_are(
    new_page: NewPage, alice: User, bob: User, charlie: User
) -> None:
    ended = table_after([alice, bob, charlie], 10_000, seed=3)
    page = new_page(alice)
    tops: defaultdict[int, set[float]] = defaultdict(set)
    page.goto(f"/games/{ended.game.code}/replay/")
    for width in (390, 1280, 1920):
        page.set_viewport_size({"width": width, "height": 900})
        boxes = [page.locator(part).bounding_box() for part in ("header .brand", "#headline", ".foot p")]
        lefts = [box["x"] for box in boxes if box]
        assert max(lefts) - min(lefts) <= 2, (width, lefts)
    for n in (0, 7, 25):  # the last two draw many cards, which the heading names
        if n:
            page.goto(f"/games/{ended.game.code}/replay/?n={n}")
        for width in (320, 1280):
            page.set_viewport_size({"width": width, "height": 844})
            steps = page.locator("#steps")
            tops[width].add(steps.evaluate("(steps) => steps.getBoundingClientRect().top + scrollY"))
    assert [len(found) for found in tops.values()] == [1, 1], tops
    told = page.locator("#told")
    page.set_viewport_size({"width": 320, "height": 844})
    assert told.evaluate("(told) => told.scrollHeight > told.clientHeight")
    told.press("PageDown")
    page.wait_for_function("() => document.getElementById('told').scrollTop > 0")


def test_old_links_to_a_move_find_its_page(site: str, new_page: NewPage, alice: User, bob: User) -> None:
    table = table_after([alice, bob, "careful"], 10_000, seed=3, earlier=1)
    assert table.game.version > LINES
    page, log = new_page(alice), f"/games/{table.game.code}/log/"
    page.goto(f"{log}#m3")
    expect(page.locator("#m3")).to_be_in_viewport()
    page.goto(log)
    expect(page.locator("#m3")).to_have_count(0)
    page.get_by_role("link", name="Earlier moves").click()
    expect(page.locator("#m3")).to_have_count(1)
    page.get_by_role("link", name="Later moves").click()
    expect(page.locator(f"#m{table.game.version}")).to_be_visible()


def test_a_move_and_its_time_stand_apart(site: str, new_page: NewPage, alice: User, bob: User) -> None:
    table = table_after([alice, bob], 3, seed=3)
    page = new_page(alice)
    page.goto(f"/games/{table.game.code}/log/")
    gap = page.locator(".when:has(time)").first.evaluate("""(link) => {
        const words = document.createRange();
        words.selectNode(link.firstChild);
        return link.querySelector("time").getBoundingClientRect().left - words.getBoundingClientRect().right;
    }""")
    assert gap > 2
