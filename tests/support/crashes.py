"""`kill -9` for the processes of a stack and for its PostgreSQL, at random times."""

from __future__ import annotations

import os
import random
import re
import signal
from collections import Counter
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Self

from nomercy.launcher.place import Place
from nomercy.launcher.postgres import kept_up, server_at
from tests.support import waiting
from tests.support.stack import RunningStack, descendants

PROGRAMS: Final = {
    "web": "gunicorn",
    "clock": "--queues clock",
    "worker": "--queues work",
    "mail": "--queues mail",
    "beat": "nomercy beat",
    "Redis": "redis-server",
}
"""A part of the command line of each kind of process in a stack."""

POSTGRESQL: Final = "PostgreSQL"
VICTIMS: Final = (*PROGRAMS, POSTGRESQL)
PATIENCE: Final = 180.0
"""Seconds within which a killed process must be back and moves must be made again."""


class Supervised:
    """A PostgreSQL that is restarted when it ends, and its log."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._said = ""
        self._exit_stack = ExitStack()

    def __enter__(self) -> Self:
        self._exit_stack.enter_context(kept_up(self.place, self._remember))
        return self

    def __exit__(self, *_: object) -> None:
        self._exit_stack.close()

    def _remember(self, _: str) -> None:
        self._said = self.said  # each start overwrites the log

    @property
    def said(self) -> str:
        """The log from the first start on."""
        return self._said + (self.place.log.read_text() if self.place.log.exists() else "")

    def processes(self) -> list[int]:
        """Return the process ids of the server and its children; none while it is down."""
        server = server_at(self.place)
        return [] if server is None else [server.pid, *descendants(server.pid)]


until = partial(waiting.until, patience=PATIENCE)


@dataclass
class Crashes:
    """Kills processes and waits until they are back. `killed` counts the kills."""

    stack: RunningStack
    postgres: Supervised
    rng: random.Random
    killed: Counter[str] = field(default_factory=Counter)

    def kill(self, victim: str) -> None:
        """Kill one process of `victim` with SIGKILL: usually the oldest, the master, otherwise any of its processes."""
        pid = 0

        def kill_one() -> bool:
            nonlocal pid
            pids = self._pids(victim)
            pid = self.rng.choice((pids[0], self.rng.choice(pids))) if pids else 0
            return bool(pid) and _kill(pid)

        until(f"a process of {victim} to kill", kill_one)
        self.killed[victim] += 1

    def _pids(self, victim: str) -> list[int]:
        if victim == POSTGRESQL:
            return self.postgres.processes()
        found = self.stack.pids(PROGRAMS[victim])
        return found + [child for child in descendants(found[0]) if child not in found] if found else []

    def ended(self) -> dict[str, int]:
        """Return how often script/stack reported the end of each of its processes."""
        said = "".join(self.stack.said)
        return dict(Counter(re.findall(r"(\w+)\.1 *\| .+ ended with \d+ and is started again", said)))

    def all_up(self) -> bool:
        """Return True if every victim has a process."""
        return all(self._pids(victim) for victim in VICTIMS)


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False  # it has just ended by itself
    return True
