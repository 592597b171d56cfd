"""Title, heading and announcements of a page agree in every state of a game."""

from __future__ import annotations

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from games.actions import pauses
from games.models import Game
from games.queries import Viewer
from games.staff import tables
from tests.browser.game_page import TableForTwo
from tests.browser.pauses import pause
from tests.browser.speech import RECORD_SPEECH, hears, spoken

HANDS = [["r5", "W6", "b2"], ["r4", "W6", "g3"]]


def agrees(page: Page, heading: str, *, said: str = "") -> None:
    """Check that heading and title say this, and that `said` is announced once."""
    expect(page.locator("#headline")).to_contain_text(heading)
    told = page.locator("#headline").inner_text().removeprefix("Your turn.").strip()
    assert page.title().removeprefix("(1) ") == f"{told} · No Mercy"
    if said:
        hears(page, said)


@pytest.fixture
def pages(open_table: TableForTwo) -> tuple[Game, Page, Page]:
    one, other, table = open_table.both(script=RECORD_SPEECH, hands=HANDS)
    return table.game, one, other


def test_heading_title_and_announcements_agree_during_play(pages: tuple[Game, Page, Page]) -> None:
    _, one, other = pages
    agrees(one, "Your turn")
    agrees(other, "alice’s turn")
    one.get_by_role("button", name="Red 5").click()
    agrees(other, "Your turn", said="alice: Red 5. Your turn. 2 of 3 fit: Red 4 and Wild Draw Six.")
    agrees(one, "bob’s turn", said="You: Red 5.")
    other.get_by_role("button", name="Wild Draw Six").click()
    expect(other.locator("#chooser")).to_be_visible()
    pause(other)
    other.locator("#choose-g").click()
    agrees(other, "alice: stack or take 6", said="You: Wild Draw Six, green.")
    agrees(one, "Your turn. Stack or take 6", said="Your turn. Stack or take 6. 1 of")
    assert len(spoken(other)) == 2


def test_heading_title_and_announcements_agree_in_a_pause_and_when_a_game_is_called_off(
    pages: tuple[Game, Page, Page], alice: User, bob: User, ann: User
) -> None:
    game, one, other = pages
    one.get_by_role("button", name="Red 5").click()
    agrees(other, "Your turn", said="Your turn.")
    for user in (alice, bob):
        pauses.ask_pause(code=game.code, viewer=Viewer(user), now=timezone.now())
    agrees(other, "Paused: your turn", said="Paused: your turn")
    agrees(one, "Paused: bob’s turn", said="Paused: bob’s turn")
    pauses.resume(code=game.code, viewer=Viewer(alice), now=timezone.now())
    agrees(other, "Your turn", said="Paused: your turn Your turn")
    tables.void_game(game_id=game.pk, by=ann, reason="To see what happens", now=timezone.now())
    for page in (one, other):
        agrees(page, "Staff called this game off: nobody wins", said="Staff called this game off: nobody wins")


def test_heading_title_and_announcements_agree_after_a_win(pages: tuple[Game, Page, Page]) -> None:
    game, one, other = pages
    one.get_by_role("button", name="Red 5").click()
    agrees(other, "Your turn", said="Your turn.")
    one.get_by_role("link", name="Resign").click()
    one.get_by_role("button", name="Resign").click()
    agrees(one, "bob wins")
    agrees(other, "You win!", said="You win!")
    ended = Game.objects.get(pk=game.pk)
    assert (ended.status, ended.winner) == (Game.Status.OVER, 1)


def test_announcements_are_cleared_after_a_while(pages: tuple[Game, Page, Page]) -> None:
    _, one, other = pages
    other.clock.install()
    one.get_by_role("button", name="Red 5").click()
    agrees(other, "Your turn")
    other.locator("#card-1").click(force=True)  # it does not match, so the refusal interrupts
    expect(other.locator("#refusal")).to_be_visible()
    regions = [other.locator(name) for name in ("#live-polite", "#live-assertive")]
    for region in regions:
        expect(region).not_to_have_text("")
    other.clock.run_for(20_000)
    for region in regions:
        expect(region).to_have_text("")
