"""The files and folders of a checkout's PostgreSQL, and running its programs.

No existing folder is changed, so a private home folder stays private. Only the owner can open lock and log files:
another user of the machine could hold a lock and block every start.
"""

import fcntl
import hashlib
import os
import pwd
import secrets
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TypeVar

CHECKOUT = Path(__file__).resolve().parents[2]
ROOT_HOME = Path("/var/lib/nomercy")
ROOT_USER = "nomercy"
ROLE = DATABASE = "nomercy"
PORT = 5432  # part of the socket's name; nothing listens on it
LONGEST_SOCKET_FOLDER = 80  # bytes: the kernel allows 107 for folder and socket together
LOCK_SECONDS = 180
END_SECONDS = 20
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Answer = TypeVar("Answer")


class EmbeddedError(Exception):
    """The embedded PostgreSQL cannot be used. The message is a sentence for the person at the terminal."""


@dataclass(frozen=True)
class Place:
    """The paths of one checkout's server. `user` is the system user that runs it, None for the current one.

    `others` is the `base` of other users: for root that of an ordinary user, and the other way round.

    `sockets` is the folder of its Unix socket. All other paths begin with `base`. `data.folders` lists the data.
    """

    base: Path
    sockets: Path
    user: str | None
    others: Path | None = None

    def beside(self, suffix: str) -> Path:
        """Return the path of `base` with a suffix, for files that all data folders share: locks, log and key."""
        return self.base.with_name(f"{self.base.name}.{suffix}")

    @property
    def log(self) -> Path:
        return self.beside("log")

    @property
    def url(self) -> str:
        """Return the `DATABASE_URL` of this server."""
        return f"postgres://{ROLE}@{str(self.sockets).replace('/', '%2F')}:{PORT}/{DATABASE}"


def place_for(checkout: Path = CHECKOUT) -> Place:
    """Return the paths of this checkout's server for the current user. Writes nothing."""
    digest = hashlib.sha256(os.fsencode(checkout)).hexdigest()[:12]
    base = checkout / "var" / "pg"
    roots = ROOT_HOME / digest
    if os.geteuid() == 0:
        return Place(base=roots, sockets=ROOT_HOME / f"{digest}.sock", user=ROOT_USER, others=base)
    sockets = base.with_name("pg.sock")
    if len(os.fsencode(sockets)) > LONGEST_SOCKET_FOLDER:
        # Anybody could make a folder of this name in /tmp first, so it is only for those without a short home.
        home = Path(pwd.getpwuid(os.geteuid()).pw_dir)
        sockets = home / f".nomercy-{digest}"
        if len(os.fsencode(sockets)) > LONGEST_SOCKET_FOLDER or not os.access(home, os.W_OK):
            sockets = Path(tempfile.gettempdir()) / f"nomercy-{os.geteuid()}-{digest}"
    return Place(base=base, sockets=sockets, user=None, others=roots)


def secret_key(place: Place, *, create: bool = True) -> str:
    """Return the stored `SECRET_KEY`. It is created at the first call, in a file that only the owner can read.

    Without `create`, a key that is not there is made for this process alone and not stored.
    """
    path = place.beside("secret_key")
    if not path.exists():
        if not create:
            return secrets.token_urlsafe(48)
        make_home(place)
        made = _private_copy(path, secrets.token_urlsafe(48))
        with suppress(FileExistsError):  # another process was faster: use its key
            os.link(made, path)
        made.unlink()
    return path.read_text()


def store_secret_key(place: Place, key: str) -> None:
    """Store this `SECRET_KEY` in place of the one that is there, as after a restore."""
    path = place.beside("secret_key")
    _private_copy(path, key).rename(path)


