"""Test that the time of an outage of the sweep is given back."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import Any

import pytest
from django.db import connection

from accounts.models import User
from games.actions import sweep
from games.models import Game, Hand, Heartbeat, Seat, rows
from games.queries import Table, backlog
from tests.support.clocks import HOUR, MINUTE, SECOND, due_table, move, paused, resumed, swept
from tests.support.tables import NOON, TWO_HANDS, log_of, now_of, table_at

pytestmark = pytest.mark.django_db


def near(moment: datetime | timedelta | None) -> object:
    """Return True if the times are equal apart from a statement's duration. The sweep goes by the database's time."""
    return pytest.approx(moment, abs=SECOND)


def jumping(*, after: int, by: timedelta) -> Callable[[], datetime]:
    """Return a clock that shows noon this many times and then jumps ahead, as after the machine slept."""
    asked = itertools.count()
    return lambda: NOON + by if next(asked) >= after else NOON


def test_the_time_of_an_outage_is_given_back_without_misses(alice: User, bob: User) -> None:
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON - HOUR, turn_since=NOON - 9 * HOUR, remind_at=NOON - HOUR)
    later = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 9 * HOUR, turn_since=NOON - HOUR, remind_at=NOON)
    still = table_at(TWO_HANDS, [alice, "careful"])
    assert swept(last=NOON - 2 * HOUR) == sweep.Swept()
    assert log_of(table) == []
    game = now_of(table).game
    given = (game.deadline, game.turn_since, game.remind_at)
    assert given == (near(NOON + HOUR), near(NOON - 7 * HOUR), near(NOON + HOUR))
    assert now_of(later).game.deadline == near(NOON + 10 * HOUR)  # it had lost an hour
    assert now_of(still).game.deadline is None
    assert swept(NOON + timedelta(minutes=1)) == sweep.Swept()
    assert now_of(table).game.deadline == near(NOON + HOUR)


def test_a_short_absence_of_the_sweep_changes_nothing(alice: User, bob: User) -> None:
    table = due_table(TWO_HANDS, [alice, bob])
    assert swept(last=NOON - timedelta(seconds=119)) == sweep.Swept(acted=1)
    assert log_of(table) != []


def test_no_move_is_late_while_the_sweep_is_away(alice: User, bob: User) -> None:
    swept(NOON - HOUR)
    table = due_table(TWO_HANDS, [alice, bob])
    move(table, alice, "play r5")
    assert log_of(table) == ["0 play r5"]


def test_an_outage_while_time_is_given_back_is_given_back_too(alice: User, bob: User) -> None:
    first = table_at(TWO_HANDS, [alice, bob], deadline=NOON, turn_since=NOON - 20 * HOUR)
    second = table_at(TWO_HANDS, [alice, bob], deadline=NOON, turn_since=NOON - 20 * HOUR)
    Heartbeat.objects.create(
        pk=1, at=NOON - HOUR, given_from=NOON - 3 * HOUR, given_to=NOON - HOUR, given_through=first.game.pk
    )
    assert sweep.sweep(clock=lambda: NOON) == sweep.Swept()
    assert now_of(first).game.deadline == near(NOON + HOUR)
    assert now_of(second).game.deadline == near(NOON + 3 * HOUR)
    assert Heartbeat.objects.get().at == near(NOON)


@pytest.mark.parametrize("after", range(3, 8))
def test_a_machine_that_sleeps_during_a_sweep_causes_no_misses(alice: User, bob: User, after: int) -> None:
    """Only turns that had run out before are played, wherever in the sweep the machine slept."""
    before = [due_table(TWO_HANDS, [alice, bob], deadline=NOON - (9 - n) * SECOND) for n in range(4)]
    asleep = due_table(TWO_HANDS, [alice, bob], deadline=NOON + HOUR / 2)
    Heartbeat.objects.create(pk=1, at=NOON)
    found = sweep.sweep(clock=jumping(after=after, by=HOUR))
    assert found.acted <= len(before)
    assert [bool(log_of(table)) for table in before] == [n < found.acted for n in range(len(before))]
    assert now_of(asleep).game.deadline == NOON + HOUR / 2
    assert sweep.sweep(clock=lambda: NOON + HOUR) == sweep.Swept(acted=len(before) - found.acted)
    assert all(log_of(table) for table in before)  # their time had run out before and runs out again
    assert log_of(asleep) == []
    assert now_of(asleep).game.deadline == near(NOON + HOUR / 2 + HOUR)


def test_a_slow_sweep_is_not_an_outage(alice: User, bob: User) -> None:
    """Each game takes half a minute, and all together longer than the grace. The heartbeat is written all the same."""
    tables = [due_table(TWO_HANDS, [alice, bob]) for _ in range(5)]
    Heartbeat.objects.create(pk=1, at=NOON)
    asked = itertools.count()
    assert sweep.sweep(clock=lambda: NOON + next(asked) * MINUTE / 2) == sweep.Swept(acted=5)
    assert all(log_of(table) for table in tables)


def test_a_heartbeat_of_another_sweeper_counts(alice: User, bob: User) -> None:
    """One machine slept while another swept, so there was no outage and the first one continues."""
    tables = [due_table(TWO_HANDS, [alice, bob]) for _ in range(2)]
    Heartbeat.objects.create(pk=1, at=NOON)
    clock = jumping(after=3, by=HOUR)

    def wakes_up() -> datetime:
        now = clock()
        Heartbeat.objects.update(at=now)
        return now

    assert sweep.sweep(clock=wakes_up) == sweep.Swept(acted=2)
    assert all(log_of(table) for table in tables)


@pytest.mark.parametrize("ahead", [-HOUR, HOUR])
def test_a_wrong_clock_of_a_sweeper_is_not_an_outage(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, ahead: timedelta
) -> None:
    """The process's clock is an hour off. By the database's time the last sweep was just now."""
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 2 * HOUR, turn_since=NOON)
    Heartbeat.objects.create(pk=1, at=NOON)

    monkeypatch.setattr(rows, "skew_between", lambda asked_at, moment: -ahead)
    assert sweep.sweep(clock=lambda: NOON + ahead) == sweep.Swept()
    assert Heartbeat.objects.get().at == near(NOON)
    assert now_of(table).game.deadline == NOON + 2 * HOUR


@pytest.fixture
def pair(alice: User, bob: User, charlie: User) -> list[Table]:
    """Return Alice's and Bob's table and Bob's and Charlie's, whose turns ran out at 11."""
    times: dict[str, Any] = {"deadline": NOON - HOUR, "turn_since": NOON - 9 * HOUR}
    return [table_at(TWO_HANDS, people, **times) for people in ([alice, bob], [bob, charlie])]


@pytest.mark.parametrize(
    "broken",
    [{"time_zone": "Nowhere/At_All"}, {"pace": "nonsense"}, {"pace": "custom", "custom_pace": {"callout": "soon"}}],
    ids=["zone", "pace", "callout"],
)
def test_a_broken_game_does_not_stop_others_from_getting_time_back(
    pair: list[Table], alice: User, caplog: pytest.LogCaptureFixture, broken: dict[str, Any]
) -> None:
    hers, his = pair
    User.objects.filter(pk=alice.pk).update(quiet_from=time(2), quiet_to=time(3))
    rows = Game.objects.filter(pk=hers.game.pk) if "pace" in broken else User.objects.filter(pk=alice.pk)
    rows.update(**broken)
    assert swept(last=NOON - 2 * HOUR) == sweep.Swept()
    assert now_of(his).game.deadline == near(NOON + HOUR)
    assert Game.objects.get(pk=hers.game.pk).deadline == near(NOON + HOUR)
    assert "not moved out of quiet hours" in caplog.text
    assert swept(NOON + 2 * HOUR).acted == 1
    assert log_of(his) != []


@pytest.mark.parametrize("length", [8.5, 10**12, -(10**12), 10**400], ids=["half", "ages", "before", "endless"])
def test_an_invalid_callout_length_does_not_stop_others_from_getting_time_back(
    pair: list[Table], length: float
) -> None:
    hand = Hand.objects.filter(round=pair[0].started.round, seat__index=1)
    hand.update(callout_until=NOON + HOUR)
    with connection.cursor() as cursor:
        pace = f'{{"bank": 0, "increment": 60, "cap": 60, "callout": {length}}}'
        cursor.execute("UPDATE games_game SET pace = 'custom', custom_pace = %s WHERE id = %s", [pace, pair[0].game.pk])
    assert swept(last=NOON - 2 * HOUR) == sweep.Swept()
    for table in pair:
        assert Game.objects.defer("custom_pace").get(pk=table.game.pk).deadline == near(NOON + HOUR)
    window = hand.get().callout_until
    assert window is not None
    assert NOON + HOUR <= window <= NOON + 3 * HOUR + SECOND


# During an outage no time is used up

HALF: timedelta = HOUR / 2


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    """Return a table last swept at 9, when Alice had half an hour left and Bob's callout window ten minutes."""
    exposed = {**TWO_HANDS, "hands": [["r5", "b1", "b2"], ["r4"]], "exposed": [1]}
    table = table_at(exposed, [alice, bob], deadline=NOON - 2.5 * HOUR, turn_since=NOON - 5 * HOUR)
    Hand.objects.filter(round=table.started.round, seat__index=1).update(callout_until=NOON - 3 * HOUR + 10 * MINUTE)
    Heartbeat.objects.create(pk=1, at=NOON - 3 * HOUR)
    return table


