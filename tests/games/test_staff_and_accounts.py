"""Test staff acts on accounts: names, closing, roles and a lost second factor."""

from __future__ import annotations

from datetime import time
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from django.conf import settings
from django.contrib import admin
from django.core import mail
from django.test import Client, RequestFactory
from django.utils import timezone

from accounts import actions as account_actions
from accounts.adapter import LEFT_GUEST
from accounts.models import User
from games.actions import guests
from games.models import AuditEntry, Case, Notice
from games.notices import preferences
from games.queries import Viewer, conduct, lists
from games.refusals import Denied
from games.staff import accounts, cases, people, tables
from mail import outbox
from tests.conftest import api_token, logged_in, person
from tests.support.codes import staff_browser
from tests.support.notices import texts_of
from tests.support.pages import text_of
from tests.support.staff import open_act, refused
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

REASON = "Asked for by mail, and checked"


def act(person: User, by: User, **more: Any) -> dict[str, Any]:
    return {"person_id": person.pk, "by": by, "reason": REASON, "now": NOON, **more}


@pytest.mark.long
def test_no_admin_form_changes_a_row(root: User, ann: User, alice: User) -> None:
    """Staff pages change rows by acts only."""
    request = RequestFactory().post("/admin/")
    request.user = root
    for model, page in admin.site._registry.items():
        assert not page.has_add_permission(request), model
        assert not page.has_change_permission(request), model
        assert not page.has_delete_permission(request), model
    fields = {"username": "eve", "display_name": "Eve", "time_zone": "UTC", "is_staff": "on"}
    for browser in (staff_browser(root), staff_browser(ann)):
        assert browser.post(f"/admin/accounts/user/{alice.pk}/change/", fields).status_code == 403
        assert browser.post(f"/admin/accounts/user/{alice.pk}/delete/", {"post": "yes"}).status_code == 403
        assert browser.get(f"/admin/accounts/user/{alice.pk}/password/").status_code in (302, 404)
        assert 'name="username"' not in browser.get(f"/admin/accounts/user/{alice.pk}/change/").content.decode()
    alice.refresh_from_db()
    assert (alice.username, alice.is_staff, alice.is_active) == ("alice", False, True)
    assert not AuditEntry.objects.exists()


def test_correcting_a_name_stores_the_old_one_in_the_audit_log(ann: User, alice: User) -> None:
    account_actions.update_profile(user=alice, display_name="Rude Word", time_zone="UTC", now=NOON)
    accounts.rename(**act(alice, ann, username="alice2", display_name="Alice"))
    alice.refresh_from_db()
    assert (alice.username, alice.display_name) == ("alice2", "Alice")
    entry = AuditEntry.objects.get()
    assert (entry.act, entry.person_name, entry.reason) == ("rename", "Rude Word", REASON)
    assert conduct.details_with_names(entry) == {
        "before": {"username": "alice", "display_name": "Rude Word"},
        "after": {"username": "alice2", "display_name": "Alice"},
    }


