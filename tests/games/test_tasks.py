"""Celery tasks: every step runs, and no failure is silent."""

from __future__ import annotations

from typing import Any

import pytest

from accounts import mails
from games import tasks
from games.actions import abandoned, data_copies, deletion, housekeeping, pauses
from games.batch import run_all
from games.clocks import quiet_hours
from games.notices import outbox, preferences, reminders
from games.staff import auto_reports

TIDY = [
    (pauses, "end_old_pauses"),
    (housekeeping, "close_old_tables"),
    (abandoned, "call_off_left_games"),
    (abandoned, "delete_unplayed_games"),
    (quiet_hours, "follow_everybody"),
    (housekeeping, "forget_guests"),
    (data_copies, "wake_worker"),
    (data_copies, "forget_old"),
    (deletion, "delete_due"),
    (preferences, "forget_old"),
    (mails, "forget_old"),
    (auto_reports, "forget_marks"),
    (auto_reports, "report_signs"),
]
NOTICES = [(reminders, "remind"), (preferences, "write_digests"), (outbox, "deliver")]


@pytest.mark.parametrize(
    ("task", "steps", "broken"),
    [
        *[(tasks.tidy, TIDY, n) for n in range(len(TIDY))],
        *[(tasks.send_notices, NOTICES, n) for n in range(len(NOTICES))],
    ],
)
def test_a_failing_step_does_not_stop_the_others(
    task: Any,
    steps: list[tuple[Any, str]],
    broken: int,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    ran: list[str] = []

    def step(name: str, fails: bool) -> Any:
        def run(**_: object) -> None:
            ran.append(name)
            if fails:
                raise ValueError(name)

        return run

    for n, (place, name) in enumerate(steps):
        monkeypatch.setattr(place, name, step(name, n == broken))
    with pytest.raises(ExceptionGroup, match=f"1 of {len(steps)} steps failed") as raised:
        task()
    assert ran == [name for _, name in steps]
    assert [str(error) for error in raised.value.exceptions] == [steps[broken][1]]
    assert [record.exc_info[1] for record in caplog.records if record.exc_info] == list(raised.value.exceptions)


def test_steps_that_succeed_raise_nothing() -> None:
    ran: list[int] = []
    run_all(first=lambda: ran.append(1), second=lambda: ran.append(2))
    assert ran == [1, 2]
