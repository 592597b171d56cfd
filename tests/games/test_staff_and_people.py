"""Test staff acts on people: who may perform them, and what the person sees."""

from __future__ import annotations

import os
import re
from contextlib import nullcontext
from datetime import datetime, time, timedelta
from importlib import import_module
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest
from django.conf import settings
from django.core import mail
from django.db import ProgrammingError, connection, transaction
from django.test import Client
from django.utils import timezone
from django.utils.formats import date_format
from psycopg import sql

from accounts import actions as account_actions
from accounts.models import FOR_GOOD, User
from games.actions import lobby
from games.models import Appeal, AuditEntry, Notice, Seat, Suspension, Warned
from games.queries import conduct
from games.refusals import Denied
from games.staff import accounts, appeals, people, tables
from games.staff.roles import ROLES
from mail import outbox
from tests.conftest import api_token, logged_in
from tests.support.codes import staff_browser
from tests.support.database import drop_database
from tests.support.notices import texts_of
from tests.support.pages import text_of
from tests.support.stack import database_url
from tests.support.staff import open_act, page_url, refused
from tests.support.tables import NOON, TWO_HANDS, table_at

REASON = "Rude words at two tables"
DAY = timedelta(days=1)


def entry() -> AuditEntry:
    return AuditEntry.objects.get()


def test_a_warning_that_the_page_did_not_show_is_not_acknowledged(mo: User, alice: User) -> None:
    people.warn(person_id=alice.pk, by=mo, reason=REASON, now=NOON)
    browser, first = logged_in(alice), Warned.objects.get()
    people.warn(person_id=alice.pk, by=mo, reason="Another word that nobody wants", now=NOON)
    answer = browser.post("/warnings/", {"newest": first.pk}, follow=True)
    assert "Another warning has arrived since you opened the page." in answer.content.decode()
    assert "Read the warning" in browser.get("/rules/").content.decode()
    second = Warned.objects.get(acknowledged_at=None)
    assert second != first
    assert browser.post("/warnings/", {"newest": second.pk}).status_code == 303
    assert "Read the warning" not in browser.get("/rules/").content.decode()


def test_staff_do_not_read_who_suspended_them(root: User, ann: User, mo: User) -> None:
    people.suspend(person_id=mo.pk, by=ann, days=3, reason="Cards were shown to others.", now=NOON)
    appeal = appeals.appeal(person_id=mo.pk, text="It was not me who showed them.", now=NOON)
    colleague, own = staff_browser(ann), f"/admin/games/appeal/{appeal.pk}/change/"
    assert colleague.get(own).status_code == 200
    people.lift(person_id=mo.pk, by=root, reason="It was not them.", now=NOON)
    browser = staff_browser(mo)
    assert browser.get(own).status_code == 404
    assert "0 appeals" in text_of(browser.get("/admin/games/appeal/"))


def test_a_warning_is_on_every_page_until_it_is_acknowledged(mo: User, alice: User) -> None:
    browser = logged_in(alice)
    people.warn(person_id=alice.pk, by=mo, reason=REASON, now=NOON)

    assert "Read the warning" in browser.get("/rules/").content.decode()
    assert REASON in browser.get("/warnings/").content.decode()
    newest = Warned.objects.get().pk
    assert f'name="newest" value="{newest}"' in browser.get("/warnings/").content.decode()
    assert browser.post("/warnings/", {"newest": newest}).status_code == 303
    assert "Read the warning" not in browser.get("/rules/").content.decode()
    assert Warned.objects.get().acknowledged_at is not None


@pytest.mark.parametrize("statement", ["UPDATE games_auditentry SET reason = 'x'", "DELETE FROM games_auditentry"])
def test_the_database_itself_refuses_to_change_or_delete_an_audit_entry(mo: User, alice: User, statement: str) -> None:
    people.warn(person_id=alice.pk, by=mo, reason=REASON, now=NOON)

    with pytest.raises(ProgrammingError, match="never changed or deleted"), transaction.atomic():
        connection.cursor().execute(statement)
    assert entry().reason == REASON


def test_the_audit_log_can_be_emptied_in_test_databases_only(mo: User, alice: User) -> None:
    people.warn(person_id=alice.pk, by=mo, reason=REASON, now=NOON)

    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # a table with checks still to be made is never truncated
        cursor.execute("SET LOCAL nomercy.may_empty_audit = 'off'")
        with pytest.raises(ProgrammingError, match="never changed or deleted"), transaction.atomic():
            cursor.execute("TRUNCATE games_auditentry")


