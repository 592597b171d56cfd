"""Start, share and stop the PostgreSQL of a checkout.

Processes coordinate by two advisory file locks, which the kernel releases even at `kill -9`. `lock` is held exclusively
while a process starts or stops the server. `users` is held shared by each process that uses it. The last user stops
it. If all users were killed, the next process takes the running server over.
"""

import fcntl
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

import psycopg

from nomercy.checks import Environment
from nomercy.launcher.data import folder_for, folders, of_others, version_of
from nomercy.launcher.pids import EndWatch
from nomercy.launcher.place import (
    EmbeddedError,
    Place,
    exclusive,
    lock_alone,
    make_home,
    open_lock,
    place_for,
    undisturbed,
)
from nomercy.launcher.postmaster import (
    connect,
    disown_children,
    pid_on,
    postmaster_pid,
    running_data,
    start,
    stop,
    wait_until_ready,
)
from nomercy.launcher.programs import AUTO, choose, reachable, wanted_source

PAUSE_SECONDS = 0.2
"""The pause after a start, and after the first failure. It doubles with each failure."""
LONGEST_PAUSE_SECONDS = 30


class Server:
    """One process's use of the PostgreSQL at a place: `acquire` starts or joins it, `release` leaves or stops it."""

    def __init__(
        self, place: Place, say: Callable[[str], None] = lambda sentence: None, *, create: bool = True
    ) -> None:
        """`create` allows making the data if there is none."""
        self.place = place
        self._create = create
        self.data: Path | None = None  # the data folder of the server, once acquired
        self._say = say
        self._users: IO[str] | None = None

    def acquire(self) -> None:
        """Join the running server or start it, and say which one runs.

        :raises EmbeddedError: it cannot be used.
        """
        if self._users is not None:
            return
        wanted = wanted_source(Environment())
        if not self._create:
            _require_data(self.place, wanted)
        make_home(self.place)
        with exclusive(self.place.beside("lock")):
            try:
                runs = _join(self.place, wanted) or _start_first(self.place, wanted, self._say)
                self.data = running_data(self.place)
                self._users = open_lock(self.place.beside("users"))
                fcntl.flock(self._users, fcntl.LOCK_SH)
            except BaseException:  # also at Ctrl-C: leave no server running that nobody uses
                if postmaster_pid(self.place) is not None:
                    self._leave()
                raise
        others = "".join(
            f"; other data, of PostgreSQL {version}, is in {folder}"
            for version, folder in folders(self.place).items()
            if folder != self.data
        )
        others += "".join(f"; data of another user is in {folder}" for folder in of_others(self.place))
        self._say(f"PostgreSQL {runs} runs, with its data in {self.data}{others}.")

    def pid(self) -> int | None:
        """Return the process id of the acquired server, or None if it has ended."""
        return None if self.data is None else pid_on(self.data)

    def start_again(self) -> None:
        """Start the server again on the same data if it has ended while acquired.

        :raises EmbeddedError: it does not start.
        """
        with exclusive(self.place.beside("lock")):
            if self._users is not None and self.data is not None and self.pid() is None:
                self._say("PostgreSQL has ended. It is started again.")
                (programs,) = choose(AUTO, {version_of(self.data): self.data})
                start(self.place, programs)

    def release(self) -> None:
        """Leave the server. The last user stops it."""
        if self._users is None:
            return
        with exclusive(self.place.beside("lock")):
            self._leave()

    def _leave(self) -> None:
        with undisturbed(), self._users or open_lock(self.place.beside("users")) as users:
            self._users = None
            if lock_alone(users):
                stop(self.place)
            else:
                disown_children()


@contextmanager
def kept_up(place: Place, say: Callable[[str], None]) -> Iterator[Place]:
    """Keep the embedded server running during a block: if it ends, start it again and `say` so.

    Later failures to start are reported and retried, with pauses up to `LONGEST_PAUSE_SECONDS`.

    :raises EmbeddedError: it does not start at first.
    """
    with ExitStack() as stack:
        server = Server(place, say)
        stack.callback(server.release)  # before `acquire`, so that whatever it starts is released
        server.acquire()
        watch = EndWatch()
        stack.callback(watch.close)
        keeper = threading.Thread(target=_keep_up, args=(server, say, watch), name="postgresql")
        stack.callback(keeper.join)
        stack.callback(watch.stop)
        keeper.start()
        yield place


