"""The worker is asked once for the bots of a table, so that its queue does not grow while it is down."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from kombu.exceptions import OperationalError

from accounts.models import User
from games import announce, asked_bots, tasks
from games.actions import sweep
from tests.support.tables import TWO_HANDS, table_at

HOUR, DAY = 3600, 24 * 3600
Asked = list[tuple[int, float]]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    """Return the tables that the worker is asked for, with the countdown in seconds. No worker runs."""
    found: Asked = []

    def take(name: str, *, args: tuple[int], countdown: float | None, **_: object) -> None:
        assert name == announce.BOT_TURN
        found.append((args[0], round(countdown or 0)))

    monkeypatch.setattr("games.announce.current_app.send_task", take)
    return found


def soon(seconds: float) -> datetime:
    return datetime.now(UTC) + timedelta(seconds=seconds)


@pytest.mark.django_db
def test_sweeps_without_a_worker_ask_once(asked: Asked, alice: User) -> None:
    game = table_at(TWO_HANDS, [alice, "random"], deadline=None, wake_at=soon(-60)).game
    for _ in range(5):
        assert sweep.sweep(clock=lambda: datetime.now(UTC)).asked == 1
    assert asked == [(game.pk, 0)]


@pytest.mark.long
def test_a_day_without_a_worker_leaves_few_tasks() -> None:
    times = [now for now in range(0, DAY, 2) if asked_bots.note_asked(1, at=now, now=now)]
    assert times[:4] == [0, 4, 12, 28]
    assert len(times) < 40
    assert max(later - earlier for earlier, later in pairwise(times)) == HOUR


@pytest.mark.django_db
def test_a_table_is_asked_for_again_once_the_worker_has_taken_its_task(asked: Asked) -> None:
    for _ in range(2):
        announce.wake_bots(7, soon(-1))
        announce.wake_bots(7, soon(-1))
        tasks.bot_turn(7)
    assert asked == [(7, 0), (7, 0)]


def test_each_table_is_asked_for(asked: Asked) -> None:
    for game_id in (7, 8, 7, 8):
        announce.wake_bots(game_id, soon(-1))
    assert asked == [(7, 0), (8, 0)]


def test_another_time_is_asked_for(asked: Asked) -> None:
    """The bots may become due earlier or later than the worker was told."""
    at = soon(30)
    for wake_at in (at, at, at - timedelta(seconds=20), at + timedelta(seconds=10), soon(-1)):
        announce.wake_bots(7, wake_at)
    assert asked == [(7, 30), (7, 10), (7, 40), (7, 0)]


def test_a_task_that_could_not_be_sent_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[bool] = []

    def send(*_: object, **__: object) -> None:
        tried.append(True)
        if len(tried) == 1:
            raise OperationalError

    monkeypatch.setattr("games.announce.current_app.send_task", send)
    monkeypatch.setattr(announce, "BREAK", 0.0)
    for _ in range(3):
        announce.wake_bots(7, soon(-1))
    assert len(tried) == 2