@pytest.mark.long
@pytest.mark.parametrize(("name", "emptied"), [("test_nomercy_{}_audit", True), ("nomercy_{}_test_audit", False)])
def test_no_session_setting_allows_emptying_the_audit_log(db: None, name: str, emptied: bool) -> None:
    """The trigger is tried in a database with a test's name and in one with another name."""
    name = name.format(os.getpid())
    migration = import_module("games.migrations.0001_squashed_0065_tables_of_newcomers")
    with psycopg.connect(database_url(), dbname="postgres", autocommit=True) as server:
        server.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        try:
            with psycopg.connect(database_url(), dbname=name, autocommit=True) as site:
                site.execute("CREATE TABLE games_auditentry (reason text)")
                site.execute(migration.ONLY_ADDED)
                site.execute("INSERT INTO games_auditentry VALUES ('x')")
                site.execute("SET nomercy.may_empty_audit = 'on'")
                with nullcontext() if emptied else pytest.raises(psycopg.Error, match="never changed or deleted"):
                    site.execute("TRUNCATE games_auditentry")
        finally:
            drop_database(name)


def test_an_audit_entry_outlives_the_people_and_the_game_it_names(mo: User, alice: User, bob: User) -> None:
    people.warn(person_id=alice.pk, by=mo, reason=REASON, now=NOON)
    alice.delete()
    mo.delete()

    assert (entry().actor_name, entry().person_name) == ("mo", "alice")


def test_only_an_admin_can_suspend_for_good(mo: User, ann: User, alice: User) -> None:
    refused("forbidden", people.suspend, person_id=alice.pk, by=mo, days=None, reason=REASON, now=NOON)
    refused("malformed", people.suspend, person_id=alice.pk, by=mo, days=366, reason=REASON, now=NOON)
    people.suspend(person_id=alice.pk, by=mo, days=2, reason=REASON, now=NOON)
    people.suspend(person_id=alice.pk, by=ann, days=None, reason=REASON, now=NOON)

    alice.refresh_from_db()
    assert alice.suspended_until == FOR_GOOD
    assert [row.lifted_at for row in Suspension.objects.order_by("pk")] == [NOON, None]


@pytest.mark.parametrize("first", [None, 30])
def test_shortening_a_suspension_needs_the_permission_to_lift_it(
    mo: User, ann: User, alice: User, first: int | None
) -> None:
    more: dict[str, Any] = {"person_id": alice.pk, "reason": REASON, "now": NOON}
    people.suspend(by=ann, days=first, **more)
    alice.refresh_from_db()
    until = alice.suspended_until
    refused("forbidden", people.suspend, by=mo, days=1, **more)
    alice.refresh_from_db()
    assert alice.suspended_until == until
    if first is not None:
        people.suspend(by=mo, days=first + 1, **more)
    people.suspend(by=ann, days=1, **more)
    alice.refresh_from_db()
    assert alice.suspended_until == NOON + timedelta(days=1)


def test_a_suspension_ends_by_itself(mo: User, alice: User) -> None:
    people.suspend(person_id=alice.pk, by=mo, days=2, reason=REASON, now=NOON)

    alice.refresh_from_db()
    assert alice.suspended(NOON + timedelta(days=2, seconds=-1))
    assert not alice.suspended(NOON + timedelta(days=2))
    assert conduct.suspension_of(alice, NOON + timedelta(days=2)) is None


def test_a_lifted_suspension_lets_the_person_back_in(ann: User, alice: User) -> None:
    browser = logged_in(alice)
    people.suspend(person_id=alice.pk, by=ann, days=None, reason=REASON, now=timezone.now())
    assert browser.get("/").status_code == 302
    people.lift(person_id=alice.pk, by=ann, reason=REASON, now=timezone.now())
    assert browser.get("/").status_code == 200
    refused("not_found", people.lift, person_id=alice.pk, by=ann, reason=REASON, now=timezone.now())


def test_a_person_is_told_that_their_suspension_was_lifted(ann: User, alice: User) -> None:
    now, said = timezone.now(), "Staff lifted your suspension"
    people.suspend(person_id=alice.pk, by=ann, days=7, reason=REASON, now=now)
    letters_to(alice, now)
    people.lift(person_id=alice.pk, by=ann, reason=REASON, now=now)
    [letter] = letters_to(alice, now)
    assert f"{said}. You can use the site again." in letter
    rows = Notice.objects.filter(user=alice, kind="lifted")
    assert sorted(rows.values_list("channel", "state")) == [("email", "sent"), ("site", "sent")]
    page = text_of(logged_in(alice).get("/suspended/"))
    assert f"You are not suspended. {said} of {timezone.localtime(now):%-d %B %Y} on" in page