CORRECTED = {
    ("alicia", "Rude Word"): "Staff changed your username to alicia. Log in with it from now on.",
    ("alice", "Alicia"): "Staff changed your name at the table to Alicia.",
    ("alice", ""): "Staff removed your name at the table.",
    ("alicia", "Alice"): (
        "Staff changed your username to alicia. Log in with it from now on."
        " Staff changed your name at the table to Alice."
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("names", CORRECTED)
def test_a_person_is_told_their_corrected_name_by_bell_and_mail(ann: User, alice: User, names: tuple[str, str]) -> None:
    account_actions.update_profile(user=alice, display_name="Rude Word", time_zone="UTC", now=NOON)
    username, display_name = names
    accounts.rename(**act(alice, ann, username=username, display_name=display_name))
    outbox.deliver(clock=lambda: NOON)
    [letter] = mail.outbox
    assert (letter.to, REASON in str(letter.body)) == (["alice@example.org"], False)
    assert " ".join(str(letter.body).split()).count(CORRECTED[names]) == 1
    told = Notice.objects.filter(user=alice, channel="site", state="sent")
    assert (told.get().kind, texts_of(told)) == ("name_changed", [CORRECTED[names]])


@pytest.mark.long
def test_a_name_that_the_person_has_chosen_meanwhile_is_shown_and_not_wiped(ann: User, alice: User) -> None:
    page = open_act(staff_browser(ann), alice, "rename")
    account_actions.update_profile(user=alice, display_name="Sunny", time_zone="UTC", now=NOON)
    refused = page.send(**page.fields | {"username": "alicia", "reason": REASON})
    assert refused.status == 409
    assert (
        "Nothing has been done. Their names have changed since you opened this page: the username is now “alice”, and"
        " the name at the table “Sunny”. To go ahead all the same, confirm again."
    ) in refused.text
    alice.refresh_from_db()
    assert (alice.username, alice.display_name) == ("alice", "Sunny")
    assert (refused.fields["username"], refused.fields["display_name"]) == ("alicia", "")
    assert refused.send(**refused.fields | {"reason": REASON}).status == 302
    alice.refresh_from_db()
    assert (alice.username, alice.display_name) == ("alicia", "")


@pytest.mark.long
def test_people_are_found_by_their_former_usernames(ann: User, alice: User) -> None:
    accounts.rename(**act(alice, ann, username="alicia", display_name=""))
    browser = staff_browser(ann)
    for text in ("alice", "ALICE", "alicia"):
        found = browser.get("/admin/accounts/user/", {"q": text}).context["cl"].result_list
        assert [user.pk for user in found] == [alice.pk], text


def test_a_guest_is_not_told_to_log_in_with_a_corrected_username(ann: User) -> None:
    guest = account_actions.create_guest()
    accounts.rename(**act(guest, ann, username="alicia", display_name=guest.display_name))
    assert texts_of(Notice.objects.filter(user=guest)) == ["Staff changed your username to alicia."]


@pytest.mark.parametrize("why", ["none", "unverified", "bounced"])
def test_the_page_says_who_does_not_get_to_know_the_new_username(
    ann: User, alice: User, monkeypatch: pytest.MonkeyPatch, why: str
) -> None:
    browser = staff_browser(ann)
    danger = "If they are logged out, they do not get to know a new username, and cannot log in by the former one."
    page = open_act(browser, alice, "rename").text
    assert "They are told by bell and mail." in page
    assert danger not in page
    if why == "none":
        User.objects.filter(pk=alice.pk).update(email="")
        EmailAddress.objects.filter(user=alice).delete()
    elif why == "unverified":
        monkeypatch.setattr(settings, "MAIL_NEEDS_VERIFIED", True)
    else:
        preferences.mark_bounced(address="alice@example.org", now=NOON)
    page = open_act(browser, alice, "rename").text
    assert "They are told by bell and mail." not in page
    assert "They are told by the bell only, because " in page
    assert danger in page


def test_correcting_a_name_changes_no_other_column(ann: User, alice: User) -> None:
    """What the person saves at the same moment is not overwritten."""
    User.objects.filter(pk=alice.pk).update(time_zone="Europe/Helsinki", auto_vacation=True)
    accounts.rename(**act(alice, ann, username="alice", display_name="Alicia"))
    alice.refresh_from_db()
    assert (alice.time_zone, alice.auto_vacation) == ("Europe/Helsinki", True)


@pytest.mark.parametrize(
    ("username", "display_name", "says"),
    [
        ("alice", "", "their current names"),
        ("bob", "", "goes by"),
        ("alice", "BOB", "goes by"),
        ("a@b", "", "Use 2-30 letters"),
        ("", "Alice", "Use 2-30 letters"),
        ("staff", "", "reserved"),
        ("alice", "moderator", "reserved"),
        ("alice", "x" * 31, "30"),
        ("alice", "\u202eevE", "only visible characters"),
    ],
)
def test_an_invalid_name_is_refused(
    ann: User, alice: User, bob: User, username: str, display_name: str, says: str
) -> None:
    assert says in refused(
        "malformed", accounts.rename, **act(alice, ann, username=username, display_name=display_name)
    )
    alice.refresh_from_db()
    assert (alice.username, alice.display_name) == ("alice", "")


def test_nobody_can_log_in_to_a_closed_account_until_it_is_reopened(ann: User, alice: User) -> None:
    token = api_token(alice)
    browser = logged_in(alice)
    assert browser.get("/reports/").status_code == 200
    refused("over", accounts.reopen_account, **act(alice, ann))
    accounts.close_account(**act(alice, ann))
    assert browser.get("/reports/").status_code == 302
    program = Client(headers={"Authorization": f"Bearer {token}"})
    assert program.get("/api/v1/games").status_code == 401
    refused("over", accounts.close_account, **act(alice, ann))
    accounts.reopen_account(**act(alice, ann))
    # Somebody may have stolen the account, so the sessions and tokens of before are gone.
    assert browser.get("/reports/").status_code == 302
    assert program.get("/api/v1/games").status_code == 401
    assert logged_in(alice).get("/reports/").status_code == 200
    said = text_of(Client().get("/accounts/inactive/"))
    assert "This account is closed Staff have closed it, so nobody can log in to it." in said
    assert "ask the people who run this site" in said
    assert [entry.act for entry in AuditEntry.objects.order_by("pk")] == ["close_account", "reopen_account"]


def test_a_guest_whose_account_was_closed_and_reopened_plays_on_in_the_same_browser(ann: User, alice: User) -> None:
    guest = account_actions.create_guest()
    table, token, browser = table_at(TWO_HANDS, [guest, alice]), api_token(guest), logged_in(guest)
    move = {"move": "draw", "version": 0, "token": "t1"}
    accounts.close_account(**act(guest, ann))
    page = text_of(browser.get(table.game.get_absolute_url()))
    assert "You are watching." in page  # as a visitor
    assert browser.post(f"/games/{table.game.code}/move/", move).status_code != 200
    assert browser.get("/accounts/me/").status_code == 302
    assert Client(headers={"Authorization": f"Bearer {token}"}).get("/api/v1/games").status_code == 401
    assert browser.get("/api/v1/me").status_code == 401
    assert now_of(table).game.version == 0
    accounts.reopen_account(**act(guest, ann))
    assert "Your turn" in text_of(browser.get(table.game.get_absolute_url()))
    assert Client(headers={"Authorization": f"Bearer {token}"}).get("/api/v1/games").status_code == 401


def test_the_games_of_a_closed_guest_do_not_move_to_an_account(ann: User, alice: User, bob: User) -> None:
    guest = account_actions.create_guest()
    table_at(TWO_HANDS, [guest, alice])
    browser = logged_in(bob)
    session = browser.session
    session[LEFT_GUEST] = guest.pk
    session.save()
    assert browser.get("/move-seats/").status_code == 200
    accounts.close_account(**act(guest, ann))
    assert browser.get("/move-seats/").status_code == 302
    browser.post("/move-seats/", {"answer": "move"})
    assert not lists.games_of(bob).exists()


def test_the_games_of_a_suspended_guest_do_not_move_to_an_account(ann: User, alice: User, bob: User) -> None:
    guest = account_actions.create_guest()
    game = table_at(TWO_HANDS, [guest, alice]).game
    browser = logged_in(bob)
    session = browser.session
    session[LEFT_GUEST] = guest.pk
    session.save()
    people.suspend(person_id=guest.pk, by=ann, days=30, reason=REASON, now=timezone.now())
    sentence = f"Staff have suspended {guest.name}, so these games stay where they are until the suspension is over."
    assert "Move those games to this account?" not in text_of(browser.get("/"))
    page = text_of(browser.get("/move-seats/"))
    assert sentence in page
    assert "Move the games to my account" not in page
    assert sentence in text_of(browser.post("/move-seats/", {"answer": "move"}, follow=True))
    with pytest.raises(Denied, match=r"^Staff have suspended"):
        guests.move_seats(guest=guest, user=bob, now=timezone.now())
    assert not lists.games_of(bob).exists()
    people.lift(person_id=guest.pk, by=ann, reason=REASON, now=timezone.now())
    browser.post("/move-seats/", {"answer": "move"})
    assert list(lists.games_of(bob)) == [game]


def test_the_pages_to_close_and_reopen_a_guest_say_what_they_can_still_do(ann: User) -> None:
    guest, browser = account_actions.create_guest(), staff_browser(ann)
    theirs = logged_in(guest)
    page = open_act(browser, guest, "close_account").text
    assert "They are a guest, who cannot log in anywhere. Their browser is logged out, and no page says why." in page
    assert "If you reopen the account, they can play on in that browser. There is no other way back." in page
    assert "Nobody can log in to it" not in page
    accounts.close_account(**act(guest, ann))
    page = open_act(browser, guest, "reopen_account").text
    assert "They can play on in the browser that they played in, if it has not forgotten them." in page
    assert "They can log in again" not in page
    theirs.session.delete()
    page = open_act(browser, guest, "reopen_account").text
    assert "No browser has their session any more, so nobody can play as this guest again." in page
    assert "They can play on" not in page


def test_the_page_to_correct_the_name_of_a_guest_speaks_of_no_log_in(ann: User, alice: User) -> None:
    browser, said = staff_browser(ann), "They log in with the new username"
    pages = [open_act(browser, person, "rename").text for person in (account_actions.create_guest(), alice)]
    assert [said in page for page in pages] == [False, True]


def test_a_role_can_be_given_and_removed(root: User, mo: User, alice: User) -> None:
    accounts.set_role(**act(alice, root, role="moderator"))
    made = User.objects.get(pk=alice.pk)
    assert (made.is_staff, made.has_perm("games.do_pause"), made.has_perm("games.do_void_game")) == (True, True, False)
    accounts.set_role(**act(alice, root, role="admin"))
    assert User.objects.get(pk=alice.pk).has_perm("games.do_void_game")
    refused("malformed", accounts.set_role, **act(alice, root, role="admin"))
    refused("malformed", accounts.set_role, **act(alice, root, role="king"))
    accounts.set_role(**act(alice, root, role=""))
    gone = User.objects.get(pk=alice.pk)
    assert (gone.is_staff, gone.has_perm("games.do_pause"), gone.groups.count()) == (False, False, 0)
    assert [entry.details for entry in AuditEntry.objects.order_by("pk")] == [
        {"before": [], "role": "moderator"},
        {"before": ["moderator"], "role": "admin"},
        {"before": ["admin"], "role": ""},
    ]
    guest = account_actions.create_guest()
    refused("forbidden", accounts.set_role, **act(guest, root, role="moderator"))


def test_a_person_is_told_their_role_by_the_bell(root: User, alice: User) -> None:
    for role in ("moderator", "admin", ""):
        accounts.set_role(**act(alice, root, role=role))
    told = Notice.objects.filter(user=alice, channel="site").order_by("pk")
    assert texts_of(told) == [
        "You are a moderator of this site now. The staff pages need a second factor.",
        "You are an admin of this site now. The staff pages need a second factor.",
        "You have no role on this site any more: the staff pages are closed to you.",
    ]
    outbox.deliver(clock=lambda: NOON)
    assert mail.outbox == []
    assert texts_of(told)[2] in text_of(logged_in(alice).get("/notices/"))


def test_a_superuser_s_role_cannot_be_changed(root: User) -> None:
    other = person("other-root")
    User.objects.filter(pk=other.pk).update(is_staff=True, is_superuser=True)
    for role in ("", "moderator", "admin"):
        assert "superuser" in refused("forbidden", accounts.set_role, **act(other, root, role=role))
    other.refresh_from_db()
    assert (other.is_staff, other.is_superuser, other.groups.count()) == (True, True, 0)
    offered = staff_browser(root).get(f"/admin/accounts/user/{other.pk}/change/").context["acts"]
    assert f"/admin/accounts/user/{other.pk}/act/set_role/" not in {act["url"] for act in offered}


def test_a_person_is_notified_each_time_their_second_factor_is_removed(root: User, mo: User) -> None:
    """Also in quiet hours, because another person may have asked for it."""
    User.objects.filter(pk=mo.pk).update(quiet_from=time(11), quiet_to=time(15))
    for n in (1, 2):
        for kind in (Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES):
            Authenticator.objects.create(user=mo, type=kind, data={})
        accounts.drop_factor(**act(mo, root))
        assert not Authenticator.objects.filter(user=mo).exists()
        outbox.deliver(clock=lambda: NOON)
        assert [letter.to for letter in mail.outbox] == [["mo@example.org"]] * n
    letter = mail.outbox[0]
    assert letter.subject.startswith("Staff removed your second factor, so you now log in with your password alone.")
    assert "If you did not ask for that, change your password" in letter.subject
    assert f"Read more: {settings.SITE_URL}/accounts/2fa/" in letter.body
    assert REASON not in letter.body
    assert logged_in(mo).get("/notices/").content.decode().count("Staff removed your second factor") == 2


def test_only_acts_that_change_something_are_offered(ann: User, alice: User) -> None:
    browser, page = staff_browser(ann), f"/admin/accounts/user/{alice.pk}/change/"

    def offered() -> set[str]:
        return {act["url"].split("/")[-2] for act in browser.get(page).context["acts"]}

    assert offered() == {
        "warn", "mute", "neutral_name", "suspend", "suspend_for_good", "rename", "close_account", "note_person",
    }  # fmt: skip
    people.suspend(person_id=alice.pk, by=ann, days=3, reason=REASON, now=NOON.replace(year=2099))
    people.mute(person_id=alice.pk, by=ann, days=3, reason=REASON, now=NOON.replace(year=2099))
    people.replace_username(person_id=alice.pk, by=ann, reason=REASON, now=NOON)
    accounts.close_account(**act(alice, ann))
    assert offered() == {
        "warn", "mute", "unmute", "end_neutral_name", "suspend", "suspend_for_good", "lift", "rename", "reopen_account",
        "note_person",
    }  # fmt: skip


# Acts on staff members


@pytest.mark.long
def test_a_reported_moderator_cannot_see_the_acts_about_them(mo: User, ann: User, alice: User) -> None:
    table = table_at(TWO_HANDS, [alice, mo])
    text = "He told my cards to his friend."
    cases.report(code=table.game.code, viewer=Viewer(alice), seat=1, kind="cheating", text=text, now=NOON)
    case = Case.objects.get()
    cases.hold(case_id=case.pk, by=ann, reason=REASON, now=NOON)
    cases.close_case(case_id=case.pk, by=ann, outcome="acted", answer="", reason=REASON, now=NOON)
    cases.report(code=table.game.code, viewer=Viewer(alice), seat=1, kind="other", text=text, now=NOON)
    entries = AuditEntry.objects.order_by("pk")
    pages = [
        "/admin/games/auditentry/",
        *(f"/admin/games/auditentry/{entry.pk}/change/" for entry in entries),
        *(f"/admin/games/auditentry/{entry.pk}/history/" for entry in entries),
        f"/admin/accounts/user/{mo.pk}/change/",
        f"/admin/games/game/{table.game.pk}/change/",
        "/admin/games/game/?ails=reported",
        "/admin/games/case/?state=all",
        *(f"/admin/games/case/{case.pk}/{what}/" for what in ("change", "history", "act/hold", "act/close_case")),
        "/admin/games/report/",
    ]
    reported, other = staff_browser(mo), staff_browser(ann)
    seen = "".join(other.get(page).content.decode() for page in pages)
    assert REASON in seen
    assert text in seen
    for page in pages:
        body = reported.get(page, follow=True).content.decode()
        assert REASON not in body, page
        assert text not in body, page
    assert table.game.code not in reported.get("/admin/games/game/?ails=reported").content.decode()


@pytest.mark.long
def test_a_moderator_cannot_see_why_their_seat_was_given_away(mo: User, ann: User, alice: User) -> None:
    dora = person("dora")
    table = table_at(TWO_HANDS, [alice, mo])
    tables.move_seat(game_id=table.game.pk, by=ann, seat=1, username="dora", reason=REASON, now=NOON)
    tables.pause(game_id=table.game.pk, by=ann, reason="The scores are checked", now=NOON)
    entry = AuditEntry.objects.get(act="move_seat")
    pages = [
        "/admin/games/auditentry/",
        f"/admin/games/auditentry/{entry.pk}/change/",
        f"/admin/games/auditentry/{entry.pk}/history/",
        f"/admin/games/game/{table.game.pk}/change/",
        f"/admin/accounts/user/{dora.pk}/change/",
    ]
    before, other = staff_browser(mo), staff_browser(ann)
    for page in pages:
        assert REASON not in before.get(page, follow=True).content.decode(), page
    assert REASON in "".join(other.get(page).content.decode() for page in pages)
    assert "The scores are checked" in before.get(pages[0]).content.decode()


@pytest.mark.long
def test_staff_cannot_open_the_act_pages_of_a_case_about_them(mo: User, alice: User) -> None:
    table = table_at(TWO_HANDS, [alice, mo])
    text = "He told my cards to his friend."
    cases.report(code=table.game.code, viewer=Viewer(alice), seat=1, kind="cheating", text=text, now=NOON)
    for name in ("hold", "close_case"):
        url = f"/admin/games/case/{Case.objects.get().pk}/act/{name}/"
        assert staff_browser(mo).get(url).status_code == 404
        assert staff_browser(mo).post(url, {"reason": REASON, "outcome": "nothing"}).status_code == 404
