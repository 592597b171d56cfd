"""People fetch a copy of what the site stores about them: who gets what, for how long, and how often."""

from __future__ import annotations

import json
import random
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.apps import apps
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts.actions import create_guest
from accounts.models import User
from games import tasks
from games.actions import data_copies, deletion
from games.models import Case, DataCopy, Notice
from games.notices import inbox, player_notices
from games.queries import my_data
from games.staff import cases, people, tables
from mail import outbox
from tests.conftest import logged_in, person
from tests.support.codes import confirmed_browser
from tests.support.notices import texts_of
from tests.support.pages import text_of
from tests.support.staff import REASON, act, report_seat
from tests.support.swaps import everything
from tests.support.tables import NOON, TWO_HANDS, now_of, table_after, table_at

pytestmark = pytest.mark.django_db

PAGE, FILE = "/accounts/me/data/", "/accounts/me/data/download/"

SHOWN = {
    "account.EmailAddress": "email_addresses", "mfa.Authenticator": "second_factors", "accounts.Session": "log_ins",
    "socialaccount.SocialAccount": "linked_identities",
    "accounts.ApiToken": "api_tokens", "accounts.SignUpInvitation": "sign_up_invitations",
    "accounts.NameSkeleton": "held_names", "accounts.AccountMail": "account_emails",
    "games.NoticeSettings": "notice_settings", "games.Notice": "notices", "games.Invitation": "table_invitations",
    "games.BrowserMark": "browsers_at_tables", "games.Report": "reports", "games.Warned": "warnings",
    "games.Suspension": "suspensions", "games.AuditEntry": "acts_of_staff", "games.Seat": "games",
    "games.Game": "games", "mail.PushSubscription": "devices", "mail.Hook": "webhook",
}  # fmt: skip
"""The subject of the copy by the model whose rows belong to a person."""
NOT_SHOWN = {
    "games.Case": "would tell who reported the person",
    "games.PersonName": "names that the person has under other subjects or that staff gave them",
    "games.DataCopy": "is the copy",
    "admin.LogEntry": "is never written",
    "mail.Delivery": "is shown as notices and as mails about accounts",
    "accounts.User_groups": "the roles of the account",
    "accounts.User_user_permissions": "is never written",
}


COLUMNS_NOT_SHOWN = {
    # How the outbox works
    "mail.Delivery.claim", "mail.Delivery.due_at", "mail.Delivery.occasion", "mail.Delivery.since",
    "mail.Delivery.tries",
    "games.NoticeSettings.digest_again_at",
    # Secrets, and hashes of secrets
    "accounts.ApiToken.digest", "accounts.SignUpInvitation.digest", "games.BrowserMark.digest",
    "games.NoticeSettings.mail_key", "games.Report.form_key", "mail.PushSubscription.auth",
    "mail.PushSubscription.digest", "mail.PushSubscription.endpoint", "mail.PushSubscription.public",
    "mail.PushSubscription.session",
    "mail.Hook.secret",
    # About push services and webhooks
    "mail.PushSubscription.refusals", "mail.Hook.failures", "mail.Hook.retry_at",
    # Other people: the staff, who had a seat, and who was reported
    "games.AuditEntry.actor_called", "games.AuditEntry.before_called",
    "games.AuditEntry.person_called", "games.AuditEntry.reason", "games.Report.called",
    # Said by another column
    "games.Report.sign",
}  # fmt: skip


def copied(who: User) -> dict[str, Any]:
    data_copies.ask(user=User.objects.get(pk=who.pk), now=timezone.now())
    data_copies.make_next(now=timezone.now())
    content = my_data.content_of(who, timezone.now())
    assert content is not None
    found: dict[str, Any] = json.loads(content)
    return found


def test_every_row_of_a_person_is_in_the_copy_or_left_out_for_a_reason(alice: User) -> None:
    of_people = {
        model._meta.label
        for model in apps.get_models(include_auto_created=True)
        for field in model._meta.fields
        if field.is_relation and field.related_model is User
    }
    assert of_people == {*SHOWN, *NOT_SHOWN}
    data = copied(alice)
    assert set(SHOWN.values()) <= set(data)
    columns = {field.name for field in User._meta.fields} - {
        "id", "password", "session_mark", "last_totp_step", "warned", "answered", "deletion_begun",
    }  # fmt: skip
    assert columns <= set(data["account"])


