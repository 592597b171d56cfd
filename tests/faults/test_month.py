"""Test a few days of the month that `manage.py simulate_month` simulates: people, clocks and mails on a fake clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import pytest

from bench.month import interruptions
from bench.month.month import Month
from bench.month.post import faults_in, follow, mail_server
from games import rules
from games.clocks import outage, pausing
from games.models import Game, Heartbeat, Move
from games.models.notices import Notice
from games.queries import Table
from mail import outbox
from mail.channels import email
from mail.verdicts import SEND
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
    passed = days_pass(6, 6)
    assert passed.faults == []
    assert passed.mails > 20
    played = Game.objects.exclude(version=0).values_list("preset", flat=True)
    assert sorted(played) == sorted(rules.PRESETS)


def test_the_simulation_finds_a_stuck_game(monkeypatch: pytest.MonkeyPatch) -> None:
    honest = Month.look_for_the_stuck

    def forgotten(month: Month) -> None:
        Game.objects.filter(status=Game.Status.PLAYING).update(deadline=None, wake_at=None)
        honest(month)

    monkeypatch.setattr(Month, "look_for_the_stuck", forgotten)
    assert any("is stuck" in fault for fault in days_pass(3, 2).faults)


def give_nothing(row: Heartbeat, start: datetime, end: datetime, batch: int) -> None:
    row.given_from = row.given_to = None


HONEST_RESTART: Final = pausing.restart_clocks
HONEST_DELIVERY: Final = outbox.deliver


def run_on_late(table: Table, paused_at: datetime, now: datetime) -> None:
    if table.game.time_left is not None:
        table.game.time_left -= timedelta(minutes=1)
    HONEST_RESTART(table, paused_at, now)


def deliver_twice(**rest: object) -> int:
    done = HONEST_DELIVERY(**rest)  # type: ignore[arg-type]  # passed on as it came
    again = Notice.objects.filter(state=Notice.State.SENT, channel="email", tries=0)[:1]
    Notice.objects.filter(pk__in=[row.pk for row in again]).update(state=Notice.State.WAITING, tries=1, claim=None)
    return done + HONEST_DELIVERY(**rest)  # type: ignore[arg-type]  # as above


def test_the_simulation_finds_lost_time_and_wrong_mails(monkeypatch: pytest.MonkeyPatch) -> None:
    """All faults are in one simulation, because it finds each of them without the others."""
    monkeypatch.setattr(outage, "give_time_back", give_nothing)
    monkeypatch.setattr(pausing, "restart_clocks", run_on_late)
    monkeypatch.setattr(interruptions, "ASKS", 0.5)
    monkeypatch.setattr(interruptions, "AGREES", 1.0)
    monkeypatch.setattr(email, "person_check", lambda *_, **__: SEND)
    monkeypatch.setattr(outbox, "deliver", deliver_twice)
    faults = days_pass(10, 3).faults
    assert any("lost time in the outage" in fault for fault in faults)
    assert any(fault.endswith("lost time in a pause") for fault in faults)
    assert any("came in" in fault and fault.endswith("night") for fault in faults)
    assert any(fault.startswith("sent 2 times") for fault in faults)
