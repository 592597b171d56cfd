"""The front page of somebody with games."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from accounts.models import User
from tests.browser.game_page import NewPage
from tests.support.tables import TWO_HANDS, table_at


@pytest.mark.parametrize("javascript", [True, False])
def test_play_next_opens_the_most_urgent_game(new_page: NewPage, alice: User, bob: User, javascript: bool) -> None:
    now = timezone.now()
    table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=5))
    urgent = table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=2)).game
    page = new_page(alice, java_script_enabled=javascript)
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("2 games wait for you")
    if javascript:
        page.wait_for_load_state("networkidle")
        page.keyboard.press("n")
    else:
        page.get_by_role("link", name="Play next").click()
    page.wait_for_url(f"**/games/{urgent.code}/")


def test_a_row_says_its_game_to_a_screen_reader(new_page: NewPage, alice: User, bob: User) -> None:
    deadline = timezone.now() + timedelta(hours=5, minutes=5)
    table_at(TWO_HANDS, [alice, bob], deadline=deadline)
    page = new_page(alice)
    page.goto("/")
    row = page.get_by_role("region", name="Your turn").get_by_role("listitem").first
    expect(row.get_by_role("heading", level=3)).to_have_accessible_name("Play a card or draw with bob")
    expect(row.get_by_role("list", name="Hands of the others")).to_contain_text("bob: 3")
    expect(row).to_contain_text("5 h left")
