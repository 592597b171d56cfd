"""What staff do in a browser: an act asks a reason and is audited, and players see what it did.

`tests/games/test_admin.py` and `test_staff_at_tables.py` perform every act with its form, without a browser.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from urllib.parse import urlsplit

import pytest
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from games.models import AuditEntry, Game, Seat
from games.queries import Table, Viewer
from games.queries.verify import faults_of
from games.staff import cases
from games.staff.acts import ACTS, TABLE_ACTS
from tests.browser.game_page import NewPage
from tests.support.codes import show_factor, totp
from tests.support.tables import now_of, table_after

REASON = "Asked for by the players themselves"
RED = "rgb(186, 33, 33)"
SAID = "It was my little brother who did it."
OF_BOB = {act.title: act.seat_title.format(name="bob", number=2) for act in TABLE_ACTS.values() if act.seat_title}
"""The buttons of the acts on one seat, by the title of the act."""


@pytest.fixture
def dealt(site: str, alice: User, bob: User, charlie: User) -> Table:
    """A match that follows from its deal, with hours to think."""
    table = table_after([alice, bob, charlie], 7, seed=0)
    later = timezone.now() + timedelta(hours=9)
    Game.objects.filter(pk=table.game.pk).update(target=500, deadline=later, turn_since=timezone.now())
    Seat.objects.filter(game=table.game, index=1).update(misses=1)
    return now_of(table)


@pytest.fixture
def staff(new_page: NewPage, ann: User) -> Page:
    """The browser of Ann, an admin, who has shown her second factor."""
    page = new_page(ann)
    [cookie] = [cookie for cookie in page.context.cookies() if cookie.get("name") == settings.SESSION_COOKIE_NAME]
    show_factor(import_module(settings.SESSION_ENGINE).SessionStore(cookie.get("value")), ann)
    return page


def do(staff: Page, address: str, label: str, fill: Callable[[Page], object] | None = None) -> None:
    """Go to a page of the staff, press the act's button, see that it asks a reason, give one, and confirm.

    An act on one seat is done to the seat of Bob. After an act the browser is on that page again.
    """
    if urlsplit(staff.url).path != address:
        staff.goto(address)
    act = next(act for act in ACTS.values() if act.title == label)
    of = staff.locator("h1").inner_text().removeprefix("Game ")
    acts = staff.get_by_role("list", name="These acts cannot be undone:" if act.final else "What you can do")
    acts.get_by_role("link", name=label, exact=True).click()
    if label in OF_BOB:
        label = OF_BOB[label]
        staff.get_by_role("link", name=label, exact=True).click()
    elif act.named:
        label = act.named.format(name=of)
    expect(staff.get_by_text("What will happen:")).to_be_visible()
    confirm = staff.get_by_role("button", name=label, exact=True)
    if act.final:
        expect(staff.get_by_text(act.final)).to_be_visible()
        expect(confirm).to_have_css("background-color", RED)
    if fill is not None:
        fill(staff)
    confirm.click()
    assert staff.locator("#id_reason").evaluate("(field) => field.matches(':invalid')")
    staff.locator("#id_reason").fill(REASON)
    with staff.expect_navigation(wait_until="commit"):
        confirm.click()


def bob_goes_to(instead: str) -> Callable[[Page], object]:
    def fill(page: Page) -> None:
        page.get_by_label(instead).check()

    return fill


AT_THE_TABLE = (
    ("look", "Look at hands", None, None),
    ("remove", "Remove a player", bob_goes_to("A bot takes over"), "Staff removed bob from the table, and a bot"),
    ("void_game", "Void the game", None, "Staff ended the game without a winner."),
)
"""One after the other at one table: the act, its button, what is filled in, and what the players see."""


def test_acts_at_a_table(staff: Page, new_page: NewPage, dealt: Table, ann: User, alice: User) -> None:
    player, before = new_page(alice), ""
    for act, label, fill, seen in AT_THE_TABLE:
        assert seen is None or seen not in before
        do(staff, f"/admin/games/game/{dealt.game.pk}/change/", label, fill)
        if act == "look":
            expect(staff.locator(".staff-hand .face")).to_have_count(sum(map(len, dealt.started.position.hands)))
        else:
            expect(staff.locator(".messagelist")).to_have_text(TABLE_ACTS[act].done)
        entry = AuditEntry.objects.latest("pk")
        assert (entry.act, entry.reason, entry.actor, entry.game_code) == (act, REASON, ann, dealt.game.code)
        assert faults_of(dealt.game.pk) == []
        player.goto(f"/games/{dealt.game.code}/log/")
        if seen is None:
            expect(player.locator("main")).not_to_contain_text("looked at")
        else:
            expect(player.locator("main")).to_contain_text(seen)
        expect(player.locator("main")).not_to_contain_text(REASON)
        before = player.locator("main").inner_text()


def test_going_back_does_not_do_an_act_twice(staff: Page, bob: User) -> None:
    do(staff, f"/admin/accounts/user/{bob.pk}/change/", "Warn")
    expect(staff.locator(".messagelist")).to_have_text("You have warned bob.")
    staff.go_back()
    expect(staff.get_by_text("What will happen:")).to_be_visible()
    staff.get_by_role("button", name="Warn", exact=True).click()
    assert staff.locator("#id_reason").evaluate("(field) => field.matches(':invalid')")
    assert AuditEntry.objects.count() == 1


def test_a_case_is_closed_with_a_warning_and_a_ready_made_reason(
    staff: Page, new_page: NewPage, dealt: Table, alice: User, bob: User
) -> None:
    now = timezone.now()
    case = cases.report(code=dealt.game.code, viewer=Viewer(alice), seat=1, kind="abandon", text=SAID, now=now).case
    staff.goto(f"/admin/games/case/{case.pk}/change/")
    staff.get_by_role("link", name="Close the case").click()
    staff.get_by_label("We agreed and acted on it").check()
    staff.get_by_label("Warn").check()
    ready = "Please make your moves in time. Others wait for you when your time runs out."
    staff.get_by_role("button", name=ready).press("Enter")
    expect(staff.locator("#id_reason")).to_have_value(ready)
    expect(staff.get_by_label("Warn")).to_be_checked()
    staff.locator("#id_days").press("Enter")  # sends the form, and does not fill in a reason
    expect(staff.locator(".messagelist")).to_have_text("The case is closed. You have warned bob.")
    person = new_page(bob)
    person.goto("/warnings/")
    expect(person.get_by_text(ready)).to_be_visible()
    assert [entry.act for entry in AuditEntry.objects.order_by("pk")] == ["warn", "close_case"]


def test_staff_set_a_second_factor_up_and_get_in(new_page: NewPage, site: str, mo: User) -> None:
    page = new_page()
    page.goto("/admin/")
    page.locator("#id_login").fill("mo")
    page.locator("#id_password").fill("mo")
    page.get_by_role("button", name="Log in").click()
    qr = page.locator("img.qr")
    expect(qr).to_be_visible()
    assert qr.evaluate("(image) => image.naturalWidth") > 0
    page.locator("#id_code").fill(totp(page.locator("#authenticator_secret").inner_text()))
    page.get_by_role("button", name="Set it up").click()
    expect(page.get_by_text("Unused codes")).to_be_visible()
    page.goto("/admin/games/game/")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
