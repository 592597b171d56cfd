"""Start, find and stop one PostgreSQL server. The callers hold the `lock` file of its place."""

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import psycopg

from nomercy.launcher.data import folder_for, folders, initialise, version_of
from nomercy.launcher.pids import command_line, recorded_pid, taken
from nomercy.launcher.place import (
    DATABASE,
    PORT,
    ROLE,
    EmbeddedError,
    Place,
    make_private_folder,
    private_file,
    run_and_wait,
)
from nomercy.launcher.programs import Programs, reachable

START_SECONDS = 120  # crash recovery included
STOP_SECONDS = 30
PREDECESSOR_SECONDS = 10  # how long the children of a killed server may take to end

# The servers that this process started, by PID. It must collect them, no matter which process stops them.
_children: dict[int, subprocess.Popen[bytes]] = {}

SERVER_SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "80",
    "shared_buffers": "64MB",
    "fsync": "on",
    "synchronous_commit": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # Failing statements and rows can hold cards, so they must not be logged.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
}
SETTINGS_OF_18 = {"io_method": "sync"}
"""Settings that earlier major versions do not have."""


def postmaster_pid(place: Place) -> int | None:
    """Return the PID of the server that runs at `place`, or None."""
    data = running_data(place)
    return pid_on(data) if data else None


def running_data(place: Place) -> Path | None:
    """Return the data folder of the running server, or None. Only one runs at a time, because all use one socket."""
    return next((folder for folder in folders(place).values() if pid_on(folder) is not None), None)


def pid_on(data: Path) -> int | None:
    """Return the PID of the server on this data, or None, also if the pid file is stale."""
    pid = recorded_pid(_pid_file(data))
    return pid if pid is not None and str(data) in command_line(pid) else None


def _pid_file(data: Path) -> Path:
    return data / "postmaster.pid"


def start(place: Place, programs: Programs) -> None:
    """Start the server and wait until it answers. Create its data and the database if there are none.

    :raises EmbeddedError: it did not start. Its log says why.
    """
    binaries = reachable(place, programs)
    data = folder_for(place, programs)
    if not version_of(data):
        initialise(place, programs, data)
    make_private_folder(place.sockets, place.user)
    _disown_reused_pid(place, data)
    arguments = [str(binaries / "postgres"), "-D", str(data), "-k", str(place.sockets)]
    for name, value in (SERVER_SETTINGS | (SETTINGS_OF_18 if programs.major >= 18 else {})).items():
        arguments += ["-c", f"{name}={value}"]
    patience = time.monotonic() + PREDECESSOR_SECONDS
    while True:
        with open(place.log, "wb", opener=private_file) as log:
            ready = run_and_wait(place, arguments, log, partial(_comes_up, place), end_with=signal.SIGINT)
        if ready:
            _ensure_database(place)
            return
        if "pre-existing shared memory block" not in place.log.read_text() or time.monotonic() > patience:
            raise EmbeddedError(f"PostgreSQL did not start; see {place.log}.")


def _comes_up(place: Place, child: subprocess.Popen[bytes]) -> bool:
    ready = wait_until_ready(place, child)
    if ready:
        _children[child.pid] = child
    return ready


def _disown_reused_pid(place: Place, data: Path) -> None:
    """Replace the PID in files of a crashed server, if a process has it, so that PostgreSQL starts."""
    # PostgreSQL refuses to start while the old PID exists. It may be another program's by now, or still that of the
    # killed server, whose parent has not collected it. We write our own PID, because PostgreSQL takes its parent's for
    # stale. Deleting the file would switch off its check that no process of the killed server is still writing.
    for left_behind in (_pid_file(data), place.sockets / f".s.PGSQL.{PORT}.lock"):
        pid = recorded_pid(left_behind)
        if pid is not None and taken(pid):
            rest = left_behind.read_text().split("\n", 1)[1:]
            with left_behind.open("r+") as file:
                file.write("\n".join([str(os.getpid()), *rest]))
                file.truncate()


def stop(place: Place) -> None:
    """Stop the server at `place` by a fast shutdown: sessions end, and the next start needs no recovery.

    :raises EmbeddedError: it did not stop within `STOP_SECONDS`.
    """
    pid = postmaster_pid(place)
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
        deadline = time.monotonic() + STOP_SECONDS
        while command_line(pid):  # empty once it has ended, even before its parent collects it
            if time.monotonic() > deadline:
                raise EmbeddedError(
                    f"PostgreSQL (process {pid}) did not stop within {STOP_SECONDS} s; see {place.log}."
                )
            time.sleep(0.01)
    for child in [child for child in _children.values() if not command_line(child.pid)]:
        child.wait()
        del _children[child.pid]
    if place.sockets.parent != place.base.parent:  # a folder in the user's home or in /tmp
        shutil.rmtree(place.sockets, ignore_errors=True)


def disown_children() -> None:
    """Forget the servers that this process started, because other processes still use them."""
    # With a return code `Popen` does not warn that they still run.
    for child in _children.values():
        child.returncode = 0
    _children.clear()


def wait_until_ready(place: Place, child: subprocess.Popen[bytes] | None) -> bool:
    """Wait until the server at `place` answers. Return False if it ends first.

    `child` is the process if we started it, else None.

    :raises EmbeddedError: it does not answer within `START_SECONDS`.
    """
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            connect(place).close()
        except psycopg.OperationalError as error:
            if child.poll() is not None if child else postmaster_pid(place) is None:
                return False
            if time.monotonic() > deadline:
                raise EmbeddedError(f"PostgreSQL does not answer after {START_SECONDS} s; see {place.log}.") from error
            time.sleep(0.02)
        else:
            return True


def _ensure_database(place: Place) -> None:
    with connect(place) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {DATABASE}")


def connect(place: Place) -> psycopg.Connection[Any]:
    return psycopg.connect(
        host=str(place.sockets), port=PORT, user=ROLE, dbname="postgres", connect_timeout=5, autocommit=True
    )