def left(table: Table, at: datetime) -> tuple[timedelta, timedelta]:
    """Return the time left of the turn and of the window at this moment."""
    here = now_of(table)
    window = here.started.hands[1].callout_until
    assert here.game.deadline is not None
    assert window is not None
    return here.game.deadline - at, window - at


def test_a_pause_that_begins_in_an_outage_loses_no_time(table: Table) -> None:
    paused(table, at=NOON - 2 * HOUR)
    assert now_of(table).game.time_left == HALF
    assert sweep.sweep(clock=lambda: NOON - HOUR) == sweep.Swept()
    assert swept(NOON) == sweep.Swept()
    resumed(table, at=NOON)
    assert left(table, NOON) == (HALF, 10 * MINUTE)
    assert now_of(table).game.turn_since == NOON - 2 * HOUR
    assert swept(NOON + 29 * MINUTE).acted == 1  # the window
    assert log_of(table) == ["1 clock uno"]


@pytest.mark.parametrize("since", [3, 2])
def test_a_pause_that_ends_in_an_outage_keeps_the_time_left(table: Table, since: int) -> None:
    paused(table, at=NOON - since * HOUR)
    resumed(table, at=NOON - 1.5 * HOUR)
    assert sweep.sweep(clock=lambda: NOON) == sweep.Swept()
    assert left(table, NOON) == (HALF, 10 * MINUTE)


