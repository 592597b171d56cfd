"""Whole games in a browser: by mouse, by keyboard, without scripts, and between two people."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from games import announce, randomness
from games.actions import lobby, play
from games.actions.next_round import deal_next
from games.models import Game, Seat
from games.queries import Table
from tests.browser.game_page import (
    MOST_MOVES,
    NewPage,
    after,
    first_choice,
    focused,
    my_turn,
    open_game,
    open_page,
    over,
    pause,
    press,
    shows,
    version,
    wait_for_me,
)
from tests.support.tables import TWO_HANDS, table_at

SOON: Final = 1000
"""Milliseconds until a move is shown on all other pages."""


def against_bots(user: User, **options: Any) -> Game:
    """Start a single round against two bots that move at once. It is over after about seven moves of the person."""
    randomness.source.seed(34)
    chosen = lobby.TableOptions(players=3, bots=2, bot="careful", bot_pause=0, **options)
    return lobby.create_table(user=user, options=chosen, now=timezone.now()).game


def play_to_the_end(page: Page, move: Callable[[Page], None]) -> int:
    moves = 0
    while wait_for_me(page):
        move(page)
        moves += 1
        assert moves < MOST_MOVES
    return moves


@pytest.mark.smoke
def test_a_person_plays_a_whole_game_by_mouse(new_page: NewPage, alice: User) -> None:
    game = against_bots(alice)
    page = new_page(alice)
    open_game(page, game)

    def click(page: Page) -> None:
        after(page, lambda: press(page))
        assert focused(page) != "BODY"

    assert play_to_the_end(page, click)
    game.refresh_from_db()
    assert game.status == Game.Status.OVER
    expect(page.locator("#headline")).to_contain_text("the game")
    expect(page.locator("#rematch")).to_be_visible()


def to_the_hand(page: Page) -> None:
    """Press Tab until the hand has the focus."""
    for _ in range(40):
        if page.evaluate("document.activeElement.closest('#hand-cards') !== null"):
            return
        page.keyboard.press("Tab")
    pytest.fail("The hand cannot be reached with Tab.")


def press_a_choice(page: Page) -> None:
    """Answer the chooser by its key, or play the first playable card, or draw. Uses the hand as a list."""
    if page.locator("#chooser").count():
        # The player's own move focuses the chooser. A roulette of another player does not.
        page.keyboard.press("Enter" if focused(page).startswith("choose-") else "b")
        return
    to_the_hand(page)
    assert focused(page) == "hand-cards"
    fits: int = page.evaluate(
        "[...document.querySelectorAll('#hand-cards .card')].findIndex((card) => !card.hasAttribute('aria-disabled'))"
    )
    if fits < 0:
        page.keyboard.press("Space")
        return
    page.keyboard.press("Home")
    for _ in range(fits):
        page.keyboard.press("ArrowRight")
    assert page.locator("#hand-cards").get_attribute("aria-activedescendant") == f"card-{fits}"
    page.keyboard.press("Enter")


def test_a_person_plays_a_whole_game_of_flip_by_keyboard_alone(new_page: NewPage, alice: User) -> None:
    game = against_bots(alice, preset="flip", options={"hand_size": 3})
    page = new_page(alice)
    open_game(page, game)
    page.locator("#hand-list").focus()
    page.keyboard.press("Enter")

    def press(page: Page) -> None:
        after(page, lambda: press_a_choice(page))
        assert focused(page) != "BODY"

    assert play_to_the_end(page, press)
    game.refresh_from_db()
    assert game.status == Game.Status.OVER


def test_a_person_plays_a_whole_game_without_scripts(new_page: NewPage, alice: User) -> None:
    game = against_bots(alice)
    page = new_page(alice, java_script_enabled=False)
    open_game(page, game)
    until = time.monotonic() + 120
    while not over(page).count():
        assert time.monotonic() < until
        if my_turn(page).count():
            first_choice(page).click()
        else:
            page.reload()
    game.refresh_from_db()
    assert game.status == Game.Status.OVER
    page.locator("#rematch").click()
    expect(page.locator("#headline")).to_be_visible()
    assert Game.objects.filter(rematch_of=game).exists()


def two_at_a_table(alice: User, bob: User, **position: Any) -> Table:
    return table_at({**TWO_HANDS, **position}, [alice, bob])


@pytest.mark.smoke
def test_players_see_each_others_moves_within_a_second(new_page: NewPage, alice: User, bob: User) -> None:
    table = two_at_a_table(alice, bob)
    pages = [open_page(new_page, user, table) for user in (alice, bob)]
    for turn in range(4):
        mover, watcher = pages[turn % 2], pages[1 - turn % 2]
        expect(my_turn(mover)).to_be_visible()
        while my_turn(mover).is_visible():
            after(mover, first_choice(mover).click)
            if mover.locator("#chooser").count() == 0:
                shows(watcher, version(mover), within=SOON)
        expect(my_turn(watcher)).to_be_visible(timeout=SOON)
    assert version(pages[0]) == version(pages[1]) >= 4


def test_another_players_move_keeps_focus_and_open_details(new_page: NewPage, alice: User, bob: User) -> None:
    table = two_at_a_table(alice, bob)
    page, other = open_page(new_page, alice, table), open_page(new_page, bob, table)
    other.locator("#table-options > summary").click()
    other.locator("#card-1").focus()
    after(page, lambda: press(page))
    expect(my_turn(other)).to_be_visible(timeout=SOON)
    assert focused(other) == "card-1"
    assert other.locator("#table-options").get_attribute("open") is not None
    expect(other.locator("#live-polite")).to_contain_text("alice plays Red 5. Your turn.")


def test_focus_goes_to_the_chooser_then_back_to_the_same_slot(new_page: NewPage, alice: User, bob: User) -> None:
    table = two_at_a_table(alice, bob, hands=[["r5", "W6", "b2", "b3"], ["r4", "g3"]])
    page = new_page(alice)
    open_game(page, table.game)
    page.locator("#card-3").focus()
    page.keyboard.press("Enter")
    expect(page.locator("#chooser")).to_be_visible()
    expect(page.locator("#choose-r")).to_be_focused()
    # Until HTMX has settled, its new links load whole pages. People are not so fast.
    expect(page.locator(".htmx-settling")).to_have_count(0)
    page.locator("#chooser-cancel").press("Enter")
    expect(page.locator("#chooser")).to_have_count(0)
    expect(page.locator("#card-3")).to_be_focused()
    pause(page)
    page.keyboard.press("Enter")
    expect(page.locator("#choose-r")).to_be_focused()
    pause(page)
    page.keyboard.press("g")
    expect(page.locator("#card-2")).to_be_focused()
    expect(page.locator("#table dd").first).to_contain_text("Green")


@pytest.mark.smoke
def test_an_unplayable_card_gives_the_reason_and_its_rule(new_page: NewPage, alice: User, bob: User) -> None:
    table = two_at_a_table(alice, bob)
    page = new_page(alice)
    open_game(page, table.game)
    page.locator("#card-2").click(force=True)  # Playwright treats aria-disabled as disabled
    expect(page.locator("#refusal")).to_contain_text("Blue 2 does not match Red 3.")
    expect(page.locator("#refusal a")).to_have_attribute("href", "/rules/#TURN-2")
    expect(page.locator("#live-assertive")).to_contain_text("Blue 2 does not match")
    expect(page.locator("#card-2")).to_be_focused()
    assert version(page) == 0


@pytest.mark.smoke
def test_every_shortcut_does_what_the_help_says(new_page: NewPage, alice: User, bob: User) -> None:
    table = two_at_a_table(alice, bob, hands=[["r5", "b1"], ["r4"]], exposed=[1])
    page = new_page(alice)
    open_game(page, table.game)
    page.locator("#headline").focus()
    spoken = page.locator("#live-polite")
    for key, said in (
        ("c", "Red 3."),
        ("v", "Red."),
        ("g", "There is no stack."),
        ("e", "alice 2 cards, bob 1 card."),
        ("d", "2 cards, 1 playable: Red 5, Blue 1."),
        ("t", "Your turn: play a card or draw."),
        ("s", "alice 0, bob 0."),
    ):
        page.keyboard.press(key)
        expect(spoken).to_contain_text(said)
    page.keyboard.press("Shift+N")
    expect(page.locator("#sort-number")).to_have_attribute("aria-current", "true")
    page.keyboard.press("?")
    expect(page.locator("#key-scope")).to_be_visible()
    page.keyboard.press("u")
    expect(page.locator("#headline")).to_be_visible()
    shows(page, 1, within=SOON)
    expect(page.locator("#seat-1 .count")).to_contain_text("3")
    pause(page)
    page.keyboard.press("u")
    expect(page.locator("#uno")).to_be_checked()
    page.locator("#card-1").focus()
    page.keyboard.press("Enter")
    shows(page, 2, within=SOON)
    expect(page.locator("#seat-0")).to_contain_text("UNO")
    # Until HTMX has settled, the page moves the focus to the hand. People are not so fast.
    expect(page.locator(".htmx-settling")).to_have_count(0)
    page.keyboard.press("l")
    expect(page.locator("#log")).to_be_focused()


def test_u_chooses_purple_and_shift_u_calls_uno(new_page: NewPage, alice: User, bob: User) -> None:
    dark = {
        "hands": [["g3/W", "r5/o2"], ["r4/t1", "W/u3"]],
        "turn": 0,
        "discard_pile": ["r3/t4"],
        "draw_pile": ["b2/o5", "g7/p8"],
        "side": "dark",
    }
    page = new_page(alice)
    page.goto(table_at(dark, [alice, bob], preset="flip").game.get_absolute_url())
    page.get_by_role("button", name="Wild").click()
    expect(page.locator("#chooser")).to_be_visible()
    pause(page)
    page.keyboard.press("Shift+U")
    expect(page.locator("#uno")).to_be_checked()
    page.keyboard.press("u")
    expect(page.locator(".stage")).to_have_class("stage on-u")
    expect(page.locator("#table")).to_contain_text("Purple")
    expect(page.locator("#seat-0")).to_contain_text("UNO")


HEAR_TWICE: Final = """
    window.WebSocket = class extends window.WebSocket {
        constructor(...parts) {
            super(...parts);
            addEventListener("htmx:afterSwap", () => {
                const data = JSON.stringify({ version: Number(document.getElementById("main").dataset.version) });
                for (let n = 0; n < 2; n += 1) this.dispatchEvent(new MessageEvent("message", { data }));
            }, { once: true });
        }
    };
