"""People delete their accounts: what is refused, how it is cancelled, and what is left."""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import datetime, timedelta
from http.cookies import SimpleCookie
from typing import Any
from urllib.parse import urlsplit

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.test import Client
from django.utils import timezone

from accounts import actions, mails, queries
from accounts.models import FOR_GOOD, AccountMail, NameSkeleton, Session, User
from accounts.names import deleted_name, is_reserved
from games.actions import deletion, guests, lobby
from games.api.auth import TO_BE_DELETED
from games.clocks import quiet_hours
from games.models import Case, Game, Notice, NoticeSettings, Seat
from games.notices import mail_links, player_notices
from games.notices.kinds import GAME_OVER
from games.queries import Table, Viewer
from games.staff import cases, people, tables
from games.tasks import tidy
from mail import outbox
from tests.conftest import api_token, logged_in, person
from tests.support.codes import confirmed_browser, staff_browser
from tests.support.pages import text_of
from tests.support.staff import REASON, act, report_seat
from tests.support.statements import LOCK_PERSON, before_statement
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at
from tests.support.web import at_once

URL = "/accounts/me/delete/"
PASSWORD = "a long pass phrase"  # of nobody
FORTNIGHT = timedelta(days=14)


pytestmark = pytest.mark.django_db


@pytest.fixture
def dora() -> User:
    """Return Dora, who has a password and a confirmed address."""
    dora = person("dora_the_first")
    dora.email = "dora@example.org"
    dora.set_password(PASSWORD)
    dora.save()
    EmailAddress.objects.create(user=dora, email="dora@example.org", primary=True, verified=True)
    return dora


def log_in(name: str = "dora_the_first") -> tuple[Client, Any]:
    browser = Client()
    return browser, browser.post("/accounts/login/", {"login": name, "password": PASSWORD}, follow=True)


def ask(who: User, now: datetime = NOON) -> datetime:
    return deletion.ask(user=stored(who), now=now)


def stored(who: User) -> User:
    return User.objects.get(pk=who.pk)


def is_there(who: User, **fields: object) -> bool:
    return User.objects.filter(pk=who.pk, **fields).exists()


def deleted(who: User) -> str:
    """Delete this account, and return what its person is called from then on."""
    ask(who)
    assert deletion.delete(user_id=who.pk, now=NOON + FORTNIGHT)
    assert not is_there(who)
    return deleted_name(who.pk)


def test_the_page_asks_for_the_password_and_logs_out_everywhere(dora: User) -> None:
    browser, other = log_in()[0], log_in()[0]
    session = browser.session
    session["account_authentication_methods"] = []
    session.save()
    assert "/accounts/reauthenticate/" in browser.get(URL).headers["Location"]
    assert "/accounts/reauthenticate/" in browser.post(URL).headers["Location"]
    assert stored(dora).deletes_at is None
    browser.post("/accounts/reauthenticate/", {"password": PASSWORD})
    page = text_of(browser.get(URL))
    assert "For 14 days nothing is deleted," in page
    assert deleted_name(dora.pk) in page
    answer = browser.post(URL, follow=True)
    assert "Your account will be deleted within 30 days, but not before " in text_of(answer)
    when = stored(dora).deletes_at
    assert when is not None
    assert FORTNIGHT - timedelta(minutes=5) < when - timezone.now() <= FORTNIGHT
    assert not Session.objects.filter(user=dora).exists()
    assert other.get("/accounts/me/").status_code == 302


def test_a_second_click_does_not_ask_to_log_in_and_send_it_again(dora: User) -> None:
    browser = confirmed_browser(dora)
    again = Client()
    again.cookies = SimpleCookie({name: morsel.value for name, morsel in browser.cookies.items()})
    assert browser.post(URL).headers["Location"] == "/"
    answer = again.post(URL)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/accounts/login/")
    assert "unsent" not in answer.cookies
    assert stored(dora).deletes_at is not None


def test_the_address_is_told_when_it_is_asked_and_when_it_is_cancelled(dora: User) -> None:
    ask(dora, timezone.now())
    outbox.deliver(clock=timezone.now)
    [letter] = mail.outbox
    assert (letter.subject, letter.to) == ("Your account will be deleted", ["dora@example.org"])
    assert "To keep it, log in before then." in " ".join(letter.body.split())
    _, answer = log_in()
    assert "By logging in you have cancelled the deletion of your account." in text_of(answer)
    assert stored(dora).deletes_at is None
    outbox.deliver(clock=timezone.now)
    assert mail.outbox[1].subject == "Your account will not be deleted"
    assert not deletion.delete(user_id=dora.pk, now=timezone.now() + FORTNIGHT)
    assert "cancelled" not in text_of(log_in()[1])