def test_an_upheld_appeal_does_not_hide_that_the_suspension_was_lifted(ann: User, alice: User) -> None:
    now = timezone.now()
    people.suspend(person_id=alice.pk, by=ann, days=7, reason=REASON, now=now)
    appeal = appeals.appeal(person_id=alice.pk, text=APPEAL, now=now)
    appeals.decide_appeal(
        appeal_id=appeal.pk, by=ann, lift=False, answer="Brothers are not let in here.", reason=REASON, now=now
    )
    people.lift(person_id=alice.pk, by=ann, reason=REASON, now=now)
    page = text_of(logged_in(alice).get("/suspended/"))
    assert page.index("Staff lifted your suspension of") < page.index("The suspension stays.")


@pytest.mark.parametrize("how", ["ends", "is replaced"])
def test_no_page_says_that_a_suspension_was_lifted_if_it_was_not(mo: User, alice: User, how: str) -> None:
    now = timezone.now()
    for n in range(1 if how == "ends" else 2):
        people.suspend(person_id=alice.pk, by=mo, days=1 + n, reason=REASON, now=now - timedelta(days=9 - n))
    assert logged_in(alice).get("/suspended/").headers["Location"] == "/"
    assert not Notice.objects.filter(kind="lifted").exists()


@pytest.fixture
def shut_out(mo: User, alice: User) -> Client:
    """Return the browser of Alice, who was suspended while she was logged in."""
    browser = logged_in(alice)
    people.suspend(person_id=alice.pk, by=mo, days=2, reason=REASON, now=timezone.now())
    return browser


def test_a_suspended_person_is_redirected_to_one_page(shut_out: Client) -> None:
    for path in ("/", "/rules/", "/accounts/me/", "/tables/new/", "/accounts/email/", "/admin/"):
        for ask in (shut_out.get, shut_out.post):
            answer = ask(path)
            assert (answer.status_code, answer.headers["Location"]) == (302, "/suspended/"), path


def test_open_pages_of_a_suspended_person_are_redirected_and_make_no_move(
    shut_out: Client, alice: User, bob: User
) -> None:
    table = table_at(TWO_HANDS, [alice, bob])
    answer = shut_out.get(f"/games/{table.game.code}/", headers={"HX-Request": "true"})
    assert (answer.status_code, answer.headers["HX-Redirect"]) == (403, "/suspended/")
    shut_out.post(f"/games/{table.game.code}/move/", {"move": "play r5", "version": 0})
    table.game.refresh_from_db()
    assert table.game.version == 0


def test_the_api_refuses_a_suspended_person_by_session_and_token(shut_out: Client, alice: User) -> None:
    token = api_token(alice)
    by_token = Client().get("/api/v1/me", headers={"Authorization": f"Bearer {token}"})
    by_session = shut_out.get("/api/v1/me")

    for answer in (by_token, by_session):
        assert (answer.status_code, answer.json()["error"]) == (403, "suspended")


def test_a_suspended_person_can_log_in_read_the_reason_and_log_out(shut_out: Client) -> None:
    browser = Client()
    assert browser.post("/accounts/login/", {"login": "alice", "password": "alice"}).status_code == 302
    page = browser.get("/suspended/")
    assert page.status_code == 200
    assert REASON in page.content.decode()
    assert browser.post("/accounts/logout/").headers["Location"] == "/"
    assert browser.get("/").status_code == 200


def test_the_suspended_page_is_for_suspended_people_only(client: Client, as_bob: Client) -> None:
    assert client.get("/suspended/").headers["Location"].startswith("/accounts/login/")
    assert as_bob.get("/suspended/").headers["Location"] == "/"


def test_the_suspended_page_has_no_links_that_redirect_back(shut_out: Client, alice: User) -> None:
    page = shut_out.get("/suspended/")
    assert "independent: it is not affiliated" in text_of(page)
    assert re.findall(r'<a [^>]*href="(?!#)', page.content.decode()) == []
    assert "Until then you can only use this page." in text_of(page)
    User.objects.filter(pk=alice.pk).update(suspended_until=FOR_GOOD)
    Suspension.objects.update(until=None)
    assert "Permanently. You can only use this page." in text_of(shut_out.get("/suspended/"))


