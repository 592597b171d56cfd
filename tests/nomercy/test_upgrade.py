"""Upgrade the database of an earlier release: nothing is lost, old records replay, and games continue.

The folders in `RELEASES` are databases that each release has written (tests/support/release.py).
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from pprint import pformat
from typing import Any, NamedTuple

import psycopg
import pytest
from allauth.mfa.models import Authenticator
from django.core.mail import EmailMessage
from django.core.management import CommandError, call_command
from django.core.management.base import SystemCheckError
from django.db import connection
from django.test import Client
from psycopg import sql
from pytest_django import DjangoDbBlocker

from accounts.models import AccountMail, Session, User
from accounts.queries import identity_with
from common.schema import FIRST
from games import queries, rules
from games.actions import lobby, pauses, timeouts
from games.actions.bot_turn import play_bots
from games.actions.play import play_move
from games.models import Case, Game, Notice
from games.queries import Table, Viewer, records
from games.queries.verify import faults_of
from mail.models import Delivery
from mail.outbox import deliver
from nomercy.launcher.place import CHECKOUT
from tests.conftest import logged_in
from tests.support.codes import totp
from tests.support.database import copied_database, empty_database, using_database
from tests.support.release import IDENTITY, MADE_AT, MATCHES, PHASES, PRESETS, SECRET_KEY, TOTP_SECRET
from tests.support.stack import database_url

RELEASES = [CHECKOUT / "tests" / "golden" / "f8c9a292", *sorted((CHECKOUT / "tests" / "golden").glob("release-*"))]
NOW = MADE_AT + timedelta(minutes=5)
MOVES = 10
"""How many moves are made at each table, unless it ends before."""
REMOVED = {"asked_from", "objection"}
"""Columns that are no longer needed: a hash of the network that asked for a mail, and what is wrong with a name."""
RENAMED = {
    ("games_game", "rested_until"): "vacation_counted_until",
    ("games_game", "quiet_given"): "quiet_seconds_added",
    ("games_game", "looked_at"): "hands_viewed_at",
    ("games_seat", "seen"): "end_seen_version",
    ("games_game", "form"): "form_key",
    ("games_report", "form"): "form_key",
    ("games_game", "hosted_by_newcomer"): "hosted_by_new_account",
    ("games_notice", "mark"): "occasion",
    ("games_browsermark", "mark"): "digest",
}
"""The names today of columns that had another one, by table and old name."""
RENAMED_TABLES = {"games_notice": "mail_delivery", "games_outbox": "mail_outbox"}
"""The names today of tables that had another one."""
ACCOUNT_MAILS = "mails about accounts"
"""The name here of rows that had a table of their own, with other numbers."""

Rows = dict[str, list[dict[str, Any]]]


def every_row() -> Rows:
    """Return all rows of all tables. Uses the connection of Django: PostgreSQL notices the end of another one later."""
    rows: Rows = {}
    with connection.cursor() as cursor:
        for name in connection.introspection.table_names():
            cursor.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(name)))
            columns = [RENAMED.get((name, column.name), column.name) for column in cursor.description]
            rows[RENAMED_TABLES.get(name, name)] = [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
    mails = rows.pop("accounts_accountmail", None)
    if mails is None:
        mails = [row for row in rows["mail_delivery"] if row["mailbox"]]
    rows[ACCOUNT_MAILS] = [{name: row[name] for name in row if name != "id"} for row in mails]
    return rows


def lost(before: Rows, after: Rows) -> list[str]:
    """Return the tables that have lost or changed rows."""
    return [
        name
        for name, rows in before.items()
        if rows and (name not in after or counted(rows, rows[0]) - counted(after[name], rows[0]))
    ]


def counted(rows: list[dict[str, Any]], columns: dict[str, Any]) -> Counter[str]:
    """Return each row, by its values in these columns."""
    kept = [name for name in columns if name not in REMOVED]
    return Counter(pformat([(name, row.get(name, "no such column")) for name in kept]) for row in rows)


@pytest.fixture(params=RELEASES, ids=lambda folder: folder.name)
def release(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Path]:
    """Load the database of an earlier release."""
    folder: Path = request.param
    with django_db_blocker.unblock(), _loaded(folder, "release"):
        yield folder


@contextmanager
def _loaded(release: Path, purpose: str) -> Iterator[None]:
    with empty_database(purpose):
        with psycopg.connect(database_url(), autocommit=True) as server:
            server.execute((release / "database.sql").read_bytes())
        yield


class Upgrade(NamedTuple):
    """A migrated database of an earlier release, the folder of the release, and the rows before."""

    release: Path
    before: Rows
    database: str


@pytest.fixture(scope="module", params=RELEASES, ids=lambda folder: folder.name)
def upgraded_once(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker
) -> Iterator[Upgrade]:
    own = str(connection.settings_dict["NAME"])
    with django_db_blocker.unblock(), _loaded(request.param, "upgraded"):
        before = every_row()
        call_command("migrate", verbosity=0)
        upgrade = Upgrade(request.param, before, str(connection.settings_dict["NAME"]))
        with using_database(NAME=own), django_db_blocker.block():
            yield upgrade


@pytest.fixture
def upgrade(upgraded_once: Upgrade, django_db_blocker: DjangoDbBlocker) -> Iterator[Upgrade]:
    """Let Django use a copy of that database."""
    with django_db_blocker.unblock(), copied_database("upgrade", upgraded_once.database):
        yield upgraded_once


def table_named(code: str) -> Table:
    return queries.load(Game.objects.get(code=code))


def _stands_at(now: datetime) -> datetime:
    return now


def play_on(code: str, rng: random.Random) -> None:
    """Make moves: people by the write path, bots by their task."""
    for n in range(MOVES):
        now = NOW + timedelta(seconds=2 * n)
        table = table_named(code)
        if table.game.status != Game.Status.PLAYING:
            return
        round_, position = table.started.round, table.started.position
        if position.phase == "over" or table.seats[position.turn].bot:
            play_bots(game_id=table.game.pk, clock=partial(_stands_at, now), rng=rng)
            after = table_named(code)
            assert (after.game.version, after.game.round_id) != (table.game.version, round_.pk)
            continue
        user = User.objects.get(seats__game=table.game, seats__index=position.turn)
        move = rng.choice(rules.legal_moves(position, position.turn, table.options))
        play_move(code=code, viewer=Viewer(user), text=str(move), version=table.game.version, now=now)


def test_there_is_an_earlier_release() -> None:
    assert [folder.name for folder in RELEASES] == ["f8c9a292", "release-0.1"]


def test_lost_and_changed_rows_are_detected() -> None:
    before: Rows = {"kept": [{"id": 1, "n": 1}], "changed": [{"id": 1, "n": 2}], "gone": [{"id": 1}], "empty": []}
    after: Rows = {"kept": [{"id": 1, "n": 1, "new": 3}, {"id": 2}], "changed": [{"id": 1, "n": 3}]}
    assert lost(before, after) == ["changed", "gone"]


@pytest.mark.long
def test_an_upgrade_loses_nothing_and_games_continue(upgrade: Upgrade) -> None:
    assert lost(upgrade.before, every_row()) == []
    codes = {"open", "closed", "bot", "guest", "paused", *PHASES, *MATCHES, *PRESETS}
    assert set(Game.objects.values_list("code", flat=True)) == codes
    assert {game.code: faults_of(game.pk) for game in Game.objects.all()} == {code: [] for code in codes}
    for name in ("over", "matchover"):
        record = (upgrade.release / f"{name}.txt").read_text()
        assert rules.print_record(records.record_of(table_named(name))) == record
        assert list(rules.replay_record(rules.parse_record(record)))

    for code, (_, shows) in PHASES.items():
        assert shows(table_named(code).started.position), code
    for code, (_, stands) in MATCHES.items():
        assert stands(table_named(code)), code
    alice, bob = User.objects.get(username="alice"), User.objects.get(username="bob")
    browser = logged_in(alice)
    assert {browser.get(f"/games/{code}/").status_code for code in codes} == {200}
    lobby.join(code="open", viewer=Viewer(bob, [Game.objects.get(code="open").invite_key]), now=NOW)
    pauses.resume(code="paused", viewer=Viewer(alice), now=NOW)
    rng = random.Random(0)
    versions = dict(Game.objects.filter(status=Game.Status.PLAYING).values_list("code", "version"))
    for code, version in versions.items():
        play_on(code, rng)
        assert table_named(code).game.version > version, code
    assert {code: faults_of(Game.objects.get(code=code).pk) for code in versions} == {code: [] for code in versions}
    assert browser.get("/").status_code == 200


@pytest.mark.long
def test_an_upgrade_keeps_people_logged_in_and_what_they_set_up(upgrade: Upgrade, settings: Any) -> None:
    settings.SECRET_KEY = SECRET_KEY
    alice, guest = User.objects.get(username="alice"), User.objects.get(is_guest=True)
    for user, code in ((alice, "play"), (guest, "guest")):
        browser = Client()
        browser.cookies[settings.SESSION_COOKIE_NAME] = Session.objects.get(user=user).session_key
        page = browser.get(f"/games/{code}/")
        assert page.status_code == 200
        assert page.context["user"] == user
    factor = Authenticator.objects.get(user=alice)
    assert TOTP_SECRET not in str(factor.data)
    assert factor.wrap().validate_code(totp(TOTP_SECRET))
    issuer, subject = IDENTITY
    identity = identity_with(issuer=issuer, subject=subject)
    assert identity is not None
    assert identity.user.username == "bob"
    assert Case.objects.get().person == alice


@pytest.mark.long
def test_each_mail_that_waited_is_sent_once_after_an_upgrade(upgrade: Upgrade, mailoutbox: list[EmailMessage]) -> None:
    waiting = Notice.objects.filter(state="waiting", channel="email")
    people = set(waiting.exclude(game__code="paused").values_list("user__email", flat=True))
    assert len(people) > 1
    shown = Notice.objects.filter(state="waiting", channel="site").exclude(game__code="paused")
    to_show = list(shown.values_list("pk", flat=True))
    assert to_show
    assert AccountMail.objects.filter(state="waiting").count() == len(upgrade.before[ACCOUNT_MAILS]) == 1
    past = Delivery.objects.exclude(state="waiting").order_by("pk").values_list("pk", "state", "reason")
    settled = list(past)
    assert any(reason for _, _, reason in settled)
    for minutes in range(0, 120, 10):
        deliver(clock=partial(_stands_at, MADE_AT + timedelta(minutes=minutes)))
    sent = Counter((mail.to[0], mail.subject) for mail in mailoutbox)
    assert {address for address, _ in sent} == {*people, "charlie@example.org"}
    assert set(sent.values()) == {1}
    assert set(waiting.values_list("game__code", "reason")) == {("paused", "paused")}
    assert set(Notice.objects.filter(pk__in=to_show).values_list("state", flat=True)) <= {"sent", "dropped"}
    assert AccountMail.objects.get().state == "sent"
    assert list(past.filter(pk__in=[pk for pk, _, _ in settled])) == settled


@pytest.mark.long
def test_a_backup_of_an_earlier_release_is_restored_and_upgraded(release: Path, tmp_path: Path) -> None:
    before = every_row()
    call_command("backup", str(tmp_path / "site.backup"))
    with empty_database("restored"):
        call_command("restore", str(tmp_path / "site.backup"))

        assert set(lost(before, every_row())) <= {"games_game", "games_heartbeat", "mail_outbox"}
        assert Game.objects.filter(status=Game.Status.PLAYING, deadline__isnull=False).count() == 0
        call_command("check_games")
        call_command("release")
        assert Game.objects.filter(status=Game.Status.PLAYING, deadline__isnull=False).count() > 8


@pytest.mark.long
def test_the_clock_of_an_old_turn_runs_out(upgrade: Upgrade) -> None:
    playing = Game.objects.filter(status=Game.Status.PLAYING, deadline__isnull=False)
    assert len(playing) > 8
    for game in playing:
        assert game.deadline is not None
        early = timeouts.run_out(game_id=game.pk, now=game.deadline - timedelta(hours=1))
        assert early == (game.code == "uno")  # its callout window is closed long before
        assert timeouts.run_out(game_id=game.pk, now=game.deadline + timedelta(hours=1))
        assert table_named(game.code).game.version > game.version
        assert faults_of(game.pk) == []


@pytest.mark.long
@pytest.mark.parametrize("release", RELEASES[:1], indirect=True)
@pytest.mark.usefixtures("release")
def test_a_database_of_code_before_the_first_release_is_refused(tmp_path: Path) -> None:
    call_command("backup", str(tmp_path / "site.backup"))
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = %s AND name = %s", FIRST)
    before = every_row()
    with pytest.raises(SystemCheckError, match=r"before f8c9a292.*6b92c576~1"):
        call_command("prepare")
    assert every_row() == before
    call_command("backup", str(tmp_path / "old.backup"))
    with empty_database("restored"):
        with pytest.raises(CommandError, match=r"before f8c9a292.*6b92c576~1.*Nothing was changed"):
            call_command("restore", str(tmp_path / "old.backup"))
        call_command("restore", str(tmp_path / "site.backup"))
