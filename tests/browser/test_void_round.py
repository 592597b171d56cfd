"""Test in a browser what the players see of a void round: at once on open pages, and later."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.core import mail
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from games.models import Game, Notice
from games.notices import outbox
from games.queries import Table
from tests.browser.game_page import NewPage
from tests.browser.test_staff import dealt, do, staff
from tests.browser.test_staff_live import PATIENCE, opened
from tests.support.tables import now_of

pytestmark = pytest.mark.more

__all__ = ["dealt", "staff"]  # the fixtures of that module

CANCELLED = "Staff cancelled round 1; it was dealt again."


def void_round(staff: Page, table: Table) -> None:
    do(staff, f"/admin/games/game/{table.game.pk}/change/", "Void the round")
    staff.locator(".messagelist").wait_for()


def test_open_pages_show_that_the_round_was_cancelled(
    staff: Page, new_page: NewPage, dealt: Table, alice: User, bob: User, charlie: User
) -> None:
    pages = [opened(new_page(user), dealt) for user in (alice, bob, charlie)]
    void_round(staff, dealt)
    for page in pages:
        expect(page.locator("#main[data-deal='2']")).to_be_visible(timeout=PATIENCE * 1000)
        assert page.evaluate("() => window.stillHere") is True
        page.locator("#show-log > summary").click()
        rows = page.get_by_role("region", name="Log").get_by_role("listitem")
        expect(rows.nth(0)).to_have_text("Round 1")
        expect(rows.nth(1)).to_contain_text(CANCELLED)
        expect(page.locator("#news > summary")).to_have_text(f"Since your last move {CANCELLED}")


def test_a_move_chosen_on_a_page_of_the_void_deal_is_not_played(
    staff: Page, new_page: NewPage, dealt: Table, alice: User, bob: User, charlie: User
) -> None:
    pages = [new_page(user, java_script_enabled=False) for user in (alice, bob, charlie)]
    for page in pages:
        page.goto(f"/games/{dealt.game.code}/")
    old = pages[dealt.on_turn.index].locator("button[value='draw'], button[value='take']").first
    void_round(staff, dealt)
    before = now_of(dealt)
    Game.objects.filter(pk=dealt.game.pk).update(deadline=timezone.now() + timedelta(hours=9))
    old.click()
    expect(pages[dealt.on_turn.index].get_by_text("The game has moved on.").first).to_be_visible()
    after = now_of(dealt)
    assert (after.game.version, after.started.position) == (before.game.version, before.started.position)


def test_the_bell_of_an_open_page_follows_at_once(
    staff: Page, new_page: NewPage, dealt: Table, alice: User, bob: User
) -> None:
    pages = [opened(new_page(user), dealt) for user in (alice, bob)]
    void_round(staff, dealt)
    for page in pages:
        expect(page.locator("#main[data-deal='2']")).to_be_visible(timeout=PATIENCE * 1000)
    outbox.deliver(clock=timezone.now)
    for page in pages:
        expect(page.get_by_role("link", name="Notices, 1 new")).to_be_visible(timeout=PATIENCE * 1000)
        assert page.evaluate("() => window.stillHere") is True


def test_players_who_come_later_read_it_in_mail_bell_and_log(
    staff: Page, new_page: NewPage, dealt: Table, alice: User
) -> None:
    void_round(staff, dealt)
    outbox.deliver(clock=lambda: timezone.now() + timedelta(minutes=10))
    assert Notice.objects.filter(kind="round_cancelled", channel="site", state="sent").count() == len(dealt.seats)
    assert CANCELLED in "".join(str(letter.body) for letter in mail.outbox if letter.to == [alice.email])
    player = new_page(alice)
    player.goto("/notices/")
    expect(player.get_by_text(CANCELLED).first).to_be_visible()
    player.goto(f"/games/{dealt.game.code}/log/")
    expect(player.get_by_text(CANCELLED)).to_be_visible()
