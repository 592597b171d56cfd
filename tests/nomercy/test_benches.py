"""The short forms of benchmarks that have no test of their own: each says its figures, whatever they are here."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from typing import Final

import pytest
from django.conf import settings

SAID: Final = {
    "bots --games 5 --players 2": r"3 of 5 won",
    "lengths --rounds 4 --players 2 --preset classic": r"classic, 2 players: 35 points",
    "load --games 2 --seconds 2": r"2 games: \d+ moves/s; .* 0 errors",
    "pages --rounds 3": r"front page: [\d.]+ ms of CPU time, [\d.]+ game pages",
    "request --moves 5": r"this process: mean [\d.]+ ms",
    "rules --seconds 0.5": r"games.rules +[\d,]+ moves/s",
    "siege --site run --seconds 1": r"under siege p50 \d+ ms",
    "start --starts 1 --idle 1": r"idle, the site: [\d.]+% of a core",
}


@pytest.mark.long
@pytest.mark.nginx
@pytest.mark.redis
def test_each_benchmark_says_its_figures() -> None:
    environ = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    for command, figure in SAID.items():  # one after another: they use the same database
        bench, *arguments = command.split()
        done = subprocess.run(
            [sys.executable, "-m", f"bench.{bench}", *arguments],
            cwd=settings.CHECKOUT,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        assert re.search(figure, done.stdout), (command, done.stdout + done.stderr)
