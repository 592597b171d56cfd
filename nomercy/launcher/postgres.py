"""Start, share, keep and stop the PostgreSQL of a checkout.

Processes coordinate by two advisory file locks, which the kernel releases even at `kill -9`. `lock` is held exclusively
while a process starts or stops the server. `users` is held shared by each process that uses it. The last user stops
it. If all users were killed, the next process takes the running server over.
"""

import fcntl
import os
import pwd
import select
import shlex
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import PGconn, Ping

from nomercy.checks import Environment
from nomercy.launcher.place import (
    DATABASE,
    PORT,
    ROLE,
    EmbeddedError,
    Place,
    exclusive,
    folder_for,
    folders,
    folders_of_others,
    kept_secret_key,
    lock_alone,
    make_home,
    make_private_folder,
    open_lock,
    place_for,
    private_file,
    undisturbed,
    version_of,
)
from nomercy.launcher.programs import AUTO, Programs, choose, reachable, wanted_source

START_SECONDS: Final = 120  # crash recovery included
STOP_SECONDS: Final = 30
PREDECESSOR_SECONDS: Final = 10  # how long the children of a killed server may take to end
LOOK_SECONDS: Final = 0.02
PAUSE_SECONDS: Final = 0.2
"""The pause after the first failed restart. It doubles with each failure."""
LONGEST_PAUSE_SECONDS: Final = 30
SERVER_SETTINGS: Final = {
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
SETTINGS_OF_18: Final = {"io_method": "sync"}
"""Settings that earlier major versions do not have."""


class Server(NamedTuple):
    """A running PostgreSQL: the process id, and its data folder."""

    pid: int
    data: Path


def _say_nothing(_: str) -> None:
    """Say nothing."""


@contextmanager
def running(
    place: Place | None = None, *, create: bool = True, say: Callable[[str], None] = _say_nothing
) -> Iterator[Place]:
    """Use the embedded server during a block: start it if it does not run, and stop it if nobody else uses it.

    :param create: whether to make the data if there is none. If not, its secret key must be there, too.
    :param say: is told which server runs, on which data.
    :raises EmbeddedError: it cannot be used, or there is no data and none may be made.
    """
    place = place or place_for()
    wanted = wanted_source(Environment())
    if not create:
        _require_data(place, wanted)
        if not Environment().text("SECRET_KEY"):
            kept_secret_key(place)
    make_home(place)
    with ExitStack() as stack:
        users = stack.enter_context(open_lock(place.beside("users")))
        with exclusive(place.beside("lock")):
            stack.callback(_leave, place, users)
            runs = _join(place, wanted) or _start_first(place, wanted, say)
            fcntl.flock(users, fcntl.LOCK_SH)
        server = server_at(place)
        data = server.data if server else None
        others = [f"other data, of PostgreSQL {v}, is in {path}" for v, path in folders(place).items() if path != data]
        others += [f"data of another user is in {path}" for path in folders_of_others(place)]
        say("; ".join([f"PostgreSQL {runs} runs, with its data in {data}", *others]) + ".")
        yield place


@contextmanager
def kept_up(place: Place, say: Callable[[str], None]) -> Iterator[Place]:
    """Use the embedded server during a block as `running` does. If it ends, start it again and `say` so.

    Later failures to start are reported and retried, with pauses up to `LONGEST_PAUSE_SECONDS`.

    :raises EmbeddedError: it does not start at first.
    """
    with running(place, say=say):
        server = server_at(place)
        assert server is not None
        stopped, stop = os.pipe()
        watched = threading.Event()
        arguments = (place, server.data, say, watched, stopped)
        keeper = threading.Thread(target=_keep_up, args=arguments, name="postgresql")
        keeper.start()
        try:
            watched.wait()
            yield place
        finally:
            os.close(stop)
            keeper.join()
            os.close(stopped)


def _keep_up(place: Place, data: Path, say: Callable[[str], None], watched: threading.Event, stopped: int) -> None:
    """Start the server again whenever it ends, until `stopped` can be read. Set `watched` once its end is noticed."""
    pause = 0.0
    while not _wait(stopped, seconds=pause):
        try:
            _start_again(place, data, say)
            # The server closes the connection when it ends, so nobody has to look whether it runs.
            with closing(connect(place)) as connection:
                watched.set()
                pause = 0.0
                _wait(stopped, connection.fileno())
        # For example no file descriptor or memory, or PostgreSQL was killed during its start.
        except (EmbeddedError, OSError, psycopg.Error) as error:
            say(f"PostgreSQL could not be checked or started again: {error}")
            pause = min(max(PAUSE_SECONDS, 2 * pause), LONGEST_PAUSE_SECONDS)


def _wait(stopped: int, *files: int, seconds: float | None = None) -> bool:
    """Wait until one of the files can be read or the seconds are over. Return True if it is the first one."""
    poll = select.poll()
    for file in (stopped, *files):
        poll.register(file, select.POLLIN)
    return stopped in dict(poll.poll(None if seconds is None else seconds * 1000))


def _start_again(place: Place, data: Path, say: Callable[[str], None]) -> None:
    """Start the server on this data if it has ended.

    :raises EmbeddedError: it does not start.
    """
    with exclusive(place.beside("lock")):
        if server_at(place) is None:
            say("PostgreSQL has ended. It is started again.")
            _start(place, choose(AUTO, {version_of(data): data})[0])


def server_at(place: Place) -> Server | None:
    """Return the server that runs at `place`, or None. Wait for one that is starting or stopping.

    :raises EmbeddedError: it does neither within `START_SECONDS`.
    """
    until = time.monotonic() + START_SECONDS
    while (ping := PGconn.ping(_conninfo(place).encode())) == Ping.REJECT:
        if time.monotonic() > until:
            raise EmbeddedError(f"PostgreSQL does not answer after {START_SECONDS} s; see {place.log}.")
        time.sleep(LOOK_SECONDS)
    if ping != Ping.OK:
        return None
    pid, data, *_ = _socket_lock(place).read_text().splitlines()
    return Server(int(pid), Path(data))


def connect(place: Place) -> psycopg.Connection[Any]:
    return psycopg.connect(_conninfo(place), autocommit=True)


def binaries_for(place: Place) -> Path:
    """Return the folder of the programs that run at `place`, or that a start would choose.

    :raises EmbeddedError: no programs can be used.
    """
    server = server_at(place)
    if server is not None:
        return reachable(place, choose(AUTO, {version_of(server.data): server.data})[0])
    return reachable(place, choose(wanted_source(Environment()), folders(place))[0])


def _conninfo(place: Place) -> str:
    return make_conninfo(host=str(place.sockets), port=PORT, user=ROLE, dbname="postgres", connect_timeout=5)


def _socket_lock(place: Place) -> Path:
    """Return the file in which PostgreSQL writes its process id and its data folder."""
    return place.sockets / f".s.PGSQL.{PORT}.lock"


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
    if not version_of(folder_for(place, chosen.major)):
        raise EmbeddedError(
            f"POSTGRES={wanted} is PostgreSQL {chosen}, which has no data here. Only script/run, script/stack and"
            " script/test make a new database."
        )


def _join(place: Place, wanted: str) -> str:
    """Return the version of the running server if it can be joined, else "". `wanted` is the value of `POSTGRES`.

    A server that nobody uses is stopped if another one is wanted.

    :raises EmbeddedError: other processes use a server that is not the wanted one.
    """
    if server_at(place) is None:
        return ""
    with closing(connect(place)) as connection:
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
    _stop(place)
    return ""


def _start_first(place: Place, wanted: str, say: Callable[[str], None]) -> str:
    """Start the wanted programs and return their version. If there is no data yet, try the next ones on failure.

    :raises EmbeddedError: none of them starts.
    """
    *others, last = choose(wanted, folders(place))
    for programs in others:
        try:
            _start(place, programs)
        except (EmbeddedError, OSError, psycopg.Error) as error:
            _stop(place)
            shutil.rmtree(folder_for(place, programs.major), ignore_errors=True)  # created just now
            kept = place.log.replace(place.beside(f"{programs.source}.log")) if place.log.exists() else ""
            reason = error if isinstance(error, OSError) else f"see {kept}"
            say(f"PostgreSQL {programs} does not start here ({reason}), so {last} is tried.")
        else:
            return str(programs)
    _start(place, last)
    return str(last)


def _start(place: Place, programs: Programs) -> None:
    """Start the server and wait until it answers. Create its data and the database if there are none.

    :raises EmbeddedError: it did not start. Its log says why.
    """
    binaries = reachable(place, programs)
    data = folder_for(place, programs.major)
    if not version_of(data):
        _initialise(place, programs, data)
    make_private_folder(place.sockets, place.user)
    for left_behind in (data / "postmaster.pid", _socket_lock(place)):
        _replace_reused_pid(left_behind, data)
    options = ["-k", str(place.sockets)]
    for name, value in (SERVER_SETTINGS | (SETTINGS_OF_18 if programs.major >= 18 else {})).items():
        options += ["-c", f"{name}={value}"]
    command = [str(binaries / "pg_ctl"), "start", "--silent", f"--timeout={START_SECONDS}", "--pgdata", str(data)]
    until = time.monotonic() + PREDECESSOR_SECONDS
    while not _run(place, [*command, "--options", shlex.join(options)]):
        if "pre-existing shared memory block" not in place.log.read_text() or time.monotonic() > until:
            raise EmbeddedError(f"PostgreSQL did not start; see {place.log}.")
    with closing(connect(place)) as connection:
        if connection.execute("SELECT FROM pg_database WHERE datname = %s", [DATABASE]).fetchone() is None:
            connection.execute(f"CREATE DATABASE {DATABASE}")


def _initialise(place: Place, programs: Programs, data: Path) -> None:
    """Create the data folder. It is made under another name and renamed, so that it is never incomplete.

    :raises EmbeddedError: `initdb` failed.
    :raises OSError: `data` exists and has files in it.
    """
    fresh = place.beside("new")
    shutil.rmtree(fresh, ignore_errors=True)
    make_private_folder(fresh, place.user)
    command = [str(reachable(place, programs) / "initdb"), "-D", str(fresh), "-U", ROLE, "--auth=trust"]
    command += ["--encoding=UTF8", "--locale=C", "--no-instructions"]
    # Text sorts by code point; upper and lower case work in all languages.
    if programs.major >= 17:
        command += ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    else:
        command += ["--lc-ctype=C.UTF-8"]
    if not _run(place, command):
        raise EmbeddedError(f"PostgreSQL could not make its data folder {data}; see {place.log}.")
    with suppress(FileNotFoundError):
        data.rmdir()  # fails if there are other files in it
    fresh.rename(data)


def _run(place: Place, command: list[str]) -> bool:
    """Run a PostgreSQL program as the user of `place`, with its output in the log. Return True if it succeeds.

    A stop signal waits until it has ended, and does not reach it, so that nothing is left half started.
    """
    with undisturbed(), open(place.log, "wb", opener=private_file) as log:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            check=False,
            start_new_session=True,
            cwd="/",
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            umask=0o077,
            user=place.user,
            group=pwd.getpwnam(place.user).pw_gid if place.user else None,
            extra_groups=[] if place.user else None,
        )
    return done.returncode == 0


