"""Test that everything goes by the database's clock if a process's clock differs."""

from __future__ import annotations

import math
import random
import re
from datetime import datetime, timedelta

import pytest
from django.test import Client
from django.utils import timezone

from accounts.models import User
from games import announce
from games.actions import bot_turn, lobby, sweep
from games.actions.play import play_move
from games.clocks import pausing
from games.models import Hand, Heartbeat, rows
from games.queries import Viewer
from tests.support.clocks import HOUR, MINUTE, SECOND, THREE_HANDS, due_table, locked
from tests.support.tables import NOON, TWO_HANDS, log_of, now_of, table_at

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("slow")]
LEFT = re.compile(r'<time [^>]*data-left="([-.\d]+)"[^>]*>([^<]+)')


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set this process's clock a minute behind the database's."""
    monkeypatch.setattr(rows, "skew_between", lambda asked_at, moment: MINUTE)


def test_a_deadline_goes_by_the_database_s_clock(alice: User, bob: User) -> None:
    """At a live table the turn would be over immediately by the slow clock."""
    table = table_at(TWO_HANDS, [alice, bob], pace="live", deadline=NOON + 2 * MINUTE, turn_since=NOON)
    play_move(code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=NOON)
    game = now_of(table).game
    assert (game.deadline, game.turn_since) == (NOON + 2 * MINUTE, NOON + MINUTE)


def test_the_first_deadline_goes_by_the_database_s_clock(alice: User) -> None:
    options = lobby.TableChoices(players=2, bots=1, pace="live", bot_pause=1.0)
    games = [lobby.create_table(user=alice, choices=options, now=NOON).game for _ in range(8)]
    due = {(game.deadline, game.wake_at) for game in games}  # another player begins each time
    assert due == {(NOON + 2 * MINUTE, None), (None, NOON + MINUTE + SECOND)}


def test_callout_windows_and_banked_time_go_by_the_database_s_clock(alice: User, bob: User) -> None:
    position = {**TWO_HANDS, "hands": [["r5", "b1"], ["r4", "g3", "W6"]]}
    table = table_at(position, [alice, bob], deadline=NOON + HOUR, turn_since=NOON)
    play_move(code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=NOON)
    assert now_of(table).seats[0].bank == 59 * 60
    hand = Hand.objects.get(round=table.started.round, seat__index=0)
    assert hand.callout_until == NOON + MINUTE + timedelta(days=1)


def test_a_pause_keeps_the_time_left_by_the_database_s_clock(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + HOUR, turn_since=NOON)
    locked(table, lambda here: pausing.pause(here, reason="staff", now=NOON))
    assert (now_of(table).game.time_left, now_of(table).game.paused_at) == (59 * MINUTE, NOON + MINUTE)
    locked(table, lambda here: pausing.resume(here, reason="staff", now=NOON + HOUR))
    assert now_of(table).game.deadline == NOON + HOUR + MINUTE + 59 * MINUTE


def test_a_bot_is_due_after_its_pause_by_the_database_s_clock(
    alice: User, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: object
) -> None:
    asked: list[datetime] = []
    monkeypatch.setattr(announce, "wake_bots", lambda game_id, at: asked.append(at))
    table = table_at(THREE_HANDS, [alice, "careful", "careful"], bot_pause=2.0)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]  # a fixture of pytest-django
        play_move(code=table.game.code, viewer=Viewer(alice), text="play r5", version=0, now=NOON)
    assert now_of(table).game.wake_at == NOON + MINUTE + 2 * SECOND
    assert asked == [NOON + 2 * SECOND]
    assert bot_turn.play_bots(game_id=table.game.pk, clock=lambda: NOON + SECOND, rng=random.Random(1)) == 0
    late = NOON + 2 * SECOND
    assert bot_turn.play_bots(game_id=table.game.pk, clock=lambda: late, rng=random.Random(1), most=1) == 1


def test_a_page_shows_the_time_left_by_the_database_s_clock(alice: User, bob: User, as_alice: Client) -> None:
    deadline = timezone.now() + 2 * MINUTE
    table = table_at(THREE_HANDS, [alice, bob, "careful"], pace="live", deadline=deadline)
    for headers in ({}, {"HX-Request": "true"}):
        found = LEFT.search(as_alice.get(table.game.get_absolute_url(), headers=headers).content.decode())
        assert found is not None
        assert 30 < float(found[1]) <= 60
        assert found[2] == f"{math.ceil(float(found[1]))} s left"


@pytest.mark.parametrize("ahead", [-HOUR, HOUR])
def test_a_sweeper_with_a_wrong_clock_finds_exactly_what_is_due(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, ahead: timedelta
) -> None:
    """The process's clock is an hour behind or ahead, for turns, callout windows and bots."""
    due, early = due_table(TWO_HANDS, [alice, bob]), due_table(TWO_HANDS, [alice, bob], deadline=NOON + SECOND)
    exposed = {**TWO_HANDS, "hands": [["b1"], ["r4", "g3"]], "exposed": [0], "turn": 1}
    closed, open_ = table_at(exposed, [alice, bob]), table_at(exposed, [alice, bob])
    for table, at in ((closed, NOON), (open_, NOON + SECOND)):
        Hand.objects.filter(round=table.started.round, seat__index=0).update(callout_until=at)
    for at in (NOON - sweep.GRACE, NOON - sweep.GRACE + SECOND):
        table_at({**TWO_HANDS, "turn": 1}, [alice, "careful"], wake_at=at)
    asked: list[datetime] = []
    monkeypatch.setattr(announce, "wake_bots", lambda game_id, at: asked.append(at))
    monkeypatch.setattr(rows, "skew_between", lambda asked_at, moment: ahead)
    Heartbeat.objects.create(pk=1, at=NOON)
    assert sweep.sweep(clock=lambda: NOON - ahead) == sweep.Swept(asked=1, acted=2)
    assert [bool(log_of(table)) for table in (due, early, closed, open_)] == [True, False, True, False]
    assert asked == [NOON - ahead]
