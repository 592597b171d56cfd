"""Title, heading and announcements of a page agree in every state of a game."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from games.actions import pauses
from games.models import Game
from games.queries import Viewer
from games.staff import tables
from tests.support.tables import TWO_HANDS, table_at

HANDS = [["r5", "W6", "b2"], ["r4", "W6", "g3"]]


def agrees(page: Page, heading: str, *, urgent: str = "") -> None:
    """Check that heading and title say this, and that the urgent live region holds `urgent` or nothing."""
    expect(page.locator("#headline")).to_contain_text(heading)
    told = page.locator("#headline").inner_text()
    assert page.title().removeprefix("(1) ") == f"{told} · No Mercy"
    region = page.locator("#live-assertive")
    if urgent:
        expect(region).to_contain_text(urgent)
    else:
        expect(region).to_have_text("")


@pytest.fixture
def pages(new_page: Callable[..., Page], alice: User, bob: User) -> tuple[Game, Page, Page]:
    game = table_at({**TWO_HANDS, "hands": HANDS}, [alice, bob]).game
    one, other = new_page(alice), new_page(bob)
    for page in (one, other):
        page.goto(game.get_absolute_url())
        page.wait_for_load_state("networkidle")
    return game, one, other


def test_heading_title_and_announcements_agree_during_play(pages: tuple[Game, Page, Page]) -> None:
    _, one, other = pages
    agrees(one, "Your turn: play a card or draw")
    agrees(other, "alice’s turn: play or draw")
    one.get_by_role("button", name="Red 5").click()
    agrees(other, "Your turn: play a card or draw", urgent="Your turn: play a card or draw")
    agrees(one, "bob’s turn: play or draw")
    other.get_by_role("button", name="Wild Draw Six").click()
    expect(other.locator("#chooser")).to_be_visible()
    agrees(other, "Your turn: play a card or draw", urgent="Your turn: play a card or draw")
    other.locator("#choose-g").click()
    agrees(other, "alice’s turn: answer or take 6 cards")
    agrees(one, "Your turn: you owe 6 cards", urgent="you owe 6 cards")


def test_heading_title_and_announcements_agree_in_a_pause(
    pages: tuple[Game, Page, Page], alice: User, bob: User
) -> None:
    game, one, other = pages
    one.get_by_role("button", name="Red 5").click()
    agrees(other, "Your turn", urgent="Your turn")
    for user in (alice, bob):
        pauses.ask_pause(code=game.code, viewer=Viewer(user), now=timezone.now())
    agrees(other, "Paused: your turn.")
    expect(other.locator("#live-polite")).to_contain_text("Paused: your turn.")
    agrees(one, "Paused: bob’s turn.")
    pauses.end_pause(code=game.code, viewer=Viewer(alice), now=timezone.now())
    agrees(other, "Your turn")
    expect(other.locator("#live-polite")).to_contain_text("Your turn")


def test_heading_title_and_announcements_agree_when_a_game_is_called_off(
    pages: tuple[Game, Page, Page], ann: User
) -> None:
    game, one, other = pages
    tables.void_game(game_id=game.pk, by=ann, reason="To see what happens", now=timezone.now())
    for page in (one, other):
        agrees(page, "This game was called off.")
        expect(page.locator("#live-polite")).to_contain_text("This game was called off.")


def test_heading_title_and_announcements_agree_after_a_win(pages: tuple[Game, Page, Page]) -> None:
    game, one, other = pages
    one.get_by_role("button", name="Red 5").click()
    agrees(other, "Your turn", urgent="Your turn")
    one.get_by_role("link", name="Resign").click()
    one.get_by_role("button", name="Resign").click()
    agrees(one, "bob wins the game")
    agrees(other, "You win the game", urgent="You win the game")
    ended = Game.objects.get(pk=game.pk)
    assert (ended.status, ended.winner) == (Game.Status.OVER, 1)


def test_urgent_announcements_are_cleared_after_a_while(pages: tuple[Game, Page, Page]) -> None:
    _, one, other = pages
    other.clock.install()
    one.get_by_role("button", name="Red 5").click()
    agrees(other, "Your turn", urgent="Your turn")
    other.clock.run_for(20_000)
    expect(other.locator("#live-assertive")).to_have_text("")
