"""What staff do is seen on the open page of a player within a second, without a reload and without a new version."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from games.models import AuditEntry, Case, Game
from games.queries import Table, Viewer
from games.staff import cases, people, tables
from mail import outbox
from tests.browser.game_page import NewPage, play
from tests.browser.test_staff import REASON, dealt
from tests.conftest import Figure
from tests.support.tables import now_of

__all__ = ["dealt"]  # a fixture of that module

MOST_SECONDS = 1.0
START = 60.0
"""Seconds until a page's socket must be connected."""
PATIENCE = 4.0
"""Seconds in which only a message makes the page update: the server polls every 5 seconds, the page every 10."""
ACTS: tuple[tuple[Callable[..., object], dict[str, Any]], ...] = (
    (tables.pause, {}),
    (tables.resume, {}),
    (tables.remove, {"seat": 2, "bot": False}),
    (tables.void_game, {}),
)
"""One after the other at one table. `tests/games/test_revision.py` shows that each act tells the open pages."""


def shown(page: Page) -> str:
    """Return the text of the page, with times replaced, because minutes pass meanwhile."""
    return re.sub(r"\d+ (minutes?|days|h|min|s)\b", "a while", page.locator("main").inner_text())


def seconds_until_changed(page: Page, before: str, since: float) -> float:
    """Return the seconds from `since` until the open page changes, which must happen without a reload."""
    while shown(page) == before:
        assert time.monotonic() - since < PATIENCE, "the page does not hear of it"
        page.wait_for_timeout(20)
    assert page.evaluate("() => window.stillHere") is True, "the page was reloaded"
    return max(0.0, time.monotonic() - since)


def opened(page: Page, table: Table) -> Page:
    """The open page of the game, that has its socket and a mark which a reload would wipe out."""
    heard: list[str | bytes] = []

    def hear(frame: str | bytes) -> None:
        heard.append(frame)

    page.on("websocket", lambda socket: socket.on("framereceived", hear))
    page.goto(f"/games/{table.game.code}/")
    until = time.monotonic() + START
    while not heard:
        assert time.monotonic() < until, "the page's socket hears nothing"
        page.wait_for_timeout(20)
    page.evaluate("() => { window.stillHere = true; }")
    return page


def test_an_open_page_shows_a_warning_and_the_answer_to_a_report(
    new_page: NewPage, dealt: Table, ann: User, alice: User
) -> None:
    player, now = opened(new_page(alice), dealt), timezone.now()
    more: dict[str, Any] = {"by": ann, "reason": REASON, "now": now}
    people.warn(person_id=alice.pk, **more)
    expect(player.get_by_role("link", name="Read the warning")).to_be_visible(timeout=PATIENCE * 1000)
    cases.report(code=dealt.game.code, viewer=Viewer(alice), seat=1, kind="name", text="A rude name, I think.", now=now)
    cases.close_case(case_id=Case.objects.get().pk, outcome="acted", answer="", **more)
    expect(player.get_by_role("link", name="Read the outcome")).to_be_visible(timeout=PATIENCE * 1000)
    assert player.evaluate("() => window.stillHere") is True


def test_an_open_page_gives_way_to_the_reason_when_its_reader_is_suspended(
    new_page: NewPage, dealt: Table, ann: User, alice: User
) -> None:
    player = opened(new_page(alice), dealt)
    people.warn(person_id=alice.pk, by=ann, reason=REASON, now=timezone.now())
    people.suspend(person_id=alice.pk, by=ann, days=3, reason=REASON, now=timezone.now())
    player.wait_for_url("**/suspended/")
    assert player.get_by_role("link", name="Read the warning").count() == 0


def test_an_open_page_gives_way_when_its_reader_is_removed_from_a_private_table(
    new_page: NewPage, dealt: Table, ann: User, bob: User
) -> None:
    Game.objects.filter(pk=dealt.game.pk).update(is_public=False)
    player = opened(new_page(bob), dealt)
    tables.remove(game_id=dealt.game.pk, by=ann, seat=1, bot=True, reason=REASON, now=timezone.now())
    expect(player.get_by_text("Staff removed you from this table")).to_be_visible(timeout=PATIENCE * 1000)


def test_an_open_page_shows_what_staff_did_within_a_second(
    new_page: NewPage, dealt: Table, ann: User, alice: User, figure: Figure
) -> None:
    player, fresh = opened(new_page(alice), dealt), new_page(alice)
    for act, more in ACTS:
        before = shown(player)
        act(game_id=dealt.game.pk, by=ann, reason=REASON, now=timezone.now(), **more)
        seconds = seconds_until_changed(player, before, time.monotonic())
        fresh.goto(f"/games/{dealt.game.code}/")
        assert shown(player) == shown(fresh), act.__name__
        fresh.goto("about:blank")
        figure(f"{act.__name__}: on the open page {seconds * 1000:.0f} ms after it was done")
        assert seconds <= MOST_SECONDS, act.__name__


def test_a_pause_right_after_a_move_is_seen_though_the_version_is_the_same(
    new_page: NewPage, dealt: Table, ann: User, alice: User
) -> None:
    player = opened(new_page(alice), dealt)
    before = shown(player)
    user = dealt.on_turn.user
    assert user is not None
    play(dealt, user, "take" if dealt.started.position.pending else "draw")
    tables.pause(game_id=dealt.game.pk, by=ann, reason=REASON, now=timezone.now())
    since = time.monotonic()
    assert now_of(dealt).game.version == AuditEntry.objects.get().version
    seconds_until_changed(player, before, since)
    until = since + PATIENCE
    while "paused" not in shown(player):
        assert time.monotonic() < until, "the page has not heard of the pause"
        player.wait_for_timeout(20)


def test_open_pages_and_their_bells_show_that_the_round_was_cancelled(
    new_page: NewPage, dealt: Table, ann: User, alice: User, bob: User
) -> None:
    cancelled = "Staff cancelled round 1; it was dealt again."
    pages = [opened(new_page(user), dealt) for user in (alice, bob)]
    tables.void_round(game_id=dealt.game.pk, by=ann, reason=REASON, now=timezone.now())
    for page in pages:
        expect(page.locator("#main[data-deal='2']")).to_be_visible(timeout=PATIENCE * 1000)
        page.locator("#show-log > summary").click()
        rows = page.get_by_role("region", name="Log").get_by_role("listitem")
        expect(rows.nth(0)).to_have_text("Round 1")
        expect(rows.nth(1)).to_contain_text(cancelled)
        expect(page.locator("#news > summary")).to_have_text(f"So far {cancelled}")
    outbox.deliver(clock=timezone.now)
    for page in pages:
        expect(page.get_by_role("link", name="Notifications, 1 new")).to_be_visible(timeout=PATIENCE * 1000)
        assert page.evaluate("() => window.stillHere") is True
