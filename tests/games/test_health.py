"""Monitoring: `/readyz` and `manage.py health`."""

from __future__ import annotations

import json
from datetime import timedelta
from io import StringIO
from types import SimpleNamespace
from typing import Any

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
from games.models import Game, Heartbeat, Notice, Outbox, Seat
from tests.support.tables import TWO_HANDS, change_position, table_at

pytestmark = pytest.mark.django_db

FROZEN = "games are stopped and mail is held after a restore, until: manage.py release."


def swept(seconds_ago: int) -> None:
    Heartbeat.objects.update_or_create(pk=1, defaults={"at": timezone.now() - timedelta(seconds=seconds_ago)})


def test_a_site_is_ready_when_every_part_works(client: Client) -> None:
    swept(3)

    answer = client.get("/readyz")

    assert answer.status_code == 200
    parts = {"database": "ok", "migrations": "ok", "sweep": "ok", "bots": "ok", "mail": "ok"}
    assert answer.json() == {"ready": True, "version": nomercy.__version__, "parts": parts}


def test_readyz_reports_that_the_sweep_is_away(client: Client) -> None:
    assert client.get("/readyz").json()["parts"]["sweep"] == "has never run"
    swept(500)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["sweep"]) == (503, "away")


def test_readyz_reports_a_sweep_that_lets_no_clock_act(client: Client, alice: User, bob: User) -> None:
    swept(3)
    now = timezone.now()
    game = table_at(TWO_HANDS, [alice, bob], deadline=now - timedelta(seconds=100)).game
    assert client.get("/readyz").json()["parts"]["sweep"] == "ok"
    Game.objects.update(deadline=now - timedelta(seconds=150))
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["sweep"]) == (503, "late")
    Game.objects.filter(pk=game.pk).update(status=Game.Status.OVER)
    assert client.get("/readyz").status_code == 200


def broken_table(alice: User, bob: User, *, overdue: int) -> Game:
    table = table_at(TWO_HANDS, [alice, bob], deadline=timezone.now() - timedelta(seconds=overdue))
    change_position(table, discard_pile=("nonsense",))
    return table.game


def test_a_game_that_always_fails_leaves_the_site_ready(client: Client, alice: User, bob: User) -> None:
    broken_table(alice, bob, overdue=1000)
    swept(3)
    assert client.get("/readyz").json()["parts"]["sweep"] == "late"
    assert sweep.sweep(clock=timezone.now) == sweep.Swept(failed=1)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["sweep"]) == (200, "ok")
    with pytest.raises(CommandError, match=r"^clocks of single games fail \(the log says which\)\.$"):
        health()


def test_readyz_reports_idle_clocks_beside_a_failing_game(client: Client, alice: User, bob: User) -> None:
    """What the sweep tried earlier does not cover what became due since."""
    broken_table(alice, bob, overdue=1000)
    swept(3)
    Heartbeat.objects.update(tried_through=timezone.now() - timedelta(seconds=200))
    assert client.get("/readyz").status_code == 200
    table_at(TWO_HANDS, [alice, bob], deadline=timezone.now() - timedelta(seconds=150))
    assert client.get("/readyz").json()["parts"]["sweep"] == "late"
    sweep.sweep(clock=timezone.now)
    assert client.get("/readyz").status_code == 200


def test_an_interrupted_sweep_records_only_what_it_tried(client: Client, alice: User, bob: User) -> None:
    broken_table(alice, bob, overdue=1000)
    for overdue in (300, 200):
        table_at(TWO_HANDS, [alice, bob], deadline=timezone.now() - timedelta(seconds=overdue))
    swept(3)
    assert sweep.sweep(clock=timezone.now, most=1) == sweep.Swept(acted=1, failed=1)
    assert client.get("/readyz").json()["parts"]["sweep"] == "late"
    sweep.sweep(clock=timezone.now, most=1)
    assert client.get("/readyz").status_code == 200


