"""Test a few days of the month that `manage.py simulate_month` simulates: people, clocks and mails on a fake clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import pytest

from bench.month import interruptions
from bench.month.month import Month
from bench.month.post import faults_in, follow, mail_server
from games import rules
from games.clocks import outage, pausing
from games.models import Game, Heartbeat, Move
from games.models.notices import Notice
from games.notices import outbox, recheck
from games.notices.kinds import SEND
from games.queries import Table
from tests.faults.state import faulty_games

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


@dataclass
class Passed:
    """The results of a simulated month."""

    faults: list[str]
    mails: int
    clock_moves: int


def days_pass(games: int, days: int) -> Passed:
    with mail_server() as server:
        told = Month(games=games, days=days, seed=3, server=server).run()
    mails = server.mails
    links, broken = follow(mails)
    assert links or not mails
    assert faulty_games() == {}
    return Passed(
        [*told.faults, *faults_in(mails), *broken], len(mails), Move.objects.filter(text__startswith="clock ").count()
    )


def test_days_pass_and_nothing_is_stuck_or_told_twice() -> None:
    passed = days_pass(6, 5)
    assert passed.faults == []
    assert passed.mails > 20
    played = Game.objects.exclude(version=0).values_list("preset", flat=True)
    assert sorted(played) == sorted(rules.PRESETS)


def test_the_simulation_finds_a_stuck_game(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Month._look_for_the_stuck

    def forgotten(month: Month) -> None:
        Game.objects.filter(status=Game.Status.PLAYING).update(deadline=None, wake_at=None)
        honest(month)

    monkeypatch.setattr(Month, "_look_for_the_stuck", forgotten)
    assert any("is stuck" in fault for fault in days_pass(3, 2).faults)


def test_the_simulation_finds_time_lost_in_an_outage(monkeypatch: pytest.MonkeyPatch) -> None:
    def give_nothing(row: Heartbeat, start: datetime, end: datetime, batch: int) -> None:
        row.given_from = row.given_to = None

    monkeypatch.setattr(outage, "_give_back", give_nothing)
    assert any("lost time in the outage" in fault for fault in days_pass(3, 2).faults)


def test_the_simulation_finds_time_lost_in_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = pausing._restart_clocks

    def run_on_late(table: Table, paused_at: datetime, now: datetime) -> None:
        if table.game.time_left is not None:
            table.game.time_left -= timedelta(minutes=1)
        honest(table, paused_at, now)

    monkeypatch.setattr(pausing, "_restart_clocks", run_on_late)
    monkeypatch.setattr(interruptions, "ASKS", 0.5)
    monkeypatch.setattr(interruptions, "AGREES", 1.0)
    assert any(fault.endswith("lost time in a pause") for fault in days_pass(6, 3).faults)


def test_the_simulation_finds_a_mail_in_quiet_hours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recheck, "_hour_check", lambda row, facts: SEND)
    assert any("came in" in fault and fault.endswith("night") for fault in days_pass(3, 2).faults)


def test_the_simulation_finds_a_mail_sent_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = outbox.deliver

    def doubling(**rest: object) -> int:
        done = honest(**rest)  # type: ignore[arg-type]  # passed on as it came
        again = Notice.objects.filter(state=Notice.State.SENT, channel="email", tries=0)[:1]
        Notice.objects.filter(pk__in=[row.pk for row in again]).update(state=Notice.State.WAITING, tries=1, claim=None)
        return done + honest(**rest)  # type: ignore[arg-type]  # as above

    monkeypatch.setattr(outbox, "deliver", doubling)
    assert any(fault.startswith("sent 2 times") for fault in days_pass(3, 2).faults)
