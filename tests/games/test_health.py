"""Monitoring: `/readyz` and `manage.py health`."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connections
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

import nomercy
from accounts import mails
from accounts.models import AccountMail, User
from games import alarm
from games.actions import restore, sweep
from games.models import Game, Heartbeat, Notice, Seat
from mail.models import Outbox
from tests.support.tables import TWO_HANDS, change_position, table_at

pytestmark = pytest.mark.django_db

FROZEN = "games are stopped and mail is held after a restore or freeze, until: manage.py release."


@pytest.fixture
def ready() -> None:
    """Let the sweep have run three seconds ago."""
    swept(3)


def swept(seconds_ago: int) -> None:
    Heartbeat.objects.update_or_create(pk=1, defaults={"at": timezone.now() - timedelta(seconds=seconds_ago)})


def overdue_table(alice: User, bob: User, seconds: int, *, broken: bool = False) -> Game:
    """Return a game whose turn has been over for this long. No clock can act in a broken one."""
    table = table_at(TWO_HANDS, [alice, bob], deadline=timezone.now() - timedelta(seconds=seconds))
    if broken:
        change_position(table, discard_pile=("nonsense",))
    return table.game


def notice_due(user: User, game: Game, at: datetime) -> None:
    times = dict.fromkeys(("created_at", "due_at", "since"), at)
    Notice.objects.create(user=user, game=game, version=1, kind="turn", channel="email", **times)


def parts_of(client: Client) -> dict[str, str]:
    """Return the parts that do not work, and check that the status agrees."""
    answer = client.get("/readyz")
    wrong = {name: state for name, state in answer.json()["parts"].items() if state != "ok"}
    assert (answer.status_code, answer.json()["ready"]) == ((503, False) if wrong else (200, True))
    return wrong


def health(*arguments: str) -> str:
    out = StringIO()
    call_command("health", *arguments, stdout=out)
    return out.getvalue()


def unhealthy(*arguments: str) -> tuple[str, str]:
    """Return the error of `manage.py health`, and what it printed."""
    out = StringIO()
    with pytest.raises(CommandError) as caught:
        call_command("health", *arguments, stdout=out)
    return str(caught.value), out.getvalue()


@pytest.mark.usefixtures("ready")
def test_a_site_is_ready_when_every_part_works(client: Client) -> None:
    answer = client.get("/readyz")
    assert answer.status_code == 200
    parts = {"database": "ok", "migrations": "ok", "sweep": "ok", "bots": "ok", "mail": "ok"}
    assert answer.json() == {"ready": True, "version": nomercy.__version__, "parts": parts}


def test_readyz_reports_that_the_sweep_is_away(client: Client) -> None:
    assert parts_of(client) == {"sweep": "has never run"}
    swept(500)
    assert parts_of(client) == {"sweep": "away"}


@pytest.mark.usefixtures("ready")
def test_readyz_reports_a_sweep_that_lets_no_clock_act(client: Client, alice: User, bob: User) -> None:
    game = overdue_table(alice, bob, 100)
    assert parts_of(client) == {}
    Game.objects.update(deadline=timezone.now() - timedelta(seconds=150))
    assert parts_of(client) == {"sweep": "late"}
    Game.objects.filter(pk=game.pk).update(status=Game.Status.OVER)
    assert parts_of(client) == {}


@pytest.mark.usefixtures("ready")
def test_a_game_that_always_fails_leaves_the_site_ready(client: Client, alice: User, bob: User) -> None:
    overdue_table(alice, bob, 1000, broken=True)
    assert parts_of(client) == {"sweep": "late"}
    assert sweep.sweep(clock=timezone.now) == sweep.Swept(failed=1)
    assert parts_of(client) == {}
    assert unhealthy()[0] == "clocks of single games fail (the log says which)."
    # What the sweep tried earlier does not cover what became due since.
    Heartbeat.objects.update(tried_through=timezone.now() - timedelta(seconds=200))
    assert parts_of(client) == {}
    overdue_table(alice, bob, 150)
    assert parts_of(client) == {"sweep": "late"}
    sweep.sweep(clock=timezone.now)
    assert parts_of(client) == {}


@pytest.mark.usefixtures("ready")
def test_an_interrupted_sweep_records_only_what_it_tried(client: Client, alice: User, bob: User) -> None:
    overdue_table(alice, bob, 1000, broken=True)
    for seconds in (300, 200):
        overdue_table(alice, bob, seconds)
    assert sweep.sweep(clock=timezone.now, most=1) == sweep.Swept(acted=1, failed=1)
    assert parts_of(client) == {"sweep": "late"}
    sweep.sweep(clock=timezone.now, most=1)
    assert parts_of(client) == {}


@pytest.mark.usefixtures("ready")
def test_the_log_has_the_number_of_failing_games(alice: User, bob: User, caplog: pytest.LogCaptureFixture) -> None:
    overdue_table(alice, bob, 1000, broken=True)
    sweep.sweep(clock=timezone.now)
    caplog.clear()
    of_sweep, of_games = alarm.Alarm("the clocks do not act", "sweep"), alarm.Alarm("games' clocks fail", "games")
    for at in (1000.0, 1040.0):
        alarm.check(sweep=of_sweep, games=of_games, at=at)
    said = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    assert [(one["event"], one["games"], one["seconds"]) for one in said] == [("games' clocks fail", 1, 40)]


DAYS = 3 * 24 * 3600


@pytest.mark.parametrize(
    ("checks", "logged"),
    [
        (
            [(1000, "away"), (1029, "away"), *((at, "away") for at in range(1030, 1330, 30)), (1330, "late"),
             (1400, ""), (1401, "away")],
            [("error", "away", 30), ("error", "late", 330)],
        ),
        ([(1000, "away"), (DAYS, "away"), (DAYS + 29, "away")], []),  # two short failures days apart
        ([(1000, "away"), (1060, "away")], [("error", "away", 60)]),
    ],
)  # fmt: skip
def test_other_processes_log_a_dead_worker(
    caplog: pytest.LogCaptureFixture, checks: list[tuple[int, str]], logged: list[tuple[str, str, int]]
) -> None:
    """It is not logged while a site starts, and not at every check."""
    seen = alarm.Alarm("the clocks do not act", "sweep")
    for at, trouble in checks:
        seen.note(trouble, at=float(at))
    said = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    assert [(one["level"], one["sweep"], one["seconds"]) for one in said] == logged


def test_a_request_of_readyz_updates_the_alarm(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, str | int]] = []
    monkeypatch.setattr(alarm.Alarm, "note", lambda self, trouble, at: seen.append((self.field, trouble)))
    for ago in (500, 3):
        swept(ago)
        client.get("/readyz")
    assert seen == [("sweep", "away"), ("games", 0), ("sweep", ""), ("games", 0)]


@pytest.mark.usefixtures("ready")
def test_a_process_with_a_wrong_clock_sees_no_outage(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = timezone.now() + timedelta(hours=1)
    monkeypatch.setattr("django.utils.timezone.now", lambda: ahead)
    assert parts_of(client) == {}


@pytest.mark.usefixtures("ready")
def test_readyz_reports_that_bots_do_not_move(client: Client, alice: User) -> None:
    now = timezone.now()
    game = table_at(TWO_HANDS, [alice, "random"], deadline=None, wake_at=now - timedelta(seconds=100)).game
    assert parts_of(client) == {}
    Game.objects.filter(pk=game.pk).update(wake_at=now - timedelta(seconds=150))
    assert parts_of(client) == {"bots": "late"}
    Seat.objects.filter(game=game, index=0).update(left=True)  # all people have left
    assert parts_of(client) == {}
    assert "bots overdue     0, the longest by 0 s\n" in health()


@pytest.mark.usefixtures("ready")
@pytest.mark.parametrize("model", [Notice, AccountMail])
def test_readyz_reports_that_mail_does_not_go_out(
    client: Client, alice: User, bob: User, model: type[Notice | AccountMail]
) -> None:
    now = timezone.now()
    if model is Notice:
        notice_due(alice, table_at(TWO_HANDS, [alice, bob], deadline=None).game, now)
    else:
        mails.queue(kind=mails.RESET, address="alice@example.org", user=None, now=now)
    model._default_manager.update(due_at=now - timedelta(minutes=9))
    assert parts_of(client) == {}
    model._default_manager.update(due_at=now - timedelta(minutes=11))
    assert parts_of(client) == {"mail": "late"}


@pytest.mark.usefixtures("ready")
def test_a_restored_site_says_frozen_until_the_release(client: Client, alice: User, bob: User) -> None:
    now = timezone.now()
    table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=1))
    restore.freeze(now=now)
    mails.queue(kind=mails.RESET, address="alice@example.org", user=None, now=now - timedelta(hours=1))
    assert parts_of(client) == {"bots": "frozen", "mail": "frozen"}
    assert client.get("/healthz").status_code == 200
    AccountMail.objects.all().delete()
    assert unhealthy()[0] == FROZEN
    error, printed = unhealthy("--json")
    said = json.loads(printed)
    assert (error, said["healthy"], said["frozen"], said["games_stopped"]) == (FROZEN, False, True, 1)
    assert said["failures"] == [FROZEN.removesuffix(".")]
    restore.release(now=now)
    assert parts_of(client) == {}
    assert "mail             goes out\n" in health()


@pytest.mark.usefixtures("ready")
def test_readyz_checks_redis_if_it_is_configured(client: Client, settings: Settings) -> None:
    settings.REDIS_URL = "redis://:secret@127.0.0.1:1/0"
    assert parts_of(client) == {"redis": "unavailable"}
    assert b"secret" not in client.get("/readyz").content


def test_readyz_reports_a_lost_database_without_its_address(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("the address of the server is nobody's business")

    monkeypatch.setattr(connections["default"], "cursor", refuse)
    unknown = dict.fromkeys(("migrations", "sweep", "bots", "mail"), "unknown")
    assert parts_of(client) == {"database": "database unavailable"} | unknown


def test_health_prints_json(alice: User, bob: User) -> None:
    swept(2)
    overdue_table(alice, bob, 30)
    said = json.loads(health("--json"))
    assert said.pop("sweep_seconds_ago") in (2, 3)
    assert said.pop("turns") in ({"overdue": 1, "longest_seconds": seconds} for seconds in (30, 31))
    nothing = {"overdue": 0, "longest_seconds": 0}
    assert said == {
        "healthy": True,
        "failures": [],
        "frozen": False,
        "giving_back": False,
        "clocks_failing": 0,
        "bots": nothing,
        "notices": nothing,
        "account_mails": nothing,
        "held_since": None,
        "games_stopped": 0,
    }


def test_health_succeeds_when_nothing_is_late(alice: User, bob: User) -> None:
    swept(2)
    for seconds in (-3600, 30):
        overdue_table(alice, bob, seconds)
    said = health()
    for line in (
        "last sweep       2 s ago", "turns overdue    1, the longest by 30 s",
        "notices overdue  0, the longest by 0 s", "account mails    0 overdue, the longest by 0 s",
        "mail             goes out",
    ):  # fmt: skip
        assert f"{line}\n" in said


def test_health_fails_when_something_is_late(alice: User, bob: User) -> None:
    error, printed = unhealthy("--json")
    said = json.loads(printed)
    assert (error, said["healthy"], said["failures"]) == ("the sweep does not run.", False, ["the sweep does not run"])
    assert said["sweep_seconds_ago"] is None
    swept(2)
    now = timezone.now()
    long_ago, late = now - timedelta(hours=3), now - timedelta(minutes=11)
    game = table_at(TWO_HANDS, [alice, "random"], deadline=long_ago, wake_at=long_ago).game
    assert unhealthy()[0] == "clocks do not act; bots do not move."
    Game.objects.update(deadline=None, wake_at=None)
    notice_due(alice, game, late)
    assert unhealthy()[0] == "notices are not sent."
    Notice.objects.all().delete()
    mails.queue(kind=mails.RESET, address="alice@example.org", user=None, now=late)
    assert unhealthy()[0] == "mails about accounts are not sent."
    Outbox.objects.create(pk=1, held_since=now, held_why="a test")
    assert unhealthy()[0] == FROZEN
