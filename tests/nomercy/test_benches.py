"""The short forms of benchmarks that have no test of their own: each says its figures, whatever they are here.

Those that need a running site use one that is there for another test: `load` in `tests/faults/test_away.py`, `siege` in
`tests/faults/test_slow_requests.py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from django.conf import settings
from django.db import connection

from bench import pages, request, start

pytestmark = pytest.mark.long

SAID: Final = {
    "bots --games 5 --players 2": r"3 of 5 won",
    "lengths --rounds 4 --players 2 --preset classic": r"classic, 2 players: 35 points",
    "rules --seconds 0.5": r"games.rules +[\d,]+ moves/s",
}


@pytest.mark.parametrize("command", SAID)
def test_a_benchmark_says_its_figures(command: str) -> None:
    environ = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    bench, *arguments = command.split()
    done = subprocess.run(
        [sys.executable, "-m", f"bench.{bench}", *arguments],
        cwd=settings.CHECKOUT,
        env=environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert re.search(SAID[command], done.stdout), done.stdout + done.stderr


@pytest.mark.django_db(transaction=True)
def test_the_cost_of_each_page_is_measured() -> None:
    code, cookies = pages.tables_of_a_person(games=2, finished=1, open_tables=1)
    for path in (f"/games/{code}/", "/", "/?finished=1"):
        connection.close()  # the end of a request closes one that is too old
        assert pages.cost_of(path, cookies) > 0, path


@pytest.mark.django_db(transaction=True)
def test_the_cost_of_a_move_is_measured() -> None:
    ours, theirs, size = request.measure(3, None)
    assert len(ours) == len(theirs) == 3
    assert min(ours) > 0
    assert sum(theirs) > 0
    assert size > 1000


def test_starts_and_an_idle_site_are_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The site is one of Python's: `tests/nomercy/test_embedded.py` starts the real one."""
    (tmp_path / "script").mkdir()
    script = tmp_path / "script" / "run"
    script.write_text(f'#!/bin/sh\nexec {sys.executable} -m http.server --bind 127.0.0.1 "$PORT" 2>/dev/null\n')
    script.chmod(0o755)
    monkeypatch.setattr(start, "SETTLE_SECONDS", 0)
    start.measure_starts([tmp_path], 1, writes=True)
    start.measure_idle(tmp_path, 1)
    said = capsys.readouterr().out
    assert re.search(r"start with bytecode: [\d.]+ s \(best [\d.]+ s\), CPU [\d.]+ s", said), said
    assert re.search(r"idle, the site: [\d.]+% of a core", said), said
