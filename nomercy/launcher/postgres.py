"""The PostgreSQL of a checkout: starting it, sharing it between processes, stopping it.

Two advisory file locks carry the whole agreement between processes, and the kernel drops them even at `kill -9`:
`lock` is held (alone) while somebody starts or stops the server; `users` is held (shared) by everybody who uses it.
Whoever leaves last stops it. A server whose users were all killed is adopted by the next one to come.
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
from nomercy.launcher.data import folder_for, folders, version_of
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
    give_away,
    pid_on,
    postmaster_pid,
    running_data,
    start,
    stop,
    wait_until_ready,
)
from nomercy.launcher.programs import AUTO, choose, reachable, wanted_source

LOOK_SECONDS = 0.2
LONGEST_PAUSE_SECONDS = 30


class Server:
    """One process's share in the PostgreSQL of a place: `acquire` starts or joins it, `release` leaves or stops it."""

    def __init__(self, place: Place, say: Callable[[str], None] = lambda sentence: None) -> None:
        self.place = place
        self.data: Path | None = None  # what the server runs on, once it has been joined or started
        self._say = say
        self._users: IO[str] | None = None

    def acquire(self) -> None:
        """Join the running server, or start it, and say which it is. Raises EmbeddedError."""
        if self._users is not None:
            return
        wanted = wanted_source(Environment())
        make_home(self.place)
        with exclusive(self.place.beside("lock")):
            try:
                runs = _join(self.place, wanted) or _start_first(self.place, wanted, self._say)
                self.data = running_data(self.place)
                self._users = open_lock(self.place.beside("users"))
                fcntl.flock(self._users, fcntl.LOCK_SH)
            except BaseException:  # a Ctrl-C too must leave nothing running that nobody uses
                if postmaster_pid(self.place) is not None:
                    self._leave()
                raise
        others = "".join(
            f"; other data, of PostgreSQL {version}, is in {folder}"
            for version, folder in folders(self.place).items()
            if folder != self.data
        )
        self._say(f"PostgreSQL {runs} runs, with its data in {self.data}{others}.")

    def is_up(self) -> bool:
        """Return whether the server that was joined or started still runs."""
        return self.data is not None and pid_on(self.data) is not None

    def start_again(self) -> None:
        """Start the server, on the same data, if it has ended while it was used here. Raises EmbeddedError."""
        with exclusive(self.place.beside("lock")):
            if self._users is not None and self.data is not None and not self.is_up():
                self._say("PostgreSQL has ended; it is started again.")
                (programs,) = choose(AUTO, {version_of(self.data): self.data})
                start(self.place, programs)

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
                stop(self.place)
            else:
                give_away()


@contextmanager
def kept_up(place: Place, say: Callable[[str], None]) -> Iterator[Place]:
    """Hold the embedded server up for the length of a block, whatever kills it; `say` is told of that.

    Raises EmbeddedError if it does not start the first time. Later failures are said, and tried again with patience.
    """
    stopping = threading.Event()
    with ExitStack() as stack:
        server = Server(place, say)
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
            if server.is_up():
                failures = 0
                continue
            server.start_again()
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


def binaries_for(place: Place) -> Path:
    """Return the folder of the programs that run, or would run, at `place`. Raises EmbeddedError."""
    data = running_data(place)
    if data is not None:
        return reachable(place, choose(AUTO, {version_of(data): data})[0])
    return reachable(place, choose(wanted_source(Environment()), folders(place))[0])


def _join(place: Place, wanted: str) -> str:
    """Return what runs if it can be joined. One that nobody uses is stopped first if another one is to run.

    :raises EmbeddedError: another process uses one that is not the wanted one.
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
    """Start the programs that are wanted, or the next if there is no data yet; return what runs.

    :raises EmbeddedError: none of them starts.
    """
    *others, last = choose(wanted, folders(place))
    for programs in others:
        try:
            start(place, programs)
        except (EmbeddedError, OSError, psycopg.Error) as error:
            stop(place)
            data = folder_for(place, programs)
            if version_of(data):  # made just now
                shutil.rmtree(data)
            kept = place.log.replace(place.beside(f"{programs.source}.log")) if place.log.exists() else ""
            reason = error if isinstance(error, OSError) else f"see {kept}"
            say(f"PostgreSQL {programs} does not start here ({reason}), so {last} is tried.")
        else:
            return str(programs)
    start(place, last)
    return str(last)