def test_every_column_is_read_or_left_out_for_a_reason(alice: User, bob: User) -> None:
    table_at(TWO_HANDS, [alice, bob])
    with CaptureQueriesContext(connection) as run:
        my_data.data_of(alice)
        inbox.rows_for_copy(alice)
    read = " ".join(query["sql"] for query in run)
    missing = {
        f"{field.model._meta.label}.{field.name}"
        for label in SHOWN
        for field in apps.get_model(label)._meta.concrete_fields
        if not field.primary_key and f'"{field.model._meta.db_table}"."{field.column}"' not in read
    }
    assert missing == COLUMNS_NOT_SHOWN


@pytest.mark.long
def test_it_is_asked_for_made_mailed_and_fetched(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    EmailAddress.objects.create(user=alice, email=alice.email, primary=True, verified=True)
    browser = confirmed_browser(alice)
    assert "Make a copy" in text_of(browser.get(PAGE))
    assert browser.get(FILE).status_code == 404
    assert "You get an email when it is ready." in text_of(browser.post(PAGE, follow=True))
    assert browser.get(FILE).status_code == 404
    tasks.copy_data()
    outbox.deliver(clock=timezone.now)
    [letter] = mail.outbox
    assert letter.subject == "The copy of your data is ready"
    assert PAGE in letter.body
    assert "Your copy is ready." in text_of(browser.get(PAGE))
    answer = browser.get(FILE)
    assert (answer.status_code, answer.headers["Content-Type"]) == (200, "application/json")
    assert answer.headers["Content-Disposition"] == 'attachment; filename="my-data.json"'
    assert "no-store" in answer.headers["Cache-Control"]
    assert answer.json()["account"]["username"] == "alice"
    assert [one["email"] for one in answer.json()["email_addresses"]] == [alice.email]


@pytest.mark.long
def test_nobody_else_fetches_it(alice: User, bob: User) -> None:
    copied(alice)
    assert Client().get(FILE).headers["Location"].startswith("/accounts/login/")
    assert confirmed_browser(bob).get(FILE).status_code == 404
    unconfirmed = logged_in(alice)
    for answer in (unconfirmed.get(FILE), unconfirmed.post(PAGE), unconfirmed.get(PAGE)):
        assert answer.headers["Location"].startswith("/accounts/reauthenticate/")


@pytest.mark.long
def test_it_expires_and_goes_with_the_account(alice: User, bob: User) -> None:
    copied(alice)
    later = timezone.now() + data_copies.KEPT + timedelta(minutes=1)
    assert my_data.content_of(alice, later) is None
    assert my_data.copy_of(alice, later) is None
    data_copies.forget_old(now=later)
    assert not DataCopy.objects.exists()
    copied(bob)
    deletion.ask(user=User.objects.get(pk=bob.pk), now=NOON)
    assert deletion.delete(user_id=bob.pk, now=NOON + timedelta(days=14))
    assert not DataCopy.objects.exists()


@pytest.mark.long
def test_a_person_gets_three_a_day_and_one_at_a_time(alice: User, settings: Settings) -> None:
    settings.RATE_LIMITS = 100
    browser = confirmed_browser(alice)
    for _ in range(3):
        assert browser.post(PAGE).status_code == 303
        assert browser.post(PAGE).status_code == 303  # still waits: no second one
        assert DataCopy.objects.count() == 1
        tasks.copy_data()
    answer = browser.post(PAGE)
    assert answer.status_code == 429
    assert "copies of your data" in text_of(answer)
    assert browser.get(FILE).status_code == 200


@pytest.mark.parametrize("end", [RuntimeError, SystemExit])
def test_a_copy_whose_making_ends_is_tried_again_and_stops_no_other(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, end: type[BaseException]
) -> None:
    made = my_data.data_of

    def data_of(who: User) -> dict[str, Any]:
        if who == alice:
            raise end
        return made(who)

    for who in (alice, bob):
        data_copies.ask(user=who, now=NOON)
    with monkeypatch.context() as patch:
        patch.setattr(my_data, "data_of", data_of)
        with pytest.raises(end):
            data_copies.make_next(now=NOON)
        data_copies.make_next(now=NOON)
        data_copies.make_next(now=NOON)
    assert DataCopy.objects.get(person=bob).ready
    assert not DataCopy.objects.get(person=alice).ready
    data_copies.make_next(now=NOON + timedelta(hours=1))
    assert DataCopy.objects.get(person=alice).ready


def test_each_task_makes_one_and_asks_for_the_next(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[str] = []
    monkeypatch.setattr("games.announce.current_app.send_task", lambda name, **_: sent.append(name))
    for who in (alice, bob):
        with django_capture_on_commit_callbacks(execute=True):
            data_copies.ask(user=who, now=NOON)
            before = list(sent)
        assert sent == [*before, tasks.copy_data.name]  # after the commit
    sent.clear()
    for waiting in (1, 0, 0):
        with django_capture_on_commit_callbacks(execute=True):
            data_copies.wake_worker(now=NOON)
            data_copies.make_next(now=NOON)
        assert DataCopy.objects.filter(expires_at=None).count() == waiting
    assert len(sent) == 3  # one from each hourly task while a copy waited, and one from the first copy


def test_a_guest_fetches_a_copy() -> None:
    guest = create_guest()
    browser = logged_in(guest)
    assert "Come back to this page" in text_of(browser.post(PAGE, follow=True))
    tasks.copy_data()
    assert browser.get(FILE).json()["account"]["is_guest"] is True


@pytest.mark.long
def test_a_person_without_a_password_logs_in_first(alice: User) -> None:
    alice.set_unusable_password()
    alice.save()
    copied(alice)
    browser = logged_in(alice)
    assert browser.get(FILE).status_code == 200
    session = browser.session
    session["since"] = (timezone.now() - timedelta(minutes=6)).isoformat()
    session.save()
    for answer in (browser.get(FILE, follow=True), browser.post(PAGE, follow=True)):
        assert "Log out and in again" in text_of(answer)


@pytest.mark.long
def test_it_has_own_moves_only(alice: User, bob: User, ann: User) -> None:
    table = table_after([alice, bob], 7, seed=0)
    [game] = copied(alice)["games"]
    own = [(move.n, move.text) for move in table.game.moves.filter(seat=0).order_by("n")]
    assert own
    assert [(move["n"], move["move"]) for move in game["moves"]] == own
    person("dora")
    tables.move_seat(**act(now_of(table), ann, seat=0, username="dora"))
    [before] = copied(alice)["games"]
    assert [(move["n"], move["move"]) for move in before["moves"]] == own
    assert before["seat"] is None
    [after] = copied(User.objects.get(username="dora"))["games"]
    assert after["moves"] == []
    assert after["seat"]["number"] == 1


def test_a_copy_of_many_moves_or_notices_has_the_newest(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    older, newer = (table_after([alice, bob], 20, seed=seed) for seed in (4, 5))
    monkeypatch.setattr(my_data, "MOST_MOVES", 3)
    monkeypatch.setattr(my_data, "MOST_ROWS", 2)
    for days in range(3):
        player_notices.day_taken(alice, until=NOON, left=3 - days, now=NOON + timedelta(days=days))
    made = list(Notice.objects.filter(user=alice).order_by("pk"))
    assert len(made) > 2
    copy = copied(alice)
    assert {game["code"]: len(game["moves"]) for game in copy["games"]} == {newer.game.code: 3, older.game.code: 0}
    newest = list(zip(["day_taken"] * 2, ["site", "email"], texts_of(made[-2:]), strict=True))
    assert [(row["kind"], row["channel"], row["text"]) for row in copy["notices"]] == newest


@pytest.mark.long
def test_it_has_nothing_private_of_others(alice: User, bob: User, mo: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    report = report_seat(game, by=alice, seat=1)
    about = report.case
    people.warn(person_id=bob.pk, by=mo, reason="You wrote a rude word.", now=NOON)
    people.note(person_id=bob.pk, by=mo, reason="Watch him, says carl.", now=NOON)
    cases.note(case_id=about.pk, by=mo, reason="He is known for this, says carl.", now=NOON)
    cases.close_case(case_id=about.pk, by=mo, outcome="acted", answer="", reason=REASON, now=NOON)
    of_bob = copied(bob)
    text = json.dumps(of_bob)
    assert "rude word as his name" not in text
    assert "alice" not in text
    assert "carl" not in text
    assert '"mo"' not in text
    assert [row["text"] for row in of_bob["warnings"]] == ["You wrote a rude word."]
    assert [row["act"] for row in of_bob["acts_of_staff"]] == ["warn"]
    of_alice = copied(alice)
    assert [(row["text"], row["case_outcome"]) for row in of_alice["reports"]] == [(report.text, "acted")]
    of_mo = copied(mo)
    assert "rude word" not in json.dumps(of_mo)
    assert [row["act"] for row in of_mo["acts_as_staff"]] == ["warn", "note_person", "note_case", "close_case"]
    assert Case.objects.count() == 1


@pytest.mark.long
def test_no_hidden_card_is_in_it(alice: User, bob: User) -> None:
    for seed in range(5):
        table = table_after([alice, bob], 10, seed=seed)
        for player, seat in ((alice, 0), (bob, 1)):
            before = my_data.data_of(player)
            assert everything(now_of(table), seat, random.Random(seed))
            assert my_data.data_of(player) == before
            assert any(game["moves"] for game in before["games"])
