"""Measure how long `script/run` takes to start a second time, and what it costs while nobody plays.

    .venv/bin/python -m bench.start [--against /path/to/other/checkout] [--starts 5] [--idle 30]

Two checkouts are measured in turn in one run, so that both see the same machine. The start ends with the answer to the
first request. It is measured where Python writes bytecode and where `PYTHONDONTWRITEBYTECODE` forbids it, each time
from sources without bytecode and after one start that is not counted. CPU time depends less on how busy the machine is
than the time until the answer. While idle, CPU time and wake-ups (voluntary context switches) are read from `/proc`
for all threads of the site, with PostgreSQL's own processes counted apart.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Final, NamedTuple

from nomercy.launcher.place import CHECKOUT, place_for
from nomercy.launcher.postgres import server_at
from tests.support.ports import free_port

SOURCES: Final = ("accounts", "common", "games", "mail", "nomercy")
START_SECONDS: Final = 300
SETTLE_SECONDS: Final = 20
"""After this time the tasks that run once at the start are done."""
NO_BYTECODE: Final = "PYTHONDONTWRITEBYTECODE"
TICKS: Final = os.sysconf("SC_CLK_TCK")
SITE, POSTGRESQL = PARTS = ("the site", "PostgreSQL")


class Used(NamedTuple):
    """What processes have used so far."""

    cpu: float
    """Seconds."""
    wakes: int

    def since(self, before: Used) -> Used:
        return Used(self.cpu - before.cpu, self.wakes - before.wakes)


class Start(NamedTuple):
    """What a start took until the first answer, in seconds."""

    clock: float
    cpu: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="another checkout, measured in turn with this one")
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--idle", type=int, default=30, help="seconds")
    arguments = parser.parse_args()
    checkouts = [*([arguments.against.resolve()] if arguments.against else []), CHECKOUT]
    for writes in (True, False):
        measure_starts(checkouts, arguments.starts, writes=writes)
    for checkout in checkouts:
        measure_idle(checkout, arguments.idle)


def measure_starts(checkouts: list[Path], starts: int, *, writes: bool) -> None:
    for checkout in checkouts:
        delete_bytecode(checkout)
        with site(checkout, writes=writes):
            pass
    taken: dict[Path, list[Start]] = {checkout: [] for checkout in checkouts}
    for _ in range(starts):
        for checkout in checkouts:
            with site(checkout, writes=writes) as (_, start):
                taken[checkout].append(start)
    how = "with bytecode" if writes else f"with {NO_BYTECODE}"
    for checkout, them in taken.items():
        clock, cpu = (statistics.median(column) for column in zip(*them, strict=True))
        best = min(start.clock for start in them)
        print(f"start {how}: {clock:.2f} s (best {best:.2f} s), CPU {cpu:.2f} s  {checkout}", flush=True)


def measure_idle(checkout: Path, seconds: int) -> None:
    with site(checkout, writes=True) as (pid, _):
        time.sleep(SETTLE_SECONDS)
        before, began = used_by(pid, checkout), time.monotonic()
        time.sleep(seconds)
        after, took = used_by(pid, checkout), time.monotonic() - began
    for part in PARTS:
        used = after[part].since(before[part])
        print(
            f"idle, {part}: {used.cpu / took:.2%} of a core, {used.wakes / took:.1f} wake-ups/s  {checkout}", flush=True
        )


@contextmanager
def site(checkout: Path, *, writes: bool) -> Iterator[tuple[int, Start]]:
    """Run `script/run` of this checkout inside a `with` block; yield its process id and what its start took."""
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if name != NO_BYTECODE}
    environment |= {"PORT": str(port), "LOG_LEVEL": "WARNING"} | ({} if writes else {NO_BYTECODE: "1"})
    began = time.monotonic()
    process = subprocess.Popen(
        [checkout / "script/run"], cwd=checkout, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        wait_for_answer(process, port)
        clock = time.monotonic() - began
        yield process.pid, Start(clock, used_by(process.pid, checkout)[SITE].cpu)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def wait_for_answer(process: subprocess.Popen[bytes], port: int) -> None:
    """Return when the site has answered a request. Raises SystemExit if it ends instead, or takes too long."""
    until = time.monotonic() + START_SECONDS
    while time.monotonic() < until and process.poll() is None:
        connection = HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
        with suppress(ConnectionRefusedError):  # it listens a moment after its start, and answers when it is ready
            connection.request("GET", "/")
            status = connection.getresponse().status
            connection.close()
            if status == 200:
                return
            raise SystemExit(f"The site answers {status}.")
        time.sleep(0.01)
    raise SystemExit("The site does not start.")


def used_by(root: int, checkout: Path) -> dict[str, Used]:
    """Return what `script/run` and its descendants have used, with the processes of the checkout's PostgreSQL apart.

    Children that have ended count for the process that waited for them.
    """
    total = dict.fromkeys(PARTS, Used(0.0, 0))
    server = server_at(place_for(checkout))
    roots = (root, server.pid) if server else (root,)
    for pid in {pid for one in roots for pid in (one, *descendants(one))}:
        with suppress(FileNotFoundError, ProcessLookupError):
            part = POSTGRESQL if Path(f"/proc/{pid}/comm").read_text().strip() == "postgres" else SITE
            used = used_alone(pid)
            total[part] = Used(total[part].cpu + used.cpu, total[part].wakes + used.wakes)
    return total


def used_alone(pid: int) -> Used:
    # From the third field on; the second, the name in brackets, may contain spaces.
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    wakes = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        with suppress(FileNotFoundError, ProcessLookupError):  # a thread that has ended
            lines = status.read_text().splitlines()
            wakes += sum(int(line.split()[1]) for line in lines if line.startswith("voluntary_ctxt_switches"))
    return Used(sum(map(int, fields[11:15])) / TICKS, wakes)


def descendants(root: int) -> Iterator[int]:
    for children in Path(f"/proc/{root}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):
            for pid in map(int, children.read_text().split()):
                yield pid
                yield from descendants(pid)


def delete_bytecode(checkout: Path) -> None:
    for source in SOURCES:
        for compiled in (checkout / source).rglob("__pycache__/*.pyc"):
            compiled.unlink(missing_ok=True)  # another process may write or replace it at the same time


if __name__ == "__main__":
    main()
