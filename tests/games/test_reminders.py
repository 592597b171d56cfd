"""Test that each deadline gets one reminder, and a moved deadline another."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, time, timedelta
from typing import Any

import pytest
from django.db import connection, transaction

from accounts.models import User
from games.clocks import pausing, quiet_hours
from games.locks import lock_game
from games.models import Game, Notice
from games.notices import player_notices, reminders
from games.queries import Table
from mail import outbox
from tests.support.clocks import HOUR, MINUTE, locked, move, paused, resumed, start_vacation, swept
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)
TURN = 48 * HOUR
FIRST = NOON + 0.8 * TURN
LATE = NOON + 0.85 * TURN


@pytest.fixture
def reminded(alice: User, bob: User) -> Table:
    """Return a table where Bob's turn of two days began at noon and its reminder has been sent."""
    table = table_at(TWO_HANDS, [alice, bob])
    move(table, alice, "play r5")
    assert now_of(table).game.deadline == NOON + TURN
    assert reminders.remind(now=FIRST - MINUTE) == 0
    assert reminders.remind(now=FIRST) == 1
    assert reminders.remind(now=LATE) == 0
    return table


def paused_for_a_week(table: Table, bob: User) -> datetime:
    paused(table, at=LATE)
    resumed(table, at=LATE + 7 * DAY)
    return LATE + 7 * DAY


def extended(table: Table, bob: User) -> datetime:
    locked(table, lambda here: pausing.extend(here, seconds=int(TURN.total_seconds()), now=LATE))
    return NOON + 0.8 * 2 * TURN


def extended_a_little(table: Table, bob: User) -> datetime:
    locked(table, lambda here: pausing.extend(here, seconds=60, now=LATE))
    return LATE


def through_an_outage(table: Table, bob: User) -> datetime:
    swept(LATE + DAY, last=LATE)
    return LATE + DAY


def on_vacation(table: Table, bob: User) -> datetime:
    """Start a vacation of Bob's; return when the reminder is due, at its end."""
    return start_vacation(user=bob, days=3, now=LATE)


def out_of_the_night(table: Table, bob: User) -> datetime:
    User.objects.filter(pk=bob.pk).update(quiet_from=time(11), quiet_to=time(22))
    assert quiet_hours.follow_time_off(user_id=bob.pk, now=LATE) == 1
    return NOON + 0.8 * (TURN + 10 * HOUR)


@pytest.mark.parametrize(
    "moved", [paused_for_a_week, extended, extended_a_little, through_an_outage, on_vacation, out_of_the_night]
)
def test_a_moved_deadline_gets_another_reminder(
    reminded: Table, bob: User, moved: Callable[[Table, User], datetime]
) -> None:
    at = moved(reminded, bob)
    assert now_of(reminded).game.remind_at == at
    assert reminders.remind(now=at - MINUTE) == 0
    assert [reminders.remind(now=at) for _ in range(2)] == [1, 0]
    told = Notice.objects.filter(kind="deadline", channel="email").order_by("pk")
    assert [(row.user_id, row.created_at) for row in told] == [(bob.pk, FIRST), (bob.pk, at)]


def test_an_unsent_reminder_is_delayed_when_the_deadline_moves(reminded: Table, bob: User) -> None:
    """The mail was on hold. The next one is about the new deadline."""
    outbox.hold(why="a test", now=NOON)
    at = extended(reminded, bob)
    outbox.release()
    mails = Notice.objects.filter(kind="deadline", channel="email").order_by("pk")
    outbox.deliver(clock=lambda: LATE)
    assert [(row.state, row.reason) for row in mails.all()] == [("dropped", "later")]
    reminders.remind(now=at)
    outbox.deliver(clock=lambda: at)
    assert [(row.state, row.reason) for row in mails.all()] == [("dropped", "later"), ("sent", "")]


@pytest.mark.parametrize(
    ("hours", "at"),
    [
        ((time(1), time(12)), 37 * HOUR - 15 * MINUTE),  # the deadline is at noon
        ((time(1), time(11, 1)), 37 * HOUR - 15 * MINUTE),
        ((time(1), time(11)), 0.8 * TURN),  # there is an hour after them
        ((time(2, 25), time(12)), 0.8 * TURN),  # it comes before them
    ],
)
def test_a_turn_that_ends_with_the_quiet_hours_has_its_reminder_before_them(
    alice: User, bob: User, hours: tuple[time, time], at: timedelta
) -> None:
    User.objects.filter(pk=bob.pk).update(quiet_from=hours[0], quiet_to=hours[1])
    table = table_at(TWO_HANDS, [alice, bob])
    move(table, alice, "play r5")
    assert now_of(table).game.deadline == NOON + TURN
    assert now_of(table).game.remind_at == NOON + at