def test_a_turn_that_began_in_an_outage_keeps_all_its_time(table: Table, alice: User) -> None:
    move(table, alice, "play r5", at=NOON - 2 * HOUR)
    here = now_of(table)
    assert here.started.position.turn == 1
    assert here.game.deadline is not None
    assert here.game.turn_since == NOON - 2 * HOUR
    whole = here.game.deadline - NOON + 2 * HOUR
    paused(table, at=NOON - HOUR)
    assert now_of(table).game.time_left == whole


def test_a_move_in_an_outage_saves_the_time_that_was_left_before_it(table: Table, alice: User) -> None:
    move(table, alice, "play r5", at=NOON - 2 * HOUR)
    assert Seat.objects.get(game=table.game, index=0).bank == 30 * 60


def test_a_pause_before_time_is_given_back_loses_no_time(table: Table) -> None:
    """The sweep is back and gives time back to one game after another."""
    Heartbeat.objects.update(at=NOON, given_from=NOON - 3 * HOUR, given_to=NOON, given_through=table.game.pk - 1)
    paused(table, at=NOON + SECOND)
    assert now_of(table).game.time_left == HALF
    resumed(table, at=NOON + 2 * SECOND)
    assert swept(NOON + 3 * SECOND) == sweep.Swept()
    assert left(table, NOON) == (HALF, 10 * MINUTE)


