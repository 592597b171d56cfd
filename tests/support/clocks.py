"""Helpers for tests of clocks and the sweep, whose time is noon."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import transaction

from accounts.models import User
from games import queries
from games.actions import sweep
from games.actions.play import play_move
from games.clocks import pausing, quiet_hours, vacations
from games.locks import lock_game
from games.models import Heartbeat
from games.queries import Table, Viewer
from games.refusals import Denied
from tests.support.tables import NOON, TWO_HANDS, now_of, table_at

HOUR = timedelta(hours=1)
MINUTE = timedelta(minutes=1)
SECOND = timedelta(seconds=1)
THREE_HANDS = {**TWO_HANDS, "hands": [["r5", "b1", "b2"], ["r4", "g3", "W6"], ["y1", "y2", "b3"]]}


def due_table(position: Mapping[str, Any], people: Sequence[User | str], **fields: Any) -> Table:
    """Return a table whose deadline passed a second before noon."""
    return table_at(
        position, people, **{"deadline": NOON - SECOND, "turn_since": NOON - HOUR, "remind_at": NOON - SECOND, **fields}
    )


def swept(at: datetime = NOON, *, last: datetime | None = None) -> sweep.Swept:
    """Run a sweep at a time and return what it did. The sweep before ran at `last`, by default at the same time."""
    Heartbeat.objects.update_or_create(pk=1, defaults={"at": last or at})
    return sweep.sweep(clock=lambda: at)


def move(table: Table, user: User, text: str, *, at: datetime = NOON, version: int | None = None) -> Table:
    version = now_of(table).game.version if version is None else version
    return play_move(code=table.game.code, viewer=Viewer(user), text=text, version=version, now=at)


def start_vacation(*, user: User, days: int, now: datetime) -> datetime:
    """Start a vacation, run the worker's task for it, and return the end of the vacation."""
    until = vacations.start(user=user, days=days, now=now)
    quiet_hours.follow_time_off(user_id=user.pk, now=now)
    return until


def end_vacation(*, user: User, now: datetime) -> int:
    """End a vacation, run the worker's task for it, and return the number of days given back."""
    back = vacations.end(user=user, now=now)
    quiet_hours.follow_time_off(user_id=user.pk, now=now)
    return back


def locked(table: Table, act: Callable[[Table], Any]) -> Any:
    with transaction.atomic():
        return act(queries.load(lock_game(pk=table.game.pk)))


def paused(table: Table, reason: str = "staff", *, at: datetime = NOON) -> None:
    locked(table, lambda here: pausing.pause(here, reason=reason, now=at))


def resumed(table: Table, reason: str = "staff", *, at: datetime = NOON) -> None:
    locked(table, lambda here: pausing.resume(here, reason=reason, now=at))


def refused(act: Callable[[], object]) -> tuple[str, int]:
    with pytest.raises(Denied) as caught:
        act()
    return caught.value.code, caught.value.status
