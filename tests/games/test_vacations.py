"""Test vacation: on demand, instead of a missed turn, and the return of unused days."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta

import pytest
from django.core import mail
from django.utils import timezone

from accounts.actions import choose_time_zone
from accounts.models import User
from accounts.queries import vacation_days_left
from games.actions import sweep
from games.actions.guests import move_seats
from games.clocks import quiet_hours
from games.models import Notice
from games.queries import Table
from games.refusals import Denied
from mail import outbox
from tests.conftest import logged_in
from tests.support.clocks import HOUR, end_vacation, move, paused, resumed, start_vacation, swept
from tests.support.pages import text_of
from tests.support.tables import NOON, TWO_HANDS, log_of, now_of, table_at

pytestmark = pytest.mark.django_db

DAY = timedelta(days=1)


def running(alice: User, bob: User, **fields: object) -> Table:
    """Return a table where Alice has five of her ten hours left."""
    given = {"deadline": NOON + 5 * HOUR, "turn_since": NOON - 5 * HOUR, "remind_at": NOON + 3 * HOUR, **fields}
    return table_at(TWO_HANDS, [alice, bob], **given)  # type: ignore[arg-type]  # columns of the game


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    return running(alice, bob)


def times_of(table: Table) -> tuple[datetime | None, datetime | None]:
    game = now_of(table).game
    return game.deadline, game.turn_since


def left(user: User, at: datetime = NOON) -> int:
    return vacation_days_left(User.objects.get(pk=user.pk), at)


def test_the_clock_stops_during_a_vacation(table: Table, alice: User, bob: User) -> None:
    other = table_at({**TWO_HANDS, "turn": 1}, [alice, bob], deadline=NOON + HOUR)
    assert start_vacation(user=alice, days=7, now=NOON) == NOON + 7 * DAY
    assert times_of(table) == (NOON + 7 * DAY + 5 * HOUR, NOON + 7 * DAY - 5 * HOUR)
    assert now_of(table).game.remind_at == NOON + 7 * DAY + 3 * HOUR
    assert now_of(other).game.deadline == NOON + HOUR  # bob's turn
    assert left(alice) == 21


def test_a_player_on_vacation_can_still_play(table: Table, alice: User) -> None:
    start_vacation(user=alice, days=7, now=NOON)
    move(table, alice, "play r5", at=NOON + DAY)
    after = now_of(table)
    assert (after.seats[0].bank, after.game.deadline) == (5 * 3600, NOON + DAY + 48 * HOUR)


def test_an_early_end_resumes_the_clocks_and_returns_whole_days(table: Table, alice: User) -> None:
    start_vacation(user=alice, days=7, now=NOON)
    assert end_vacation(user=alice, now=NOON + 2 * DAY + HOUR) == 4
    assert now_of(table).game.deadline == NOON + 2 * DAY + 6 * HOUR
    assert left(alice) == 25


def test_a_turn_that_starts_during_a_vacation_runs_from_its_end(alice: User, bob: User) -> None:
    table = table_at({**TWO_HANDS, "turn": 1}, [alice, bob], deadline=NOON + HOUR, turn_since=NOON)
    start_vacation(user=alice, days=7, now=NOON)
    move(table, bob, "play r4")
    assert times_of(table) == (NOON + 7 * DAY + 48 * HOUR, NOON + 7 * DAY)
    end_vacation(user=alice, now=NOON + DAY)
    assert now_of(table).game.deadline == NOON + DAY + 48 * HOUR


def test_a_paused_turn_resumes_after_the_vacation(table: Table, alice: User) -> None:
    paused(table)
    start_vacation(user=alice, days=2, now=NOON)
    resumed(table, at=NOON + DAY)
    assert times_of(table) == (NOON + 2 * DAY + 5 * HOUR, NOON + 2 * DAY - 5 * HOUR)


@pytest.mark.parametrize(
    ("days", "code", "says"),
    [(0, "malformed", "Choose 1 to 28 days"), (-3, "malformed", "Choose"), (29, "malformed", "Choose 1 to 28 days")],
)
def test_a_vacation_cannot_be_longer_than_the_days_left(alice: User, days: int, code: str, says: str) -> None:
    with pytest.raises(Denied, match=says) as refused:
        start_vacation(user=alice, days=days, now=NOON)
    assert refused.value.code == code


def test_the_days_are_per_year(alice: User) -> None:
    start_vacation(user=alice, days=28, now=NOON)
    with pytest.raises(Denied, match="You have no vacation days left this year"):
        start_vacation(user=alice, days=1, now=NOON + 29 * DAY)
    assert left(alice, datetime(2027, 1, 1, tzinfo=UTC)) == 28


NEW_YEAR_IN_AUCKLAND = datetime(2026, 12, 31, 12, tzinfo=UTC)  # an hour into it


def test_the_year_begins_in_the_player_s_time_zone(alice: User, monkeypatch: pytest.MonkeyPatch) -> None:
    User.objects.filter(pk=alice.pk).update(vacation_year=2026, vacation_used=28)
    alice.refresh_from_db()
    monkeypatch.setattr(timezone, "now", lambda: NEW_YEAR_IN_AUCKLAND)
    page = logged_in(alice)
    assert left(alice, NEW_YEAR_IN_AUCKLAND) == 0
    assert "0 days of vacation left in 2026" in text_of(page.get("/accounts/me/rest/"))

    choose_time_zone(user=alice, zone="Pacific/Auckland", now=NOON)

    assert left(alice, NEW_YEAR_IN_AUCKLAND) == 28
    assert "28 days of vacation left in 2027" in text_of(page.get("/accounts/me/rest/"))
    start_vacation(user=alice, days=3, now=NEW_YEAR_IN_AUCKLAND)
    alice.refresh_from_db()
    assert (alice.vacation_year, alice.vacation_used) == (2027, 3)


def test_moving_west_at_new_year_returns_no_days_of_the_old_year(alice: User) -> None:
    choose_time_zone(user=alice, zone="Pacific/Auckland", now=NOON)
    start_vacation(user=alice, days=28, now=NEW_YEAR_IN_AUCKLAND)
    end_vacation(user=alice, now=NEW_YEAR_IN_AUCKLAND + HOUR)
    choose_time_zone(user=alice, zone="America/Los_Angeles", now=NEW_YEAR_IN_AUCKLAND + HOUR)
    assert left(alice, NEW_YEAR_IN_AUCKLAND + HOUR) == 27


def test_unused_days_return_to_the_year_in_which_the_vacation_began(alice: User) -> None:
    start_vacation(user=alice, days=10, now=datetime(2026, 12, 30, tzinfo=UTC))
    end_vacation(user=alice, now=datetime(2027, 1, 2, 1, tzinfo=UTC))
    alice.refresh_from_db()
    assert (alice.vacation_year, alice.vacation_used) == (2026, 4)
    assert left(alice, datetime(2027, 1, 2, 1, tzinfo=UTC)) == 28


def test_a_second_vacation_at_once_is_refused(alice: User) -> None:
    start_vacation(user=alice, days=2, now=NOON)
    with pytest.raises(Denied, match="already") as refused:
        start_vacation(user=alice, days=2, now=NOON + DAY)
    assert refused.value.code == "forbidden"
    with pytest.raises(Denied, match="not on vacation"):
        end_vacation(user=alice, now=NOON + 3 * DAY)


def test_a_player_at_a_live_table_cannot_start_a_vacation(alice: User, bob: User) -> None:
    table_at(TWO_HANDS, [alice, bob], pace="live")
    with pytest.raises(Denied, match="Live tables"):
        start_vacation(user=bob, days=1, now=NOON)


def test_a_day_is_taken_instead_of_a_miss_if_the_player_chose_that(alice: User, bob: User) -> None:
    User.objects.filter(pk=alice.pk).update(auto_vacation=True)
    table, other = running(alice, bob, deadline=NOON), running(alice, bob)
    assert swept(NOON) == sweep.Swept(acted=1)
    assert log_of(table) == []
    after = now_of(table)
    assert (after.game.deadline, after.seats[0].misses, left(alice)) == (NOON + DAY, 0, 27)
    quiet_hours.follow_time_off(user_id=alice.pk, now=NOON)
    assert now_of(other).game.deadline == NOON + DAY + 5 * HOUR
    swept(NOON + DAY)
    assert left(alice) == 26


def test_each_day_taken_is_notified_during_the_vacation(alice: User, bob: User) -> None:
    User.objects.filter(pk=alice.pk).update(
        auto_vacation=True, vacation_year=2026, vacation_used=26, time_zone="Europe/Berlin"
    )
    running(alice, bob, deadline=NOON)
    for days, (until, left) in enumerate(((22, 1), (23, 0))):
        swept(NOON + days * DAY)
        outbox.deliver(clock=lambda days=days: NOON + days * DAY)  # type: ignore[misc]  # a default to bind it
        sent = mail.outbox[-1]
        assert sent.to == [alice.email]
        assert sent.subject == (
            "A vacation day saved your turn: clocks that stop for vacations stand"
            f" until {until} November 2026, 13:00 CET."
            f" Days left this year: {left}."
        )
        assert "/accounts/me/rest/" in sent.body
    told = Notice.objects.filter(kind="day_taken").values_list("user", "channel", "state")
    assert sorted(told) == [(alice.pk, "email", "sent")] * 2 + [(alice.pk, "site", "sent")] * 2


def test_starting_a_vacation_writes_no_notice(alice: User, bob: User) -> None:
    User.objects.filter(pk=alice.pk).update(auto_vacation=True)
    running(alice, bob, deadline=NOON)
    start_vacation(user=alice, days=2, now=NOON - HOUR)
    swept(NOON)

    assert not Notice.objects.filter(kind="day_taken").exists()


def test_without_days_left_the_turn_is_missed(alice: User, bob: User) -> None:
    User.objects.filter(pk=alice.pk).update(auto_vacation=True, vacation_year=2026, vacation_used=28)
    table = running(alice, bob, deadline=NOON)
    swept(NOON)
    assert log_of(table) == ["0 clock draw", "0 clock play y3"]
    assert now_of(table).seats[0].misses == 1


def test_no_day_is_taken_at_a_live_table(alice: User, bob: User) -> None:
    User.objects.filter(pk=alice.pk).update(auto_vacation=True)
    table = running(alice, bob, deadline=NOON, pace="live")
    swept(NOON)
    assert log_of(table) != []
    assert left(alice) == 28


def test_a_table_without_vacations_counts_none_but_has_quiet_hours(alice: User, bob: User) -> None:
    User.objects.filter(pk=alice.pk).update(auto_vacation=True, quiet_from=time(14), quiet_to=time(15))
    table, other = running(alice, bob, deadline=NOON + 2.5 * HOUR, vacations=False), running(alice, bob)
    until = start_vacation(user=alice, days=2, now=NOON)
    assert quiet_hours.follow_everybody(now=NOON) == 0
    assert [now_of(here).game.deadline for here in (table, other)] == [NOON + 3 * HOUR, until + 5 * HOUR]
    end_vacation(user=alice, now=NOON + HOUR)
    swept(NOON + 3 * HOUR)
    assert now_of(table).seats[0].misses == 1
    assert left(alice) == 27  # the whole day that it has begun


def test_a_late_move_is_accepted_after_a_day_was_taken(alice: User, bob: User) -> None:
    User.objects.filter(pk=alice.pk).update(auto_vacation=True)
    table = running(alice, bob, deadline=NOON)
    move(table, alice, "play r5")
    assert log_of(table) == ["0 play r5"]
    assert left(alice) == 27


def test_a_guest_s_vacation_does_not_move_to_an_account_with_the_seat(
    table: Table, alice: User, bob: User, charlie: User
) -> None:
    User.objects.filter(pk=alice.pk).update(is_guest=True)
    waiting, stopped = table_at({**TWO_HANDS, "turn": 1}, [alice, bob]), running(alice, bob)
    start_vacation(user=alice, days=28, now=NOON)
    assert now_of(stopped).game.deadline == NOON + 28 * DAY + 5 * HOUR
    paused(stopped)
    move_seats(guest=alice, user=charlie, now=NOON + DAY)
    assert times_of(table) == (NOON + DAY + 5 * HOUR, NOON + DAY - 5 * HOUR)
    assert now_of(table).game.remind_at == NOON + DAY + 3 * HOUR
    assert now_of(waiting).game.deadline is None
    resumed(stopped, at=NOON + 2 * DAY)
    assert now_of(stopped).game.deadline == NOON + 2 * DAY + 5 * HOUR
    assert quiet_hours.follow_everybody(now=NOON + DAY) == 0
    assert left(charlie) == 28


def test_a_seat_that_an_account_takes_over_counts_with_the_account_s_vacation(
    table: Table, alice: User, charlie: User
) -> None:
    User.objects.filter(pk=alice.pk).update(is_guest=True)
    start_vacation(user=alice, days=28, now=NOON)
    start_vacation(user=charlie, days=3, now=NOON)
    charlie.refresh_from_db()
    move_seats(guest=alice, user=charlie, now=NOON + DAY)
    assert now_of(table).game.deadline == NOON + 3 * DAY + 5 * HOUR
    assert end_vacation(user=charlie, now=NOON + 2 * DAY) == 1
    assert now_of(table).game.deadline == NOON + 2 * DAY + 5 * HOUR