def test_the_log_has_the_number_of_failing_games(
    client: Client,
    alice: User,
    bob: User,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("_sweep", "_games"):
        known = getattr(alarm, name)
        monkeypatch.setattr(alarm, name, alarm._Alarm(known.event, known.field))
    broken_table(alice, bob, overdue=1000)
    swept(3)
    sweep.sweep(clock=timezone.now)
    caplog.clear()
    for at in (1000.0, 1040.0):
        monkeypatch.setattr(alarm, "time", SimpleNamespace(monotonic=lambda at=at: at))
        alarm.check()
    said = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    assert [(one["event"], one["games"], one["seconds"]) for one in said] == [("games' clocks fail", 1, 40)]


def test_other_processes_log_a_dead_worker(caplog: pytest.LogCaptureFixture) -> None:
    """It is not logged while a site starts, and not at every check."""
    looks = [(1000, "away"), (1029, "away"), *((at, "away") for at in range(1030, 1330, 30)), (1330, "late")]
    said = said_after([*looks, (1400, ""), (1401, "away")], caplog)
    assert [(one["level"], one["sweep"], one["seconds"]) for one in said] == [
        ("error", "away", 30),
        ("error", "late", 330),
    ]


def said_after(looks: list[tuple[int, str]], caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    seen = alarm._Alarm("the clocks do not act", "sweep")
    for at, trouble in looks:
        seen.note(trouble, at=float(at))
    return [record.msg for record in caplog.records if isinstance(record.msg, dict)]


def test_two_short_failures_days_apart_are_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    days = 3 * 24 * 3600
    assert said_after([(1000, "away"), (days, "away"), (days + 29, "away")], caplog) == []
    assert [one["seconds"] for one in said_after([(1000, "away"), (1060, "away")], caplog)] == [60]


def test_a_request_of_readyz_updates_the_alarm(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, str | int]] = []
    monkeypatch.setattr(alarm._Alarm, "note", lambda self, trouble, at: seen.append((self.field, trouble)))
    for ago in (500, 3):
        swept(ago)
        client.get("/readyz")
    assert seen == [("sweep", "away"), ("games", 0), ("sweep", ""), ("games", 0)]


def test_a_process_with_a_wrong_clock_sees_no_outage(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    swept(3)
    ahead = timezone.now() + timedelta(hours=1)
    monkeypatch.setattr("django.utils.timezone.now", lambda: ahead)
    assert client.get("/readyz").json()["parts"]["sweep"] == "ok"


def parts_of(client: Client) -> dict[str, str]:
    """Return the parts that do not work, and check that the status agrees."""
    answer = client.get("/readyz")
    wrong = {name: state for name, state in answer.json()["parts"].items() if state != "ok"}
    assert (answer.status_code, answer.json()["ready"]) == ((503, False) if wrong else (200, True))
    return wrong


def test_readyz_reports_that_bots_do_not_move(client: Client, alice: User) -> None:
    swept(3)
    now = timezone.now()
    game = table_at(TWO_HANDS, [alice, "random"], deadline=None, wake_at=now - timedelta(seconds=100)).game
    assert parts_of(client) == {}
    Game.objects.filter(pk=game.pk).update(wake_at=now - timedelta(seconds=150))
    assert parts_of(client) == {"bots": "late"}


def test_tables_that_all_people_have_left_leave_the_site_ready(client: Client, alice: User) -> None:
    swept(3)
    long_ago = timezone.now() - timedelta(hours=1)
    game = table_at(TWO_HANDS, [alice, "random"], deadline=None, wake_at=long_ago).game
    Seat.objects.filter(game=game, index=0).update(left=True)
    assert parts_of(client) == {}
    assert "bots overdue     0, the longest by 0 s\n" in health()


@pytest.mark.parametrize("model", [Notice, AccountMail])
def test_readyz_reports_that_mail_does_not_go_out(
    client: Client, alice: User, bob: User, model: type[Notice | AccountMail]
) -> None:
    swept(3)
    now = timezone.now()
    if model is Notice:
        game = table_at(TWO_HANDS, [alice, bob], deadline=None).game
        Notice.objects.create(
            user=alice, game=game, version=1, kind="turn", channel="email", created_at=now, due_at=now, since=now
        )
    else:
        mails.queue(kind=mails.RESET, address="alice@example.org", user=None, now=now)
    model._default_manager.update(due_at=now - timedelta(minutes=9))
    assert parts_of(client) == {}
    model._default_manager.update(due_at=now - timedelta(minutes=11))
    assert parts_of(client) == {"mail": "late"}


def test_readyz_is_frozen_after_a_restore_until_the_release(client: Client, alice: User, bob: User) -> None:
    swept(3)
    now = timezone.now()
    table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=1))
    restore.freeze(now=now)
    mails.queue(kind=mails.RESET, address="alice@example.org", user=None, now=now - timedelta(hours=1))
    assert parts_of(client) == {"bots": "frozen", "mail": "frozen"}
    assert client.get("/healthz").status_code == 200
    AccountMail.objects.all().delete()
    restore.release(now=now)
    assert parts_of(client) == {}