def _replace_reused_pid(left_behind: Path, data: Path) -> None:
    """Replace the PID in a file of a crashed server, if another process has it, so that PostgreSQL starts."""
    # PostgreSQL refuses to start while the old PID exists. We write our own PID, because PostgreSQL takes that of the
    # process that runs `pg_ctl` for stale. Deleting the file would switch off its check that no process of the killed
    # server is still writing.
    with suppress(FileNotFoundError, ProcessLookupError, ValueError):
        pid, rest = left_behind.read_text().split("\n", 1)
        if str(data) not in Path(f"/proc/{int(pid)}/cmdline").read_text(errors="replace"):
            with left_behind.open("r+") as file:
                file.write(f"{os.getpid()}\n{rest}")
                file.truncate()


def _leave(place: Place, users: IO[str]) -> None:
    """Stop using the server. The last user stops it."""
    with undisturbed(), exclusive(place.beside("lock")):
        if lock_alone(users):
            _stop(place)


def _stop(place: Place) -> None:
    """Stop the server at `place`, if one runs, by a fast shutdown: sessions end, and the next start needs no recovery.

    :raises EmbeddedError: it did not stop within `STOP_SECONDS`.
    """
    server = server_at(place)
    if server is not None:
        until = time.monotonic() + STOP_SECONDS
        with suppress(ProcessLookupError):
            os.kill(server.pid, signal.SIGINT)
        while (server.data / "postmaster.pid").exists() and _exists(server.pid):  # it removes the file last
            if time.monotonic() > until:
                raise EmbeddedError(
                    f"PostgreSQL (process {server.pid}) did not stop within {STOP_SECONDS} s; see {place.log}."
                )
            time.sleep(LOOK_SECONDS)
    if place.sockets.parent != place.base.parent:  # a folder in the user's home or in /tmp
        shutil.rmtree(place.sockets, ignore_errors=True)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
