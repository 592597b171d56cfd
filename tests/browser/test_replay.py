"""Test stepping through a finished game by keys, by mouse, and without scripts."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from accounts.models import User
from games.queries import Table
from tests.browser.game_page import NewPage
from tests.support.tables import table_after


@pytest.fixture
def table(site: str, alice: User, bob: User) -> Table:
    return table_after([alice, bob, "careful"], 10_000, seed=3)


def test_arrow_keys_step_and_keep_the_focus(new_page: NewPage, alice: User, table: Table) -> None:
    page = new_page(alice)
    page.goto(f"/games/{table.game.code}/")
    page.locator("#replay").click()
    heading, last = page.locator("#headline"), table.game.version
    expect(heading).to_have_text("Round 1 is dealt")
    page.locator("#seat-from-0").click()
    expect(page.locator("#seat-from-0")).to_have_attribute("aria-current", "true")
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


def test_every_step_works_without_scripts(new_page: NewPage, alice: User, table: Table) -> None:
    page = new_page(alice, java_script_enabled=False)
    page.goto(f"/games/{table.game.code}/replay/")
    heading, last = page.locator("#headline"), table.game.version
    page.locator("#step-on").click()
    expect(heading).to_have_text(f"Move 1 of {last}")
    page.get_by_label("Move", exact=True).fill("7")
    page.get_by_role("button", name="Go").click()
    expect(heading).to_have_text(f"Move 7 of {last}")
    page.locator("#seat-from-1").click()
    expect(page.locator("#hands h3")).to_have_count(1)
    page.locator("#step-last").click()
    expect(heading).to_have_text(f"Move {last} of {last}")
    expect(page.locator("#step-on")).to_have_attribute("aria-disabled", "true")
