"""Test that clocks follow their players' vacation and quiet hours, even after a failure."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime, time, timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection

from accounts import actions
from accounts.models import User
from games.actions import sweep
from games.clocks import quiet_hours
from games.models import Game, Heartbeat, Seat
from games.queries import Table
from tests.support.clocks import HOUR, MINUTE, SECOND, move, paused, resumed, start_vacation, swept
from tests.support.statements import LOCK_GAME
from tests.support.tables import NOON, TWO_HANDS, log_of, now_of, table_at

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def running(alice: User, bob: User, left: timedelta = 3 * DAY) -> Table:
    """Return a table where Alice's turn has run for five hours and has this much time left."""
    return table_at(TWO_HANDS, [alice, bob], deadline=NOON + left, turn_since=NOON - 5 * HOUR)


@contextmanager
def missing(table: Table) -> Iterator[None]:
    """Make the clock of this table fail to move, as after a lock timeout."""

    def fail(execute: Callable[..., Any], statement: str, parameters: Any, *more: Any) -> Any:
        if LOCK_GAME in statement and parameters == [table.game.pk]:
            raise OperationalError("canceling statement due to lock timeout")
        return execute(statement, parameters, *more)

    with connection.execute_wrapper(fail):
        yield


def test_a_game_that_missed_a_vacation_does_not_stop_others_and_gets_the_days_within_the_hour(
    alice: User, bob: User, caplog: pytest.LogCaptureFixture
) -> None:
    missed, other = running(alice, bob), running(alice, bob)
    with missing(missed):
        assert start_vacation(user=alice, days=1, now=NOON) == NOON + DAY
    assert (now_of(missed).game.deadline, now_of(other).game.deadline) == (NOON + 3 * DAY, NOON + 4 * DAY)
    assert "a clock did not follow its player's time off" in caplog.text
    assert [quiet_hours.follow_everybody(now=NOON + HOUR) for _ in range(2)] == [1, 0]
    for table in (missed, other):
        game = now_of(table).game
        assert (game.deadline, game.turn_since) == (NOON + 4 * DAY, NOON + DAY - 5 * HOUR)


def test_a_game_that_missed_a_vacation_gets_the_days_at_its_deadline(alice: User, bob: User) -> None:
    table = running(alice, bob)
    with missing(table):
        start_vacation(user=alice, days=1, now=NOON)
    assert swept(NOON + 3 * DAY) == sweep.Swept(acted=1)
    assert (log_of(table), now_of(table).game.deadline) == ([], NOON + 4 * DAY)
    swept(NOON + 4 * DAY)
    assert log_of(table) != []


def test_a_game_that_missed_an_early_end_catches_up(alice: User, bob: User) -> None:
    table = running(alice, bob)
    start_vacation(user=alice, days=7, now=NOON)
    User.objects.filter(pk=alice.pk).update(vacation_until=NOON + 2 * DAY)
    assert quiet_hours.follow_everybody(now=NOON + 2 * DAY + HOUR) == 1
    assert now_of(table).game.deadline == NOON + 5 * DAY


def test_vacation_days_are_added_once(alice: User, bob: User) -> None:
    table = running(alice, bob)
    start_vacation(user=alice, days=1, now=NOON)
    for at in (NOON + HOUR, NOON + DAY, NOON + 2 * DAY):
        assert quiet_hours.follow_everybody(now=at) == 0
        assert quiet_hours.follow_time_off(user_id=alice.pk, now=at) == 0
    swept(NOON + 4 * DAY - SECOND)
    assert log_of(table) == []
    swept(NOON + 4 * DAY)
    assert log_of(table) != []