def _private_copy(path: Path, text: str) -> Path:
    """Write a text into a new file beside `path` that only its owner can read, and return its path."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f"{path.name}.")
    try:
        with os.fdopen(handle, "w") as file:
            file.write(text)
    except BaseException:  # for example, the disk is full
        Path(name).unlink()
        raise
    return Path(name)


def make_home(place: Place) -> None:
    """Create the parent folder of the data, and the system user if the current user is root."""
    if place.user is not None:
        _make_system_user(place.user)
    home = place.base.parent
    if not home.exists():
        home.mkdir(exist_ok=True)
        # The umask may be too narrow for the system user, or so wide that others could write there.
        home.chmod(0o755)


def private_file(name: str, flags: int) -> int:
    """Open a file that only its owner can read and write, as `opener` of `open`. Fix the mode of an existing one.

    :raises OSError: it belongs to somebody else, or is a symbolic link.
    """
    handle = os.open(name, flags | os.O_NOFOLLOW, 0o600)
    try:
        if stat.S_IMODE(os.fstat(handle).st_mode) & 0o077:
            os.fchmod(handle, 0o600)
    except BaseException:
        os.close(handle)
        raise
    return handle


def open_lock(path: Path) -> IO[str]:
    """Open a lock file, and create it if it does not exist.

    :raises OSError: as `private_file`.
    """
    return open(path, "a+", opener=private_file)


def make_private_folder(path: Path, owner: str | None) -> None:
    """Create a folder that only `owner` (None: the current user) can use.

    :raises EmbeddedError: it exists with other rights. It is not changed, because others may have put it there.
    """
    uid = pwd.getpwnam(owner).pw_uid if owner else os.geteuid()
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        found = path.lstat()
        if found.st_uid != uid or found.st_mode & 0o170077 != 0o040000:
            raise EmbeddedError(
                f"{path} is not a private folder of {owner or 'yours'}. Remove it and start again."
            ) from None
        return
    if owner:
        os.chown(path, uid, pwd.getpwnam(owner).pw_gid)


def run_program(place: Place, arguments: list[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a PostgreSQL program as the user of `place`, in its own session, so that Ctrl-C does not reach it."""
    return subprocess.Popen(
        arguments,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        start_new_session=True,
        cwd="/",
        env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
        umask=0o077,
        user=place.user,
        group=pwd.getpwnam(place.user).pw_gid if place.user else None,
        extra_groups=[] if place.user else None,
    )


def run_and_wait(
    place: Place,
    arguments: list[str],
    output: IO[bytes],
    wait: Callable[[subprocess.Popen[bytes]], Answer],
    *,
    end_with: signal.Signals,
) -> Answer:
    """Start a PostgreSQL program and return the result of `wait`. If that raises, end the program with `end_with`."""
    child = None
    try:
        with undisturbed():  # a signal before `child` is set would leave it running
            child = run_program(place, arguments, output)
        return wait(child)
    except BaseException:
        if child is not None:
            with undisturbed():
                _end(child, end_with)
        raise


def _end(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    child.send_signal(number)
    try:
        child.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)  # it leads its own session
        child.wait()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Block the stop signals during a block. They are handled at its end.

    Programs that are started in the block inherit the blocked signals.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Hold the lock file `path` during a block. The kernel unlocks it if this process dies.

    :raises EmbeddedError: another process held it for `LOCK_SECONDS`.
    """
    with open_lock(path) as file:
        deadline = time.monotonic() + LOCK_SECONDS
        while not lock_alone(file):
            if time.monotonic() > deadline:
                raise EmbeddedError(
                    f"Another program has been starting or stopping PostgreSQL for too long. It holds {path}."
                )
            time.sleep(0.02)
        yield


def lock_alone(file: IO[str]) -> bool:
    """Take the exclusive lock of this file. Return False if another process holds any lock on it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _make_system_user(user: str) -> None:
    if _exists(user):
        return
    nobody = ["--system", "--user-group", "--no-create-home", "--home-dir", "/nonexistent", "--shell", "/bin/false"]
    search = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
    for command in (["useradd", *nobody, user], ["adduser", "-S", "-D", "-H", "-s", "/bin/false", user]):
        tool = shutil.which(command[0], path=search)
        if tool and subprocess.run([tool, *command[1:]], capture_output=True, check=False).returncode == 0:
            return
    if not _exists(user):  # another start may have created it meanwhile
        raise EmbeddedError(
            f"PostgreSQL cannot run as root, and the system user {user} could not be created. Create it, or set"
            " DATABASE_URL."
        )


def _exists(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True
