"""Test that saving quiet hours, a time zone or a vacation moves no clocks in the request: the worker does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime, time
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from pytest_django.fixtures import Settings

from accounts.models import CountedTry, User
from common.limits import TIME_OFF_CHANGES, TooManyTries
from games import announce, tasks
from games.clocks import quiet_hours, vacations
from games.models import Game, Notice
from games.queries import Table
from mail.models import EMAIL
from mail.verdicts import Reason
from tests.conftest import logged_in
from tests.support.clocks import HOUR, MINUTE, swept
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

pytestmark = pytest.mark.django_db

DAY = 24 * HOUR
REST, ME = "/accounts/me/rest/", "/accounts/me/"
HOURS = {"quiet_from": "13:00", "quiet_to": "16:00"}
TASKS: Mapping[str, Callable[..., object]] = {tasks.follow_time_off.name: tasks.follow_time_off}


class Worker:
    """Collects the tasks for clocks that the site starts after its commits, and runs them."""

    def __init__(self, commits: Any) -> None:
        self.asked: list[tuple[str, tuple[int, ...]]] = []
        self.fails = False
        self._commits = commits

    def take(self, name: str, args: tuple[int, ...] = (), **_: object) -> None:
        if self.fails:
            raise OSError
        if name in TASKS:
            self.asked.append((name, args))

    def after(self, act: Callable[..., Any], *args: object, **named: object) -> Any:
        """Call this, commit, and return its result."""
        with self._commits(execute=True):
            return act(*args, **named)

    def run(self) -> int:
        """Run the collected tasks and those that they start; return how many."""
        ran = 0
        while self.asked:
            name, args = self.asked.pop(0)
            self.after(TASKS[name], *args)
            ran += 1
        return ran


@pytest.fixture
def worker(monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any) -> Worker:
    worker = Worker(django_capture_on_commit_callbacks)
    monkeypatch.setattr("games.announce.current_app.send_task", worker.take)
    return worker


@pytest.fixture
def table(alice: User, bob: User) -> Table:
    """Return a table where Alice is on turn. Her deadline is at 12:30 in two days."""
    now = timezone.now()
    deadline = (now + 2 * DAY).replace(hour=12, minute=30, second=0, microsecond=0)
    return table_at(TWO_HANDS, [alice, bob], deadline=deadline, turn_since=now - HOUR)


def deadline_of(table: Table) -> datetime:
    deadline = now_of(table).game.deadline
    assert deadline is not None
    return deadline


def deadlines() -> set[datetime | None]:
    return set(Game.objects.values_list("deadline", flat=True))


# In the request


def save_hours(browser: Client) -> Any:
    return browser.post(REST, HOURS)


def save_zone(browser: Client) -> Any:
    return browser.post(ME, {"display_name": "", "time_zone": "Asia/Tokyo"})


def begin_vacation(browser: Client) -> Any:
    return browser.post(f"{REST}vacation/", {"days": "3"})


def end_vacation(browser: Client) -> Any:
    now = timezone.now()
    User.objects.update(vacation_from=now - HOUR, vacation_until=now + DAY, vacation_year=now.year, vacation_used=2)
    return browser.post(f"{REST}vacation/end/")


SAVES = [save_hours, save_zone, begin_vacation, end_vacation]


@pytest.mark.long
@pytest.mark.parametrize("save", SAVES)
def test_a_request_runs_as_many_queries_for_ten_tables_as_for_one(
    alice: User, bob: User, worker: Worker, save: Callable[[Client], Any]
) -> None:
    asked = []
    for people, tables in ((alice, 1), (bob, 10)):
        User.objects.filter(pk=people.pk).update(quiet_from=time(1), quiet_to=time(2))
        for _ in range(tables):
            table_at(TWO_HANDS, [people, "careful"], deadline=timezone.now() + 2 * DAY, turn_since=timezone.now())
        browser = logged_in(people)
        with CaptureQueriesContext(connection) as queries:
            assert worker.after(save, browser).status_code in (302, 303)
        asked.append(len(queries))
    assert asked[0] == asked[1]
    assert worker.asked == [(announce.FOLLOW_TIME_OFF, (people.pk, 0)) for people in (alice, bob)]


@pytest.mark.parametrize("save", SAVES)
def test_a_request_locks_and_moves_no_game(
    table: Table, alice: User, as_alice: Client, worker: Worker, save: Callable[[Client], Any]
) -> None:
    Game.objects.update(deadline=(timezone.now() + 2 * DAY).replace(hour=14))
    User.objects.filter(pk=alice.pk).update(quiet_from=time(23), quiet_to=time(1))  # in Tokyo: 14:00 to 16:00 UTC
    before = deadlines()
    with CaptureQueriesContext(connection) as queries:
        worker.after(save, as_alice)
    assert [query["sql"] for query in queries if "games_game" in query["sql"] and "UPDATE" in query["sql"]] == []
    assert deadlines() == before


def test_saved_hours_move_the_deadlines_once_the_worker_has_run(table: Table, as_alice: Client, worker: Worker) -> None:
    deadline = deadline_of(table)
    answer = worker.after(as_alice.post, REST, {"quiet_from": "12:00", "quiet_to": "13:00"}, follow=True)
    assert "moves within a minute" in answer.content.decode()
    assert worker.run() == 1
    assert deadlines() == {deadline + 30 * MINUTE}


@pytest.mark.long
def test_a_saved_time_zone_moves_the_deadlines_too(table: Table, alice: User, as_alice: Client, worker: Worker) -> None:
    deadline = deadline_of(table)
    User.objects.filter(pk=alice.pk).update(quiet_from=time(21), quiet_to=time(22))
    refused = worker.after(as_alice.post, ME, {"display_name": "", "time_zone": "Asia/Nowhere"})
    assert (refused.status_code, worker.asked) == (422, [])
    worker.after(save_zone, as_alice)
    assert worker.run() == 1
    assert deadlines() == {deadline + 30 * MINUTE}


def test_a_vacation_and_its_end_move_the_deadlines_too(table: Table, as_alice: Client, worker: Worker) -> None:
    deadline = deadline_of(table)
    worker.after(begin_vacation, as_alice)
    worker.run()
    assert deadlines() == {deadline + 3 * DAY}
    worker.after(as_alice.post, f"{REST}vacation/end/")
    worker.run()
    assert deadline <= deadline_of(table) < deadline + MINUTE


def test_the_worker_checks_waiting_night_mail_again(
    table: Table, alice: User, as_alice: Client, worker: Worker
) -> None:
    game, now = table.game, timezone.now()
    mail = Notice.objects.create(
        user=alice, game=game, version=0, kind="turn", channel=EMAIL, state=Notice.State.WAITING, reason=Reason.NIGHT,
        created_at=now, since=now, due_at=now + 5 * HOUR,
    )  # fmt: skip
    worker.after(save_hours, as_alice)
    mail.refresh_from_db()
    assert mail.due_at == now + 5 * HOUR
    worker.run()
    mail.refresh_from_db()
    assert now <= mail.due_at < now + MINUTE


def test_a_day_taken_instead_of_a_miss_moves_other_tables_by_the_worker(alice: User, bob: User, worker: Worker) -> None:
    User.objects.filter(pk=alice.pk).update(auto_vacation=True)
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON, turn_since=NOON - HOUR)
    other = table_at(TWO_HANDS, [alice, bob], deadline=NOON + 5 * HOUR, turn_since=NOON - HOUR)
    worker.after(swept, NOON)
    assert now_of(table).game.deadline == NOON + DAY
    assert now_of(other).game.deadline == NOON + 5 * HOUR
    worker.run()
    assert now_of(other).game.deadline == NOON + DAY + 5 * HOUR


# In the worker


@pytest.mark.parametrize(("games", "portions"), [(5, [2, 2, 1]), (2, [2])])
def test_one_task_moves_a_portion_and_starts_the_next_task(
    alice: User, bob: User, worker: Worker, monkeypatch: pytest.MonkeyPatch, games: int, portions: list[int]
) -> None:
    monkeypatch.setattr(quiet_hours, "PORTION", 2)
    tables = [table_at(TWO_HANDS, [alice, bob], deadline=NOON, turn_since=NOON - HOUR) for _ in range(games)]
    worker.after(vacations.start, user=alice, days=1, now=NOON - HOUR)
    moved = [worker.after(quiet_hours.follow_time_off, user_id=alice.pk, now=NOON - HOUR)]
    assert [now_of(table).game.deadline for table in tables] == [NOON + DAY] * 2 + [NOON] * (games - 2)
    while len(worker.asked) > 1:  # the first was started by the vacation
        _, (user_id, after) = worker.asked.pop()
        moved.append(worker.after(quiet_hours.follow_time_off, user_id=user_id, now=NOON - HOUR, after=after))
    assert moved == portions
    assert deadlines() == {NOON + DAY}


def test_a_request_succeeds_while_the_broker_is_away_and_the_hourly_task_moves_the_clocks(
    table: Table, as_alice: Client, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(announce, "BREAK", 0.0)
    monkeypatch.setattr(worker, "fails", True)
    deadline = deadline_of(table)
    assert worker.after(begin_vacation, as_alice).status_code == 303
    assert quiet_hours.follow_everybody(now=timezone.now()) == 1
    assert deadlines() == {deadline + 3 * DAY}


# Unchanged settings, and too many changes


@pytest.mark.long
def test_saving_unchanged_settings_starts_no_task(
    table: Table, alice: User, as_alice: Client, worker: Worker, settings: Settings
) -> None:
    settings.RATE_LIMITS = 100
    for save in (save_hours, save_zone):
        worker.after(save, as_alice)
        assert worker.run() == 1
        for _ in range(TIME_OFF_CHANGES.most):
            assert worker.after(save, as_alice).status_code in (302, 303)
            assert worker.asked == []
    as_alice.get(REST)  # shows the messages so far
    changed = worker.after(as_alice.post, REST, HOURS | {"auto_vacation": "on"}, follow=True).content.decode()
    assert "Saved." in changed
    assert "moves within a minute" not in changed
    assert User.objects.get(pk=alice.pk).auto_vacation
    assert worker.asked == []
    assert CountedTry.objects.get().count == 2


def change(browser: Client, n: int) -> list[Any]:
    """Change the hours and then the zone, to different values for each `n`."""
    return [
        browser.post(REST, {"quiet_from": f"{n:02}:00", "quiet_to": f"{n + 1:02}:00"}),
        browser.post(ME, {"display_name": "", "time_zone": "Asia/Tokyo" if n % 2 else "Europe/Rome"}),
    ]


@pytest.mark.long
@pytest.mark.parametrize("save", SAVES)
def test_a_person_can_make_five_changes_a_minute(
    alice: User, bob: User, as_alice: Client, worker: Worker, settings: Settings, save: Callable[[Client], Any]
) -> None:
    settings.RATE_LIMITS = 100
    answers = worker.after(lambda: [answer for n in range(1, 4) for answer in change(as_alice, n)])
    assert [answer.status_code for answer in answers] == [303, 302, 303, 302, 303, 429]
    User.objects.filter(pk=alice.pk).update(time_zone="UTC")
    worker.asked.clear()
    alice.refresh_from_db()
    refused = worker.after(save, as_alice)
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 60
    assert "Too many changes of your quiet hours, time zone or vacation. Try again in" in refused.content.decode()
    now = User.objects.get(pk=alice.pk)
    assert (now.quiet_from, now.time_zone, worker.asked) == (time(3), "UTC", [])
    other = worker.after(save_hours, logged_in(bob))
    assert other.status_code == 303


def test_a_name_can_be_saved_while_no_more_changes_of_the_zone_are_allowed(
    alice: User, as_alice: Client, settings: Settings
) -> None:
    settings.RATE_LIMITS = 100
    for n in range(1, 4):
        change(as_alice, n)
    zone = User.objects.get(pk=alice.pk).time_zone
    assert as_alice.post(ME, {"display_name": "Alice B.", "time_zone": zone}).status_code == 302
    assert User.objects.get(pk=alice.pk).display_name == "Alice B."


def test_a_day_taken_instead_of_a_miss_does_not_count_as_a_change(alice: User, bob: User, settings: Settings) -> None:
    settings.RATE_LIMITS = 100
    for _ in range(TIME_OFF_CHANGES.most):
        vacations.start(user=alice, days=1, now=NOON - HOUR)
        User.objects.filter(pk=alice.pk).update(vacation_until=NOON - 2 * HOUR)
    alice.refresh_from_db()
    with pytest.raises(TooManyTries):
        vacations.start(user=alice, days=1, now=NOON - HOUR)
    User.objects.filter(pk=alice.pk).update(auto_vacation=True)
    table = table_at(TWO_HANDS, [alice, bob], deadline=NOON, turn_since=NOON - HOUR)
    swept(NOON)
    assert now_of(table).game.deadline == NOON + DAY


@pytest.mark.long
def test_a_change_that_fails_does_not_count(alice: User, bob: User, as_alice: Client, settings: Settings) -> None:
    settings.RATE_LIMITS = 100
    for _ in range(TIME_OFF_CHANGES.most + 1):
        taken = as_alice.post(ME, {"display_name": "bob", "time_zone": "Asia/Tokyo"})
        assert taken.status_code == 422
    assert not CountedTry.objects.exists()
    assert save_hours(as_alice).status_code == 303
