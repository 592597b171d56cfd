"""The form for a new table in browsers: three clicks to a table, what is folded, and nothing that covers a choice."""

from __future__ import annotations

from playwright.sync_api import Locator, Page, expect

from accounts.models import User
from games import rules
from games.models import Game
from tests.browser.checks import COVERED_CONTROLS
from tests.browser.game_page import NewPage

SMALL = """() => [...document.querySelectorAll(".newtable :is(label:has([type=radio]), summary, button, .button)")]
    .filter((e) => e.checkVisibility())
    .filter((e) => { const box = e.getBoundingClientRect(); return box.width < 44 || box.height < 44; })
    .map((e) => e.outerHTML.slice(0, 80))"""
"""The controls of the form that are too small for a finger."""


def line(page: Page, title: str) -> Locator:
    """Return what the page says beside the title of a folded part of the form."""
    return page.locator(".fold > summary", has_text=title).locator("span")


def test_a_visitor_is_at_a_table_in_three_clicks(new_page: NewPage, site: str) -> None:
    page = new_page()
    page.goto("/")
    page.get_by_role("link", name="House Party").click()
    page.get_by_role("radio", name="Anyone").click()
    page.get_by_role("button", name="Create table").click()
    page.locator("#invite-link").wait_for()
    assert (Game.objects.get().preset, Game.objects.get().is_public) == ("house-party", True)


def test_the_form_works_by_keyboard_without_scripts(new_page: NewPage, alice: User) -> None:
    page = new_page(alice, java_script_enabled=False)
    page.goto("/tables/new/")
    page.get_by_role("radio", name="Bots").focus()
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("radio", name="Friends")).to_be_checked()
    expect(page.locator("label:has(:focus-visible)")).to_have_css("outline-width", "3px")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="Classic")).to_be_checked()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    expect(page.locator("summary", has_text="Length")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("radio", name="Short match")).to_be_checked()
    page.keyboard.press("Enter")
    page.locator("#invite-link").wait_for()
    game = Game.objects.get()
    assert (game.preset, game.target, game.is_public, game.players) == ("classic", 200, False, 4)


def test_a_folded_part_says_what_is_chosen_in_it(new_page: NewPage, alice: User) -> None:
    for scripts in (True, False):
        page = new_page(alice, java_script_enabled=scripts)
        page.goto("/tables/new/")
        expect(line(page, "Seats")).to_have_text("4 players, bots: Careful")
        expect(line(page, "Length")).to_have_text("A single round")
        expect(line(page, "Time")).to_have_text("Standard, about a turn a day")
        expect(line(page, "Rules")).to_have_text("As No Mercy")
        expect(page.locator(".fold fieldset").first).to_be_hidden()


def test_a_line_follows_the_choices_and_is_the_servers_after_a_refusal(new_page: NewPage, alice: User) -> None:
    page = new_page(alice)
    page.goto("/tables/new/")
    page.get_by_role("radio", name="Flip").check()
    expect(line(page, "Rules")).to_have_text("As Flip")
    expect(page.locator("#how-to")).to_have_attribute("href", "/rules/?preset=flip#how-to-play")
    page.get_by_role("radio", name="Stack draw cards").check()
    for title in ("Seats", "Length", "Rules"):
        page.locator(".fold > summary", has_text=title).click()
    page.get_by_role("group", name="Players").get_by_label("6").check()
    page.get_by_role("group", name="Bots", exact=True).get_by_label("2").check()
    page.get_by_label("Bot delay in seconds").fill("99")
    page.get_by_role("radio", name="Short match").check()
    page.locator("summary", has_text="Drawing").click()
    page.locator("[name=option_draw_until_playable][value=False]").check()
    page.locator("summary", has_text="Elimination").click()
    page.get_by_label("Mercy limit").fill("30")
    page.get_by_label("Mercy limit").press("Tab")
    lines = {
        "Seats": "6 players, 2 bots, bots: Careful",
        "Length": "Short match",
        "Rules": "Draw until playable: off, Mercy limit: 30",
    }
    for title, text in lines.items():
        page.locator(".fold > summary", has_text=title).click()
        expect(line(page, title)).to_have_text(text)
    page.get_by_role("button", name="Create table").click()
    expect(page.locator("#errors")).to_contain_text("Bot delay in seconds: ")
    for title, text in lines.items():
        expect(line(page, title)).to_have_text(text)


NUMBERS = "(name) => [...document.querySelectorAll(`[name=${name}]:not(:disabled)`)].map((one) => one.value).join(' ')"
"""The values of a group of radio buttons that can be chosen."""