def test_a_turn_that_begins_after_a_vacation_gets_no_days(alice: User, bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(vacation_from=NOON - 5 * DAY, vacation_until=NOON - 2 * DAY)
    table = running(alice, bob)
    move(table, alice, "play r5")
    assert quiet_hours.follow_everybody(now=NOON + HOUR) == 0
    assert now_of(table).game.deadline == NOON + 2 * DAY


def test_moving_or_pausing_keeps_the_time_left_in_a_game_that_missed_a_vacation(alice: User, bob: User) -> None:
    tables = [running(alice, bob, 5 * HOUR) for _ in range(2)]
    User.objects.filter(pk=alice.pk).update(vacation_from=NOON, vacation_until=NOON + 7 * DAY)
    move(tables[0], alice, "play r5", at=NOON + HOUR)
    assert now_of(tables[0]).seats[0].bank == 5 * 3600
    paused(tables[1], at=NOON + HOUR)
    resumed(tables[1], at=NOON + 8 * DAY)
    assert now_of(tables[1]).game.deadline == NOON + 8 * DAY + 5 * HOUR
    assert quiet_hours.follow_everybody(now=NOON + 8 * DAY) == 0


def test_a_vacation_that_begins_in_an_outage_keeps_the_time_left(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON - 2.5 * HOUR, turn_since=NOON - 5 * HOUR)
    Heartbeat.objects.create(pk=1, at=NOON - 3 * HOUR)
    until = start_vacation(user=alice, days=7, now=NOON - 2 * HOUR)
    assert now_of(table).game.deadline == until + HOUR / 2
    assert sweep.sweep(clock=lambda: NOON) == sweep.Swept()
    assert now_of(table).game.deadline == until + HOUR / 2


def test_an_outage_in_a_vacation_gives_nothing_back(alice: User, bob: User) -> None:
    """Its clock was stopped during the outage."""
    table = running(alice, bob)
    until = start_vacation(user=alice, days=7, now=NOON)
    swept(until - 3 * HOUR, last=until - 4 * HOUR)
    assert now_of(table).game.deadline == until + 3 * DAY
    swept(until + HOUR, last=until - HOUR)
    assert now_of(table).game.deadline == until + 3 * DAY + HOUR


# Nights


def nights(user: User, *, zone: str = "UTC") -> None:
    User.objects.filter(pk=user.pk).update(quiet_from=time(13), quiet_to=time(16), time_zone=zone)


def test_a_deadline_that_an_outage_moves_into_quiet_hours_moves_to_their_end(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON - HOUR / 2, turn_since=NOON - 9 * HOUR, remind_at=NOON)
    live = table_at(TWO_HANDS, [alice, bob], deadline=NOON - HOUR / 2, turn_since=NOON - 9 * HOUR, pace="live")
    nights(alice)
    assert swept(NOON, last=NOON - 2 * HOUR) == sweep.Swept()
    game = now_of(table).game
    assert (game.deadline, game.quiet_seconds_added) == (NOON + 4 * HOUR, 2.5 * 3600)
    assert now_of(live).game.deadline == NOON + 1.5 * HOUR


def test_new_quiet_hours_move_running_deadlines(alice: User, bob: User) -> None:
    tables = [table_at(TWO_HANDS, [alice, bob], deadline=NOON + 2 * HOUR, turn_since=NOON) for _ in range(2)]
    his = table_at({**TWO_HANDS, "turn": 1}, [alice, bob], deadline=NOON + 2 * HOUR, turn_since=NOON)
    nights(alice)
    assert [quiet_hours.follow_time_off(user_id=alice.pk, now=NOON) for _ in range(2)] == [2, 0]
    assert {now_of(table).game.deadline for table in tables} == {NOON + 4 * HOUR}
    assert now_of(his).game.deadline == NOON + 2 * HOUR


def sleep(user: User, *, at: datetime = NOON) -> None:
    actions.update_time_off(user_id=user.pk, quiet_from=time(13), quiet_to=time(16), auto_vacation=False, now=at)


def fly_to_tokyo(user: User, *, at: datetime = NOON) -> None:
    """Set quiet hours from 22:00 to 1:00 in Tokyo, where it is 22:00 at 13:00 UTC."""
    User.objects.filter(pk=user.pk).update(quiet_from=time(22), quiet_to=time(1))
    user.refresh_from_db()
    actions.update_profile(user=user, display_name="", time_zone="Asia/Tokyo", now=at)


def save_profile(user: User, zone: str) -> None:
    actions.update_profile(user=user, display_name="", time_zone=zone, now=NOON)


def choose_zone(user: User, zone: str) -> None:
    actions.choose_time_zone(user=user, zone=zone, now=NOON)


@pytest.mark.parametrize("change", [sleep, fly_to_tokyo])
def test_hours_changed_shortly_before_a_deadline_do_not_move_it(
    alice: User, bob: User, change: Callable[[User], None]
) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 2 * HOUR, turn_since=NOON - HOUR)
    later = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 26 * HOUR, turn_since=NOON - HOUR)
    change(alice)
    assert quiet_hours.follow_time_off(user_id=alice.pk, now=NOON) == 1
    assert quiet_hours.follow_everybody(now=NOON + HOUR) == 0
    assert now_of(later).game.deadline == NOON + 28 * HOUR
    assert swept(NOON + 2 * HOUR) == sweep.Swept(acted=1)
    assert log_of(table) != []