def test_the_page_shows_the_decision_on_an_appeal_first(shut_out: Client, ann: User, alice: User) -> None:
    appeal = appeals.appeal(person_id=alice.pk, text="It was my little brother who wrote that.", now=timezone.now())
    why = "Brothers are not let in here."
    appeals.decide_appeal(appeal_id=appeal.pk, by=ann, lift=False, answer=why, reason=REASON, now=timezone.now())
    page = shut_out.get("/suspended/").content.decode()
    assert page.index("The suspension stays.") < page.index(why)


def test_a_suspended_person_reads_there_what_happened_to_their_seats(
    shut_out: Client, mo: User, ann: User, alice: User, bob: User
) -> None:
    now = timezone.now()
    voided, taken = (table_at(TWO_HANDS, [alice, bob]).game for _ in range(2))
    assert "Unread notifications" not in text_of(shut_out.get("/suspended/"))
    tables.void_round(game_id=voided.pk, by=mo, reason=REASON, now=now)
    tables.remove(game_id=taken.pk, by=mo, seat=0, bot=True, reason=REASON, now=now)
    people.mute(person_id=alice.pk, by=mo, days=7, reason=REASON, now=now)
    people.suspend(person_id=alice.pk, by=ann, days=None, reason=REASON, now=now)
    letters_to(alice, now)
    page = text_of(shut_out.get("/suspended/"))
    assert page.index("Send appeal") < page.index("Unread notifications")
    assert "Staff cancelled round 1" in page
    assert "Staff removed you and gave your seat to a bot, at the table with bob." in page
    assert "Staff muted you: you are shown as alice" in page
    assert "You can log in to read this" not in page  # the page itself says it


def test_a_suspended_guest_is_asked_before_logging_out(mo: User) -> None:
    """A guest cannot log in again, so would lose the games, the reason and the answer to an appeal."""
    guest, browser = account_actions.create_guest(), Client()
    browser.force_login(guest, backend="accounts.backends.ByUsername")
    people.suspend(person_id=guest.pk, by=mo, days=2, reason=REASON, now=timezone.now())
    page = browser.get("/suspended/")
    assert "You are a guest: you can open this page in this browser only." in text_of(page)
    assert '<form class="staffexit" method="get" action="/accounts/logout/">' in page.content.decode()
    asked = browser.get("/accounts/logout/")
    assert "If you log out, you cannot appeal or read an answer. Stay logged in" in text_of(asked)
    assert browser.post("/accounts/logout/").headers["Location"] == "/accounts/logout/"
    assert "_auth_user_id" in browser.session


def test_the_notice_of_a_suspension_tells_a_guest_where_to_read_it(mo: User, alice: User) -> None:
    guest = account_actions.create_guest()
    for user in (guest, alice):
        people.suspend(person_id=user.pk, by=mo, days=2, reason=REASON, now=timezone.now())
    of_guest, of_alice = texts_of(Notice.objects.filter(channel="site").order_by("-user__is_guest"))
    assert "You can appeal, in this browser only." in of_guest
    assert "og in" not in of_guest
    assert "Log in to read this and appeal." in of_alice


@pytest.mark.long
def test_the_pages_of_acts_promise_a_guest_no_mail_and_no_log_in(ann: User, alice: User) -> None:
    guest, lost, browser = account_actions.create_guest(), account_actions.create_guest(), staff_browser(ann)
    logged_in(guest)
    for name in ("warn", "mute", "neutral_name", "suspend", "suspend_for_good"):
        of_guest, of_lost, of_alice = (open_act(browser, person, name).text for person in (guest, lost, alice))
        assert "They are a guest: they can read it only in the browser that they play in." in of_guest
        assert "by bell and mail" not in of_guest
        assert "no browser has their session any more: nobody can read it or play as this guest." in of_lost
        assert not re.search("They are told|They can use one page|is shown to this person|they can read it", of_lost)
        assert "They are told by bell and mail." in of_alice


@pytest.mark.long
def test_staff_are_told_that_nobody_reads_what_they_tell_a_closed_account(ann: User, alice: User) -> None:
    now, browser = timezone.now(), staff_browser(ann)
    people.suspend(person_id=alice.pk, by=ann, days=7, reason=REASON, now=now)
    appeal = appeals.appeal(person_id=alice.pk, text=APPEAL, now=now)
    pages = [page_url(appeal), page_url(appeal).replace("change", "act/decide_appeal")]
    close = open_act(browser, alice, "close_account").text
    assert "An appeal has waited since" in close
    assert "An appeal that waits goes on waiting, but they cannot read the answer." in close
    said = "The account is closed: nobody can log in to read the answer, and no mail is sent."
    assert all(said not in text_of(browser.get(page)) for page in pages)
    accounts.close_account(person_id=alice.pk, by=ann, reason=REASON, now=now)
    assert all(said in text_of(browser.get(page)) for page in pages)
    assert "The person reads the decision" not in text_of(browser.get(pages[1]))
    for act in ("warn", "mute", "suspend", "suspend_for_good", "lift", "rename"):
        page = open_act(browser, alice, act).text
        assert not re.search("They are told|They can use one page|is shown to this person", page)
        assert "The account is closed: they can read it only if it is reopened, and get no mail." in page
        assert "They are told by bell and mail." not in page


