"""Test a dump of a running site, restored elsewhere: games replay, clocks stop, and mail is held until the release."""

from __future__ import annotations

import os
import random
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from html import unescape
from io import StringIO
from pathlib import Path
from typing import Any

import psycopg
import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.db.migrations.recorder import MigrationRecorder
from django.test import Client
from django.utils import timezone

from accounts.models import User
from common import schema
from games import queries
from games.actions import lobby, restore
from games.actions.play import play_move
from games.batch import BatchResult
from games.clocks import pausing
from games.locks import lock_game
from games.models import Game, Heartbeat, Notice, Round, Seat
from games.notices.kinds import ROUND_CANCELLED
from games.queries import Table, Viewer
from games.refusals import Denied
from games.tasks import sweep
from mail.models import Outbox
from nomercy.launcher.place import place_for
from nomercy.launcher.postgres import binaries_for
from tests.conftest import logged_in
from tests.support.database import empty_database
from tests.support.pages import CHOICES
from tests.support.stack import database_url
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db(transaction=True)


def a_game_in_play(people: list[User], moves: int, now: datetime, **options: Any) -> Game:
    """Return a table that filled, started and had this many moves, by the same ways that people use."""
    rng = random.Random(moves)
    code = lobby.create_table(user=people[0], choices=lobby.TableChoices(**options), now=now).game.code
    for person in people[1:]:
        lobby.join(code=code, viewer=Viewer(person), now=now)
    for _ in range(moves):
        table = queries.load_for(code, Viewer(people[0]))
        position = table.started.position
        user = table.seats[position.turn].user
        assert user is not None
        text = rng.choice(queries.view_of(table, user).legal)
        play_move(code=code, viewer=Viewer(user), text=str(text), version=table.game.version, now=now)
    return Game.objects.get(code=code)


def manage(command: str, **options: bool) -> str:
    """Return what a command prints."""
    out = StringIO()
    call_command(command, stdout=out, **options)
    return out.getvalue()


ROWS = (
    "SELECT game_id, n, seat, text, events::text FROM games_move ORDER BY game_id, n",
    "SELECT id, secret, deal, state::text, turn FROM games_round ORDER BY id",
)
HELD = "SELECT held_since IS NOT NULL FROM mail_outbox"
CLOCKS = "SELECT code, deadline, time_left, paused_reasons FROM games_game WHERE status = 'playing' ORDER BY code"


def read(query: str) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(query)
        found: list[tuple[Any, ...]] = cursor.fetchall()
    return found


