"""The end of a round: a layer over the next round that stays, and a block without scripts."""

from __future__ import annotations

from typing import Any, Final, Literal

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from games.actions.next_round import deal_next
from games.models import Game
from games.queries import Table
from tests.browser.game_page import NewPage, load_game, play, version
from tests.browser.pauses import BETWEEN_PRESSES
from tests.browser.test_layout import assert_fits
from tests.support.tables import now_of, table_at
from tests.support.waiting import until

LAST_CARD: Final = {
    "draw_pile": ["b1", "b2", "y3", "g4", "r5", "b6", "y8", "g9", "W6", "r2", "y1", "g1"],
    "hands": [["r5"], ["r4", "g3", "W6"], ["y1", "b+2", "gS", "b7"], []],
    "out": [3],
    "turn": 0,
    "discard_pile": ["r3"],
}
"""Seat 0 wins the round with its red 5. Seat 3 is out."""


MOTIONS: Final[dict[Literal["reduce", "no-preference"], int]] = {"reduce": 4, "no-preference": 28}
"""How many shapes fall before the winner, or stay hidden."""


@pytest.fixture
def table(site: str, alice: User, bob: User, charlie: User, mo: User) -> Table:
    return table_at(LAST_CARD, [alice, bob, charlie, mo], target=1000, deadline=None)


def next_round(table: Table) -> None:
    """Wait until the next round is dealt."""
    deal_next(game_id=table.game.pk, now=timezone.now())
    until("the next round", lambda: now_of(table).started.round.number == 2)


def end_round(page: Page, table: Table, setting: str = "") -> None:
    """Open the game, with this setting for the end of a round, and let Alice end it with another round after it."""
    load_game(page, table.game)
    if setting:
        page.evaluate("(setting) => localStorage.setItem('round-end', setting)", setting)
    play(table, 0, "play r5")
    next_round(table)
    expect(page.locator("#main")).to_have_attribute("data-deal", "2")


def page_at_round_end(page: Page, table: Table) -> Page:
    """Return a page that was open when Alice ended the round. Its clock is that of the test."""
    load_game(page, table.game)
    page.clock.install()
    play(table, 0, "play r5")
    next_round(table)
    page.clock.run_for(100)
    return page


def test_no_motion_covers_the_end_of_a_round(new_page: NewPage, table: Table, alice: User) -> None:
    page = page_at_round_end(new_page(alice), table)
    expect(page.get_by_role("button", name="Continue")).to_be_visible()
    page.clock.run_for(BETWEEN_PRESSES)
    page.evaluate("""() => document.body.append(Object.assign(document.createElement("i"), {className: "flying"}))""")
    assert page.evaluate("getComputedStyle(document.querySelector('.flying')).visibility") == "hidden"
    page.get_by_role("button", name="Continue").click()
    assert page.evaluate("getComputedStyle(document.querySelector('.flying:last-child')).visibility") == "visible"


def test_you_win_stays_over_the_next_round_until_continue(new_page: NewPage, table: Table, alice: User) -> None:
    page = new_page(alice)
    load_game(page, table.game)
    page.evaluate("localStorage.setItem('round-end', 'stay')")
    page.get_by_role("button", name="Red 5").click()
    next_round(table)
    expect(page.locator("#main")).to_have_attribute("data-deal", "2")
    fetches: list[str] = []
    page.on("request", lambda request: fetches.append(request.url))
    page.wait_for_timeout(2500)  # it was gone after 1.3 s
    assert len(fetches) <= 2  # a page without a turn does not fetch in a loop
    layer = page.locator("#ended.layer")
    expect(layer.get_by_role("heading", name="You win round 1")).to_be_visible()
    expect(layer.locator("#ended-heading")).to_be_focused()
    expect(layer.locator(".results > li").first).to_contain_text("alice")
    expect(layer.locator(".results img.avatar")).to_have_count(4)  # as at the table
    expect(layer.locator(".results > li")).to_have_count(4)
    expect(layer.locator("#closes")).to_have_text("")
    # What lies below takes no keys and no focus.
    before = version(page)
    page.keyboard.press("x")
    page.keyboard.press("Tab")
    assert page.evaluate("document.querySelector('#ended').contains(document.activeElement)")
    page.locator("#continue").focus()
    for _ in range(4):  # the footer is covered, the header is not
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('.foot, .skips, .board > :not(.news)')") is None
    assert version(page) == before
    page.locator("#continue").click()
    expect(layer).to_have_count(0)
    expect(page.locator("#headline")).to_be_focused()
    expect(page.locator("#ended")).to_be_visible()  # the fold stays until the reader moves
    assert page.locator("[inert]").count() == 0


@pytest.mark.parametrize("acts", [False, True])
def test_it_closes_after_10_seconds_in_sight_unless_the_reader_acts(
    new_page: NewPage, table: Table, bob: User, acts: bool
) -> None:
    page = page_at_round_end(new_page(bob), table)
    layer = page.locator("#ended.layer")
    expect(layer).to_be_visible()
    if acts:
        page.keyboard.press("Tab")
        page.clock.run_for(30_000)
        expect(layer).to_be_visible()
        page.keyboard.press("Escape")
    else:
        page.clock.run_for(8_500)
        expect(layer).to_be_visible()
        expect(page.locator("#closes")).to_contain_text("Closes in")
        page.clock.run_for(2_000)
    expect(layer).to_have_count(0)