def test_only_numbers_that_fit_the_game_can_be_chosen_and_others_come_back(new_page: NewPage, alice: User) -> None:
    page = new_page(alice)
    page.goto("/tables/new/")
    page.locator(".fold > summary", has_text="Seats").click()
    assert page.evaluate(NUMBERS, "players") == "2 3 4 5 6"
    assert page.evaluate(NUMBERS, "bots") == "others 0 1 2 3"
    page.get_by_role("radio", name="Flip").check()
    assert page.evaluate(NUMBERS, "players") == "2 3 4 5 6 7 8 9 10"
    page.get_by_role("group", name="Players").get_by_label("9").check()
    page.get_by_role("group", name="Bots", exact=True).get_by_label("8").check()
    page.locator(".fold > summary", has_text="Seats").click()
    expect(line(page, "Seats")).to_have_text("9 players, 8 bots, bots: Careful")
    page.get_by_role("radio", name="Stack draw cards").check()
    expect(line(page, "Seats")).to_have_text("6 players, 5 bots, bots: Careful")
    page.get_by_role("radio", name="Flip").check()
    expect(line(page, "Seats")).to_have_text("9 players, 8 bots, bots: Careful")
    page.get_by_role("radio", name="Stack draw cards").check()
    page.get_by_role("button", name="Create table").click()
    page.locator("#hand").wait_for()
    assert Game.objects.get().players == 6


def test_the_parts_speak_of_the_chosen_game_and_of_bots_only_if_there_are_some(new_page: NewPage, alice: User) -> None:
    page = new_page(alice)
    page.goto("/tables/new/")
    page.get_by_role("radio", name="Friends").check()
    expect(line(page, "Seats")).to_have_text("4 players")
    page.get_by_role("radio", name="Bots", exact=False).first.check()
    expect(line(page, "Seats")).to_have_text("4 players, bots: Careful")
    page.locator(".fold > summary", has_text="Length").click()
    short = page.locator("label:has([name=target][value=short]) small")
    expect(short).to_have_text(f"About {rounds_and_points('no-mercy')} points.")
    page.get_by_role("radio", name="Flip").check()
    expect(short).to_have_text(f"About {rounds_and_points('flip')} points.")


def rounds_and_points(preset: str) -> str:
    length = rules.LENGTHS_OF[preset].short
    return f"{length.rounds} rounds with four players, to {length.points:,}"


def test_without_scripts_no_part_says_what_is_not_true_any_more(new_page: NewPage, alice: User) -> None:
    page = new_page(alice, java_script_enabled=False)
    page.goto("/tables/new/")
    length = page.locator(".fold > summary", has_text="Length")
    short = page.locator("label:has([name=target][value=short]) small")
    length.click()
    expect(short).to_be_visible()
    expect(line(page, "Rules")).to_be_visible()
    page.get_by_role("radio", name="Flip").check()
    expect(short).to_be_hidden()
    expect(line(page, "Rules")).to_be_hidden()
    page.get_by_role("radio", name="Long match").check()
    length.click()
    expect(line(page, "Length")).to_be_hidden()
    for title in ("Time", "Seats"):
        expect(line(page, title)).to_be_visible()
    page.get_by_role("radio", name="Friends").check()
    expect(line(page, "Seats")).to_be_hidden()


def test_the_rules_say_what_a_choice_changes_besides_and_what_a_default_is(new_page: NewPage, alice: User) -> None:
    page = new_page(alice)
    page.goto("/tables/new/")
    page.locator(".fold > summary", has_text="Rules").click()
    for summary in page.locator(".fold[open] details > summary").all():
        summary.click()
    stacking = page.locator("label:has([name=option_stacking][value=''])")
    expect(stacking).to_have_text("Default any")
    page.get_by_role("radio", name="Draw one card, no stacking").check()
    expect(stacking).to_have_text("Default off")
    expect(page.get_by_label("Mercy limit")).to_have_attribute("placeholder", "Default: 0")
    page.locator("[name=option_advanced_stacking][value=True]").check()
    besides = "Stacking: the same card, A draw card as the last card: the others may answer"
    expect(line(page, "Rules")).to_have_text(f"Pass a debt on: on, also {besides}")
    page.locator("[name=option_stacking][value=any]").check()
    expect(line(page, "Rules")).to_have_text(
        "Stacking: any, Pass a debt on: on, also A draw card as the last card: the others may answer"
    )
    page.get_by_role("radio", name="Straights, cards out of turn").check()
    expect(line(page, "Rules")).to_have_text("Stacking: any, Pass a debt on: on")


def test_nothing_covers_a_choice(new_page: NewPage, alice: User) -> None:
    page = new_page(alice)
    for width, height in ((320, 568), (844, 390), (1280, 800)):
        page.set_viewport_size({"width": width, "height": height})
        page.goto("/tables/new/")
        assert page.evaluate(COVERED_CONTROLS) == [], width
        page.evaluate("() => document.querySelectorAll('details').forEach((e) => { e.open = true; })")
        assert page.evaluate(COVERED_CONTROLS) == [], width
        assert page.evaluate(SMALL) == [], width