@pytest.mark.parametrize("command", ["freeze", "release"])
def test_an_old_schema_is_refused_before_anything_is_done(
    alice: User, bob: User, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    a_game_in_play([alice, bob], 0, timezone.now(), players=2)
    if command == "release":
        call_command("freeze")
    before = (Outbox.objects.values_list("held_since").first(), Game.objects.get().paused_reasons)
    schema.known.forget()
    recorder = MigrationRecorder(connection)
    newest = max(key for key in recorder.applied_migrations() if key[0] == "games")
    recorder.record_unapplied(*newest)
    try:
        with pytest.raises(SystemExit, match="does not have the tables of this release"):
            call_command(command)
    finally:
        recorder.record_applied(*newest)
    assert (Outbox.objects.values_list("held_since").first(), Game.objects.get().paused_reasons) == before


@pytest.mark.long
@pytest.mark.skipif(bool(os.environ.get("DATABASE_URL")), reason="uses the programs of the embedded PostgreSQL")
def test_a_restored_site_stands_still_until_it_is_released(alice: User, bob: User, tmp_path: Path) -> None:
    yesterday = timezone.now() - timedelta(days=1)
    games = [a_game_in_play([alice, bob], moves, yesterday, players=2, pace="fast") for moves in (0, 5, 9)]
    assert restore.freeze_if_restored(now=yesterday) is None
    Heartbeat.objects.update(at=yesterday + timedelta(hours=1))
    assert Notice.objects.filter(state="waiting", channel="email").exists()
    left = {game.code: game.deadline - yesterday - timedelta(hours=1) for game in games if game.deadline}
    stopped = [(code, None, left[code], [Game.PAUSED_BY_RESTORE]) for code in sorted(left)]
    rows = [read(query) for query in ROWS]
    programs, file = binaries_for(place_for()), tmp_path / "games.dump"
    subprocess.run([programs / "pg_dump", "-Fc", "-f", file, database_url()], check=True)

    with empty_database("restored"):
        subprocess.run([programs / "pg_restore", "--no-owner", "-d", database_url(), file], check=True)
        assert manage("freeze", if_restored=True).startswith(f"{len(left)} games are stopped and mail is held")
        assert [read(query) for query in ROWS] == rows
        assert manage("check_games").endswith(", 0 with faults\n")
        assert read(CLOCKS) == stopped
        assert read(HELD) == [(True,)]
        # Later starts check again and change nothing. Nor does a sweep.
        manage("freeze", if_restored=True)
        sweep()
        assert read(CLOCKS) == stopped

        before = timezone.now()
        released, twice = manage("release").splitlines()
        after = timezone.now()
        assert released == f"{len(left)} games run on; mail goes out again"
        assert twice == "If this site was restored, mails sent after its backup was made may arrive twice."
        for code, deadline, time_left, reasons in read(CLOCKS):
            assert (time_left, reasons) == (None, [])
            assert before + left[code] <= deadline <= after + left[code]
        assert read(HELD) == [(False,)]
        sweep()
        assert [read(query) for query in ROWS] == rows  # no clock has acted
        assert manage("check_games").endswith(", 0 with faults\n")


def test_a_frozen_game_refuses_moves_until_the_release(alice: User, bob: User) -> None:
    now = timezone.now()
    game = a_game_in_play([alice, bob], 0, now, players=2)
    assert restore.freeze(now=now) == BatchResult(1, [])
    assert restore.freeze(now=now) == BatchResult(0, [])

    with pytest.raises(Denied, match="paused"):
        a_move(game, now)

    assert restore.release(now=now + timedelta(days=3)) == restore.Released(BatchResult(1, []), mail=True)
    assert restore.release(now=now + timedelta(days=3)) == restore.Released(BatchResult(0, []), mail=False)
    a_move(game, now + timedelta(days=3))


def a_move(game: Game, now: datetime) -> None:
    table = queries.load(Game.objects.get(pk=game.pk))
    user = table.on_turn.user
    assert user is not None
    play_move(code=game.code, viewer=Viewer(user), text="draw", version=table.game.version, now=now)


def break_first(games: list[Game]) -> int:
    """Give the first of these games unknown options; return its id."""
    Game.objects.filter(pk=games[0].pk).update(preset="nonsense")
    return games[0].pk


def test_an_unreadable_game_does_not_stop_others_from_freezing(
    alice: User, bob: User, capsys: pytest.CaptureFixture[str]
) -> None:
    now = timezone.now()
    games = [a_game_in_play([alice, bob], 0, now, players=2) for _ in range(2)]
    broken = break_first(games)

    with pytest.raises(CommandError, match=rf"not stopped: game {broken}\."):
        call_command("freeze")

    assert capsys.readouterr().out.startswith("1 game is stopped and mail is held")
    games[1].refresh_from_db()
    assert games[1].paused_reasons == [Game.PAUSED_BY_RESTORE]


def test_a_start_after_a_restore_names_an_unreadable_game(
    alice: User, bob: User, capsys: pytest.CaptureFixture[str]
) -> None:
    now = timezone.now()
    games = [a_game_in_play([alice, bob], 0, now, players=2) for _ in range(2)]
    broken = break_first(games)
    Heartbeat.objects.update_or_create(pk=1, defaults={"home": "elsewhere"})

    call_command("freeze", if_restored=True)

    told = capsys.readouterr()
    assert told.out.startswith("1 game is stopped and mail is held")
    assert f"not stopped: game {broken}." in told.err
    call_command("freeze", if_restored=True)
    assert capsys.readouterr() == ("", "")


@contextmanager
def locked_by_another(game: Game) -> Iterator[psycopg.Connection]:
    """Lock this game in another connection for longer than a statement waits, and return that connection."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = 50")
    with psycopg.connect(database_url()) as other:
        other.execute("SELECT FROM games_game WHERE id = %s FOR UPDATE", [game.pk])
        yield other
    with connection.cursor() as cursor:
        cursor.execute("RESET lock_timeout")


def test_a_start_that_fails_to_freeze_is_repeated(alice: User, bob: User, capsys: pytest.CaptureFixture[str]) -> None:
    now = timezone.now()
    games = [a_game_in_play([alice, bob], 0, now, players=2) for _ in range(2)]
    Heartbeat.objects.update_or_create(pk=1, defaults={"home": "elsewhere"})

    left = rf"^These games were not stopped, because another process holds locks: game {games[0].pk}\. Run manage"
    with locked_by_another(games[0]), pytest.raises(CommandError, match=left):
        call_command("freeze", if_restored=True)

    games[1].refresh_from_db()
    assert games[1].paused_reasons == [Game.PAUSED_BY_RESTORE]
    assert Heartbeat.objects.get().home == "elsewhere"
    assert Outbox.objects.get().held_since is not None
    call_command("freeze", if_restored=True)
    assert capsys.readouterr().out.startswith("1 game is stopped and mail is held")
    assert Heartbeat.objects.get().home != "elsewhere"
    for game in games:
        game.refresh_from_db()
        assert game.paused_reasons == [Game.PAUSED_BY_RESTORE]


@pytest.mark.parametrize("command", ["freeze", "release"])
def test_a_game_whose_lock_another_holds_is_tried_again(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str
) -> None:
    games = [a_game_in_play([alice, bob], 0, timezone.now(), players=2) for _ in range(2)]
    if command == "release":
        call_command("freeze")
        capsys.readouterr()
    tried = list[int]()

    with locked_by_another(games[0]) as other:

        def lock_once(*, pk: int) -> Game:
            tried.append(pk)
            try:
                return lock_game(pk=pk)
            finally:
                other.rollback()

        monkeypatch.setattr(restore, "lock_game", lock_once)
        call_command(command)

    assert tried == [games[0].pk, games[1].pk, games[0].pk]
    assert capsys.readouterr().out.startswith("2 games")


def test_many_locks_of_others_end_the_freeze(alice: User, bob: User, monkeypatch: pytest.MonkeyPatch) -> None:
    games = [a_game_in_play([alice, bob], 0, timezone.now(), players=2) for _ in range(2)]
    monkeypatch.setattr(restore, "MOST_WAITS", 0)
    with locked_by_another(games[0]), pytest.raises(restore.StillLocked) as left:
        restore.freeze(now=timezone.now())
    assert left.value.games == [game.pk for game in games]


def test_a_game_that_starts_during_the_freeze_is_stopped_too(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, pause = timezone.now(), pausing.pause
    a_game_in_play([alice, bob], 0, now, players=2)
    monkeypatch.setattr(lobby, "check_not_frozen", lambda game=None: None)  # it was asked before the freeze

    def while_another_starts(table: Table, **how: Any) -> bool:
        if Game.objects.count() == 1:
            a_game_in_play([alice, bob], 0, now, players=2)
        return pause(table, **how)

    monkeypatch.setattr(pausing, "pause", while_another_starts)
    assert restore.freeze(now=now) == BatchResult(2, [])


@pytest.mark.long
def test_a_frozen_site_makes_and_starts_no_table(client: Client, alice: User, bob: User, charlie: User) -> None:
    now, no_bots = timezone.now(), lobby.TableChoices(players=3)
    open_table = lobby.create_table(user=alice, choices=no_bots, now=now).game
    lobby.join(code=open_table.code, viewer=Viewer(bob), now=now)
    restore.freeze(now=now)
    said = "no table can be made or started until they resume them."
    mine, address = logged_in(alice), f"/games/{open_table.code}"

    for answer in (
        client.post("/play-now/"),
        mine.post("/tables/new/", CHOICES),
        mine.post(f"{address}/start/"),
        mine.post(f"{address}/add-bot/", {"bot": "careful"}),
        logged_in(charlie).post(f"{address}/join/"),
        client.post(f"{address}/join/"),
    ):
        assert answer.status_code == 409, answer.request["PATH_INFO"]
        assert said in unescape(answer.content.decode()), answer.request["PATH_INFO"]
    told = mine.post("/api/v1/games", {"preset": "classic"}, content_type="application/json")
    assert (told.status_code, told.json()["error"], said in told.json()["message"]) == (409, "paused", True)
    assert list(Game.objects.values_list("status", flat=True)) == [Game.Status.OPEN]
    assert Seat.objects.count() == User.objects.filter(pk__in=(alice.pk, bob.pk)).count()
    assert not User.objects.filter(is_guest=True).exists()

    restore.release(now=now)
    assert mine.post(f"{address}/start/").status_code == 303


def test_a_release_that_fails_keeps_mail_on_hold_and_can_be_repeated(alice: User, bob: User) -> None:
    now = timezone.now()
    game = a_game_in_play([alice, bob], 0, now, players=2)
    restore.freeze(now=now)

    with locked_by_another(game), pytest.raises(CommandError, match=rf"game {game.pk}\. Run manage.py release again"):
        call_command("release")

    assert Outbox.objects.get().held_since is not None
    call_command("release")
    game.refresh_from_db()
    assert (game.paused_reasons, Outbox.objects.get().held_since) == ([], None)


def test_a_game_with_invalid_values_does_not_stop_the_start(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = timezone.now()
    games = [a_game_in_play([alice, bob], 0, now, players=2) for _ in range(2)]
    pause = pausing.pause

    def refused(table: Table, **how: Any) -> bool:
        with connection.cursor() as cursor:
            cursor.execute("SELECT %s::smallint", [10**6 if table.game.pk == games[0].pk else 1])
        return pause(table, **how)

    monkeypatch.setattr(pausing, "pause", refused)
    assert restore.freeze(now=now) == BatchResult(1, [games[0].pk])


def test_an_unreadable_game_does_not_stop_the_release(alice: User, bob: User) -> None:
    now = timezone.now()
    games = [a_game_in_play([alice, bob], 0, now, players=2) for _ in range(2)]
    restore.freeze(now=now)
    broken = break_first(games)

    with pytest.raises(CommandError, match=rf"not released: game {broken}\."):
        call_command("release")

    games[1].refresh_from_db()
    assert games[1].paused_reasons == []
    assert Outbox.objects.get().held_since is None
    Game.objects.filter(pk=broken).update(preset="no-mercy")
    call_command("release")
    games[0].refresh_from_db()
    assert games[0].paused_reasons == []


def test_an_agreed_pause_stays_after_the_release(alice: User, bob: User) -> None:
    now = timezone.now()
    game = a_game_in_play([alice, bob], 0, now, players=2)
    with transaction.atomic():
        pausing.pause(queries.load(lock_game(pk=game.pk)), reason=Game.PAUSED_BY_CONSENT, now=now)

    restore.freeze(now=now)
    restore.release(now=now)

    game.refresh_from_db()
    assert (game.paused_reasons, game.deadline) == (["consent"], None)
    assert Outbox.objects.get().held_since is None


@pytest.mark.parametrize("reasons", [[], [Game.PAUSED_BY_CONSENT, Game.PAUSED_BY_STAFF]])
def test_a_release_can_deal_the_round_of_each_game_again(alice: User, bob: User, reasons: list[str]) -> None:
    now = timezone.now()
    game = a_game_in_play([alice, bob], 3, now, players=2)
    with transaction.atomic():
        table = queries.load(lock_game(pk=game.pk))
        for reason in reasons:
            pausing.pause(table, reason=reason, now=now)
    before = Round.objects.get(game=game)
    restore.freeze(now=now)

    call_command("release", deal_again=True)

    first, second = Round.objects.filter(game=game).order_by("number")
    assert (first.void, second.void) == (True, False)
    assert (first.secret, first.deal) == (before.secret, before.deal)
    assert second.secret != first.secret
    assert second.deal != first.deal
    game.refresh_from_db()
    assert game.paused_reasons == reasons
    assert (game.deadline is None) == bool(reasons)
    assert Notice.objects.filter(kind=ROUND_CANCELLED, user=bob).exists()


def test_a_release_that_deals_again_says_if_nothing_was_stopped(alice: User, bob: User) -> None:
    game = a_game_in_play([alice, bob], 0, timezone.now(), players=2)

    with pytest.raises(CommandError, match="no round was dealt again"):
        call_command("release", deal_again=True)

    assert Round.objects.filter(game=game).count() == 1


def test_a_release_that_deals_again_leaves_a_finished_round_alone(alice: User, bob: User) -> None:
    over = {**TWO_HANDS, "hands": [[], ["r4"]], "phase": "over", "winner": 0, "points": 4}
    table = table_at(over, [alice, bob], target=1000)
    restore.freeze(now=timezone.now())

    restore.release(now=timezone.now(), deal_again=True)

    assert Round.objects.filter(game=table.game).values_list("void", flat=True).get() is False
    assert Game.objects.get().paused_reasons == []
