"""One PostgreSQL server: starting it on its data, finding it, stopping it. The callers hold the lock of its place."""

import os
import shutil
import signal
import subprocess
import tempfile
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
PREDECESSOR_SECONDS = 10  # how long a killed server's children may take to notice

# Servers that this process started, by number. Their parent must collect them, no matter which process stops them.
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
    # A failing statement or row can hold cards, and neither may reach the log.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
}
SETTINGS_OF_18 = {"io_method": "sync"}
"""Settings that earlier major versions do not know."""


def postmaster_pid(place: Place) -> int | None:
    """Return the number of the server that runs at `place`, or None."""
    data = running_data(place)
    return pid_on(data) if data else None


def running_data(place: Place) -> Path | None:
    """Return the data that a server runs on; there is one server at a time, because all use one socket."""
    return next((folder for folder in folders(place).values() if pid_on(folder) is not None), None)


def pid_on(data: Path) -> int | None:
    """Return the server on this data; None for a stale pid file, or one whose number is another program's now."""
    pid = recorded_pid(_pid_file(data))
    return pid if pid is not None and str(data) in command_line(pid) else None


def _pid_file(data: Path) -> Path:
    return data / "postmaster.pid"


def start(place: Place, programs: Programs) -> None:
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
    """After a crash PostgreSQL refuses to start while the old number belongs to some program of its user.

    It may be another program's by now, or still the killed server's own, whose parent lives on and has not collected
    it. Its own parent's number PostgreSQL takes for stale. Removing the file instead would switch off its check that no
    process of the killed server is still writing.
    """
    for left_behind in (_pid_file(data), place.sockets / f".s.PGSQL.{PORT}.lock"):
        pid = recorded_pid(left_behind)
        if pid is not None and taken(pid):
            rest = left_behind.read_text().split("\n", 1)[1:]
            with left_behind.open("r+") as file:
                file.write("\n".join([str(os.getpid()), *rest]))
                file.truncate()


def stop(place: Place) -> None:
    """A fast shutdown: sessions are cut, everything is written, the next start needs no recovery."""
    pid = postmaster_pid(place)
    if pid is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGINT)
        deadline = time.monotonic() + STOP_SECONDS
        while command_line(pid):  # empty as soon as it is over, even before its parent collects it
            if time.monotonic() > deadline:
                raise EmbeddedError(
                    f"PostgreSQL (process {pid}) did not stop within {STOP_SECONDS} s; see {place.log}."
                )
            time.sleep(0.01)
    for child in [child for child in _children.values() if not command_line(child.pid)]:
        child.wait()
        del _children[child.pid]
    if place.sockets.parent == Path(tempfile.gettempdir()):
        shutil.rmtree(place.sockets, ignore_errors=True)


def give_away() -> None:
    """The server lives on for others: its end is not ours to wait for, nor to be warned of."""
    for child in _children.values():
        child.returncode = 0
    _children.clear()


def wait_until_ready(place: Place, child: subprocess.Popen[bytes] | None) -> bool:
    """Wait for a server that is coming up, ours or an adopted one; False if it went away instead."""
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
