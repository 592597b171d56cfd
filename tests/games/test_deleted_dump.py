"""After a deletion no table has an address or a name of the person, and the records of opponents verify."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.db import connection
from django.test import Client
from django.utils import timezone
from psycopg import sql

from accounts.actions import create_guest, update_profile
from accounts.models import Session, User
from accounts.names import deleted_name
from games import rules
from games.actions import deletion, lobby, rematch
from games.actions.play import play_move
from games.models import AuditEntry, BrowserMark, Case, Game, Notice, NoticeSettings
from games.notices.kinds import GAME_OVER
from games.notices.player_notices import NewNotice, write
from games.queries import Table, Viewer, records
from games.queries.verify import faults_of
from games.staff import accounts as staff_accounts
from games.staff import cases, people, tables
from mail import outbox
from tests.conftest import api_token, logged_in, person
from tests.support.codes import show_factor, staff_browser
from tests.support.pages import text_of
from tests.support.staff import REASON, act, report_seat
from tests.support.tables import NOON, TWO_HANDS, now_of, table_after, table_at

pytestmark = pytest.mark.django_db

NAMES = ("zelda_first", "Zelda Rude", "zelda_second", "Zelda Third", "Zelda Fourth", "zelda")
ADDRESSES = ("zelda@example.org", "other.zelda@example.net")
TEXTS = {
    ("games_report", "text"), ("games_case", "answer"), ("games_auditentry", "reason"), ("games_warned", "text"),
    ("games_suspension", "reason"), ("games_appeal", "text"), ("games_appeal", "answer"),
    ("accounts_signupinvitation", "note"),
}  # fmt: skip
"""The columns that have words of people. They are left as they are."""


def dump() -> dict[tuple[str, str], str]:
    """Return all values of each column of each table as text. Sessions are decoded."""
    found: dict[tuple[str, str], str] = {}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            for column in connection.introspection.get_table_description(cursor, table):
                value = sql.SQL("SELECT {}::text FROM {}").format(sql.Identifier(column.name), sql.Identifier(table))
                cursor.execute(value)
                found[table, column.name] = "\n".join(str(text) for (text,) in cursor.fetchall())
    found["accounts_session", "session_data"] = "\n".join(
        json.dumps(session.get_decoded()) for session in Session.objects.all()
    )
    return found


def hits(words: tuple[str, ...]) -> list[tuple[str, str, str]]:
    return [
        (*place, word)
        for place, text in dump().items()
        if place not in TEXTS
        for word in words
        if word.casefold() in text.casefold()
    ]


def delete(who: User, now: datetime) -> None:
    deletion.ask(user=User.objects.get(pk=who.pk), now=now)
    assert deletion.delete(user_id=who.pk, now=now + timedelta(days=14))


def with_everything(alice: User, bob: User, mo: User, ann: User) -> tuple[User, list[Table]]:
    """Return Zelda, about whom every table has something, and the tables that she played to the end."""
    zelda = person("zelda_first")
    now = timezone.now()
    zelda.email = ADDRESSES[0]
    zelda.set_password("a long pass phrase")
    zelda.save()
    for address, primary in zip(ADDRESSES, (True, False), strict=True):
        EmailAddress.objects.create(user=zelda, email=address, primary=primary, verified=primary)
    ended = [table_after([zelda, alice, bob], 10_000, seed=seed) for seed in (3, 5)]
    running = table_after([alice, zelda, bob], 7, seed=0)
    removed = table_after([alice, zelda, bob], 7, seed=0)
    update_profile(user=zelda, display_name="Zelda Rude", time_zone="UTC", now=now)
    with_notices = table_at(TWO_HANDS, [zelda, alice])
    play_move(code=with_notices.game.code, viewer=Viewer(zelda), text="leave", version=0, now=now)
    staff_accounts.rename(
        person_id=zelda.pk, by=ann, username="zelda_second", display_name="Zelda Third", reason=REASON, now=now
    )
    people.replace_username(person_id=zelda.pk, by=mo, reason=REASON, now=now)
    people.restore_username(person_id=zelda.pk, by=mo, reason=REASON, now=now)
    zelda = User.objects.get(pk=zelda.pk)
    update_profile(user=zelda, display_name="Zelda Fourth", time_zone="UTC", now=now)
    people.warn(person_id=zelda.pk, by=mo, reason=REASON, now=now)
    people.suspend(person_id=zelda.pk, by=mo, days=3, reason=REASON, now=now)
    people.lift(person_id=zelda.pk, by=ann, reason=REASON, now=now)
    tables.remove(**act(removed, ann, seat=1, bot=True))
    tables.move_seat(**act(removed, ann, seat=1, username="zelda_second"))
    tables.remove(**act(removed, ann, seat=1, bot=True, now=NOON + timedelta(minutes=1)))
    about = report_seat(ended[0].game, by=alice, seat=0, now=now).case
    report_seat(ended[0].game, by=zelda, seat=1, now=now)
    cases.close_case(case_id=about.pk, by=mo, outcome="acted", answer="", reason=REASON, now=now)
    rematch.ask_rematch(code=ended[0].game.code, viewer=Viewer(zelda), now=now)
    waiting = lobby.create_table(user=zelda, choices=lobby.TableChoices(players=4), now=now)
    lobby.join(code=waiting.game.code, viewer=Viewer(bob), now=now)
    tables.remove(game_id=waiting.game.pk, by=ann, seat=1, bot=None, reason=REASON, now=now)
    for game in (running.game, waiting.game, removed.game, ended[0].game):
        for number, name in enumerate(("zelda_first", "Zelda Rude")):
            write(game, [NewNotice(alice.pk, GAME_OVER)], now=now, occasion=number)
            # As release 0.1 wrote it.
            Notice.objects.filter(game=game, kind=GAME_OVER, occasion=number).update(text=f"{name} won.")
    BrowserMark.objects.create(game=running.game, user=zelda, digest="5" * 64, at=now)
    NoticeSettings.objects.create(user=zelda, bounced=ADDRESSES[0], bounced_at=now)
    api_token(zelda)
    SocialAccount.objects.create(user=zelda, provider="https://login.example.org", uid="zelda|248289761001")
    show_factor(logged_in(zelda).session, zelda)
    Client().post("/accounts/password/reset/", {"email": ADDRESSES[0]})
    visitor = logged_in(create_guest())
    visitor.logout()
    session = Client().session
    session["account_login"] = {"user_pk": str(zelda.pk), "email": ADDRESSES[1]}
    session["openid_sign_up"] = {"subject": "zelda|2", "email": ADDRESSES[0]}
    session.save()
    Session.objects.update(user=None)
    logged_in(zelda)
    outbox.deliver(clock=timezone.now)
    return zelda, ended


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_no_dump_record_or_page_has_a_name_or_address(alice: User, bob: User, mo: User, ann: User) -> None:
    zelda, ended = with_everything(alice, bob, mo, ann)
    before = hits((*NAMES, *ADDRESSES))
    assert {word for _, _, word in before} == {*NAMES, *ADDRESSES}
    delete(zelda, timezone.now())
    assert hits((*NAMES, *ADDRESSES)) == []
    name, by_alice = deleted_name(zelda.pk), logged_in(alice)
    for table in ended:
        record = records.record_of(now_of(table))
        assert record.players[0] == name
        printed = rules.print_record(record)
        assert f'"{name}"' in printed
        assert list(rules.replay_record(rules.parse_record(printed)))
        assert not faults_of(table.game.pk)
        for page in ("", "log/", "replay/", "record/"):
            answer = by_alice.get(f"/games/{table.game.code}/{page}")
            assert answer.status_code == 200
            assert name in answer.content.decode()
    # Pages of staff show what is left.
    browser, entries = staff_browser(ann), AuditEntry.objects.filter(person_id=zelda.pk)
    assert {entry.person_name for entry in entries} == {name}
    assert name in text_of(browser.get("/admin/games/auditentry/"))
    for model in (AuditEntry, Case, Game):
        for row in model._default_manager.all():
            assert browser.get(f"/admin/games/{model._meta.model_name}/{row.pk}/change/").status_code == 200
    for game in Game.objects.all():
        assert by_alice.get(f"/games/{game.code}/").status_code in (200, 404)
    assert browser.get(f"/admin/accounts/user/{zelda.pk}/change/").status_code in (302, 404)
    assert by_alice.get("/people/zelda_second/").status_code == 404


def test_colleagues_of_staff_keep_no_name(alice: User, bob: User, mo: User, ann: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    case = report_seat(game, by=alice, seat=1).case
    people.warn(person_id=bob.pk, by=mo, reason=REASON, now=NOON)
    cases.hand_over(case_id=case.pk, by=mo, colleague=ann.pk, reason=REASON, now=NOON)
    assert Notice.objects.filter(user=ann, kind="case_handed_over").update(text="mo handed a case over to you.")
    delete(mo, NOON)
    assert not Notice.objects.filter(text__regex=r"\mmo\M").exists()
    assert {entry.actor_name for entry in AuditEntry.objects.all()} == {deleted_name(mo.pk)}
    assert "Deleted player" in text_of(staff_browser(ann).get(f"/admin/games/case/{case.pk}/change/"))


@pytest.mark.long
def test_a_name_that_is_a_word_changes_no_notice_of_others(alice: User, bob: User, mo: User, ann: User) -> None:
    game = table_at(TWO_HANDS, [alice, bob]).game
    case = report_seat(game, by=alice, seat=1).case
    cases.hand_over(case_id=case.pk, by=mo, colleague=ann.pk, reason=REASON, now=NOON)
    Notice.objects.filter(user=ann).update(text="A colleague handed a case over to you.")
    before = list(Notice.objects.order_by("pk").values_list("text", flat=True))
    stranger = User.objects.create_user("the", former_names=["a", "to", "over", "you"])
    delete(stranger, NOON)
    assert any(" over to you" in text for text in before)
    assert list(Notice.objects.order_by("pk").values_list("text", flat=True)) == before
