"""Plays out of turn in browsers: an interception, a straight and a race for the buzzer."""

from __future__ import annotations

from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from accounts.models import User
from games.queries import Table
from tests.support.races import INTERCEPTION, RACE, RACING, STRAIGHT
from tests.support.tables import log_of, now_of, table_at

NewPage = Callable[..., Page]


def open_table(page: Page, table: Table) -> Page:
    page.goto(f"{table.game.get_absolute_url()}?refresh=off")
    expect(page.locator("#headline")).to_be_visible()
    return page


def card(page: Page, name: str) -> Locator:
    return page.locator("#hand-cards .card", has_text=name)


def test_of_two_interceptions_the_second_is_told_why_and_not_fined(
    new_page: NewPage, alice: User, bob: User, charlie: User
) -> None:
    table = table_at(INTERCEPTION, [alice, bob, charlie], **RACING)
    # Without scripts a page does not hear of moves, so this one is late.
    late = open_table(new_page(charlie, java_script_enabled=False), table)
    first = open_table(new_page(bob), table)
    card(first, "Green 3").click()
    expect(first.locator("#headline")).to_contain_text("Your turn")
    card(late, "Blue 3").click()
    expect(late.locator("#main")).to_contain_text("The game has moved on.")
    assert log_of(table) == ["1 play g3"]
    assert now_of(table).started.position.extra.fines == ()


def test_a_straight_of_three_is_sent_in_one_piece(new_page: NewPage, alice: User, bob: User, charlie: User) -> None:
    table = table_at(STRAIGHT, [alice, bob, charlie], preset="house-party")
    page = open_table(new_page(alice), table)
    card(page, "Red 4").click()
    for name in ("Red 5", "Red 6"):
        page.get_by_role("button", name=f"And then {name}").click()
    expect(page.get_by_text("Red 4, Red 5, Red 6: go on with the straight?").first).to_be_attached()
    page.locator("label.toggle").click()
    page.get_by_role("button", name="Play these 3 cards").click()
    expect(page.locator("#headline")).to_contain_text("bob’s turn")
    assert log_of(table) == ["0 play r4", "0 play r5", "0 play r6 uno"]


def test_the_slowest_of_three_pages_draws(new_page: NewPage, alice: User, bob: User, charlie: User) -> None:
    hands = [["BZ", "r4", "r5"], *RACE["hands"][1:]]
    position = {**RACE, "hands": hands, "phase": "play", "buzz": None, "discard_pile": ["r3"]}
    table = table_at(position, [alice, bob, charlie], **RACING)
    pages = [open_table(new_page(user), table) for user in (alice, bob, charlie)]
    card(pages[0], "Buzzer").click()
    for page in (pages[1], pages[0]):
        page.locator("#buzz").click()
    expect(pages[2].locator("#hand-cards .card")).to_have_count(4)
    assert log_of(table) == ["0 play BZ", "1 buzz", "0 buzz"]