APPEAL = "It was my little brother who wrote that."


def form_of(browser: Client, text: str = APPEAL) -> dict[str, str]:
    """Open the page of a suspended person; return what its form sends, with a text."""
    found = re.search(r'name="suspension" value="(\d+)"', browser.get("/suspended/").content.decode())
    assert found is not None
    return {"suspension": found[1], "text": text}


def test_a_suspension_can_be_appealed_once(shut_out: Client) -> None:
    form = form_of(shut_out)
    short = shut_out.post("/suspended/", form | {"text": "No!"})
    assert short.status_code == 400
    assert "at least a sentence" in short.content.decode()
    assert shut_out.post("/suspended/", form).status_code == 303
    assert APPEAL in shut_out.get("/suspended/").content.decode()
    assert shut_out.post("/suspended/", form).status_code == 403


def test_an_appeal_is_not_sent_against_a_suspension_that_the_person_never_saw(
    shut_out: Client, ann: User, alice: User
) -> None:
    form = form_of(shut_out)
    people.suspend(person_id=alice.pk, by=ann, days=20, reason="They did it once more.", now=timezone.now())
    answer = shut_out.post("/suspended/", form)
    assert (answer.status_code, Appeal.objects.count()) == (409, 0)
    assert "The suspension has changed since you opened this page" in text_of(answer)
    assert "They did it once more." in text_of(answer)
    assert f">{APPEAL}</textarea>" in answer.content.decode()
    assert shut_out.post("/suspended/", form).status_code == 409
    assert shut_out.post("/suspended/", form_of(shut_out)).status_code == 303
    assert Appeal.objects.get().suspension.reason == "They did it once more."


@pytest.mark.parametrize("sent", [{}, {"suspension": ""}, {"suspension": "x"}, {"suspension": "9" * 30}])
def test_a_form_that_does_not_name_the_suspension_is_not_sent(shut_out: Client, sent: dict[str, str]) -> None:
    answer = shut_out.post("/suspended/", {"text": APPEAL, **sent})
    assert (answer.status_code, Appeal.objects.count()) == (409, 0)
    assert f">{APPEAL}</textarea>" in answer.content.decode()


def test_a_second_appeal_is_refused_and_its_text_kept_on_the_page(shut_out: Client) -> None:
    first, second = form_of(shut_out), form_of(shut_out, "What I forgot to say in the first text.")
    shut_out.post("/suspended/", first)
    shut_out.get("/suspended/")  # the message that it was sent
    answer = shut_out.post("/suspended/", second)
    assert answer.status_code == 403
    assert "You have already appealed against this suspension." in text_of(answer)
    assert second["text"] in text_of(answer)
    assert Appeal.objects.get().text == APPEAL


@pytest.mark.parametrize(("how", "said"), [("lift", "Staff have lifted"), ("end", "has ended")])
def test_an_appeal_after_the_suspension_is_not_sent_and_its_text_kept_on_the_page(
    shut_out: Client, ann: User, alice: User, how: str, said: str
) -> None:
    form, now = form_of(shut_out), timezone.now()
    if how == "lift":
        people.lift(person_id=alice.pk, by=ann, reason=REASON, now=now)
    else:
        Suspension.objects.update(at=now - timedelta(days=3), until=now)
        User.objects.filter(pk=alice.pk).update(suspended_until=now)
    answer = shut_out.post("/suspended/", form)
    assert (answer.status_code, Appeal.objects.count()) == (409, 0)
    assert said in text_of(answer)
    assert "You are not suspended." in text_of(answer)
    assert APPEAL in text_of(answer)


def test_only_suspended_people_can_appeal(alice: User) -> None:
    refused("not_found", appeals.appeal, person_id=alice.pk, text="Let me in for once, please.", now=NOON)