"""
"""Lets the page hear of a change, like more time for the turn, in the moment when it swaps in a response."""


def test_a_change_that_is_no_move_leaves_a_chooser_open(new_page: NewPage, alice: User, bob: User) -> None:
    table = two_at_a_table(alice, bob, hands=[["W6", "b1"], ["r4", "g3"]])
    page = new_page(alice)
    page.add_init_script(HEAR_TWICE)
    open_game(page, table.game)
    with page.expect_response(lambda response: "since=" in response.url) as fetched:
        page.get_by_role("button", name="Wild Draw Six").click()
    assert "choose=W6" in fetched.value.url
    page.wait_for_load_state("networkidle")
    expect(page.locator("#chooser")).to_be_visible()


def test_shortcuts_can_be_turned_off(new_page: NewPage, alice: User, bob: User) -> None:
    table = two_at_a_table(alice, bob)
    page = new_page(alice)
    open_game(page, table.game)
    page.locator("#keys").click()
    page.locator("#key-scope").select_option("off")
    page.reload()
    page.locator("#headline").focus()
    page.keyboard.press("c")
    page.keyboard.press("Space")
    shows(page, 1, within=SOON)  # the space bar still works, because it is not a letter
    expect(page.locator("#live-polite")).not_to_contain_text("Red 3.")


def test_a_page_without_a_socket_finds_moves_by_polling(new_page: NewPage, alice: User, bob: User) -> None:
    table = two_at_a_table(alice, bob)
    page, deaf = new_page(alice), new_page(bob)
    deaf.add_init_script("window.WebSocket = class extends EventTarget { static OPEN = 1; readyState = 3; };")
    deaf.clock.install()
    for each in (page, deaf):
        open_game(each, table.game)
    after(page, lambda: press(page))
    assert version(deaf) == 0
    deaf.clock.run_for(15_000)
    expect(my_turn(deaf)).to_be_visible()


@pytest.mark.in_process
def test_an_open_page_shows_the_next_deal_and_a_rematch_request(
    new_page: NewPage, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The process died after it saved the last move and before it dealt, so the sweep deals.
    monkeypatch.setattr(play, "_next_round", lambda table, now: table)
    monkeypatch.setattr(announce, "wake_bots", lambda game_id, wake_at: None)
    table = table_at({**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"]]}, [alice, bob], target=1000)
    pages = [open_page(new_page, user, table) for user in (alice, bob)]
    fetches: Counter[str] = Counter()
    for page in pages:
        page.on("request", lambda request: fetches.update([request.url]))
    first_choice(pages[0]).click()
    for page in pages:
        expect(page.locator("#headline")).to_contain_text("round 1")
        assert version(page) == 1
    pages[1].wait_for_timeout(1500)
    assert max(fetches.values()) <= 2 * len(pages)  # a page without a turn does not fetch in a loop
    assert deal_next(game_id=table.game.pk, now=timezone.now()) is not None
    for page in pages:
        expect(page.locator("#main[data-deal='2']")).to_be_visible()
        expect(page.locator("#hand-cards .card")).to_have_count(7)
        expect(page.locator("#live-polite")).to_contain_text("Round 2 is dealt.")
        assert version(page) == 1


def test_a_finished_games_page_shows_a_rematch_request(new_page: NewPage, alice: User, bob: User) -> None:
    table = table_at({**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"]]}, [alice, bob])
    page, other = new_page(alice), new_page(bob)
    open_game(page, table.game)
    first_choice(page).click()
    expect(over(page)).to_be_visible()
    open_game(other, table.game)
    expect(other.locator("#rematch")).to_have_text("Rematch")
    other.wait_for_load_state("networkidle")
    page.locator("#rematch").click()
    expect(other.locator("#rematch-note")).to_have_text("alice wants a rematch.")
    expect(other.locator("#rematch")).to_have_text("Join the rematch")
    pause(other)
    other.locator("#rematch").click()
    other.locator("#hand").wait_for()
    page.locator("#hand").wait_for()


def test_refusals_are_shown_without_a_page_inside_the_page(new_page: NewPage, alice: User, bob: User) -> None:
    table = two_at_a_table(alice, bob)
    page = new_page(alice)
    open_game(page, table.game)
    page.evaluate("document.getElementById('draw').value = 'fly'")
    page.locator("#draw").click()
    expect(page.locator("#refusal")).to_contain_text("That is not a move of this game.")
    expect(page.locator("#draw")).to_have_attribute("value", "draw")
    page.evaluate("document.querySelector('#play [name=csrfmiddlewaretoken]').value = 'x'")
    pause(page)
    page.locator("#draw").click()
    expect(page.locator("#trouble")).to_contain_text("Reload the page and try again.")
    expect(page.locator("main")).to_have_count(1)
    assert version(page) == 0
    page.reload()
    Seat.objects.filter(game=table.game, user=alice).update(user=None)
    page.locator("#draw").click()
    expect(page.locator("#refusal")).to_contain_text("You are not seated at this table.")
    expect(page.locator(".due")).to_contain_text("You are watching.")
