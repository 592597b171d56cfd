"""Standing orders in browsers: setting them with and without scripts, and one that acts while its owner is away."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from django.utils import timezone
from playwright.sync_api import expect

from accounts.models import User
from games.queries import Table
from tests.browser.game_page import NewPage
from tests.support.tables import log_of, now_of, table_at

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
    link = page.get_by_role("link", name="Bots intercept: set orders to do so too.")
    expect(link).to_be_in_viewport()
    link.click()
    expect(page.get_by_role("button", name="Save orders")).to_be_in_viewport()


def test_orders_intercept_while_their_owner_is_away(new_page: NewPage, alice: User, bob: User, charlie: User) -> None:
    table = over_days([alice, bob, charlie])
    owner = new_page(charlie, java_script_enabled=False)
    owner.goto(f"/games/{table.game.code}/")
    owner.get_by_text("Standing orders: none").click()
    owner.get_by_label("Play the same card", exact=True).check()
    owner.get_by_label("Green 9").check()
    owner.get_by_role("button", name="Save orders").click()
    expect(owner.get_by_text("Standing orders: play the same card")).to_be_visible()
    assert now_of(table).seats[2].orders == {"intercept": "card", "keep": ["g9"], "call_uno": True}
    owner.goto("about:blank")
    page = new_page(alice, java_script_enabled=False)
    page.goto(f"/games/{table.game.code}/")
    page.get_by_role("button", name="Red 5").click()
    expect(page.locator("#log")).to_contain_text("charlie intercepts bob by standing order. charlie plays Red 5.")
    expect(page.get_by_role("heading", level=1)).to_contain_text("charlie")
    assert log_of(table) == ["0 play r5", "2 play r5"]
    owner.goto(f"/games/{table.game.code}/")
    expect(owner.get_by_role("heading", level=1)).to_contain_text("Your turn")
    expect(owner.locator("#log")).to_contain_text("You intercept bob by standing order. You play Red 5.")


def test_what_is_filled_in_stays_while_others_move(new_page: NewPage, alice: User, bob: User, charlie: User) -> None:
    table = over_days([alice, bob, charlie])
    owner, page = new_page(charlie), new_page(alice)
    for one in (owner, page):
        one.goto(f"/games/{table.game.code}/")
    owner.get_by_text("Standing orders: none").click()
    owner.get_by_label("Play the same card", exact=True).check()
    owner.get_by_label("Green 9").check()
    page.get_by_role("button", name="Red 5").click()
    expect(owner.locator("#log")).to_contain_text("alice plays Red 5.")
    expect(owner.get_by_label("Play the same card", exact=True)).to_be_checked()
    expect(owner.get_by_label("Green 9")).to_be_checked()
    owner.get_by_role("button", name="Save orders").click()
    expect(owner.get_by_text("Standing orders: play the same card")).to_be_visible()