@pytest.mark.long
def test_a_mute_removes_the_name_and_blocks_a_new_one(mo: User, alice: User, bob: User) -> None:
    now = timezone.now()
    account_actions.update_profile(user=alice, display_name="Rude Word", time_zone="UTC", now=now)
    table = lobby.create_table(user=alice, choices=lobby.TableChoices(players=3), now=now)
    people.mute(person_id=alice.pk, by=mo, days=7, reason=REASON, now=now)

    assert "Rude Word" not in logged_in(bob).get(f"/games/{table.game.code}/").content.decode()
    answer = logged_in(alice).post("/accounts/me/", {"display_name": "Ruder", "time_zone": "UTC"})
    assert answer.status_code == 422
    assert "You can choose a name again from" in answer.content.decode()
    assert logged_in(alice).post("/accounts/me/", {"display_name": "", "time_zone": "UTC"}).status_code == 302
    people.unmute(person_id=alice.pk, by=mo, reason=REASON, now=now)
    assert logged_in(alice).post("/accounts/me/", {"display_name": "Kind", "time_zone": "UTC"}).status_code == 302


def letters_to(who: User, now: datetime) -> list[str]:
    """Deliver all notices, and return the mails to this person."""
    mail.outbox.clear()
    outbox.deliver(clock=lambda: now)
    return [" ".join(str(letter.body).split()) for letter in mail.outbox if letter.to == [who.email]]