def test_asking_again_changes_nothing_and_nothing_is_deleted_early(dora: User) -> None:
    assert ask(dora) == ask(dora, NOON + timedelta(days=3)) == NOON + FORTNIGHT
    assert AccountMail.objects.filter(kind=mails.DELETION_ASKED).count() == 1
    deletion.delete_due(now=NOON + FORTNIGHT - timedelta(seconds=1))
    assert is_there(dora, is_active=True)
    deletion.delete_due(now=NOON + FORTNIGHT)
    assert not is_there(dora)


def test_the_hourly_task_deletes(dora: User) -> None:
    ask(dora, timezone.now() - FORTNIGHT)
    tidy()
    assert not is_there(dora)


@pytest.mark.long
def test_a_guest_keeps_the_account_in_the_browser() -> None:
    guest = actions.create_guest()
    browser = logged_in(guest)
    assert "you can keep the account on its page, in this browser" in text_of(browser.get(URL))
    page = browser.post(URL, follow=True)
    assert "Your account will be deleted within 30 days" in text_of(page)
    assert "Keep the account" in text_of(page)
    assert "will not be deleted" in text_of(browser.post("/accounts/me/keep/", follow=True))
    assert "so it stays" in text_of(browser.post("/accounts/me/keep/", follow=True))
    browser.post(URL)
    deletion.delete_due(now=timezone.now() + FORTNIGHT)
    assert not is_there(guest)
    assert browser.get("/accounts/me/").status_code == 302


def test_a_guest_who_signs_up_keeps_the_account() -> None:
    guest = actions.create_guest()
    ask(guest)
    before = guest.name
    form = {"username": "gwen", "email": "gwen@example.org", "password1": PASSWORD, "password2": PASSWORD}
    logged_in(guest).post("/accounts/signup/", form)
    gwen = stored(guest)
    assert (gwen.username, gwen.is_guest, gwen.deletes_at, gwen.former_names) == ("gwen", False, None, [before])


def test_the_name_of_a_guest_who_logged_in_goes_with_the_account(dora: User, alice: User) -> None:
    guest = actions.create_guest()
    table = table_at(TWO_HANDS, [guest, alice])
    player_notices.write(table.game, [player_notices.NewNotice(alice.pk, GAME_OVER)], now=NOON)
    Notice.objects.update(text=f"{guest.name} won.")  # as release 0.1 wrote it
    guests.move_seats(guest=guest, user=dora, now=NOON)
    name = deleted(dora)
    assert set(Notice.objects.filter(user=alice).values_list("text", flat=True)) == {f"{name} won."}


def test_a_person_without_a_password_logs_in_first(dora: User) -> None:
    dora.set_unusable_password()
    dora.save()
    browser = logged_in(dora)
    session = browser.session
    session["since"] = (timezone.now() - timedelta(minutes=6)).isoformat()
    session.save()
    assert "Log out and in again" in text_of(browser.get(URL))
    assert browser.post(URL).status_code == 409
    assert stored(dora).deletes_at is None
    assert logged_in(dora).post(URL).status_code == 303
    assert stored(dora).deletes_at is not None


def report_on(who: User, by: User, now: datetime = NOON) -> Case:
    return report_seat(table_at(TWO_HANDS, [who, by]).game, by=by, seat=0, now=now).case


def make_suspended(dora: User, by: User, mo: User) -> None:
    people.suspend(person_id=dora.pk, by=mo, days=30, reason=REASON, now=NOON)


def make_superuser(dora: User, by: User, mo: User) -> None:
    User.objects.filter(pk=dora.pk).update(is_superuser=True, is_staff=True)


Make = Callable[[User, User, User], None]


@pytest.mark.parametrize(
    ("make", "sentence"), [(make_suspended, deletion.SUSPENDED), (make_superuser, deletion.LAST_SUPERUSER)]
)
def test_some_get_a_sentence_instead(dora: User, alice: User, mo: User, make: Make, sentence: str) -> None:
    make(dora, alice, mo)
    with pytest.raises(deletion.NotNow, match="^" + sentence[:30]):
        ask(dora)
    assert stored(dora).deletes_at is None
    if make is not make_suspended:  # the suspended are sent to the one page for them
        browser = confirmed_browser(dora)
        assert sentence in text_of(browser.get(URL))
        answer = browser.post(URL)
        assert (answer.status_code, sentence in text_of(answer)) == (409, True)


