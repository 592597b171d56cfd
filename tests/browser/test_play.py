"""Whole games in a browser: by mouse, by keyboard, without scripts, and between two people."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Final

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from bench.page_bytes import MOVE_BYTES, VISIT_BYTES, Traffic
from games import randomness
from games.actions import lobby
from games.models import Game, Seat
from games.queries import Table
from tests.browser.game_page import (
    MOST_MOVES,
    NewPage,
    TableForTwo,
    after,
    first_choice,
    focused,
    my_turn,
    open_game,
    over,
    play,
    press,
    shows,
    version,
    wait_for_me,
)
from tests.browser.pauses import TO_READ, pause
from tests.browser.places import MANY, Cast
from tests.conftest import Figure
from tests.support.tables import table_at

SOON: Final = 1000
"""Milliseconds until a move is shown on all other pages."""


def against_bots(user: User, **options: Any) -> Game:
    """Start a single round against two bots that move at once. It is over after about seven moves of the person."""
    randomness.source.seed(34)
    chosen = lobby.TableChoices(players=3, bots=2, bot="careful", bot_pause=0, **options)
    return lobby.create_table(user=user, choices=chosen, now=timezone.now()).game


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
    expect(page.locator("#headline")).to_have_text(re.compile("wins|outlasts|win!"))
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
            press(page)
        else:
            page.reload()
    game.refresh_from_db()
    assert game.status == Game.Status.OVER
    page.locator("#rematch").click()
    expect(page.locator("#headline")).to_be_visible()
    assert Game.objects.filter(rematch_of=game).exists()


@pytest.mark.smoke
def test_players_see_each_others_moves_within_a_second(open_table: TableForTwo) -> None:
    pages = open_table.both()[:2]
    for turn in range(4):
        mover, watcher = pages[turn % 2], pages[1 - turn % 2]
        expect(my_turn(mover)).to_be_visible()
        while my_turn(mover).is_visible():
            after(mover, first_choice(mover).click)
            if mover.locator("#chooser").count() == 0:
                shows(watcher, version(mover), within=SOON)
        expect(my_turn(watcher)).to_be_visible(timeout=SOON)
    assert version(pages[0]) == version(pages[1]) >= 4


def test_another_players_move_keeps_focus_and_open_details(open_table: TableForTwo) -> None:
    page, other, _ = open_table.both()
    other.locator("#table-options > summary").click()
    other.locator("#card-1").focus()
    after(page, lambda: press(page))
    expect(my_turn(other)).to_be_visible(timeout=SOON)
    assert focused(other) == "card-1"
    assert other.locator("#table-options").get_attribute("open") is not None
    expect(other.locator("#live-polite")).to_contain_text("alice: Red 5. Your turn.")


def test_focus_goes_to_the_chooser_then_back_to_the_same_slot(open_table: TableForTwo) -> None:
    page, _ = open_table(hands=[["r5", "W6", "b2", "b3"], ["r4", "g3"]])
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


def test_focus_goes_from_the_hand_to_the_colours_of_a_roulette(open_table: TableForTwo) -> None:
    page, table = open_table(turn=1, hands=[["r5", "b1", "b2"], ["WC", "r4"]])
    page.locator("#card-1").focus()
    play(table, 1, "play WC")
    expect(page.locator("#choose-r")).to_be_focused()
    page.locator("#card-1").focus()
    play(table, 1, "uno")
    shows(page, 2)
    expect(page.locator("#card-1")).to_be_focused()


@pytest.mark.smoke
def test_an_unplayable_card_gives_the_reason_and_its_rule(open_table: TableForTwo) -> None:
    page, _ = open_table()
    page.locator("#card-2").click(force=True)  # Playwright treats aria-disabled as disabled
    expect(page.locator("#refusal")).to_contain_text("Blue 2 does not match Red 3.")
    expect(page.locator("#refusal a")).to_have_attribute("href", "/rules/#TURN-2")
    expect(page.locator("#live-assertive")).to_contain_text("Blue 2 does not match")
    expect(page.locator("#card-2")).to_be_focused()
    assert version(page) == 0


@pytest.mark.smoke
def test_every_shortcut_does_what_the_help_says(open_table: TableForTwo) -> None:
    page, _ = open_table(hands=[["r5", "b1"], ["r4"]], exposed=[1])
    page.locator("#headline").focus()
    spoken = page.locator("#live-polite")
    for key, said in (
        ("c", "Red 3."),
        ("v", "Red."),
        ("g", "There is no stack."),
        ("e", "You: 2 cards. bob: 1 card."),
        ("d", "2 cards, 1 playable: Red 5, Blue 1."),
        ("t", "Your turn."),
        ("s", "You: 0. bob: 0."),
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


def test_u_chooses_purple_and_shift_u_calls_uno(open_table: TableForTwo) -> None:
    page, _ = open_table(
        rules={"preset": "flip"},
        hands=[["g3/W", "r5/o2"], ["r4/t1", "W/u3"]],
        discard_pile=["r3/t4"],
        draw_pile=["b2/o5", "g7/p8"],
        side="dark",
    )
    page.get_by_role("button", name="Wild").click()
    expect(page.locator("#chooser")).to_be_visible()
    pause(page)
    page.keyboard.press("Shift+U")
    expect(page.locator("#uno")).to_be_checked()
    page.keyboard.press("u")
    expect(page.locator(".stage")).to_have_class("stage on-u")
    expect(page.locator("#table")).to_contain_text("Purple")
    expect(page.locator("#seat-0")).to_contain_text("UNO")


HEAR_MEANWHILE: Final = """
    window.WebSocket = class extends window.WebSocket {
        constructor(...parts) {
            super(...parts);
            addEventListener("htmx:afterSwap", () => {
                const data = JSON.stringify({ revision: Number(document.getElementById("main").dataset.revision) + 1 });
                this.dispatchEvent(new MessageEvent("message", { data }));
            }, { once: true });
        }
    };
