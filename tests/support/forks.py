"""Starts workers and beats as forks of a process that has loaded the site, because that takes a second of CPU time."""

from __future__ import annotations

import gc
import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Final, NoReturn

from nomercy.launcher.place import CHECKOUT
from tests.support.waiting import until

LOADED: Final = ("celery.apps.beat", "celery.apps.worker", "celery.bin.celery", "kombu.transport.redis")


@dataclass(frozen=True)
class Fork:
    """A process that `LoadedSite` has started."""

    pid: int
    file: int
    """A file descriptor of the process. Its number could be that of another process when it has ended."""

    def kill(self) -> None:
        """End it with `kill -9`, if it still runs."""
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(self.file, signal.SIGKILL)
        until("ended", lambda: bool(select.select([self.file], [], [], 0)[0]))
        os.close(self.file)


@dataclass(frozen=True)
class LoadedSite:
    """A process that has loaded the site, and waits for commands."""

    process: subprocess.Popen[str]

    def start(self, *arguments: str) -> Fork:
        """Start `celery -A nomercy` with these arguments."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{json.dumps(arguments)}\n")
        self.process.stdin.flush()
        pid = int(self._answer())
        return Fork(pid, os.pidfd_open(pid))

    def _answer(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()


@contextmanager
def loaded_site(environment: Mapping[str, str]) -> Iterator[LoadedSite]:
    """Load the site in a new process until the end of the block. What it has started goes on."""
    command = [sys.executable, "-m", "tests.support.forks"]
    with subprocess.Popen(
        command, cwd=CHECKOUT, env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        site = LoadedSite(process)
        assert site._answer() == "ready\n"
        yield site


def main() -> None:
    import django  # noqa: PLC0415  # only this process loads the site

    django.setup()
    from nomercy.celery import app  # noqa: PLC0415  # after the setup

    app.loader.import_default_modules()
    for name in LOADED:
        import_module(name)
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # the kernel forgets what has ended at once
    print("ready", flush=True)
    for line in sys.stdin:
        pid = os.fork()
        if not pid:
            _become(json.loads(line))
        print(pid, flush=True)


def _become(arguments: Sequence[str]) -> NoReturn:
    from celery.__main__ import main  # noqa: PLC0415  # see `main`

    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    sys.argv = ["celery", "-A", "nomercy", *arguments]
    try:
        main()
    finally:
        os._exit(1)


if __name__ == "__main__":
    main()