@pytest.mark.parametrize("make", [make_suspended, make_superuser])
def test_what_happens_after_the_request_puts_the_deletion_off(dora: User, alice: User, mo: User, make: Make) -> None:
    ask(dora)
    make(dora, alice, mo)
    deletion.delete_due(now=NOON + FORTNIGHT)
    assert is_there(dora, is_active=True, deletion_begun=False)
    User.objects.filter(pk=dora.pk).update(suspended_until=None, is_superuser=False)
    deletion.delete_due(now=NOON + FORTNIGHT)
    assert not is_there(dora)


def test_the_page_does_not_tell_that_a_case_is_open(dora: User, alice: User) -> None:
    browser = confirmed_browser(dora)
    case = report_on(dora, alice, timezone.now())
    page = text_of(browser.get(URL))
    Case.objects.update(closed_at=timezone.now())
    assert text_of(browser.get(URL)) == page
    Case.objects.filter(pk=case.pk).update(closed_at=None)
    answer = browser.post(URL, follow=True)
    assert "Your account will be deleted within 30 days, but not before " in text_of(answer)
    assert stored(dora).deletes_at is not None


def test_a_report_after_the_request_puts_nothing_off(dora: User, alice: User, mo: User) -> None:
    ask(dora)
    case = report_on(dora, alice, NOON + timedelta(seconds=1))
    deletion.delete_due(now=NOON + FORTNIGHT)
    assert not is_there(dora)
    answer = staff_browser(mo).get(f"/admin/games/case/{case.pk}/change/")
    assert "a deleted player" in text_of(answer)
    settle(case, mo)
    assert "A deleted player: an offensive name" in text_of(logged_in(alice).get("/reports/"))


def settle(case: Case, mo: User) -> None:
    cases.close_case(case_id=case.pk, by=mo, outcome="nothing", answer="", reason=REASON, now=NOON + FORTNIGHT)


def test_a_deletion_waits_for_a_case_from_before_the_request(dora: User, alice: User, mo: User) -> None:
    case = report_on(dora, alice)
    ask(dora)
    deletion.delete_due(now=NOON + FORTNIGHT)
    assert is_there(dora, is_active=True, deletion_begun=False)
    settle(case, mo)
    report_on(dora, alice, NOON + FORTNIGHT)
    deletion.delete_due(now=NOON + FORTNIGHT)
    assert not is_there(dora)


@pytest.mark.parametrize("suspended", [False, True])
def test_a_deletion_waits_for_staff_at_most_30_days(dora: User, alice: User, suspended: bool) -> None:
    if suspended:
        User.objects.filter(pk=dora.pk).update(suspended_until=FOR_GOOD)
    else:
        report_on(dora, alice)
    User.objects.filter(pk=dora.pk).update(deletes_at=NOON + FORTNIGHT)
    deletion.delete_due(now=NOON + timedelta(days=30, seconds=-1))
    assert is_there(dora, deletion_begun=False)
    deletion.delete_due(now=NOON + timedelta(days=30))
    assert not is_there(dora)


def test_a_guest_whose_deletion_waits_sees_until_when_at_most(alice: User) -> None:
    guest = actions.create_guest()
    User.objects.filter(pk=guest.pk).update(deletes_at=NOON + FORTNIGHT, time_zone="UTC")
    page = text_of(logged_in(guest).get("/accounts/me/"))
    assert "will be deleted between 5 December 2026, 12:00 and 21 December 2026, 12:00, as you asked for" in page


def test_of_two_superusers_one_can_go(dora: User, alice: User) -> None:
    User.objects.filter(pk__in=[dora.pk, alice.pk]).update(is_superuser=True)
    ask(dora)
    with pytest.raises(deletion.NotNow):
        ask(alice)


def before_the_last_step() -> AbstractContextManager[None]:
    """Let the process die when the account is closed and its row is to be deleted."""
    return before_statement('DELETE FROM "accounts_user"', lambda: 1 / 0)


@pytest.mark.parametrize("done", ["nothing", "the first step", "all"])
def test_a_log_in_during_the_deletion_is_the_last_word_or_comes_too_late(
    dora: User, monkeypatch: pytest.MonkeyPatch, done: str
) -> None:
    ask(dora, timezone.now() - FORTNIGHT)
    renew = actions.renew_hash

    def meanwhile(**more: Any) -> None:
        renew(**more)
        if done == "the first step":
            with pytest.raises(ZeroDivisionError), before_the_last_step():
                deletion.delete(user_id=dora.pk, now=timezone.now())
        elif done == "all":
            deletion.delete_due(now=timezone.now())

    monkeypatch.setattr(actions, "renew_hash", meanwhile)
    _, answer = log_in()
    assert ("This account has just been deleted, as you asked for" in text_of(answer)) is (done != "nothing")
    assert Session.objects.exclude(user=None).exists() is (done == "nothing")
    deletion.delete_due(now=timezone.now())
    assert is_there(dora) is (done == "nothing")