@pytest.mark.long
def test_people_are_told_of_a_warning_a_mute_and_a_suspension(mo: User, ann: User, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(time_zone="Asia/Tokyo", vacation_from=NOON, vacation_until=NOON + DAY)
    people.warn(person_id=alice.pk, by=mo, reason=REASON, now=NOON)
    [letter] = letters_to(alice, NOON)
    assert f"Staff warned you about your conduct: {REASON}" in letter
    assert f"{settings.SITE_URL}/warnings/" in letter
    people.mute(person_id=alice.pk, by=mo, days=7, reason="He called Bob names.", now=NOON)
    [letter] = letters_to(alice, NOON)
    until = date_format((NOON + 7 * DAY).astimezone(ZoneInfo("Asia/Tokyo")), "j F Y, H:i") + " JST"
    assert f"you are shown as alice, and can choose a name at the table again from {until}." in letter
    assert "Bob" not in letter
    people.replace_username(person_id=alice.pk, by=mo, reason=REASON, now=NOON)
    [letter] = letters_to(alice, NOON + DAY)
    assert f"can choose another name at the table in your account from {until}, when your mute ends." in letter
    longest = "x" * 499 + "!"
    people.suspend(person_id=alice.pk, by=mo, days=7, reason=longest, now=NOON + DAY)
    until = date_format((NOON + 8 * DAY).astimezone(ZoneInfo("Asia/Tokyo")), "j F Y, H:i") + " JST"
    [letter] = letters_to(alice, NOON + DAY)
    assert f"Staff suspended you until {until}. Log in to read this and appeal. “{longest}”" in letter
    assert f"{settings.SITE_URL}/suspended/" in letter
    people.suspend(person_id=alice.pk, by=ann, days=None, reason=REASON, now=NOON + DAY)
    [letter] = letters_to(alice, NOON + DAY)
    assert f"Staff suspended you for good. Log in to read this and appeal. “{REASON}”" in letter
    shown = Notice.objects.filter(user=alice, channel="site", state="sent").values_list("kind", flat=True)
    assert sorted(shown) == ["muted", "name_changed", "suspended", "suspended", "warned"]


def test_a_person_is_told_that_staff_ended_their_mute(mo: User, alice: User) -> None:
    people.mute(person_id=alice.pk, by=mo, days=7, reason=REASON, now=NOON)
    letters_to(alice, NOON)
    people.unmute(person_id=alice.pk, by=mo, reason="It was his brother.", now=NOON)
    [letter] = letters_to(alice, NOON)
    assert "Staff ended your mute. You can choose a name again." in letter
    assert "brother" not in letter
    rows = Notice.objects.filter(user=alice, kind="unmuted")
    assert sorted(rows.values_list("channel", "state")) == [("email", "sent"), ("site", "sent")]


def test_a_mute_that_is_over_cannot_be_ended(mo: User, alice: User) -> None:
    people.mute(person_id=alice.pk, by=mo, days=1, reason=REASON, now=NOON)
    with pytest.raises(Denied, match="alice is not muted"):
        people.unmute(person_id=alice.pk, by=mo, reason=REASON, now=NOON + DAY)
    assert not Notice.objects.filter(kind="unmuted").exists()
    assert [entry.act for entry in AuditEntry.objects.all()] == ["mute"]


@pytest.mark.long
def test_a_mute_is_not_shortened_by_another(mo: User, alice: User) -> None:
    browser = staff_browser(mo)
    assert "They are muted until" not in open_act(browser, alice, "mute").text
    people.mute(person_id=alice.pk, by=mo, days=30, reason=REASON, now=timezone.now())
    until = User.objects.get(pk=alice.pk).muted_until
    page = open_act(browser, alice, "mute")
    assert f"They are muted until {until:%Y-%m-%d %H:%M} already. A longer mute replaces that." in page.text
    refused = page.send(days="5")
    assert refused.status == 403
    assert "alice is already muted for longer. To shorten that, end the mute first." in refused.text
    assert User.objects.get(pk=alice.pk).muted_until == until
    assert page.send(days="31").status == 302


def test_no_mail_tells_of_a_suspension_that_has_been_lifted(mo: User, ann: User, alice: User) -> None:
    User.objects.filter(pk=alice.pk).update(quiet_from=time(11), quiet_to=time(15))
    people.suspend(person_id=alice.pk, by=mo, days=7, reason=REASON, now=NOON)
    assert letters_to(alice, NOON) == []
    people.lift(person_id=alice.pk, by=ann, reason=REASON, now=NOON)
    assert letters_to(alice, NOON + DAY) == []
    [letter] = letters_to(alice, NOON + DAY + timedelta(hours=4))
    assert "Staff lifted your suspension." in letter
    assert Notice.objects.get(user=alice, kind="suspended", channel="email").reason == "ended"


def test_the_account_page_says_until_when_a_person_is_muted(mo: User, alice: User) -> None:
    people.mute(person_id=alice.pk, by=mo, days=7, reason=REASON, now=timezone.now())
    page = logged_in(alice).get("/accounts/me/").content.decode()
    assert "You can choose a name again from" in page
    people.unmute(person_id=alice.pk, by=mo, reason=REASON, now=timezone.now())
    assert "You can choose a name again" not in logged_in(alice).get("/accounts/me/").content.decode()


@pytest.mark.parametrize("how", ["mute", "rename"])
def test_a_removed_name_is_gone_from_every_seat(mo: User, ann: User, alice: User, bob: User, how: str) -> None:
    """This includes seats of deleted accounts, and seats that a bot has for good under the person's name."""
    account_actions.update_profile(user=alice, display_name="Rude Word", time_zone="UTC", now=NOON)
    own, removed, others = (table_at(TWO_HANDS, [alice, bob]).game for _ in range(3))
    tables.remove(game_id=removed.pk, by=mo, seat=0, bot=True, reason=REASON, now=NOON)
    Seat.objects.filter(game=others, user=bob).update(user=None, name="Rude Word")
    before = list(Seat.objects.filter(game__in=[own, removed], index=0).values_list("name", flat=True))
    assert before == ["Rude Word"] * 2
    if how == "mute":
        people.mute(person_id=alice.pk, by=mo, days=7, reason=REASON, now=NOON)
    else:
        accounts.rename(person_id=alice.pk, by=ann, username="alice", display_name="", reason=REASON, now=NOON)
    names = Seat.objects.filter(index=0).order_by("game").values_list("name", flat=True)
    assert list(names) == ["alice"] * 3
    accounts.rename(person_id=alice.pk, by=ann, username="alina", display_name="", reason=REASON, now=NOON)
    User.objects.get(pk=alice.pk).delete()
    assert list(names.all()) == ["alina"] * 3
    assert Seat.objects.get(game=others, index=1).name == "Rude Word"  # the person is not known any more


def test_a_seat_keeps_the_name_of_its_last_owner(mo: User, ann: User, alice: User, bob: User) -> None:
    charlie = User.objects.create_user("charlie")
    game = table_at(TWO_HANDS, [alice, bob]).game
    tables.remove(game_id=game.pk, by=mo, seat=0, bot=True, reason=REASON, now=NOON)
    tables.move_seat(game_id=game.pk, by=ann, seat=0, username="charlie", reason=REASON, now=NOON)
    tables.remove(game_id=game.pk, by=mo, seat=0, bot=True, reason=REASON, now=NOON)
    assert charlie.name == Seat.objects.get(game=game, index=0).name
    accounts.rename(person_id=alice.pk, by=ann, username="alina", display_name="", reason=REASON, now=NOON)
    assert Seat.objects.get(game=game, index=0).name == "charlie"


def test_a_muted_guest_can_sign_up_after_the_mute(mo: User) -> None:
    """Signing up chooses a username that others can read, so it has to wait."""
    guest, browser = account_actions.create_guest(), Client()
    browser.force_login(guest, backend="accounts.backends.ByUsername")
    people.mute(person_id=guest.pk, by=mo, days=7, reason=REASON, now=timezone.now())
    word = "a long way to Bergen"
    form = {"username": "rudeword", "password1": word, "password2": word}
    answer = browser.post("/accounts/signup/", form)
    assert answer.status_code == 200
    assert "You can choose a name again from" in answer.content.decode()
    guest.refresh_from_db()
    assert guest.is_guest
    assert not User.objects.filter(username="rudeword").exists()
    people.unmute(person_id=guest.pk, by=mo, reason=REASON, now=timezone.now())
    assert browser.post("/accounts/signup/", form).status_code == 302


@pytest.mark.long
def test_the_pages_of_a_muted_guest_say_when_they_can_sign_up(mo: User, alice: User) -> None:
    guest, browser = account_actions.create_guest(), Client()
    browser.force_login(guest, backend="accounts.backends.ByUsername")
    over = table_at({**TWO_HANDS, "hands": [["r5"], ["r4", "g3", "W6"]]}, [alice, guest]).game.code
    logged_in(alice).post(f"/games/{over}/move/", {"move": "play r5", "version": 0})
    pages = ["/", "/accounts/me/", "/notices/settings/", "/accounts/logout/"]
    said = "You can sign up from"
    assert all(said not in text_of(browser.get(page)) for page in [*pages, "/accounts/signup/"])
    assert 'id="keep-games"' in browser.get(f"/games/{over}/").content.decode()
    people.mute(person_id=guest.pk, by=mo, days=7, reason=REASON, now=timezone.now())
    for page in pages:
        shown = browser.get(page)
        assert said in text_of(shown), page
        assert 'href="/accounts/signup/"' not in shown.content.decode(), page
    form = browser.get("/accounts/signup/")
    assert said in text_of(form)
    assert 'name="username"' not in form.content.decode()
    assert 'id="keep-games"' not in browser.get(f"/games/{over}/").content.decode()
    # What was typed before the mute is kept on the refused form.
    assert 'value="rudeword"' in browser.post("/accounts/signup/", {"username": "rudeword"}).content.decode()


def test_a_mute_during_a_sign_up_stays(mo: User, monkeypatch: pytest.MonkeyPatch) -> None:
    guest, browser = account_actions.create_guest(), Client()
    browser.force_login(guest, backend="accounts.backends.ByUsername")
    promote_guest = account_actions.promote_guest

    def meanwhile(*args: Any, **named: Any) -> None:
        people.mute(person_id=guest.pk, by=mo, days=7, reason=REASON, now=timezone.now())
        promote_guest(*args, **named)

    monkeypatch.setattr(account_actions, "promote_guest", meanwhile)
    word = "a long way to Bergen"
    browser.post("/accounts/signup/", {"username": "quietotter", "password1": word, "password2": word})
    guest.refresh_from_db()
    assert guest.username == "quietotter"
    assert guest.muted(timezone.now())


def test_an_admin_has_every_permission_of_a_moderator() -> None:
    assert set(ROLES["moderator"]) < set(ROLES["admin"])


def test_the_admins_who_can_decide_are_told_of_an_appeal(ann: User, mo: User, root: User, alice: User) -> None:
    now = timezone.now()
    browsers = {user: staff_browser(user) for user in (ann, mo, root)}
    people.suspend(person_id=alice.pk, by=ann, days=7, reason=REASON, now=now)
    appeal = appeals.appeal(person_id=alice.pk, text=APPEAL, now=now)
    told = Notice.objects.filter(kind="appeal_arrived", channel="site")
    assert (told.get().user, texts_of(told)) == (root, ["An appeal waits for a decision."])
    told.update(state="sent", due_at=now)
    opened = browsers[root].post(f"/notices/{told.get().pk}/open/")
    assert opened.headers["Location"] == f"/admin/games/appeal/{appeal.pk}/change/"
    waits = {
        user: "1 appeal to decide" in browser.get("/rules/").content.decode() for user, browser in browsers.items()
    }
    assert waits == {ann: False, mo: False, root: True}


def test_the_admin_who_suspended_is_told_of_the_appeal_if_nobody_else_can_decide(ann: User, alice: User) -> None:
    now = timezone.now()
    browser = staff_browser(ann)
    people.suspend(person_id=alice.pk, by=ann, days=7, reason=REASON, now=now)
    appeals.appeal(person_id=alice.pk, text=APPEAL, now=now)
    assert Notice.objects.get(kind="appeal_arrived", channel="site").user == ann
    assert "1 appeal to decide" in browser.get("/rules/").content.decode()
