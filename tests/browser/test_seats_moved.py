"""A tab of a guest who logs in to an account in another tab of the same browser."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from accounts import actions
from accounts.models import User
from games.live import polling
from tests.browser.game_page import NewPage, load_game, play, shows
from tests.support.tables import TWO_HANDS, table_at
from tests.support.waiting import until

pytestmark = pytest.mark.in_process


def log_in(page: Page, name: str) -> None:
    page.goto("/accounts/login/")
    page.locator("#id_login").fill(name)
    page.locator("#id_password").fill(name)
    page.get_by_role("button", name="Log in").click()


def test_the_old_tab_shows_the_account_once_the_seats_have_moved(
    new_page: NewPage, alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, the account may not see the table: its fetch and its socket are refused, and tried again."""
    monkeypatch.setattr(polling, "POLL_SECONDS", 0.2)
    monkeypatch.setattr(polling, "SESSION_CHECK_SECONDS", 0.4)
    guest = actions.create_guest()
    table = table_at({**TWO_HANDS, "turn": 1}, [guest, bob], is_public=False)
    old = new_page(guest)
    sockets: list[str] = []
    old.on("websocket", lambda socket: sockets.append(socket.url))
    load_game(old, table.game)
    page = old.context.new_page()
    log_in(page, "alice")
    page.wait_for_url("**/move-seats/")
    with old.expect_response(lambda answer: answer.status == 404):
        play(table, bob, "play r4")
    until("another try", lambda: old.evaluate("true") and len(sockets) > 2)
    expect(old.locator("#headline")).to_contain_text("bob’s turn")
    page.get_by_role("button", name="Move the games").click()
    page.wait_for_url("**/")
    shows(old, 1)
    expect(old.locator("#headline")).to_contain_text("Your turn")
    expect(old.locator(".me .name")).to_have_text("alice")
    page.close()
