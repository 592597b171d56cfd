"""What people see of a staff act one day later, on a page they open then."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any, Final

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.utils import timezone
from playwright.sync_api import expect

from accounts.models import User
from games.actions import lobby
from games.models import Appeal, Case, Game
from games.queries import Table, Viewer
from games.staff import accounts, appeals, cases, people, tables
from tests.browser.game_page import NewPage
from tests.browser.test_staff import REASON, SAID, SECRET, dealt, log_in

pytestmark = pytest.mark.more

__all__ = ["dealt"]  # the fixture of that module

DAY: Final = timedelta(days=1)
ANSWER: Final = "We looked at the log once more."
ActArguments = dict[str, Any]  # the arguments of every act: by, reason and now
Seen = tuple[str, str, str]
"""Username, address, and a text on the page at that address. `{table}` is the page of the table."""
LOG: Final = "{table}log/"

AT_THE_TABLE: Final[dict[str, tuple[Callable[..., object], ActArguments, tuple[Seen, ...]]]] = {
    "pause": (tables.pause, {}, (("alice", "{table}", "Paused: "), ("bob", "{table}", "Staff have paused the game."))),
    "resume": (tables.resume, {}, (("alice", LOG, "Staff resumed the game."),)),
    "extend": (tables.extend, {"minutes": 60}, (("bob", LOG, "1 hour more for the turn."),)),
    "forgive": (tables.forgive, {"seat": 1}, (("bob", LOG, "Staff removed 1 missed turn from your count."),)),
    "void_round": (
        tables.void_round,
        {},
        (
            ("alice", LOG, "Staff cancelled round 1; it was dealt again."),
            ("bob", "/notices/", "Staff cancelled round 1; it was dealt again."),
        ),
    ),
    "void_game": (
        tables.void_game,
        {},
        (("alice", "{table}", "Staff called this game off"), ("bob", "/notices/", "Staff called off this game")),
    ),
    "remove, and a bot plays": (
        tables.remove,
        {"seat": 1, "bot": True},
        (
            ("alice", LOG, "Staff removed bob from the table, and a bot took over the seat."),
            ("bob", LOG, "Staff removed you from the table, and a bot took over the seat."),
            ("bob", "/notices/", "Staff removed you and gave your seat to a bot"),
        ),
    ),
    "remove": (
        tables.remove,
        {"seat": 1, "bot": False},
        (
            ("alice", LOG, "Staff took bob out of the game."),
            ("bob", "/notices/", "Staff removed you from the game with alice and charlie."),
        ),
    ),
    "move_seat": (
        tables.move_seat,
        {"seat": 1, "username": "dora"},
        (
            ("alice", LOG, "Staff gave bob’s seat to dora."),
            ("bob", "/notices/", "Staff gave your seat to dora"),
            ("alice", LOG, "bob plays "),
            ("dora", LOG, "bob plays "),
            ("dora", "{table}", "Your hand"),
            ("dora", "/notices/", "Staff gave you the seat of bob."),
        ),
    ),
}


def by(ann: User) -> ActArguments:
    return {"by": ann, "reason": REASON, "now": timezone.now() - DAY}


def assert_shows(new_page: NewPage, person: User, address: str, text: str) -> None:
    page = new_page(person)
    page.goto(address)
    expect(page.locator("main")).to_contain_text(text)


@pytest.mark.parametrize("act", AT_THE_TABLE)
def test_an_act_at_a_table(new_page: NewPage, dealt: Table, ann: User, act: str) -> None:
    User.objects.create_user(username="dora")
    perform, more, seen = AT_THE_TABLE[act]
    Game.objects.filter(pk=dealt.game.pk).update(turn_since=timezone.now() - DAY)
    if act == "resume":
        tables.pause(game_id=dealt.game.pk, **by(ann))
    perform(game_id=dealt.game.pk, **by(ann), **more)
    table = f"/games/{dealt.game.code}/"
    places = [(name, address.format(table=table), text) for name, address, text in seen]
    for name in dict.fromkeys(name for name, _, _ in places):
        page = new_page(User.objects.get(username=name))
        for address in dict.fromkeys(place[1] for place in places if place[0] == name):
            page.goto(address)
            for text in (place[2] for place in places if place[:2] == (name, address)):
                expect(page.locator("main")).to_contain_text(text)


def test_a_look_at_hands_is_told_after_the_end_only(new_page: NewPage, dealt: Table, ann: User, alice: User) -> None:
    tables.view_hands(game_id=dealt.game.pk, **by(ann))
    page = new_page(alice)
    page.goto(f"/games/{dealt.game.code}/log/")
    expect(page.locator("main")).not_to_contain_text("hands")
    tables.void_game(game_id=dealt.game.pk, **by(ann))
    page.reload()
    expect(page.locator("main")).to_contain_text("looked at the hands")


def test_a_closed_table(new_page: NewPage, site: str, ann: User, alice: User) -> None:
    table = lobby.create_table(user=alice, options=lobby.TableOptions(), now=timezone.now() - 2 * DAY)
    tables.close(game_id=table.game.pk, **by(ann))
    assert_shows(new_page, alice, f"/games/{table.game.code}/", "closed")
    assert_shows(new_page, alice, "/notices/", "closed")


def test_a_warning(new_page: NewPage, site: str, ann: User, alice: User) -> None:
    people.warn(person_id=alice.pk, **by(ann))
    page = new_page(alice)
    page.goto("/")
    page.get_by_role("link", name="Read the warning").click()
    expect(page.get_by_text(REASON)).to_be_visible()


def test_a_muted_name_and_the_end_of_the_mute(
    new_page: NewPage, dealt: Table, ann: User, alice: User, bob: User
) -> None:
    User.objects.filter(pk=alice.pk).update(display_name="Rude Word")
    people.mute(person_id=alice.pk, days=3, **by(ann))
    page = new_page(bob)
    page.goto(f"/games/{dealt.game.code}/")
    expect(page.get_by_role("link", name="alice").first).to_be_visible()
    expect(page.locator("main")).not_to_contain_text("Rude Word")
    people.unmute(person_id=alice.pk, **by(ann))
    assert_shows(new_page, alice, "/accounts/me/", "alice")
    assert_shows(new_page, alice, "/notices/", "Staff ended your mute. You can choose a name again.")


@pytest.mark.parametrize("days", [3, None])
def test_a_suspension_and_its_end(new_page: NewPage, site: str, ann: User, alice: User, days: int | None) -> None:
    people.suspend(person_id=alice.pk, days=days, **by(ann))
    page = new_page(alice)
    page.goto("/rules/")
    expect(page.get_by_role("heading", level=1)).to_have_text("Your account is suspended")
    expect(page.get_by_text(REASON)).to_be_visible()
    people.lift(person_id=alice.pk, **by(ann))
    page.goto("/rules/")
    expect(page.get_by_role("heading", level=1)).not_to_have_text("Your account is suspended")
    assert_shows(new_page, alice, "/notices/", "Staff lifted your suspension. You can use the site again.")
    assert_shows(new_page, alice, "/suspended/", "Staff lifted your suspension of")


@pytest.mark.parametrize("lift", [True, False])
def test_a_decided_appeal(new_page: NewPage, site: str, ann: User, alice: User, lift: bool) -> None:
    people.suspend(person_id=alice.pk, days=9, **by(ann))
    appeal = appeals.appeal(person_id=alice.pk, text=SAID, now=timezone.now() - DAY)
    appeals.decide_appeal(appeal_id=appeal.pk, lift=lift, answer=ANSWER, **by(ann))
    assert_shows(new_page, alice, "/suspended/", "The suspension is lifted." if lift else "The suspension stays.")
    assert_shows(new_page, alice, "/suspended/", ANSWER)
    if lift:
        assert_shows(new_page, alice, "/notices/", "appeal")


def test_a_neutral_name_and_the_restored_username(
    new_page: NewPage, dealt: Table, ann: User, alice: User, bob: User
) -> None:
    table, page = f"/games/{dealt.game.code}/", new_page(bob)
    page.goto(table)
    expect(page.get_by_role("link", name="alice").first).to_be_visible()
    people.replace_username(person_id=alice.pk, **by(ann))
    name = User.objects.get(pk=alice.pk).name
    expect(page.get_by_role("link", name=name).first).to_be_visible()
    assert_shows(new_page, bob, f"{table}log/", name)
    assert_shows(new_page, alice, "/notices/", f"Staff show you as {name} instead of your username.")
    people.restore_username(person_id=alice.pk, **by(ann))
    expect(page.get_by_role("link", name="alice").first).to_be_visible()
    assert_shows(new_page, alice, "/notices/", "Staff show your username again.")


def test_a_new_name(new_page: NewPage, dealt: Table, ann: User, alice: User, bob: User) -> None:
    accounts.rename(person_id=alice.pk, username="alicia", display_name="", **by(ann))
    assert_shows(new_page, bob, f"/games/{dealt.game.code}/", "alicia")


def test_a_new_role(new_page: NewPage, site: str, ann: User, alice: User) -> None:
    User.objects.filter(pk=ann.pk).update(is_superuser=True)
    accounts.set_role(person_id=alice.pk, role="moderator", **by(User.objects.get(pk=ann.pk)))
    page = new_page(alice)
    page.goto("/")
    expect(page.get_by_role("link", name="Staff")).to_be_visible()


def test_a_removed_second_factor(new_page: NewPage, site: str, ann: User, alice: User) -> None:
    User.objects.filter(pk=ann.pk).update(is_superuser=True)
    TOTP.activate(alice, SECRET)
    accounts.drop_factor(person_id=alice.pk, **by(User.objects.get(pk=ann.pk)))
    assert_shows(new_page, alice, "/notices/", "second factor")


def test_a_closed_and_reopened_account(new_page: NewPage, dealt: Table, ann: User, alice: User) -> None:
    accounts.rename(person_id=alice.pk, username="alicia", display_name="", **by(ann))
    page = new_page(alice)
    accounts.close_account(person_id=alice.pk, **by(ann))
    page.goto("/accounts/me/")
    log_in(page)
    expect(page).to_have_url(re.compile("/accounts/inactive/"))
    accounts.reopen_account(person_id=alice.pk, **by(ann))
    log_in(page)
    expect(page.get_by_role("heading", level=1, name="alicia")).to_be_visible()


def test_the_outcome_of_a_report(new_page: NewPage, dealt: Table, ann: User, alice: User, bob: User) -> None:
    report: ActArguments = {
        "viewer": Viewer(alice),
        "seat": 1,
        "kind": "name",
        "text": SAID,
        "now": timezone.now() - DAY,
    }
    cases.report(code=dealt.game.code, **report)
    case = Case.objects.get()
    cases.hold(case_id=case.pk, **by(ann))
    assert_shows(new_page, alice, "/reports/", "A member of staff is looking into it.")
    cases.close_case(case_id=case.pk, outcome="acted", answer="", **by(ann))
    assert_shows(new_page, alice, "/notices/", "report")
    assert_shows(new_page, alice, "/reports/", "We agreed and acted on it.")
    people.suspend(person_id=bob.pk, days=9, **by(ann))
    appeals.appeal(person_id=bob.pk, text=SAID, now=timezone.now() - DAY)
    appeals.decide_appeal(appeal_id=Appeal.objects.get().pk, lift=True, answer=ANSWER, **by(ann))
    cases.change_outcome(case_id=case.pk, outcome="nothing", answer="", **by(ann))
    assert_shows(new_page, alice, "/reports/", "We found nothing against the rules.")
