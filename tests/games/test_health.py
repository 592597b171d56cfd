"""What is told to whoever watches over a site: `/readyz` and `manage.py health`."""

from __future__ import annotations

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import OperationalError, connections
from django.test import Client
from django.utils import timezone
from pytest_django.fixtures import Settings

import nomercy
from accounts.models import User
from games import alarm
from games.models import Game, Heartbeat, Notice, Outbox
from tests.support.tables import TWO_HANDS, table_at

pytestmark = pytest.mark.django_db


def swept(seconds_ago: int) -> None:
    Heartbeat.objects.update_or_create(pk=1, defaults={"at": timezone.now() - timedelta(seconds=seconds_ago)})


def test_a_site_is_ready_when_every_part_works(client: Client) -> None:
    swept(3)

    answer = client.get("/readyz")

    assert answer.status_code == 200
    parts = {"database": "ok", "migrations": "ok", "sweep": "ok"}
    assert answer.json() == {"ready": True, "version": nomercy.__version__, "parts": parts}


def test_a_sweep_that_is_away_is_told(client: Client) -> None:
    assert client.get("/readyz").json()["parts"]["sweep"] == "has never run"
    swept(500)
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["sweep"]) == (503, "away")


def test_a_sweep_that_runs_and_lets_no_clock_act_is_told(client: Client, alice: User, bob: User) -> None:
    """A game that fails each time, or all of them: their deadlines stay."""
    swept(3)
    now = timezone.now()
    game = table_at(TWO_HANDS, [alice, bob], deadline=now - timedelta(seconds=100)).game
    assert client.get("/readyz").json()["parts"]["sweep"] == "ok"
    Game.objects.update(deadline=now - timedelta(seconds=150))
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["parts"]["sweep"]) == (503, "late")
    Game.objects.filter(pk=game.pk).update(status=Game.Status.OVER)
    assert client.get("/readyz").status_code == 200


def test_a_dead_worker_is_told_in_the_log_of_the_others(caplog: pytest.LogCaptureFixture) -> None:
    """Though nobody is late: not while a site starts, nor at each look."""
    seen = alarm._Alarm()
    looks = [(1000, "away"), (1029, "away"), (1030, "away"), (1329, "away"), (1330, "late"), (1400, ""), (1401, "away")]
    for at, trouble in looks:
        seen.note(trouble, at=float(at))
    said = [record.msg for record in caplog.records if isinstance(record.msg, dict)]
    assert [(one["level"], one["sweep"], one["seconds"]) for one in said] == [
        ("error", "away", 30),
        ("error", "late", 330),
    ]


def test_an_alarm_that_asks_is_enough_to_have_it_told(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    monkeypatch.setattr(alarm._Alarm, "note", lambda self, trouble, at: seen.append(trouble))
    for ago in (500, 3):
        swept(ago)
        client.get("/readyz")
    assert seen == ["away", ""]


def test_a_process_whose_clock_is_wrong_sees_no_outage(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    swept(3)
    ahead = timezone.now() + timedelta(hours=1)
    monkeypatch.setattr("django.utils.timezone.now", lambda: ahead)
    assert client.get("/readyz").json()["parts"]["sweep"] == "ok"


def test_redis_is_asked_if_there_should_be_one(client: Client, settings: Settings) -> None:
    swept(3)
    settings.REDIS_URL = "redis://:secret@127.0.0.1:1/0"

    answer = client.get("/readyz")

    assert (answer.status_code, answer.json()["parts"]["redis"]) == (503, "unavailable")
    assert b"secret" not in answer.content


def test_a_database_that_is_away_is_told_without_its_address(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise OperationalError("the address of the server is nobody's business")

    monkeypatch.setattr(connections["default"], "cursor", refuse)

    answer = client.get("/readyz")

    assert answer.status_code == 503
    assert answer.json()["parts"] == {"database": "database unavailable", "migrations": "unknown", "sweep": "unknown"}


def health() -> str:
    out = StringIO()
    call_command("health", stdout=out)
    return out.getvalue()


def test_health_tells_that_all_is_well(alice: User, bob: User) -> None:
    swept(2)
    now = timezone.now()
    table_at(TWO_HANDS, [alice, bob], deadline=now + timedelta(hours=1))
    table_at(TWO_HANDS, [alice, bob], deadline=now - timedelta(seconds=30))

    said = health()

    assert "last sweep       2 s ago\n" in said
    assert "turns overdue    1, the longest by 30 s\n" in said
    assert "notices overdue  0, the longest by 0 s\n" in said
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
    Outbox.objects.create(pk=1, held_since=now, held_why="a test")
    assert "mail             held since " in health()