def test_changed_hours_count_from_the_next_turn(alice: User, bob: User) -> None:
    table = table_at({**TWO_HANDS, "turn": 1}, [alice, bob], deadline=NOON + HOUR, turn_since=NOON - HOUR)
    Game.objects.update(pace="custom", custom_pace={"bank": 3600, "increment": 3600, "cap": 7200, "callout": 10})
    Seat.objects.filter(index=0).update(bank=3600)
    sleep(alice)
    move(table, bob, "play r4", at=NOON + MINUTE)
    assert now_of(table).game.deadline == NOON + 4 * HOUR


def test_saving_the_same_hours_again_changes_nothing(alice: User, bob: User) -> None:
    sleep(alice, at=NOON - HOUR)
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 2 * HOUR, turn_since=NOON - MINUTE)
    sleep(alice)
    alice.refresh_from_db()
    actions.update_profile(user=alice, display_name="", time_zone=alice.time_zone, now=NOON)
    assert quiet_hours.follow_everybody(now=NOON) == 1
    assert now_of(table).game.deadline == NOON + 4 * HOUR


@pytest.mark.parametrize("save", [save_profile, choose_zone])
def test_an_old_page_does_not_reset_the_time_of_a_zone_change(alice: User, save: Callable[[User, str], None]) -> None:
    """Another page may have saved the same zone since, or another one."""
    seen_before = [User.objects.get(pk=alice.pk) for _ in range(2)]
    actions.choose_time_zone(user=alice, zone="Asia/Tokyo", now=NOON - HOUR)
    save(seen_before[0], "Asia/Tokyo")
    assert User.objects.get(pk=alice.pk).quiet_since == NOON - HOUR
    save(seen_before[1], "UTC")
    assert User.objects.get(pk=alice.pk).quiet_since == NOON


def test_an_invalid_time_zone_does_not_stop_other_clocks(
    alice: User, bob: User, caplog: pytest.LogCaptureFixture
) -> None:
    table_at(TWO_HANDS, [bob, alice], deadline=NOON + 2 * HOUR, turn_since=NOON - HOUR)
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 2 * HOUR, turn_since=NOON - HOUR)
    for user in (alice, bob):
        nights(user)
    User.objects.filter(pk=bob.pk).update(time_zone="Nowhere/At_All")
    assert quiet_hours.follow_everybody(now=NOON - HOUR) == 1
    assert now_of(table).game.deadline == NOON + 4 * HOUR
    assert "a clock did not follow its player's time off" in caplog.text


def test_a_time_zone_changed_elsewhere_moves_clocks_within_the_hour(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON, turn_since=NOON - HOUR)
    nights(alice)
    assert quiet_hours.follow_everybody(now=NOON - HOUR) == 0
    nights(alice, zone="Europe/Helsinki")  # two hours ahead of UTC
    assert quiet_hours.follow_everybody(now=NOON - HOUR) == 1
    assert now_of(table).game.deadline == NOON + 2 * HOUR
    assert quiet_hours.follow_everybody(now=NOON - HOUR) == 0


def test_quiet_hours_do_not_move_a_stopped_clock(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 2 * HOUR, turn_since=NOON)
    paused(table)
    nights(alice)
    assert quiet_hours.follow_time_off(user_id=alice.pk, now=NOON) == 0
    assert Game.objects.get(pk=table.game.pk).time_left == 2 * HOUR