def test_readyz_checks_redis_if_it_is_configured(client: Client, settings: Settings) -> None:
    swept(3)
    settings.REDIS_URL = "redis://:secret@127.0.0.1:1/0"

    answer = client.get("/readyz")

    assert (answer.status_code, answer.json()["parts"]["redis"]) == (503, "unavailable")
    assert b"secret" not in answer.content


def test_readyz_reports_a_lost_database_without_its_address(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("the address of the server is nobody's business")

    monkeypatch.setattr(connections["default"], "cursor", refuse)

    answer = client.get("/readyz")

    assert answer.status_code == 503
    unknown = dict.fromkeys(("migrations", "sweep", "bots", "mail"), "unknown")
    assert answer.json()["parts"] == {"database": "database unavailable"} | unknown


def health(*arguments: str) -> str:
    out = StringIO()
    call_command("health", *arguments, stdout=out)
    return out.getvalue()


def test_health_prints_json(alice: User, bob: User) -> None:
    swept(2)
    now = timezone.now()
    table_at(TWO_HANDS, [alice, bob], deadline=now - timedelta(seconds=30))
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


def test_health_prints_json_and_fails_if_something_is_late(alice: User) -> None:
    out = StringIO()
    with pytest.raises(CommandError, match=r"^the sweep does not run\.$"):
        call_command("health", "--json", stdout=out)
    said = json.loads(out.getvalue())
    assert (said["healthy"], said["failures"]) == (False, ["the sweep does not run"])
    assert said["sweep_seconds_ago"] is None


def test_health_says_frozen_after_a_restore_until_the_release(alice: User, bob: User) -> None:
    swept(2)
    now = timezone.now()
    table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=1))
    restore.freeze(now=now)
    for arguments in ([], ["--json"]):
        out = StringIO()
        with pytest.raises(CommandError, match=f"^{FROZEN}$"):
            call_command("health", *arguments, stdout=out)
    said = json.loads(out.getvalue())
    assert (said["healthy"], said["frozen"], said["games_stopped"]) == (False, True, 1)
    assert said["failures"] == [FROZEN.removesuffix(".")]
    restore.release(now=now)
    assert "mail             goes out\n" in health()


def test_health_succeeds_when_nothing_is_late(alice: User, bob: User) -> None:
    swept(2)
    now = timezone.now()
    table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=1))
    table_at(TWO_HANDS, [alice, bob], deadline=now - timedelta(seconds=30))

    said = health()

    assert "last sweep       2 s ago\n" in said
    assert "turns overdue    1, the longest by 30 s\n" in said
    assert "notices overdue  0, the longest by 0 s\n" in said
    assert "account mails    0 overdue, the longest by 0 s\n" in said
    assert "mail             goes out\n" in said


def test_health_fails_when_something_is_late(alice: User, bob: User) -> None:
    with pytest.raises(CommandError, match=r"^the sweep does not run\.$"):
        health()
    swept(2)
    now = timezone.now()
    game = table_at(TWO_HANDS, [alice, "random"], deadline=now - timedelta(hours=3), wake_at=now - timedelta(hours=3))
    with pytest.raises(CommandError, match=r"^clocks do not act; bots do not move\.$"):
        health()
    Game.objects.update(deadline=None, wake_at=None)
    late = now - timedelta(minutes=11)
    Notice.objects.create(
        user=alice, game=game.game, version=1, kind="turn", channel="email", created_at=late, due_at=late, since=late
    )
    with pytest.raises(CommandError, match=r"^notices are not sent\.$"):
        health()
    Notice.objects.all().delete()
    mails.queue(kind=mails.RESET, address="alice@example.org", user=None, now=late)
    with pytest.raises(CommandError, match=r"^mails about accounts are not sent\.$"):
        health()
    Outbox.objects.create(pk=1, held_since=now, held_why="a test")
    with pytest.raises(CommandError, match=f"^{FROZEN}$"):
        health()
