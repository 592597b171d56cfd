"""Celery tasks: every step runs, and no failure is silent."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from common.run_all import run_all
from games import tasks

STEPS = [
    (
        tasks.tidy,
        [
            "old_pauses", "old_tables", "left_games", "unplayed_games", "time_off", "guests", "waiting_copies",
            "old_copies", "deletions", "old_notices", "held_names", "old_account_mails", "browser_marks", "cases",
        ],
    ),
    (tasks.send_notices, ["reminders", "digests", "delivery"]),
]  # fmt: skip
"""The tasks and the names of their steps, in order."""


def test_a_failing_step_does_not_stop_the_others(caplog: pytest.LogCaptureFixture) -> None:
    ran: list[str] = []

    def step(name: str, *, fails: bool = False) -> Callable[[], None]:
        def run() -> None:
            ran.append(name)
            if fails:
                raise ValueError(name)

        return run

    with pytest.raises(ExceptionGroup, match="2 of 3 steps failed") as raised:
        run_all(first=step("first", fails=True), second=step("second"), third=step("third", fails=True))
    assert ran == ["first", "second", "third"]
    assert [str(error) for error in raised.value.exceptions] == ["first", "third"]
    assert [record.exc_info[1] for record in caplog.records if record.exc_info] == list(raised.value.exceptions)


def test_steps_that_succeed_raise_nothing() -> None:
    ran: list[int] = []
    run_all(first=lambda: ran.append(1), second=lambda: ran.append(2))
    assert ran == [1, 2]


@pytest.mark.django_db
@pytest.mark.parametrize(("task", "names"), STEPS)
def test_every_step_of_a_task_can_run_alone(
    task: Callable[[], None], names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """If this fails after a new step was added, add its name to `STEPS`."""
    steps: dict[str, Callable[[], object]] = {}
    monkeypatch.setattr(tasks, "run_all", lambda **named: steps.update(named))
    task()
    assert list(steps) == names
    for step in steps.values():
        step()