def test_the_button_says_that_it_is_your_turn(new_page: NewPage, table: Table, bob: User) -> None:
    page = new_page(bob)
    end_round(page, table, "stay")
    mine = now_of(table).started.position.turn == 1
    expect(page.locator("#continue")).to_have_text("Continue: it’s your turn" if mine else "Continue")
    for _ in range(8):
        here = now_of(table)
        turn = here.started.position.turn
        if turn == 1:
            break
        play(table, turn, "draw" if here.started.position.phase == "play" else "pass")
    else:
        pytest.skip("nobody passed the turn to bob")
    expect(page.locator("#continue")).to_have_text("Continue: it’s your turn")
    page.wait_for_timeout(600)
    page.keyboard.press("Enter")
    expect(page.locator("#ended.layer")).to_have_count(0)
    expect(page.locator("#headline")).to_contain_text("Your turn")


def test_it_does_not_stop_a_player_who_does_not_want_it(new_page: NewPage, table: Table, bob: User) -> None:
    page = new_page(bob)
    load_game(page, table.game)
    page.locator("#browser-settings summary").click()
    page.get_by_label("The end of a round").select_option("off")
    play(table, 0, "play r5")
    next_round(table)
    expect(page.locator("#main")).to_have_attribute("data-deal", "2")
    expect(page.locator("#ended")).to_be_visible()
    expect(page.locator("#ended.layer")).to_have_count(0)


@pytest.mark.parametrize("motion", ["reduce", "no-preference"])
def test_points_move_to_the_scores_unless_less_motion_is_asked_for(
    new_page: NewPage, table: Table, bob: User, motion: Any
) -> None:
    page = new_page(bob, reduced_motion=motion)
    page.add_init_script("""
        window.moved = 0;
        const animate = Element.prototype.animate;
        Element.prototype.animate = function (...parts) {
          if (this.matches("rect")) window.moved += 1;
          return animate.apply(this, parts);
        };
    """)
    end_round(page, table)
    expect(page.locator("#ended.layer")).to_be_visible()
    total = now_of(table).seats[0].score
    expect(page.locator("#ended .won .points b")).to_have_text(str(total))
    assert (page.evaluate("window.moved") > 0) is (motion == "no-preference")


def test_the_layer_fits_and_axe_finds_no_violations(new_page: NewPage, table: Table, bob: User) -> None:
    page = new_page(bob, reduced_motion="reduce")
    end_round(page, table, "stay")
    expect(page.locator("#ended.layer")).to_be_visible()
    assert_fits(page, "round-end")
    page.set_viewport_size({"width": 844, "height": 390})
    menu, heading = (page.locator(part).bounding_box() for part in ("#menu > summary", "#ended h2"))
    assert menu is not None
    assert heading is not None
    assert heading["x"] + heading["width"] <= menu["x"]
    assert Game.objects.get(pk=table.game.pk).status == Game.Status.PLAYING


def test_the_end_of_a_game_lies_over_its_page_until_it_is_closed(
    new_page: NewPage, site: str, alice: User, bob: User, charlie: User, mo: User
) -> None:
    page = new_page(alice, script="navigator.share = async (what) => { window.shared = what; };")
    layer = page.locator("#ended.layer")
    for motion, shapes in MOTIONS.items():
        page.emulate_media(reduced_motion=motion)
        table = table_at(LAST_CARD, [alice, bob, charlie, mo], deadline=None)
        load_game(page, table.game)
        page.evaluate("localStorage.setItem('round-end', 'off')")  # of a round
        page.get_by_role("button", name="Red 5").click()
        expect(layer.get_by_role("heading", name="You win!")).to_be_focused()
        expect(layer.locator("#falling > *")).to_have_count(shapes)
    expect(layer.locator("#falling")).to_be_hidden(timeout=5_000)
    assert_fits(page, "game-end")
    labels = layer.locator(".go :is(a, button):visible").all_inner_texts()
    assert labels == ["Rematch", "Replay the moment", "Share", "Close"]
    layer.get_by_role("button", name="Share").click()
    page.wait_for_function("window.shared !== undefined")
    shared = page.evaluate("window.shared")
    assert shared["text"] == "alice wins. alice’s last card was Red 5, on move 1."
    assert shared["url"] == f"{site}/games/{table.game.code}/replay/?n=1&round=1"
    page.keyboard.press("Escape")
    expect(layer).to_have_count(0)
    expect(page.locator("#headline")).to_be_focused()
    assert page.locator("[inert]").count() == 0
    assert page.locator("#rematch").is_visible()
    page.reload()  # somebody who has seen it reads the page below
    expect(page.locator("#share")).to_be_visible()
    expect(layer).to_have_count(0)
    as_bob = new_page(bob)
    load_game(as_bob, table.game)
    expect(as_bob.locator("#ended.layer #ended-heading")).to_have_text("alice wins, and you were 3 cards short")
