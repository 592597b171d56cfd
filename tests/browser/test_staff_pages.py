"""The pages that staff work with: axe finds nothing on them, and none is wider than a phone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle
from typing import Any, NamedTuple

import pytest
from django.contrib import admin
from django.urls import reverse
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts.models import User
from games.models import Announcement, Appeal, AuditEntry, Case
from games.notices.kinds import KINDS
from games.notices.player_notices import NewNotice, write
from games.queries import Table, Viewer
from games.staff import announcement, appeals, cases, people, tables
from tests.browser.conftest import DESKTOP
from tests.browser.test_layout import FORMS, PHONE, assert_axe_finds_nothing, have_width, window
from tests.browser.test_staff import REASON, dealt, staff
from tests.support.tables import table_after

__all__ = ["dealt", "staff"]  # the fixtures of that module

SAID = "They let us wait for three days in each of our games, and then left."
WIDER = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
CUT = """() => [...document.querySelectorAll(".results, .staff-wide")]
  .filter((box) => box.scrollWidth > box.clientWidth).map((box) => `${box.scrollWidth} px in ${box.clientWidth}`)"""


class Desk(NamedTuple):
    """What staff have before them."""

    table: Table
    case: Case
    appeal: Appeal
    bob: User


@pytest.fixture
def desk(dealt: Table, ann: User, mo: User, alice: User, bob: User, charlie: User) -> Desk:
    """A game with a history of acts, a case with two reports, a suspension with an appeal."""
    now = timezone.now()
    more: dict[str, Any] = {"by": ann, "reason": REASON, "now": now}
    for reporter in (alice, charlie):
        cases.report(code=dealt.game.code, viewer=Viewer(reporter), seat=1, kind="abandon", text=SAID, now=now)
    case = Case.objects.get()
    cases.hold(case_id=case.pk, **more)
    people.warn(person_id=bob.pk, **more)
    tables.extend(game_id=dealt.game.pk, minutes=30, **more)
    people.suspend(person_id=bob.pk, days=9, **more)
    return Desk(dealt, case, appeals.appeal(person_id=bob.pk, text=SAID, now=now), bob)


def look_at_hands(page: Page, desk: Desk) -> None:
    page.goto(f"/admin/games/game/{desk.table.game.pk}/act/look/")
    page.locator("#id_reason").fill(REASON)
    page.get_by_role("button", name="Look at the hands").click()
    page.get_by_text("the players are told").wait_for()


def refused(page: Page, desk: Desk) -> None:
    """Send a form that changes nothing, because it has the current names."""
    page.goto(f"/admin/accounts/user/{desk.bob.pk}/act/rename/")
    page.locator("#id_reason").fill(REASON)
    page.get_by_role("button", name="Correct the name").click()
    page.get_by_text("Nothing has been done.").wait_for()


def newer(page: Page, desk: Desk) -> None:
    """Send a form whose page was open while a colleague acted, with the reason that was typed."""
    page.goto(f"/admin/accounts/user/{desk.bob.pk}/act/warn/")
    page.locator("#id_reason").fill(REASON)
    mo = User.objects.get(username="mo")
    people.mute(person_id=desk.bob.pk, by=mo, days=3, reason="A long reason. " * 20, now=timezone.now())
    page.get_by_role("button", name="Warn").click()
    page.get_by_text("Nothing has been done.").wait_for()


def announced(page: Page, desk: Desk) -> None:
    """Open the page of the announcement while it is shown, with the line that all pages have."""
    ann, text = User.objects.get(username="ann"), "The site rests on Sunday from 20:00 to 21:00. " * 4
    more: dict[str, Any] = {"announcement_id": Announcement.NUMBER, "until": None, "reason": ""}
    announcement.announce(by=ann, text=text[:150], now=timezone.now(), **more)
    page.goto("/admin/games/announcement/")


def long_log(page: Page, desk: Desk) -> None:
    """Open the page of a game whose log scrolls."""
    players = User.objects.in_bulk(["alice", "bob", "charlie"], field_name="username")
    table = table_after(list(players.values()), 60, seed=4)
    page.goto(f"/admin/games/game/{table.game.pk}/change/")


def at(address: Callable[[Desk], str]) -> Callable[[Page, Desk], object]:
    return lambda page, desk: page.goto(f"/admin/{address(desk)}")


PLACES: dict[str, Callable[[Page, Desk], object]] = {
    "index": at(lambda desk: ""),
    "game": at(lambda desk: f"games/game/{desk.table.game.pk}/change/"),
    "queue": at(lambda desk: "games/case/"),
    "case": at(lambda desk: f"games/case/{desk.case.pk}/change/"),
    "close-case": at(lambda desk: f"games/case/{desk.case.pk}/act/close_case/"),
    "close-several": at(lambda desk: "games/case/close/"),
    "warn": at(lambda desk: f"accounts/user/{desk.bob.pk}/act/warn/"),
    "appeal": at(lambda desk: f"games/appeal/{desk.appeal.pk}/change/"),
    "person": at(lambda desk: f"accounts/user/{desk.bob.pk}/change/"),
    "audit": at(lambda desk: "games/auditentry/"),
    "entry": at(lambda desk: f"games/auditentry/{AuditEntry.objects.latest('pk').pk}/change/"),
    "say": at(lambda desk: f"games/game/{desk.table.game.pk}/act/say/"),
    "void-game": at(lambda desk: f"games/game/{desk.table.game.pk}/act/void_game/"),
    "remove-seat": at(lambda desk: f"games/game/{desk.table.game.pk}/act/remove/?seat=1"),
    "announcement": at(lambda desk: "games/announcement/"),
    "announce": at(lambda desk: "games/announcement/act/announce/"),
    "invitations": at(lambda desk: "accounts/signupinvitation/"),
}
ACTED: dict[str, Callable[[Page, Desk], object]] = {
    "refused": refused,
    "hands": look_at_hands,
    "newer": newer,
    "long-log": long_log,
    "announced": announced,
}
"""Places that change what staff have before them."""


@pytest.mark.parametrize("places", [PLACES, ACTED], ids=["read", "acted"])
def test_axe_finds_nothing_on_the_pages_of_the_staff_and_none_is_wider_than_the_screen(
    staff: Page, desk: Desk, places: dict[str, Callable[[Page, Desk], object]]
) -> None:
    for (name, go), form in zip(places.items(), cycle(FORMS)):
        staff.set_viewport_size(window(form.widths[0]))
        go(staff, desk)
        expect(staff.locator("h1").first).to_be_visible()
        assert_axe_finds_nothing(staff, name, form)
        for width in form.widths:
            have_width(staff, width)
            assert staff.evaluate(WIDER) <= 0, f"{name} at {width} px"


def test_the_links_of_the_header_fit_a_phone(staff: Page, desk: Desk, ann: User) -> None:
    Case.objects.update(holder=None)
    for turn in (False, True):
        if turn:
            table_after([ann, desk.bob], 0, seed=3)
        for width in (320, 390):
            staff.set_viewport_size({"width": width, "height": 844})
            staff.goto("/")
            expect(staff.locator("#next-game")).to_be_visible(visible=turn)
            expect(staff.locator(".top nav b")).to_be_visible()
            assert staff.locator(".top nav").evaluate("(nav) => nav.scrollWidth - nav.clientWidth") == 0, (turn, width)


def test_no_list_and_no_table_of_the_staff_is_wider_than_its_box(staff: Page, desk: Desk, ann: User) -> None:
    now, game = timezone.now(), desk.table.game
    User.objects.filter(pk=ann.pk).update(is_superuser=True)
    User.objects.filter(pk=desk.bob.pk).update(username="w" * 60, display_name="W" * 30)
    tables.forgive(game_id=game.pk, seat=1, by=ann, reason="A long reason. " * 30, now=now)
    write(game, [NewNotice(desk.bob.pk, kind) for kind in KINDS], now=now)
    lists = [f"{of.app_label}_{of.model_name}" for of in (model._meta for model in admin.site._registry)]
    assert {"games_auditentry", "games_game", "games_notice"} <= set(lists)
    pages = [reverse(f"admin:{name}_changelist") for name in lists]
    rows = {"games_game": game.pk, "games_case": desk.case.pk, "accounts_user": desk.bob.pk}
    pages += [reverse(f"admin:{name}_change", args=[row]) for name, row in rows.items()]
    cut = {}
    for page in pages:
        staff.goto(page)
        for width in (1280, 1440):
            staff.set_viewport_size({"width": width, "height": 900})
            cut[page, width] = staff.evaluate(CUT)
    assert {where: boxes for where, boxes in cut.items() if boxes} == {}


def test_a_report_stands_above_the_name_of_that_time_and_acts_have_one_height(staff: Page, desk: Desk) -> None:
    User.objects.filter(pk=desk.bob.pk).update(display_name="Sunny")
    Case.objects.update(holder=None)
    staff.set_viewport_size(PHONE)
    staff.goto(f"/admin/games/case/{desk.case.pk}/change/")
    called = staff.get_by_text("The person was called “bob” when it was reported.").first
    name, cell = called.bounding_box(), called.locator("xpath=..").bounding_box()
    assert name is not None
    assert cell is not None
    assert (name["x"], name["width"]) == (cell["x"], cell["width"])
    assert name["y"] > cell["y"] + 15
    staff.set_viewport_size(DESKTOP)
    heights = "(all) => all.map((one) => one.getBoundingClientRect().height)"
    found = staff.locator(".staff-acts .button").evaluate_all(heights)
    assert len(found) == 4
    assert min(found) == max(found) >= 24


FOCUSABLE = """() => [...document.querySelectorAll("#content :is(a[href], button, input, select, textarea)")]
  .filter((one) => one.type !== "hidden" && one.checkVisibility()
    && (one.type !== "radio" || one.checked || !document.querySelector(`[name="${one.name}"]:checked`)))
  .map((one, n) => { one.dataset.n = n; return `${n}` })"""
"""Number what the keyboard must reach. Of a group of radio buttons without a choice it reaches the first."""
HERE = """() => { const one = document.activeElement; const style = getComputedStyle(one)
  return [one.dataset?.n ?? "", one.type === "radio" ? one.name : "", one.matches(":focus-visible")] }"""


def test_the_keyboard_reaches_everything_on_the_pages_of_the_staff(staff: Page, desk: Desk) -> None:
    missed = {}
    for name in ("case", "game", "person", "close-case", "close-several", "say"):
        PLACES[name](staff, desk)
        missed[name] = missed_by_keyboard(staff)
    assert missed == {name: set() for name in missed}


def missed_by_keyboard(page: Page) -> set[str]:
    """Press Tab until everything has been reached. Return the number and the code of what was not."""
    expected = set(page.evaluate(FOCUSABLE))
    radios = page.evaluate(
        "() => Object.fromEntries([...document.querySelectorAll('[type=radio]')].map((o) => [o.dataset.n, o.name]))"
    )
    missed = set(expected)
    for _ in range(len(expected) + 60):
        page.keyboard.press("Tab")
        number, group, visible = page.evaluate(HERE)
        if number:
            assert visible
            missed = {one for one in missed if one != number and not (group and radios.get(one) == group)}
        if not missed:
            break
    return {page.locator(f"[data-n='{number}']").evaluate("(one) => one.outerHTML") for number in missed}