def test_a_turn_that_begins_in_quiet_hours_and_ends_with_them_has_its_reminder_in_them(alice: User, bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(quiet_from=time(11), quiet_to=time(18))
    table = table_at(TWO_HANDS, [alice, bob], pace="fast")
    table.game.seats.filter(user=bob).update(bank=0)
    move(table, alice, "play r5")
    game = now_of(table).game
    assert (game.deadline, game.remind_at) == (NOON + 6 * HOUR, NOON + 0.8 * 6 * HOUR)


def test_an_unchanged_deadline_gets_no_second_reminder(reminded: Table, alice: User, bob: User) -> None:
    User.objects.filter(pk=bob.pk).update(quiet_from=time(2), quiet_to=time(3))
    assert quiet_hours.follow_time_off(user_id=bob.pk, now=LATE) == 0
    swept(LATE)
    assert Game.objects.get().remind_at is None


def test_a_failing_reminder_is_postponed_and_does_not_stop_others(
    alice: User, bob: User, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    *broken, whole = (table_at(TWO_HANDS, [alice, bob]) for _ in range(4))
    for table in (*broken, whole):
        move(table, alice, "play r5")
    Notice.objects.all().delete()
    write = player_notices.write

    def fails(game: Game, *what: Any, **how: Any) -> None:
        write(game, *what, **how)
        if game.pk != whole.game.pk:
            raise ValueError("r5 b1")

    with monkeypatch.context() as patched:
        patched.setattr(player_notices, "write", fails)
        assert [reminders.remind(now=FIRST, most=2) for _ in range(3)] == [0, 1, 0]
    assert now_of(whole).game.remind_at is None
    assert set(Notice.objects.values_list("game", flat=True)) == {whole.game.pk}
    assert reminders.remind(now=FIRST + reminders.RETRY_WAIT, most=5) == 3
    assert "a reminder was not written" in caplog.text
    assert "r5" not in caplog.text


@pytest.fixture
def due(alice: User, bob: User) -> Table:
    """Return a table where it is Alice's turn and a reminder is due at noon."""
    return table_at(TWO_HANDS, [alice, bob], deadline=NOON + HOUR, remind_at=NOON)


def test_a_reminder_is_written_once_for_a_deadline(due: Table) -> None:
    written = Notice.objects.order_by("pk").values_list("user__username", "kind", "channel")
    assert [reminders.remind(now=at) for at in (NOON - MINUTE, NOON, NOON)] == [0, 1, 0]
    assert list(written) == [("alice", "deadline", "site"), ("alice", "deadline", "email")]
    for deadline, notices in ((NOON + HOUR, 2), (NOON + 2 * HOUR, 4)):
        Game.objects.filter(pk=due.game.pk).update(remind_at=NOON, deadline=deadline)
        reminders.remind(now=NOON)
        assert written.all().count() == notices


@pytest.mark.django_db(transaction=True)
def test_a_reminder_does_not_wait_for_a_lock(alice: User, bob: User, due: Table) -> None:
    """If a transaction has the game locked, its player is probably moving."""
    other = table_at(TWO_HANDS, [bob, alice], deadline=NOON + HOUR, remind_at=NOON + MINUTE)

    def remind() -> int:
        try:
            return reminders.remind(now=NOON + MINUTE)
        finally:
            connection.close()

    with transaction.atomic(), ThreadPoolExecutor(1) as threads:
        lock_game(pk=due.game.pk)
        assert threads.submit(remind).result(timeout=10) == 1
    assert list(Game.objects.filter(remind_at=None).values_list("pk", flat=True)) == [other.game.pk]


@pytest.mark.parametrize(
    "change",
    [{"status": "void"}, {"deadline": None}, {"deadline": NOON - MINUTE}, {"paused_reasons": ["consent"]}],
    ids=str,
)
def test_a_stopped_clock_sends_no_reminder(due: Table, change: dict[str, Any]) -> None:
    Game.objects.filter(pk=due.game.pk).update(**change)
    reminders.remind(now=NOON)
    assert not Notice.objects.exists()
