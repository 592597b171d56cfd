"""Measure how late the workers of `script/run` start tasks that are sent for now, sent for later, or sent by beat.

    .venv/bin/python -m bench.latency [--against /path/to/other/checkout] [--tasks 200] [--rounds 3]

Bots move by tasks for now or for later; deadlines and callout windows end in the sweep that beat sends. The checkouts
are measured in turn, each in a process of its own with its own code. The tasks only note the time.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Final

CHECKOUT: Final = Path(__file__).resolve().parents[1]
LATER: Final = 0.5
"""Seconds: how far ahead the tasks for later are sent."""
PATIENCE: Final = 60
SWEEP_SECONDS: Final = 2.0
SWEEPS: Final = 5
"""How many are awaited after the tasks, besides those that were sent meanwhile."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="another checkout, measured in turn with this one")
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        measure(arguments.tasks)
        return
    checkouts = [*([arguments.against.resolve()] if arguments.against else []), CHECKOUT]
    for _ in range(arguments.rounds):
        for checkout in checkouts:
            print(checkout, flush=True)
            subprocess.run(
                [checkout / ".venv/bin/python", Path(__file__), "--here", "--tasks", str(arguments.tasks)],
                cwd=checkout,
                env=os.environ | {"PYTHONPATH": str(checkout), "DJANGO_SETTINGS_MODULE": "nomercy.settings"},
                check=True,
            )


def measure(tasks: int) -> None:
    """Measure the checkout whose code is on the path."""
    import django

    django.setup()
    from celery import current_app, shared_task

    from nomercy.launcher.embedded import Workers
    from nomercy.queues import CLOCK

    ran: list[float] = []
    done = threading.Semaphore(0)
    swept: list[float] = []

    @shared_task(name="bench.task")
    def task() -> None:
        ran.append(time.monotonic())
        done.release()

    @shared_task(name="bench.sweep")
    def sweep() -> None:
        swept.append(time.monotonic())

    sent_by_beat = {"task": "bench.sweep", "schedule": SWEEP_SECONDS, "options": {"queue": CLOCK}}
    from nomercy.celery import app

    assert app.conf.beat_schedule  # reading it sets the site's schedule
    app.conf.beat_schedule = {"bench.sweep": sent_by_beat}
    lateness: dict[str, list[float]] = {"now": [], "later": []}
    with Workers():
        time.sleep(SWEEP_SECONDS)  # until the workers take tasks
        for delay, name, number in ((0.0, "now", tasks), (LATER, "later", tasks // 10)):
            for _ in range(number):
                sent = time.monotonic()
                current_app.send_task("bench.task", countdown=delay or None)
                if not done.acquire(timeout=PATIENCE):
                    sys.exit("A task did not run.")
                lateness[name].append(ran.pop() - sent - delay)
                time.sleep(random.uniform(0.0, 0.05))  # so that sends do not fall into step with a poll
        time.sleep(SWEEPS * SWEEP_SECONDS)
    pauses = [later - earlier for earlier, later in pairwise(swept[1:])]
    for name, late in lateness.items():
        print(f"  task for {name}: {lateness_text(late)}")
    print(f"  between two sweeps: {lateness_text(pauses)}", flush=True)
    os._exit(0)  # beat sleeps for up to a second


def lateness_text(seconds: list[float]) -> str:
    """Return the median, the 95th percentile and the highest of these times."""
    ranked = sorted(seconds)
    figures = {"median": statistics.median(ranked), "p95": ranked[int(len(ranked) * 0.95)], "most": ranked[-1]}
    return ", ".join(f"{name} {value * 1000:.1f} ms" for name, value in figures.items())


if __name__ == "__main__":
    main()
