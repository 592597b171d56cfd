"""`bench.timers` reports each missed bound."""

from __future__ import annotations

import pytest

from bench.timers import fill, make_due, missed
from games.models import Game

HELD = {"idle_ms": 5.0, "due": 100, "acted": 100, "rate": 150.0, "slowest_ms": 1999.0}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({}, []),
        ({"idle_ms": 5.01}, ["the idle sweep took 5.01 ms over the bare query"]),
        ({"acted": 97}, ["3 due games were not acted on"]),
        ({"rate": 149.0}, ["one sweeper drained 149 games/s"]),
        ({"slowest_ms": 2000.0}, ["a move took 2000 ms"]),
    ],
)
def test_missed_bounds_are_reported(change: dict[str, float], says: list[str]) -> None:
    assert missed(**{**HELD, **change}) == says  # type: ignore[arg-type]  # due and acted are whole


@pytest.mark.long
@pytest.mark.django_db(transaction=True)
def test_the_games_to_measure_with_can_be_made() -> None:
    table = fill(5)
    make_due(table, 3)
    assert Game.objects.filter(deadline__isnull=False).count() >= 8