def _keep_up(server: Server, say: Callable[[str], None], watch: EndWatch) -> None:
    failures = 0
    stopped = False
    while not stopped:
        try:
            pid = server.pid()
            if pid is None:
                server.start_again()
                stopped = watch.pause(PAUSE_SECONDS)
            else:
                failures = 0
                stopped = watch.wait_for_end(pid)
        # For example no file descriptor or memory, or PostgreSQL was killed during its start.
        except (EmbeddedError, OSError, psycopg.Error) as error:
            failures += 1
            say(f"PostgreSQL could not be checked or started again: {error}")
            stopped = watch.pause(min(PAUSE_SECONDS * 2**failures, LONGEST_PAUSE_SECONDS))


@contextmanager
def running(place: Place | None = None, *, create: bool = True) -> Iterator[Place]:
    """Use the embedded server during a block. It is not restarted if it ends.

    :param create: whether to make the data if there is none.
    :raises EmbeddedError: it cannot be used, or there is no data and none may be made.
    """
    server = Server(place or place_for(), create=create)
    try:
        server.acquire()
        yield server.place
    finally:
        server.release()


def binaries_for(place: Place) -> Path:
    """Return the folder of the programs that run at `place`, or that a start would choose.

    :raises EmbeddedError: no programs can be used.
    """
    data = running_data(place)
    if data is not None:
        return reachable(place, choose(AUTO, {version_of(data): data})[0])
    return reachable(place, choose(wanted_source(Environment()), folders(place))[0])


def _require_data(place: Place, wanted: str) -> None:
    """Refuse to continue if a start would make new data. `wanted` is the value of `POSTGRES`.

    :raises EmbeddedError: there is no data, or none of the wanted PostgreSQL.
    """
    if not folders(place):
        raise EmbeddedError(
            "DATABASE_URL is not set, and this folder has no database for the current user. Is the environment of the"
            " site loaded (NOMERCY_ENV_FILE)? Only script/run, script/stack and script/test make a new database."
        )
    chosen = choose(wanted, folders(place))[0]
    if not version_of(folder_for(place, chosen)):
        raise EmbeddedError(
            f"POSTGRES={wanted} is PostgreSQL {chosen}, which has no data here. Only script/run, script/stack and"
            " script/test make a new database."
        )


def _join(place: Place, wanted: str) -> str:
    """Return the version of the running server if it can be joined, else "". `wanted` is the value of `POSTGRES`.

    A server that nobody uses is stopped if another one is wanted.

    :raises EmbeddedError: other processes use a server that is not the wanted one.
    """
    if postmaster_pid(place) is None or not wait_until_ready(place, None):
        return ""
    with connect(place) as connection:
        major, minor = divmod(connection.info.server_version, 10000)
    with open_lock(place.beside("users")) as users:
        used = not lock_alone(users)
    runs = f"{major}.{minor}"
    if used and wanted == AUTO:
        return runs
    chosen = choose(wanted, folders(place))[0]
    if (chosen.major, chosen.minor) == (major, minor):
        return str(chosen)
    if used and chosen.major == major:
        return runs
    if used:
        raise EmbeddedError(
            f"POSTGRES={wanted} is PostgreSQL {chosen.version}, but other processes of this folder use PostgreSQL"
            f" {runs}: stop them first, or start without POSTGRES."
        )
    stop(place)
    return ""


def _start_first(place: Place, wanted: str, say: Callable[[str], None]) -> str:
    """Start the wanted programs and return their version. If there is no data yet, try the next ones on failure.

    :raises EmbeddedError: none of them starts.
    """
    *others, last = choose(wanted, folders(place))
    for programs in others:
        try:
            start(place, programs)
        except (EmbeddedError, OSError, psycopg.Error) as error:
            stop(place)
            data = folder_for(place, programs)
            if version_of(data):  # created just now
                shutil.rmtree(data)
            kept = place.log.replace(place.beside(f"{programs.source}.log")) if place.log.exists() else ""
            reason = error if isinstance(error, OSError) else f"see {kept}"
            say(f"PostgreSQL {programs} does not start here ({reason}), so {last} is tried.")
        else:
            return str(programs)
    start(place, last)
    return str(last)