def test_a_deletion_that_died_goes_on(dora: User, alice: User) -> None:
    table = table_at(TWO_HANDS, [dora, alice])
    ask(dora)
    with pytest.raises(ExceptionGroup), before_the_last_step():
        deletion.delete_due(now=NOON + FORTNIGHT)
    assert stored(dora).deletion_begun
    assert log_in()[1].wsgi_request.user.is_anonymous
    deletion.delete_due(now=NOON + FORTNIGHT)
    assert not is_there(dora)
    assert now_of(table).seats[0].name == deleted_name(dora.pk)


def test_seats_go_to_bots_at_the_end_only(dora: User, alice: User, bob: User, as_alice: Client) -> None:
    table = table_at(TWO_HANDS, [dora, alice])
    Game.objects.filter(pk=table.game.pk).update(host=dora)
    waiting = lobby.create_table(user=dora, choices=lobby.TableChoices(players=3), now=NOON)
    lobby.join(code=waiting.game.code, viewer=Viewer(bob), now=NOON)
    alone = lobby.create_table(user=dora, choices=lobby.TableChoices(), now=NOON)
    ask(dora)
    assert now_of(table).seats[0].user_id == dora.pk
    assert deletion.delete(user_id=dora.pk, now=NOON + FORTNIGHT)
    after = now_of(table)
    assert (after.game.status, after.game.host_id) == ("playing", alice.pk)
    assert (after.seats[0].bot, after.seats[0].user_id, after.seats[0].name) == ("careful", None, deleted_name(dora.pk))
    assert [seat.user for seat in Seat.objects.filter(game=waiting.game)] == [bob]
    assert Game.objects.get(pk=waiting.game.pk).host == bob
    assert Game.objects.get(pk=alone.game.pk).status == "void"
    log = text_of(as_alice.get(f"/games/{table.game.code}/log/"))
    assert f"{deleted_name(dora.pk)} has deleted the account. A bot plays the seat from now on." in log
    assert as_alice.get(f"/games/{table.game.code}/").status_code == 200


def test_a_seat_taken_at_the_last_moment_puts_the_end_off(dora: User, alice: User) -> None:
    ask(dora)
    tables: list[Table] = []
    with before_statement(LOCK_PERSON, lambda: tables.append(table_at(TWO_HANDS, [dora, alice])), number=2):
        assert not deletion.delete(user_id=dora.pk, now=NOON + FORTNIGHT)
    assert now_of(tables[0]).seats[0].user_id == dora.pk
    assert deletion.delete(user_id=dora.pk, now=NOON + FORTNIGHT)
    assert now_of(tables[0]).seats[0].bot == "careful"


def test_a_paused_game_goes_on_with_a_bot(dora: User, alice: User, mo: User) -> None:
    table = table_at(TWO_HANDS, [dora, alice])
    tables.pause(**act(table, mo))
    deleted(dora)
    after = now_of(table)
    assert (after.game.paused_reasons, after.seats[0].bot) == (["staff"], "careful")
    tables.resume(**act(after, mo))
    assert now_of(table).game.wake_at is not None


@pytest.mark.long
def test_links_and_tokens_of_a_deleted_account_lead_nowhere(dora: User, alice: User) -> None:
    headers, browser = bearer(dora), Client()
    browser.post("/accounts/password/reset/", {"email": "dora@example.org"})
    outbox.deliver(clock=timezone.now)
    links = re.findall(r"https?://[^/\s]+(/\S+)", " ".join(str(letter.body) for letter in mail.outbox))
    settings, _ = NoticeSettings.objects.get_or_create(user=dora)
    game = table_at(TWO_HANDS, [dora, alice]).game
    targets = {mail_links.OPEN: game.code, mail_links.STOP: "turn", mail_links.WORKS: "dora@example.org"}
    for purpose, target in targets.items():
        url = mail_links.link_url(purpose, user_id=dora.pk, target=target, key=settings.mail_key)
        links.append(urlsplit(url).path)
    assert len(links) > 3
    deleted(dora)
    for link in links:
        assert browser.get(link).status_code < 500, link
        assert browser.post(link).status_code < 500, link
    assert browser.get("/api/v1/me", headers=headers).status_code == 401
    assert quiet_hours.follow_time_off(user_id=dora.pk, now=NOON) == 0
    assert Client().get("/people/dora_the_first/").status_code == 404
    assert logged_in(person("carol")).get("/people/dora_the_first/").status_code == 404


