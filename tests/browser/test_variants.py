"""Variants in two browsers: challenges, Flip, straights, interceptions and buzzers. Most is played by keyboard."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from playwright.sync_api import expect

from accounts.models import User
from games.queries import Table
from tests.browser.game_page import NewPage, TableForTwo, after, load_game, my_turn, open_game
from tests.browser.pauses import TO_READ, pause
from tests.browser.speech import RECORD_SPEECH, hears
from tests.browser.test_layout import PHONE
from tests.support.tables import log_of, now_of, table_at

PILE: Final = ["b1", "b2", "y3", "g4", "r5", "b6", "y8", "g9", "r2", "y1", "g1", "b8"]
RUN: Final[dict[str, Any]] = {"hands": [["r4", "r5", "r6", "y1"], ["b1", "b2", "g8"]], "draw_pile": PILE}
PARTY: Final[dict[str, Any]] = {"preset": "house-party", "pace": "live"}
CHALLENGED: Final[dict[str, Any]] = {
    "draw_pile": PILE, "discard_pile": ["r3"], "hands": [["W4", "r5", "y7"], ["g1", "g2", "g3"]], "turn": 0,
}  # fmt: skip
OFFICIAL: Final[dict[str, Any]] = {"preset": "classic", "options": {"bluff": "official"}}
"""The rules under which a Wild Draw Four can be challenged."""


def hands(table: Table) -> list[int]:
    """Return how many cards each player has now."""
    return [len(hand) for hand in now_of(table).started.position.hands]


def at_live_table(people: Sequence[User], hands: list[list[str]], options: dict[str, Any]) -> Table:
    position = {"draw_pile": PILE, "discard_pile": ["r3"], "hands": hands, "turn": 0}
    return table_at(position, people, options=options, **PARTY)


def test_a_wild_draw_four_is_challenged(open_table: TableForTwo) -> None:
    one, other, table = open_table.both(rules=OFFICIAL, **CHALLENGED)
    one.get_by_role("button", name="Wild Draw Four").click()
    expect(one.locator("#choose-y")).to_be_visible()
    pause(one)
    one.locator("#choose-y").click()
    expect(other.locator("#headline")).to_contain_text("Your turn. Challenge or take 4")
    expect(one.locator("#challenge")).to_have_count(0)
    expect(other.get_by_role("button", name="Challenge alice")).to_be_visible()
    after(other, lambda: other.keyboard.press("f"))
    expect(one.locator("#log")).to_contain_text("catches your bluff. You draw 4 cards")
    assert hands(table) == [6, 3]


def test_both_see_a_flip(open_table: TableForTwo) -> None:
    one, other, _ = open_table.both(
        rules={"preset": "flip"},
        draw_pile=["b2/o5", "g7/p8", "y1/u1"],
        discard_pile=["y2/u6", "r3/t4"],
        hands=[["rF/o2", "b1/pF", "y3/u3"], ["r4/t1", "g3/W", "y8/tE"]],
        side="light",
    )
    after(one, one.get_by_role("button", name="Red Flip").click)
    expect(my_turn(other)).to_be_visible()
    expect(other.get_by_role("button", name="Teal 1")).to_be_visible()
    expect(one.get_by_role("button", name="Pink Flip")).to_be_visible()
    for page in (one, other):
        expect(page.locator("#table")).to_contain_text("Purple 6")
        expect(page.locator("#log")).to_contain_text("turned over to the dark side")


def test_a_run_of_three(open_table: TableForTwo) -> None:
    one, other, table = open_table.both(rules=PARTY, **RUN)
    after(one, lambda: one.get_by_role("button", name="Red 4").press("Enter"))
    expect(my_turn(other)).to_be_visible()
    after(one, lambda: one.get_by_role("button", name="Red 5").press("Enter"))
    after(one, lambda: one.get_by_role("button", name="Red 6").press("Enter"))
    expect(my_turn(other)).to_be_visible()
    expect(other.locator("#table")).to_contain_text("Red 6")
    assert log_of(table) == ["0 play r4", "0 play r5", "0 play r6"]


def test_a_run_of_three_over_days_is_sent_in_one_piece(open_table: TableForTwo) -> None:
    one, other, table = open_table.both(rules={"preset": "house-party"}, **RUN)
    one.get_by_role("button", name="Red 4").click()
    for name in ("Red 5", "Red 6"):
        step = one.get_by_role("button", name=f"And then {name}")
        expect(step).to_be_visible()
        pause(one, TO_READ)  # the next step stands in the place of this one
        step.click()
    expect(one.locator("#chooser")).to_contain_text("Red 4, Red 5 and Red 6")
    pause(one)
    one.locator("label.toggle").click()
    one.get_by_role("button", name="Play these 3 cards").click()
    expect(my_turn(other)).to_be_visible()
    assert log_of(table) == ["0 play r4", "0 play r5", "0 play r6 uno"]


def test_one_of_two_wins_the_race_for_an_interception(new_page: NewPage, alice: User, bob: User, charlie: User) -> None:
    table = at_live_table([alice, bob, charlie], [["y2", "y5", "b1"], ["g3", "r1", "b2"], ["b3", "y9", "g9"]], {})
    faster, slower = new_page(bob), new_page(charlie)
    # The slower page hears nothing of the faster one's card before it sends its own.
    slower.route_web_socket("**/ws/**", lambda socket: None)
    for page in (faster, slower):
        open_game(page, table.game)
    after(faster, lambda: faster.get_by_role("button", name="Green 3").press("Enter"))
    slower.get_by_role("button", name="Blue 3").press("Enter")
    expect(slower.locator("#refusal")).to_contain_text("The game has moved on")
    assert log_of(table) == ["1 play g3"]
    assert (hands(table)[2], now_of(table).started.position.extra.fines) == (3, ())


def test_a_locked_card_says_why_and_costs_nothing(open_table: TableForTwo) -> None:
    page, table = open_table(
        reader=1, script=RECORD_SPEECH, rules=PARTY, draw_pile=PILE, hands=[["y2", "y5", "b1"], ["g4", "r1", "W"]]
    )
    page.set_viewport_size({"width": 844, "height": 390})
    page.get_by_role("button", name="Green 4").click(force=True)
    reason = "Locked: this card does not fit. Out of turn, a miss costs 3 points."
    hears(page, reason)
    expect(page.locator(".banner")).to_have_text(reason)
    assert page.locator(".banner p").evaluate("(line) => line.offsetHeight") <= 44  # two lines
    for name in ("Red 1", "Wild"):
        pause(page)
        page.get_by_role("button", name=name, exact=True).click(force=True)
    page.reload()  # after every request that a click could have sent
    assert (log_of(table), now_of(table).started.position.extra.fines) == ([], ())


def test_a_play_out_of_turn_from_the_list_takes_a_second_press(open_table: TableForTwo) -> None:
    page, table = open_table(
        reader=1, script=RECORD_SPEECH, rules=PARTY, draw_pile=PILE, hands=[["y2", "y5", "b1"], ["g3", "r3", "W"]]
    )
    page.locator("#hand-list").click()
    page.keyboard.press("h")
    page.keyboard.press("Enter")
    hears(page, "Press again to play Red 3 out of turn.")
    page.keyboard.press("ArrowRight")
    pause(page)
    page.keyboard.press("Enter")
    hears(page, "Press again to play Green 3 out of turn.")
    assert log_of(table) == []
    pause(page)
    page.keyboard.press("Enter")
    expect(my_turn(page)).to_be_visible()
    assert log_of(table) == ["1 play g3"]


def test_players_choose_how_many_presses_a_play_out_of_turn_takes(new_page: NewPage, alice: User, bob: User) -> None:
    page = new_page(bob)
    for chosen, presses in (("taps", 1), ("all", 2)):
        User.objects.filter(pk=bob.pk).update(confirm=chosen)
        table = at_live_table([alice, bob], [["y2", "y5", "b1"], ["g3", "r1", "W"]], {})
        load_game(page, table.game)
        for _ in range(presses):
            assert log_of(table) == []
            pause(page)
            page.get_by_role("button", name="Green 3 Jump in").click()
        expect(my_turn(page)).to_be_visible()
        assert log_of(table) == ["1 play g3"]


def test_the_slowest_at_the_buzzer_draws(open_table: TableForTwo) -> None:
    rules = {**PARTY, "options": {"buzzers": "race"}}
    hands_ = [["BZ", "r5", "y1"], ["b1", "b2", "g8"]]
    one, other, table = open_table.both(script=RECORD_SPEECH, rules=rules, draw_pile=PILE, hands=hands_)
    other.set_viewport_size(PHONE)
    after(one, one.get_by_role("button", name="Buzzer", exact=True).click)
    for page in (one, other):
        buzzer = page.get_by_role("button", name="Press the buzzer")
        expect(buzzer).to_be_visible()
        expect(page.locator("#race time")).to_have_text(re.compile(r"^[1-8] s left$"))
        ends = page.locator(".timer .left").evaluate("(left) => left.getAnimations()[0].effect.getTiming().duration")
        assert 0 < ends <= 8000
        button, felt = buzzer.bounding_box(), page.locator("#table").bounding_box()
        assert button is not None
        assert felt is not None
        assert button["height"] == button["width"] >= 180
        assert abs(button["x"] + button["width"] / 2 - felt["x"] - felt["width"] / 2) <= 1
    one.evaluate("document.getElementById('motion').value = 'off'")
    expect(one.locator(".timer")).to_be_hidden()  # the number still counts
    other.locator(".hand .card").first.focus()  # it cannot be played now
    pause(other)
    other.keyboard.press("Space")
    other.keyboard.press("b")
    expect(one.locator("#log")).to_contain_text("You draw 2 cards")
    assert hands(table) == [4, 3]
    assert log_of(table) == ["0 play BZ", "1 buzz"]
    expect(my_turn(other)).to_be_visible()
    hears(other, "alice was slowest: +2. Your turn")
