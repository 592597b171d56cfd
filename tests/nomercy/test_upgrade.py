"""Upgrade the database of an earlier release: nothing is lost, old records replay, and games continue.

`tests/golden/release-*` are databases that each release has written (tests/support/release.py).
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
from django.core.management import call_command
from django.db import connection
from psycopg import sql
from psycopg.rows import dict_row
from pytest_django import DjangoDbBlocker

from accounts.models import User
from games import queries, rules
from games.actions import lobby, timeouts
from games.actions.bot_turn import play_bots
from games.actions.play import play_move
from games.models import Game
from games.queries import Table, Viewer, records
from games.queries.verify import faults_of
from nomercy.launcher.place import CHECKOUT
from tests.conftest import logged_in
from tests.support.database import copied_database, empty_database, using_database
from tests.support.release import MADE_AT, MATCHES, PHASES
from tests.support.stack import database_url

RELEASES = sorted((CHECKOUT / "tests" / "golden").glob("release-*"))
NOW = MADE_AT + timedelta(minutes=5)
MOVES = 25
"""How many moves are made at each table, unless it ends before."""

Rows = dict[str, list[dict[str, Any]]]


def every_row() -> Rows:
    """Return all rows of all tables."""
    tables = connection.introspection.table_names()
    with psycopg.connect(database_url(), row_factory=dict_row) as server:
        return {
            name: server.execute(sql.SQL("SELECT * FROM {}").format(sql.Identifier(name))).fetchall() for name in tables
        }


def upgraded(rows: Rows) -> Rows:
    """Return the rows of an earlier release with positions as they are stored now (migration 0028)."""
    if not any("draw_pile" in row for row in rows["games_round"]):
        return rows
    index = {seat["id"]: seat["index"] for seat in rows["games_seat"]}
    hands: dict[int, list[list[str]]] = {}
    for hand in sorted(rows["games_hand"], key=lambda hand: index[hand["seat_id"]]):
        hands.setdefault(hand["round_id"], []).append(hand.pop("cards").split())
    for round_ in rows["games_round"]:
        total, value = round_.pop("pending_total"), round_.pop("pending_value")
        piles = {name: round_.pop(name).split() for name in ("draw_pile", "discard_pile", "set_aside")}
        others = ("direction", "color", "drawn", "declared", "exposed", "going_out", "reshuffles")
        round_["state"] = {
            "hands": hands[round_["id"]],
            "pending": None if total is None else {"total": total, "value": value},
            **piles,
            **{name: round_.pop(name) for name in others},
        }
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
    return Counter(pformat([(name, row.get(name, "no such column")) for name in columns]) for row in rows)


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
        before = upgraded(every_row())
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
    assert [folder.name for folder in RELEASES] == ["release-0.1"]


def test_lost_and_changed_rows_are_detected() -> None:
    before: Rows = {"kept": [{"id": 1, "n": 1}], "changed": [{"id": 1, "n": 2}], "gone": [{"id": 1}], "empty": []}
    after: Rows = {"kept": [{"id": 1, "n": 1, "new": 3}, {"id": 2}], "changed": [{"id": 1, "n": 3}]}
    assert lost(before, after) == ["changed", "gone"]


@pytest.mark.long
def test_an_upgrade_loses_nothing_and_games_continue(upgrade: Upgrade) -> None:
    assert lost(upgrade.before, every_row()) == []
    codes = {"open", "closed", "bot", *PHASES, *MATCHES}
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
    rng = random.Random(0)
    versions = dict(Game.objects.filter(status=Game.Status.PLAYING).values_list("code", "version"))
    for code, version in versions.items():
        play_on(code, rng)
        assert table_named(code).game.version > version, code
    assert {code: faults_of(Game.objects.get(code=code).pk) for code in versions} == {code: [] for code in versions}
    assert browser.get("/").status_code == 200


@pytest.mark.long
def test_a_backup_of_an_earlier_release_is_restored_and_upgraded(
    release: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = upgraded(every_row())
    call_command("backup", str(tmp_path / "site.backup"))
    with empty_database("restored"):
        call_command("restore", str(tmp_path / "site.backup"))

        assert set(lost(before, every_row())) <= {"games_game", "games_heartbeat", "games_outbox"}
        assert "migrations brought them to this release" in capsys.readouterr().out
        assert Game.objects.filter(status=Game.Status.PLAYING, deadline__isnull=False).count() == 0
        call_command("check_games")
        call_command("release")
        assert Game.objects.filter(status=Game.Status.PLAYING, deadline__isnull=False).count() > 8


@pytest.mark.long
def test_the_migration_of_positions_is_reversible(release: Path) -> None:
    call_command("migrate", "games", "0027", verbosity=0)
    before = every_row()
    assert {row["phase"] for row in before["games_round"]} == {"play", "drawn", "choose_color", "over"}
    call_command("migrate", "games", "0028", verbosity=0)
    call_command("migrate", "games", "0027", verbosity=0)
    assert lost(before, every_row()) == []


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
