"""Every act of the staff once in a browser: it asks a reason, players see what it did, it is audited, games replay."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from allauth.mfa.totp.internal.auth import TOTP
from django.conf import settings
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.fixtures import Settings

from accounts.invitations import invite, open_ones
from accounts.models import User
from games.actions import lobby
from games.models import Appeal, AuditEntry, Case, Game, Seat
from games.queries import Table, Viewer
from games.queries.verify import faults_of
from games.staff import appeals, cases, people, tables
from games.staff.acts import ACTS, EXTEND, PERSON_ACTS, TABLE_ACTS
from tests.browser.game_page import NewPage
from tests.conftest import staff as member
from tests.support.codes import show_factor, totp
from tests.support.tables import now_of, table_after

REASON = "Asked for by the players themselves"
SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
RED = "rgb(186, 33, 33)"
SAID = "It was my little brother who did it."
OF_BOB = {act.title: act.seat_title.format(name="bob", number=2) for act in TABLE_ACTS.values() if act.seat_title}
"""The buttons of the acts on one seat, by the title of the act."""
OF_THE_TURN = {EXTEND.title: "Give alice, seat 1, more time"}
"""The button that confirms an act on the turn, which names who is on turn in `dealt`."""


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
    confirm = staff.get_by_role("button", name=OF_THE_TURN.get(label, label), exact=True)
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


def to_dora(page: Page) -> None:
    page.locator("#id_username").fill("dora")


AT_THE_TABLE = (
    ("look", "Look at hands", None, None),
    ("pause", "Pause the game", None, "paused"),
    ("resume", "Resume the game", None, "Staff resumed the game."),
    ("extend", "Extend the clock", None, "for the turn"),
    ("forgive", "Forgive missed turns", None, "missed turn from bob’s count"),
    ("remove", "Remove a player", bob_goes_to("A bot takes over"), "Staff removed bob from the table, and a bot"),
    ("move_seat", "Give a seat to someone else", to_dora, "Staff gave bob’s seat to dora."),
    ("void_round", "Void the round", None, "Staff cancelled round 1; it was dealt again."),
    ("void_game", "Void the game", None, "Staff ended the game without a winner."),
)
"""One after the other at one table: the act, its button, what is filled in, and what the players see."""
AT_ANOTHER_TABLE = (("remove", "Remove a player", bob_goes_to("is out"), "Staff took bob out of the game"),)


@pytest.mark.parametrize("acts", [AT_THE_TABLE, AT_ANOTHER_TABLE], ids=["most", "other"])
def test_the_acts_at_a_table(
    staff: Page, new_page: NewPage, dealt: Table, ann: User, alice: User,
    acts: tuple[tuple[str, str, Callable[[Page], object] | None, str | None], ...],
) -> None:  # fmt: skip
    User.objects.create_user(username="dora")
    player, before = new_page(alice), ""
    for act, label, fill, seen in acts:
        assert seen is None or seen not in before
        do(staff, f"/admin/games/game/{dealt.game.pk}/change/", label, fill)
        if act == "look":
            expect(staff.locator(".staff-hand .face")).to_have_count(sum(map(len, dealt.started.position.hands)))
        else:
            expect(staff.locator(".messagelist")).to_have_text(TABLE_ACTS[act].done)
        entry = AuditEntry.objects.latest("pk")
        assert (entry.act, entry.reason, entry.actor, entry.game_code) == (act, REASON, ann, dealt.game.code)
        assert faults_of(dealt.game.pk) == []
        player.goto(f"/games/{dealt.game.code}/{'' if act == 'pause' else 'log/'}")
        if seen is None:
            expect(player.locator("main")).not_to_contain_text("looked at")
        else:
            expect(player.locator("main")).to_contain_text(seen)
        expect(player.locator("main")).not_to_contain_text(REASON)
        before = player.locator("main").inner_text()


def test_staff_say_something_to_a_table_and_give_the_reason_of_a_pause(
    staff: Page, new_page: NewPage, dealt: Table, alice: User
) -> None:
    player, address = new_page(alice), f"/admin/games/game/{dealt.game.pk}/change/"
    staff.goto(address)
    staff.get_by_role("link", name="Say something to the table").click()
    staff.get_by_label("Say to the players").fill("A new round begins at eight.")
    staff.get_by_role("button", name="Say something to the table").press("Enter")
    expect(staff.locator(".messagelist")).to_have_text("The table can read it.")
    player.goto(f"/games/{dealt.game.code}/log/")
    expect(player.locator("main")).to_contain_text("Staff say: “A new round begins at eight.”")
    why = "We look at a report of this game."
    do(staff, address, "Pause the game", lambda page: page.get_by_label("Say to the players").fill(why))
    player.goto("/notices/")
    expect(player.locator("main")).to_contain_text(f"Staff say to your table: “{why}”")
    player.goto(f"/games/{dealt.game.code}/")
    expect(player.locator("#news .brief")).to_have_text(f"Since your last move Staff say: “{why}”")


def test_a_table_is_closed(staff: Page, new_page: NewPage, alice: User) -> None:
    table = lobby.create_table(user=alice, options=lobby.TableOptions(), now=timezone.now())
    do(staff, f"/admin/games/game/{table.game.pk}/change/", "Close the table")
    expect(staff.get_by_text("The table is closed.")).to_be_visible()
    player = new_page(alice)
    player.goto(f"/games/{table.game.code}/")
    expect(player.get_by_role("heading", level=1)).to_contain_text("closed")
    assert AuditEntry.objects.get().act == "close"


def test_a_person_is_warned_muted_suspended_and_let_in_again(
    staff: Page, new_page: NewPage, ann: User, alice: User
) -> None:
    User.objects.filter(pk=alice.pk).update(display_name="Rude Word")
    person, address = new_page(alice), f"/admin/accounts/user/{alice.pk}/change/"
    do(staff, address, "Warn")
    person.goto("/")
    person.get_by_role("link", name="Read the warning").click()
    expect(person.get_by_text(REASON)).to_be_visible()
    person.get_by_role("button", name="I have read this").click()
    expect(person.get_by_text("Read the warning")).to_have_count(0)
    do(staff, address, "Mute")
    person.goto("/accounts/me/")
    expect(person.get_by_role("heading", level=1)).to_have_text("alice")
    do(staff, address, "End the mute")
    do(staff, address, "Replace the username")
    person.goto("/accounts/me/")
    expect(person.get_by_role("heading", level=1)).to_have_text(re.compile(r"Player \d{5}"))
    do(staff, address, "Restore the username")
    person.goto("/accounts/me/")
    expect(person.get_by_role("heading", level=1)).to_have_text("alice")
    for label in ("Suspend", "Suspend for good"):
        do(staff, address, label)
        person.goto("/rules/")
        expect(person.get_by_role("heading", level=1)).to_have_text("Your account is suspended")
        expect(person.get_by_text(REASON, exact=True)).to_be_visible()
    person.locator("#id_text").fill(SAID)
    person.get_by_role("button", name="Send appeal").click()
    expect(person.get_by_text("Staff are reviewing it.")).to_be_visible()
    # The admin who suspended somebody may not answer the appeal by lifting it.
    people.lift(person_id=alice.pk, by=member("eve", "admin"), reason=REASON, now=timezone.now())
    person.goto("/rules/")
    expect(person.get_by_role("heading", level=1)).not_to_have_text("Your account is suspended")
    acts = ["warn", "mute", "unmute", "neutral_name", "end_neutral_name", "suspend", "suspend_for_good", "lift"]
    assert [entry.act for entry in AuditEntry.objects.order_by("pk")] == acts


def test_an_account_is_renamed_closed_opened_and_given_a_role_and_its_lost_factor_is_taken(
    staff: Page, new_page: NewPage, dealt: Table, ann: User, alice: User
) -> None:
    User.objects.filter(pk=ann.pk).update(is_superuser=True)  # roles and second factors are in nobody else's hands
    TOTP.activate(alice, SECRET)
    player, address = new_page(alice), f"/admin/accounts/user/{alice.pk}/change/"
    do(staff, address, "Correct the name", lambda page: page.locator("#id_username").fill("alicia"))
    player.goto(f"/games/{dealt.game.code}/")
    expect(player.get_by_role("link", name="alicia").first).to_be_visible()
    do(staff, address, "Give a role", lambda page: page.get_by_label("Moderator").check())
    player.goto("/")
    expect(player.get_by_role("link", name="Staff")).to_be_visible()
    do(staff, address, "Remove the lost second factor")
    player.goto("/notices/")
    expect(player.get_by_text("second factor").first).to_be_visible()
    do(staff, address, "Close the account")
    player.goto("/accounts/me/")
    expect(player).to_have_url(re.compile("/accounts/login/"))
    log_in(player)
    expect(player).to_have_url(re.compile("/accounts/inactive/"))
    do(staff, address, "Reopen the account")
    log_in(player)  # closing ended the sessions
    expect(player.get_by_role("heading", level=1, name="alicia")).to_be_visible()
    acts = ["rename", "set_role", "drop_factor", "close_account", "reopen_account"]
    assert [(entry.act, entry.reason) for entry in AuditEntry.objects.order_by("pk")] == [(act, REASON) for act in acts]
    assert faults_of(dealt.game.pk) == []


def test_the_invitations_of_a_person_are_revoked(
    staff: Page, new_page: NewPage, alice: User, settings: Settings
) -> None:
    settings.REGISTRATION, settings.INVITATIONS = "invite", "members"
    key = invite(user=alice, note="for Dora", days=7, now=timezone.now())
    do(staff, f"/admin/accounts/user/{alice.pk}/change/", "Revoke the invitations")
    expect(staff.locator(".messagelist")).to_have_text(PERSON_ACTS["revoke_invitations"].done.format(about="alice"))
    assert not open_ones(alice, timezone.now()).exists()
    newcomer = new_page(None)
    opened = newcomer.goto(f"/accounts/invitation/{key}/")
    assert opened is not None
    assert opened.status == HTTPStatus.GONE
    assert AuditEntry.objects.get().reason == REASON


def test_an_account_is_made_for_somebody(staff: Page, ann: User) -> None:
    User.objects.filter(pk=ann.pk).update(is_superuser=True)
    staff.goto("/admin/accounts/user/")
    staff.get_by_role("link", name="Make an account").click()
    for field, text in (("username", "dora"), ("email", "dora@example.org"), ("reason", REASON)):
        staff.locator(f"#id_{field}").fill(text)
    staff.get_by_role("button", name="Make an account").click()
    expect(staff.locator(".messagelist")).to_have_text(ACTS["make_account"].done)
    expect(staff.locator("h1")).to_contain_text("dora")
    assert AuditEntry.objects.get().person == User.objects.get(username="dora")


def test_every_act_is_done_in_a_browser() -> None:
    modules = Path(__file__).parent.glob("test_*.py")
    text = "".join(module.read_text() for module in modules)
    assert [name for name, act in ACTS.items() if f'"{name}"' not in text and f'"{act.title}"' not in text] == []


def log_in(page: Page) -> None:
    page.goto("/accounts/login/?next=/accounts/me/")
    page.locator("#id_login").fill("alicia")
    page.locator("#id_password").fill("alice")
    page.get_by_role("button", name="Log in").click()


def test_an_act_waits_if_a_colleague_has_acted_since_the_page_was_opened(
    staff: Page, mo: User, ann: User, bob: User
) -> None:
    staff.goto(f"/admin/accounts/user/{bob.pk}/act/suspend/")
    staff.locator("#id_days").fill("30")
    staff.locator("#id_reason").fill(REASON)
    people.suspend(person_id=bob.pk, by=mo, days=7, reason="He insults everyone.", now=timezone.now())
    confirm = staff.get_by_role("button", name="Suspend", exact=True)
    confirm.click()
    told = staff.get_by_role("alert")
    expect(told).to_contain_text("Nothing has been done.")
    expect(told).to_contain_text("mo has suspended bob for 7 days (less than a minute ago): He insults everyone.")
    expect(staff.locator("#id_reason")).to_have_value(REASON)
    expect(staff.locator("#id_days")).to_have_value("30")
    confirm.click()
    expect(staff.locator(".messagelist")).to_have_text("You have suspended bob.")
    assert [(entry.actor, entry.details) for entry in AuditEntry.objects.order_by("pk")] == [
        (mo, {"days": 7}),
        (ann, {"days": 30}),
    ]


def test_going_back_does_not_do_an_act_twice(staff: Page, bob: User) -> None:
    do(staff, f"/admin/accounts/user/{bob.pk}/change/", "Warn")
    expect(staff.locator(".messagelist")).to_have_text("You have warned bob.")
    staff.go_back()
    expect(staff.get_by_text("What will happen:")).to_be_visible()
    staff.get_by_role("button", name="Warn", exact=True).click()
    assert staff.locator("#id_reason").evaluate("(field) => field.matches(':invalid')")
    assert AuditEntry.objects.count() == 1


def test_a_report_is_sent_taken_and_answered(staff: Page, new_page: NewPage, dealt: Table, alice: User) -> None:
    player = new_page(alice)
    player.goto(f"/games/{dealt.game.code}/")
    player.get_by_role("link", name="Report a player").click()
    player.get_by_label("bob").check()
    player.get_by_label("An offensive name").check()
    player.get_by_label("What happened").fill(SAID)
    player.get_by_role("button", name="Report").click()
    expect(player.get_by_text("Waiting for staff.")).to_be_visible()
    address = f"/admin/games/case/{Case.objects.get().pk}/change/"
    staff.goto(address)
    staff.get_by_role("button", name="Take the case").click()
    expect(staff.get_by_text("You are now working on this case.")).to_be_visible()
    player.reload()
    expect(player.get_by_text("A member of staff is looking into it.")).to_be_visible()
    do(staff, address, "Close the case", lambda page: page.get_by_label("We agreed and acted on it").check())
    player.goto("/")
    player.get_by_role("link", name="Read the outcome").click()
    expect(player.get_by_text("We agreed and acted on it.")).to_be_visible()
    player.get_by_role("button", name="I have read this").click()
    expect(player.get_by_text("Read the outcome")).to_have_count(0)
    assert [entry.act for entry in AuditEntry.objects.order_by("pk")] == ["hold", "close_case"]


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


def test_the_badge_and_the_links_lead_staff_to_a_case_and_its_move(staff: Page, dealt: Table, alice: User) -> None:
    now = timezone.now()
    cases.report(code=dealt.game.code, viewer=Viewer(alice), seat=1, kind="abandon", text=SAID, now=now)
    staff.goto("/rules/")
    staff.get_by_role("link", name=re.compile("Staff.*1 case to take")).click()
    staff.get_by_role("link", name="1 not taken").click()
    staff.get_by_role("link", name="bob").first.click()
    staff.get_by_role("link", name=f"after move {dealt.game.version}").click()
    expect(staff.locator(f"#m{dealt.game.version}")).to_be_visible()


def test_several_cases_are_closed_on_one_page(staff: Page, dealt: Table, alice: User) -> None:
    for kind in ("name", "abandon"):
        now = timezone.now()
        cases.report(code=dealt.game.code, viewer=Viewer(alice), seat=1, kind=kind, text=SAID, now=now)
    staff.goto("/admin/games/case/")
    staff.get_by_role("link", name="Close several cases").click()
    for box in staff.get_by_role("checkbox").all():
        box.press("Space")
    staff.get_by_label("It was reported in bad faith").check()
    staff.locator("#id_reason").fill(REASON)
    staff.get_by_role("button", name="Close these cases").click()
    expect(staff.locator(".messagelist")).to_have_text("2 cases closed.")
    assert set(Case.objects.values_list("outcome", flat=True)) == {"badfaith"}


def test_a_case_is_noted_handed_over_given_back_and_reopened(
    staff: Page, new_page: NewPage, dealt: Table, ann: User, mo: User, alice: User, bob: User
) -> None:
    now = timezone.now()
    case = cases.report(code=dealt.game.code, viewer=Viewer(alice), seat=1, kind="name", text=SAID, now=now).case
    address = f"/admin/games/case/{case.pk}/change/"
    do(staff, address, "Write a note")
    expect(staff.get_by_text(f"ann, {now:%Y-%m-%d}").first).to_be_visible()
    staff.get_by_role("button", name="Take the case").click()
    staff.get_by_role("button", name="Give the case back").click()
    expect(staff.get_by_text("The case waits for somebody to take it.")).to_be_visible()
    do(staff, address, "Hand the case over", lambda page: page.get_by_label("mo").check())
    colleague = new_page(mo)
    colleague.goto("/notices/")
    expect(colleague.get_by_text("A colleague handed a case over to you").first).to_be_visible()
    do(staff, address, "Close the case", lambda page: page.get_by_label("We could not tell").check())
    do(staff, address, "Reopen the case")
    expect(staff.locator(".messagelist")).to_have_text("The case is open again.")
    do(staff, f"/admin/accounts/user/{bob.pk}/change/", "Write a note")
    expect(staff.get_by_role("heading", name="Notes of staff")).to_be_visible()
    acts = ["note_case", "hold", "give_back", "hand_over", "close_case", "reopen_case", "note_person"]
    assert [entry.act for entry in AuditEntry.objects.order_by("pk")] == acts


def test_an_outcome_is_changed_after_a_granted_appeal(
    staff: Page, new_page: NewPage, dealt: Table, ann: User, alice: User, bob: User
) -> None:
    now = timezone.now()
    by: dict[str, Any] = {"by": ann, "reason": REASON, "now": now}
    cases.report(code=dealt.game.code, viewer=Viewer(alice), seat=1, kind="name", text=SAID, now=now)
    case = Case.objects.get()
    cases.close_case(case_id=case.pk, outcome="acted", answer="", **by)
    people.suspend(person_id=bob.pk, days=3, **by)
    appeal = appeals.appeal(person_id=bob.pk, text=SAID, now=now)
    appeals.decide_appeal(appeal_id=appeal.pk, lift=True, answer="We looked at the log once more.", **by)
    page = f"/admin/games/case/{case.pk}/change/"
    do(staff, page, "Change the outcome", lambda page: page.get_by_label("We found nothing against the rules").check())
    player = new_page(alice)
    player.goto("/")
    player.get_by_role("link", name="Read the outcome").click()
    expect(player.get_by_text("We found nothing against the rules.")).to_be_visible()


def test_a_removed_player_gets_the_seat_back(
    staff: Page, new_page: NewPage, dealt: Table, ann: User, bob: User
) -> None:
    tables.remove(game_id=dealt.game.pk, by=ann, seat=1, bot=True, reason=REASON, now=timezone.now())

    def fill(page: Page) -> None:
        expect(page.get_by_text("To give it back, enter the username bob.")).to_be_visible()
        page.locator("#id_username").fill("bob")

    do(staff, f"/admin/games/game/{dealt.game.pk}/change/", "Give a seat to someone else", fill)
    expect(staff.locator(".messagelist")).to_have_text(TABLE_ACTS["move_seat"].done)
    player = new_page(bob)
    player.goto(f"/games/{dealt.game.code}/log/")
    expect(player.locator("main")).to_contain_text("Staff gave you the seat back.")


@pytest.mark.parametrize("decision", ["The suspension stays", "The suspension is lifted"])
def test_an_appeal_is_answered(staff: Page, new_page: NewPage, ann: User, alice: User, decision: str) -> None:
    people.suspend(person_id=alice.pk, by=ann, days=3, reason=REASON, now=timezone.now())
    appeals.appeal(person_id=alice.pk, text=SAID, now=timezone.now())

    def fill(page: Page) -> None:
        page.get_by_label(decision).check()
        page.locator("#id_answer").fill("We looked at the log once more.")

    do(staff, f"/admin/games/appeal/{Appeal.objects.get().pk}/change/", "Decide the appeal", fill)
    person = new_page(alice)
    person.goto("/suspended/")
    expect(person.get_by_text(f"{decision}.")).to_be_visible()
    expect(person.get_by_text("We looked at the log once more.")).to_be_visible()
    assert AuditEntry.objects.latest("pk").act == "decide_appeal"


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