"""
"""Lets the page hear of a change, like more time for the turn, in the moment when it swaps in a response."""


def test_a_change_that_is_no_move_leaves_a_chooser_open(open_table: TableForTwo) -> None:
    page, _ = open_table(script=HEAR_MEANWHILE, hands=[["W6", "b1"], ["r4", "g3"]])
    with page.expect_response(lambda response: "since=" in response.url) as fetched:
        page.get_by_role("button", name="Wild Draw Six").click()
    assert "choose=W6" in fetched.value.url
    page.wait_for_load_state("networkidle")
    expect(page.locator("#chooser")).to_be_visible()


def test_shortcuts_can_be_turned_off(open_table: TableForTwo) -> None:
    page, _ = open_table()
    page.locator("#keys").click()
    page.locator("#key-scope").select_option("off")
    page.reload()
    page.locator("#headline").focus()
    page.keyboard.press("c")
    page.keyboard.press("Space")
    shows(page, 1, within=SOON)  # the space bar still works, because it is not a letter
    expect(page.locator("#live-polite")).not_to_contain_text("Red 3.")


def test_a_page_without_a_socket_finds_moves_by_polling(open_table: TableForTwo, new_page: NewPage, bob: User) -> None:
    page, table = open_table()
    deaf = new_page(bob)
    deaf.add_init_script("window.WebSocket = class extends EventTarget { static OPEN = 1; readyState = 3; };")
    deaf.clock.install()
    open_game(deaf, table.game)
    after(page, lambda: press(page))
    assert version(deaf) == 0
    deaf.clock.run_for(15_000)
    expect(my_turn(deaf)).to_be_visible()


def test_a_finished_games_page_shows_a_rematch_request(open_table: TableForTwo, new_page: NewPage, bob: User) -> None:
    page, table = open_table(hands=[["r5"], ["r4", "g3", "W6"]])
    other = new_page(bob)
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


def test_refusals_are_shown_without_a_page_inside_the_page(open_table: TableForTwo, alice: User) -> None:
    page, table = open_table()
    page.evaluate("document.getElementById('draw').value = 'fly'")
    page.locator("#draw").click()
    expect(page.locator("#refusal")).to_contain_text("That is not a move of this game.")
    expect(page.locator("#draw")).to_have_attribute("value", "draw")
    page.evaluate("document.querySelector('#play [name=csrfmiddlewaretoken]').value = 'x'")
    pause(page, TO_READ)
    page.locator("#draw").click()
    expect(page.locator("#trouble")).to_contain_text("Reload the page and try again.")
    expect(page.locator("main")).to_have_count(1)
    assert version(page) == 0
    page.reload()
    Seat.objects.filter(game=table.game, user=alice).update(user=None)
    page.locator("#draw").click()
    expect(page.locator("#refusal")).to_contain_text("You are not seated at this table.")
    expect(page.locator(".due")).to_contain_text("You are watching.")


POSITION: Final[Mapping[str, Any]] = {
    "hands": [["r5", "b1", "b2"], ["y1", "y2", "y6"], ["r5", "g8", "g9"]],
    "turn": 0,
    "discard_pile": ["r3"],
    "draw_pile": ["y9", "g4", "b6", "y8", "g1"],
}


def over_days(people: list[User | str]) -> Table:
    return table_at(
        POSITION,
        people,
        preset="classic",
        options={"interceptions": "super"},
        deadline=timezone.now() + timedelta(days=2),
    )


def test_a_link_on_the_first_screen_opens_the_form(new_page: NewPage, alice: User, bob: User) -> None:
    page = new_page(alice)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.goto(f"/games/{over_days([alice, bob, 'careful']).game.code}/")
    link = page.get_by_role("link", name="Want to jump in while away? Set a standing order.")
    expect(link).to_be_in_viewport()
    link.click()
    expect(page.get_by_role("group", name="On a card that you can intercept")).to_be_in_viewport()


def test_what_is_filled_in_stays_while_others_move(new_page: NewPage, alice: User, bob: User, charlie: User) -> None:
    table = over_days([alice, bob, charlie])
    owner, page = new_page(charlie), new_page(alice)
    owner.goto(f"/games/{table.game.code}/?orders=1")
    page.goto(f"/games/{table.game.code}/")
    owner.get_by_label("Play the same card", exact=True).check()
    owner.get_by_label("Green 9").check()
    # A press where a button has just moved to does nothing, so the page is not scrolled after the move.
    owner.get_by_role("button", name="Save orders").scroll_into_view_if_needed()
    page.get_by_role("button", name="Red 5").click()
    expect(owner.locator("#log")).to_contain_text("alice plays Red 5.")
    expect(owner.get_by_label("Play the same card", exact=True)).to_be_checked()
    expect(owner.get_by_label("Green 9")).to_be_checked()
    owner.get_by_role("button", name="Save orders").click()
    expect(owner.locator("#orders > summary")).to_have_text("Standing order: play the same card")


def test_a_first_visit_and_a_move_are_small(new_page: NewPage, cast: Cast, figure: Figure) -> None:
    page, traffic = new_page(cast.alice), Traffic()
    traffic.watch(page)
    page.goto(cast.table(MANY).game.get_absolute_url(), wait_until="networkidle")
    visit = traffic.take()
    assert {"/static/css/game/board.css", "/static/vendor/htmx-2.0.11.min.js"} < {path for _, path, _ in visit}
    with page.expect_response(lambda answer: answer.request.method == "POST") as answered:
        page.get_by_role("button", name="Red 3").click()
    answered.value.finished()
    expect(page.locator("#move")).to_have_count(0)
    moves = [size for method, path, size in traffic.take() if method == "POST" and path.endswith("/move/")]
    total = sum(size for _, _, size in visit)
    figure(f"first visit: {total:,} bytes, a move: {moves}")
    assert total <= VISIT_BYTES
    assert len(moves) == 1
    assert moves[0] <= MOVE_BYTES
