"""The embedded PostgreSQL: starting it, sharing it between processes, stopping it.

Two advisory file locks carry the whole agreement between processes, and the kernel drops them even at `kill -9`:
`lock` is held (alone) while somebody starts or stops the server; `users` is held (shared) by everybody who uses it.
Whoever leaves last stops it. A server whose users were all killed is adopted by the next one to come.
"""

import fcntl
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

import psycopg

from nomercy.launcher.pids import command_line, recorded_pid, taken
from nomercy.launcher.place import (
    DATABASE,
    PORT,
    ROLE,
    EmbeddedError,
    Place,
    binaries_for,
    check_major,
    exclusive,
    initialise,
    lock_alone,
    make_home,
    make_private_folder,
    open_lock,
    place_for,
    private_file,
    run_and_wait,
    undisturbed,
    wheel_version,
)

START_SECONDS = 120  # crash recovery included
STOP_SECONDS = 30
LOOK_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 30
PREDECESSOR_SECONDS = 10  # how long a killed server's children may take to notice

# Servers that this process started, by number: whoever stops one, its parent must collect it.
_children: dict[int, subprocess.Popen[bytes]] = {}

SERVER_SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "80",
    "shared_buffers": "64MB",
    "io_method": "sync",
    "fsync": "on",
    "synchronous_commit": "on",
    "timezone": "UTC",
    "log_timezone": "UTC",
    # A failing statement or row can hold cards, and neither may reach the log.
    "log_error_verbosity": "terse",
    "log_min_error_statement": "panic",
}


class Server:
    """One process's share in the embedded PostgreSQL: `acquire` starts or joins it, `release` leaves or stops it."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self._users: IO[str] | None = None

    def acquire(self) -> None:
        """Join the running server, or start it. Raises EmbeddedError."""
        if self._users is not None:
            return
        make_home(self.place)
        with exclusive(self.place.beside("lock")):
            try:
                if not _joinable(self.place):
                    _start(self.place)
                self._users = open_lock(self.place.beside("users"))
                fcntl.flock(self._users, fcntl.LOCK_SH)
            except BaseException:  # a Ctrl-C too must leave nothing running that nobody uses
                if postmaster_pid(self.place) is not None:
                    self._leave()
                raise

    def start_again(self, say: Callable[[str], None]) -> None:
        """Start the server if it has ended while it was used here; `say` is told before. Raises EmbeddedError."""
        with exclusive(self.place.beside("lock")):
            if self._users is not None and postmaster_pid(self.place) is None:
                say("PostgreSQL has ended; it is started again.")
                _start(self.place)

    def release(self) -> None:
        """Leave the server; the last to leave stops it."""
        if self._users is None:
            return
        with exclusive(self.place.beside("lock")):
            self._leave()

    def _leave(self) -> None:
        with undisturbed(), self._users or open_lock(self.place.beside("users")) as users:
            self._users = None
            if lock_alone(users):
                _stop(self.place)
            else:
                _give_away()


@contextmanager
def kept_up(place: Place, say: Callable[[str], None]) -> Iterator[Place]:
    """Hold the embedded server up for the length of a block, whatever kills it; `say` is told of that.

    Raises EmbeddedError if it does not start the first time. Later failures are said, and tried again with patience.
    """
    stopping = threading.Event()
    with ExitStack() as stack:
        server = Server(place)
        stack.callback(server.release)  # first: nothing that is started may go unnoticed
        server.acquire()
        keeper = threading.Thread(target=_keep_up, args=(server, say, stopping), name="postgresql")
        stack.callback(keeper.join)
        stack.callback(stopping.set)
        keeper.start()
        yield place


def _keep_up(server: Server, say: Callable[[str], None], stopping: threading.Event) -> None:
    failures = 0
    while not stopping.wait(min(LOOK_SECONDS * 2**failures, LONGEST_PAUSE_SECONDS)):
        try:
            if postmaster_pid(server.place) is not None:
                failures = 0
                continue
            server.start_again(say)
        # No file descriptor to look with, no memory for a process, or PostgreSQL was killed while it started
        except (EmbeddedError, OSError, psycopg.Error) as error:
            failures += 1
            say(f"PostgreSQL could not be looked at or started again: {error}")


@contextmanager
def running(place: Place | None = None) -> Iterator[Place]:
    """Hold the embedded server up for the length of a block."""
    server = Server(place or place_for())
    try:
        server.acquire()
        yield server.place
    finally:
        server.release()


def postmaster_pid(place: Place) -> int | None:
    """The live server on this data, or None, as for a stale pid file or one whose number is another program's now."""
    pid = recorded_pid(_pid_file(place))
    return pid if pid is not None and str(place.data) in command_line(pid) else None


def _pid_file(place: Place) -> Path:
    return place.data / "postmaster.pid"


def _joinable(place: Place) -> bool:
    """Whether a server is up that we can join. One of another minor release that nobody uses is stopped first."""
    if postmaster_pid(place) is None or not _wait_until_ready(place, None):
        return False
    with _connect(place) as connection:
        found = connection.info.server_version
    major, minor = wheel_version().split(".")[:2]
    if found == int(major) * 10000 + int(minor):
        return True
    with open_lock(place.beside("users")) as users:
        if not lock_alone(users):
            return True
    _stop(place)
    return False


def _start(place: Place) -> None:
    binaries = binaries_for(place)
    check_major(place)
    if not (place.data / "PG_VERSION").exists():
        initialise(place, binaries)
    make_private_folder(place.sockets, place.user)
    _disown_reused_pid(place)
    arguments = [str(binaries / "postgres"), "-D", str(place.data), "-k", str(place.sockets)]
    for name, value in SERVER_SETTINGS.items():
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
    ready = _wait_until_ready(place, child)
    if ready:
        _children[child.pid] = child
    return ready


def _disown_reused_pid(place: Place) -> None:
    """After a crash PostgreSQL refuses to start while the old number belongs to some program of its user.

    It may be another program's by now, or still the killed server's own, whose parent lives on and has not collected
    it. Its own parent's number PostgreSQL takes for stale. Removing the file instead would switch off its check that no
    process of the killed server is still writing.
    """
    for left_behind in (_pid_file(place), place.sockets / f".s.PGSQL.{PORT}.lock"):
        pid = recorded_pid(left_behind)
        if pid is not None and taken(pid):
            rest = left_behind.read_text().split("\n", 1)[1:]
            with left_behind.open("r+") as file:
                file.write("\n".join([str(os.getpid()), *rest]))
                file.truncate()


def _stop(place: Place) -> None:
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


def _give_away() -> None:
    """The server lives on for others: its end is not ours to wait for, nor to be warned of."""
    for child in _children.values():
        child.returncode = 0
    _children.clear()


def _wait_until_ready(place: Place, child: subprocess.Popen[bytes] | None) -> bool:
    """Wait for a server that is coming up, ours or an adopted one; False if it went away instead."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            _connect(place).close()
        except psycopg.OperationalError as error:
            if child.poll() is not None if child else postmaster_pid(place) is None:
                return False
            if time.monotonic() > deadline:
                raise EmbeddedError(f"PostgreSQL does not answer after {START_SECONDS} s; see {place.log}.") from error
            time.sleep(0.02)
        else:
            return True


def _ensure_database(place: Place) -> None:
    with _connect(place) as connection:
        if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {DATABASE}")


def _connect(place: Place) -> psycopg.Connection[Any]:
    return psycopg.connect(
        host=str(place.sockets), port=PORT, user=ROLE, dbname="postgres", connect_timeout=5, autocommit=True
    )
