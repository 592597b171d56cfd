"""Test in a browser what the players see of a void round on open pages."""

from __future__ import annotations

from datetime import timedelta

from django.utils import timezone
from playwright.sync_api import expect

from accounts.models import User
from games.models import Game
from games.notices import outbox
from games.queries import Table
from games.staff import tables
from tests.browser.game_page import NewPage
from tests.browser.test_staff import REASON, dealt
from tests.browser.test_staff_live import PATIENCE, opened
from tests.support.tables import now_of

__all__ = ["dealt"]  # a fixture of that module

CANCELLED = "Staff cancelled round 1; it was dealt again."


def void_round(table: Table, by: User) -> None:
    tables.void_round(game_id=table.game.pk, by=by, reason=REASON, now=timezone.now())


def test_open_pages_and_their_bells_show_that_the_round_was_cancelled(
    new_page: NewPage, dealt: Table, ann: User, alice: User, bob: User
) -> None:
    pages = [opened(new_page(user), dealt) for user in (alice, bob)]
    void_round(dealt, ann)
    for page in pages:
        expect(page.locator("#main[data-deal='2']")).to_be_visible(timeout=PATIENCE * 1000)
        page.locator("#show-log > summary").click()
        rows = page.get_by_role("region", name="Log").get_by_role("listitem")
        expect(rows.nth(0)).to_have_text("Round 1")
        expect(rows.nth(1)).to_contain_text(CANCELLED)
        expect(page.locator("#news > summary")).to_have_text(f"Since your last move {CANCELLED}")
    outbox.deliver(clock=timezone.now)
    for page in pages:
        expect(page.get_by_role("link", name="Notices, 1 new")).to_be_visible(timeout=PATIENCE * 1000)
        assert page.evaluate("() => window.stillHere") is True


def test_a_move_chosen_on_a_page_of_the_void_deal_is_not_played(new_page: NewPage, dealt: Table, ann: User) -> None:
    page = new_page(dealt.on_turn.user, java_script_enabled=False)
    page.goto(f"/games/{dealt.game.code}/")
    old = page.locator("button[value='draw'], button[value='take']").first
    void_round(dealt, ann)
    before = now_of(dealt)
    Game.objects.filter(pk=dealt.game.pk).update(deadline=timezone.now() + timedelta(hours=9))
    old.click()
    expect(page.get_by_text("The game has moved on.").first).to_be_visible()
    after = now_of(dealt)
    assert (after.game.version, after.started.position) == (before.game.version, before.started.position)
