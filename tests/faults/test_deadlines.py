"""Test a move against its timeout at one instant: exactly one of them wins.

`DEADLINE_RACES=2000 script/test --all -n 0 -s tests/faults/test_deadlines.py` is the long form.
"""

from __future__ import annotations

import os
import random
import threading
from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone

from accounts.models import User
from games.actions.play import play_move
from games.actions.sweep import sweep
from games.models import Game, Move, Seat
from games.queries import Table, Viewer
from games.refusals import Denied
from tests.conftest import Figure
from tests.support.tables import TWO_HANDS, log_of, now_of, table_at

RACES = int(os.environ.get("DEADLINE_RACES", "30"))
SEED = int(os.environ.get("SEED", "5"))
WIDTH = 50
"""Both start within this many milliseconds around the deadline."""
STEP = 5
LEAST = RACES // 5
"""The least number of races that each of them must win. With fewer it was no race."""
PATIENCE = 3
CLOCK = ["0 clock draw", "0 clock play y3"]

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.long]


def test_of_a_move_and_its_timeout_exactly_one_wins(alice: User, bob: User, figure: Figure) -> None:
    rng, won, ahead = random.Random(SEED), Counter[str](), 0
    while won.total() < RACES or (min(won["move"], won["clock"]) < LEAST and won.total() < RACES * PATIENCE):
        table = table_at(TWO_HANDS, [alice, bob])
        deadline = timezone.now() + timedelta(milliseconds=WIDTH + 20 + ahead)
        Game.objects.filter(pk=table.game.pk).update(deadline=deadline, turn_since=deadline - timedelta(hours=1))
        answer = race(table, alice, deadline, rng.randint(-WIDTH, WIDTH) - ahead, rng.randint(-WIDTH, WIDTH))
        winner = check(table, answer, deadline)
        won[winner] += 1
        # On a busy machine threads start late and the clock wins, so the move starts earlier by the measured delay.
        ahead = max(0, ahead + STEP if winner == "clock" else ahead - STEP)
    figure(f"seed {SEED}: {won.total()} races at the deadline ± {WIDTH} ms, each with one winner: {dict(won)}")
    assert min(won["move"], won["clock"]) >= LEAST, "it was no race"


def race(table: Table, user: User, deadline: datetime, move_ms: int, sweep_ms: int) -> str:
    """Start a move and a sweep this many milliseconds off the deadline; return the answer to the move."""
    answers: list[str] = []

    def move() -> None:
        try:
            play_move(code=table.game.code, viewer=Viewer(user), text="play r5", version=0, now=timezone.now())
        except Denied as denied:
            answers.append(denied.code)
        else:
            answers.append("ok")

    starts = [(move, move_ms), (lambda: sweep(clock=timezone.now), sweep_ms)]
    threads = [threading.Thread(target=at, args=(deadline, off, act)) for act, off in starts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (answer,) = answers
    return answer


def at(deadline: datetime, offset: int, act: Callable[[], object]) -> None:
    """Call this so many milliseconds after the deadline, on a connection that is already open."""
    connection.ensure_connection()
    try:
        instant = deadline + timedelta(milliseconds=offset)
        threading.Event().wait(max(0.0, (instant - timezone.now()).total_seconds()))
        act()
    finally:
        connection.close()


def check(table: Table, answer: str, deadline: datetime) -> str:
    """Return who won. Fails unless exactly one did, and it was right."""
    after = now_of(table)
    lines = log_of(table)
    assert after.game.version == len(lines)
    assert after.game.deadline is not None
    assert after.game.deadline > deadline + timedelta(hours=20)
    misses = Seat.objects.get(game=table.game, index=0).misses
    if answer == "ok":
        assert (lines, misses) == (["0 play r5"], 0)
        assert Move.objects.get(game=table.game).at < deadline
        return "move"
    assert (answer, lines, misses) == ("stale", CLOCK, 1)
    return "clock"
