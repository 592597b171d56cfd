"""Runs `script/stack`, the processes of production, on the test database."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.db import connection
from honcho.environ import parse_procfile

from nomercy.launcher.place import CHECKOUT
from tests.support.ports import free_port

START_SECONDS = 120
QUIET_SECONDS = 20.0


def database_url() -> str:
    """Return the URL of the database that this process uses."""
    parts = connection.settings_dict
    person = quote(parts["USER"], safe="") + (f":{quote(parts['PASSWORD'], safe='')}" if parts["PASSWORD"] else "")
    return f"postgres://{person}@{quote(parts['HOST'], safe='')}:{parts['PORT'] or 5432}/{parts['NAME']}"


def processes() -> dict[str, list[str]]:
    """Return the commands of Procfile by their names, without `script/keep`."""
    found = parse_procfile((CHECKOUT / "Procfile").read_text()).processes
    return {name: shlex.split(command)[1:] for name, command in found.items()}


def command_of(name: str, folder: Path) -> list[str]:
    """Return a command of Procfile with the private folder of a stack."""
    return [word.replace("$STACK", str(folder)) for word in processes()[name]]


def redis_url(folder: Path) -> str:
    return f"unix://{quote(str(folder / 'redis.sock'))}?db=0"


@dataclass
class RunningStack:
    """A running stack. `said` has the lines that it has printed so far."""

    url: str
    process: subprocess.Popen[str]
    said: list[str] = field(default_factory=list)

    @property
    def redis_url(self) -> str:
        """The URL of the stack's own Redis."""
        (server,) = self.pids("redis-server")
        return redis_url(Path(f"/proc/{server}/cwd").readlink())

    def pids(self, program: str) -> list[int]:
        """Return the ids of the processes whose command line has `program`, oldest first."""
        return descendants(self.process.pid, program)

    def kill(self, program: str, number: signal.Signals) -> None:
        """Send a signal to the oldest of these processes, which is the master if there are workers."""
        os.kill(self.pids(program)[0], number)

    def hold(self) -> None:
        """Stop every process of the site while none uses the database, so that it can be emptied."""
        until = time.monotonic() + QUIET_SECONDS
        while True:
            self._signal(signal.SIGSTOP)
            if not (busy := _busy()):
                return
            self.go_on()
            assert time.monotonic() < until, f"The site is still busy with the database: {busy}"
            time.sleep(0.02)

    def go_on(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        for pid in self.pids(""):
            with suppress(ProcessLookupError):
                os.kill(pid, number)


def descendants(ancestor: int, program: str = "") -> list[int]:
    """Return the ids of all descendants of a process whose command line has `program`, oldest first.

    `script/keep`, which starts them again, is none of them.
    """
    processes = sorted(_processes())  # by time and not by id: the next process after 32767 may be 300
    found = {ancestor}
    while more := {pid for _, pid, parent, _ in processes if parent in found} - found:
        found |= more
    wanted = found - {ancestor}
    return [pid for _, pid, _, said in processes if pid in wanted and program in said and "script/keep" not in said]


def _busy() -> list[tuple[str, str]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT state, query FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'"
        )
        rows: list[tuple[str, str]] = cursor.fetchall()
    return rows


def _processes() -> Iterator[tuple[int, int, int, str]]:
    """Yield the start time, id, parent's id and command line of each process."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text().rsplit(")", 1)[1].split()
            yield int(stat[19]), int(folder.name), int(stat[1]), (folder / "cmdline").read_text().replace("\0", " ")
        except (FileNotFoundError, ProcessLookupError):
            continue


@contextmanager
def stack(*, only: Iterable[str] = (), **settings_: str) -> Iterator[RunningStack]:
    """Run a stack on the test database until the end of the block. Fail unless it stops with status 0.

    `only` names the servers and workers that a test needs, and leaves out `manage.py prepare`. Each start takes
    more than a second of CPU time, and the preparation three.
    """
    port = free_port()
    environment = os.environ | {
        "PORT": str(port),
        "SITE_URL": f"http://127.0.0.1:{port}",
        "DATABASE_URL": database_url(),
        "SECRET_KEY": settings.SECRET_KEY,
        "DJANGO_SETTINGS_MODULE": "nomercy.settings",
        **settings_,
    }
    process = subprocess.Popen(
        [sys.executable, "-m", "script.stack", *only],
        cwd=CHECKOUT, env=environment, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    running = RunningStack(environment["SITE_URL"], process)
    ready = threading.Event()
    reader = threading.Thread(target=_read, args=(running, ready), daemon=True)
    reader.start()
    try:
        if not ready.wait(START_SECONDS) or process.poll() is not None:
            raise AssertionError("".join(running.said))
        yield running
    finally:
        running.go_on()
        process.send_signal(signal.SIGINT)
        status = process.wait()
        reader.join()
        process.stderr.close()
    assert status == 0, "".join(running.said)


def _read(running: RunningStack, ready: threading.Event) -> None:
    assert running.process.stderr is not None
    for line in running.process.stderr:
        running.said.append(line)
        if "Ctrl-C stops everything" in line:
            ready.set()
    ready.set()