def bearer(who: User) -> dict[str, str]:
    return {"Authorization": f"Bearer {api_token(who)}"}


def test_tokens_are_refused_until_the_account_is_kept(dora: User) -> None:
    headers = bearer(dora)
    assert "For 14 days nothing is deleted, but API tokens do not work." in text_of(confirmed_browser(dora).get(URL))
    ask(dora, timezone.now())
    for path in ("me", "games"):
        answer = Client().get(f"/api/v1/{path}", headers=headers)
        assert (answer.status_code, answer.headers["WWW-Authenticate"]) == (401, "Bearer")
        assert answer.json() == {"error": "unauthorized", "message": TO_BE_DELETED, "rule": None, "version": None}
    log_in()
    assert Client().get("/api/v1/me", headers=headers).status_code == 200


def test_the_tokens_of_a_guest_are_refused_but_not_the_session() -> None:
    guest = actions.create_guest()
    headers, browser = bearer(guest), logged_in(guest)
    ask(guest, timezone.now())
    assert Client().get("/api/v1/me", headers=headers).status_code == 401
    assert browser.get("/api/v1/me").status_code == 200
    browser.post("/accounts/me/keep/")
    assert Client().get("/api/v1/me", headers=headers).status_code == 200


def test_a_name_of_a_deleted_account_stays_held(dora: User) -> None:
    dora.display_name = "Dora the Great"
    dora.save()
    deleted(dora)
    assert queries.name_clash("Dora the Great", except_for=User()) == queries.name_freed()
    assert queries.name_clash("dora_the_first", except_for=User()) == queries.name_freed()
    actions.free_held_names(now=NOON + FORTNIGHT)
    assert queries.name_clash("Dora the Great", except_for=User()) == queries.name_freed()
    actions.free_held_names(now=NOON + FORTNIGHT + timedelta(days=91))
    assert not NameSkeleton.objects.exists()


def test_nobody_takes_the_name_of_a_deleted_player() -> None:
    for name in ("Deleted player 7", "deleted-player 12", "DELETED PLAYER l0", "Player 48213"):
        assert is_reserved(name), name
    assert not is_reserved("Deleted scenes 7")


def rows_of(dora: User, table: Table) -> tuple[bool, bool, str]:
    """Return whether the account is there and whole, whether Dora has the seat, and its bot."""
    seat = now_of(table).seats[0]
    return is_there(dora, is_active=True, deletion_begun=False, deletes_at=None), seat.user_id == dora.pk, seat.bot


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_of_a_cancellation_and_the_deletion_at_one_instant_one_is_done(
    alice: User, figure: Callable[[str], None]
) -> None:
    ends = []
    for n in range(15):
        dora = person(f"dora{n}")
        table = table_at(TWO_HANDS, [dora, alice])
        ask(dora)

        def cancel(start: Callable[[], object], dora: User = dora) -> bool:
            start()
            return deletion.keep(user=User(pk=dora.pk))

        def delete(start: Callable[[], object], dora: User = dora) -> bool:
            start()
            return deletion.delete(user_id=dora.pk, now=NOON + FORTNIGHT)

        kept, gone = at_once([cancel, delete])
        assert kept is not gone
        assert rows_of(dora, table) == ((True, True, "") if kept else (False, False, "careful"))
        ends.append(kept)
    figure(f"of {len(ends)} cancellations at the instant of the deletion {sum(ends)} came first")


def test_staff_see_when_an_account_will_be_deleted(dora: User, mo: User) -> None:
    page = f"/admin/accounts/user/{dora.pk}/change/"
    assert "to be deleted" not in text_of(staff_browser(mo).get(page))
    ask(dora)
    assert "to be deleted between 2026-12-05 12:00 and 2026-12-21 12:00" in text_of(staff_browser(mo).get(page))


def test_a_claimed_address_of_somebody_else_keeps_its_mails(dora: User, alice: User) -> None:
    EmailAddress.objects.create(user=alice, email="alice@example.org", verified=True, primary=True)
    EmailAddress.objects.create(user=dora, email="alice@example.org")
    Client().post("/accounts/password/reset/", {"email": "alice@example.org"})
    deleted(dora)
    assert AccountMail.objects.filter(address="alice@example.org", user=None).exists()