def test_a_pause_after_time_is_given_back_counts_it_once(table: Table) -> None:
    table.game.deadline = NOON + HALF
    table.game.save(update_fields=["deadline"])
    Heartbeat.objects.update(at=NOON, given_from=NOON - 3 * HOUR, given_to=NOON, given_through=table.game.pk)
    paused(table, at=NOON + SECOND)
    assert now_of(table).game.time_left == HALF - SECOND


# A callout window that opens in an outage gets its normal time

PACES = [
    pytest.param({"pace": "live"}, id="preset"),
    pytest.param({"pace": "custom", "custom_pace": {"bank": 0, "increment": 60, "cap": 60, "callout": 8}}, id="custom"),
]


def called_out(alice: User, bob: User, pace: dict[str, Any]) -> Table:
    """Return a table where Alice plays her last but one card two seconds before noon, three hours into an outage."""
    hands = {**TWO_HANDS, "hands": [["r5", "b1"], ["r4", "g3", "W6"]]}
    table = table_at(hands, [alice, bob], deadline=NOON, turn_since=NOON - 60 * SECOND, **pace)
    Heartbeat.objects.create(pk=1, at=NOON - 3 * HOUR)
    move(table, alice, "play r5", at=NOON - 2 * SECOND)
    assert window_of(table) == NOON + 6 * SECOND
    return table


def window_of(table: Table) -> datetime | None:
    return now_of(table).started.hands[0].callout_until


@pytest.mark.parametrize("pace", PACES)
def test_a_window_that_opens_in_an_outage_gets_that_time_back(alice: User, bob: User, pace: dict[str, Any]) -> None:
    table = called_out(alice, bob, pace)
    assert sweep.sweep(clock=lambda: NOON) == sweep.Swept()
    assert window_of(table) == near(NOON + 8 * SECOND)
    assert swept(NOON + 10 * SECOND).acted == 1
    assert log_of(table)[-1] == "0 clock uno"


@pytest.mark.parametrize("pace", PACES)
def test_a_window_that_opens_after_the_outage_gets_no_time_back(alice: User, bob: User, pace: dict[str, Any]) -> None:
    table = called_out(alice, bob, pace)
    Heartbeat.objects.update(at=NOON - 3 * SECOND, given_from=NOON - 3 * HOUR, given_to=NOON - 3 * SECOND)
    assert sweep.sweep(clock=lambda: NOON) == sweep.Swept()
    assert window_of(table) == NOON + 6 * SECOND


@pytest.mark.parametrize(("until", "window"), [(NOON, NOON + 6 * SECOND), (NOON + HOUR, NOON + HOUR + 8 * SECOND)])
def test_a_pause_gives_no_extra_time_to_a_window_of_an_outage(
    alice: User, bob: User, until: datetime, window: datetime
) -> None:
    table = called_out(alice, bob, {"pace": "live"})
    paused(table, at=NOON - SECOND)
    if until > NOON:  # the outage ends before the pause
        assert sweep.sweep(clock=lambda: NOON) == sweep.Swept()
        Heartbeat.objects.update(at=until)
    resumed(table, at=until)
    assert window_of(table) == window


def test_a_sweep_that_has_run_is_stale_when_it_stops(alice: User, bob: User) -> None:
    assert not backlog.sweep_is_stale(NOON, grace=SECOND)
    swept()
    due_table(TWO_HANDS, [alice, bob])
    assert backlog.sweep_is_stale(NOON + HOUR, grace=SECOND)
