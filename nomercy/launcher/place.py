"""Where the PostgreSQL of a checkout lives on disk, making those files and folders, and running programs there.

No folder that already exists is ever changed: a private home folder stays private. Lock and log files are for their
owner alone: another user of the machine who could open a lock file could hold it, and stop every start.
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
    """The PostgreSQL that we start cannot be used; the message is a sentence for the person at the terminal."""


@dataclass(frozen=True)
class Place:
    """The files of one checkout's server. `user` is the system user that runs it, None for ourselves.

    All their names begin with `base`. `nomercy.launcher.data` knows the folders of data.
    """

    base: Path
    sockets: Path
    user: str | None

    def beside(self, suffix: str) -> Path:
        """Return `base` with a suffix: the lock, log and key files, of which there is one for all folders of data."""
        return self.base.with_name(f"{self.base.name}.{suffix}")

    @property
    def log(self) -> Path:
        return self.beside("log")

    @property
    def url(self) -> str:
        """The `DATABASE_URL` of this server, for other programs."""
        return f"postgres://{ROLE}@{str(self.sockets).replace('/', '%2F')}:{PORT}/{DATABASE}"


def place_for(checkout: Path = CHECKOUT) -> Place:
    """The place of `checkout`'s server for the user we are; touches no file."""
    digest = hashlib.sha256(os.fsencode(checkout)).hexdigest()[:12]
    if os.geteuid() == 0:
        return Place(base=ROOT_HOME / digest, sockets=ROOT_HOME / f"{digest}.sock", user=ROOT_USER)
    base = checkout / "var" / "pg"
    sockets = base.with_name("pg.sock")
    if len(os.fsencode(sockets)) > LONGEST_SOCKET_FOLDER:
        sockets = Path(tempfile.gettempdir()) / f"nomercy-{os.geteuid()}-{digest}"
    return Place(base=base, sockets=sockets, user=None)


def secret_key(place: Place) -> str:
    """The site's `SECRET_KEY`: made at the first start, kept beside the data for its owner only."""
    path = place.beside("secret_key")
    if not path.exists():
        make_home(place)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix="secret_key.")
        with os.fdopen(handle, "w") as file:
            file.write(secrets.token_urlsafe(48))
        with suppress(FileExistsError):  # another process was quicker: its key counts
            os.link(name, path)
        Path(name).unlink()
    return path.read_text()


def make_home(place: Place) -> None:
    """The folder that holds the data, and as root the system user."""
    if place.user is not None:
        _make_system_user(place.user)
    home = place.base.parent
    if not home.exists():
        home.mkdir(exist_ok=True)
        # Just made by us: root's umask may have kept the system user out, and a wide one may let others write there.
        home.chmod(0o755)


def private_file(name: str, flags: int) -> int:
    """Open a file for its owner alone, and narrow one that others could open; the `opener` of Python's `open`.

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
    """Open a lock file, made if it is not there.

    :raises OSError: as `private_file`.
    """
    return open(path, "a+", opener=private_file)


def make_private_folder(path: Path, owner: str | None) -> None:
    """A folder for `owner` alone. One that is there must be so already: others may be able to write to its parent."""
    uid = pwd.getpwnam(owner).pw_uid if owner else os.geteuid()
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        found = path.lstat()
        if found.st_uid != uid or found.st_mode & 0o170077 != 0o040000:
            raise EmbeddedError(
                f"{path} is not a folder of {owner or 'yours'} alone: remove it and start again."
            ) from None
        return
    if owner:
        os.chown(path, uid, pwd.getpwnam(owner).pw_gid)


def run_program(place: Place, arguments: list[str], output: IO[bytes]) -> subprocess.Popen[bytes]:
    """Start a PostgreSQL program as the right user, in a session of its own: the terminal's Ctrl-C misses it."""
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
    """Start a PostgreSQL program and answer what `wait` says of it. If the wait fails or is interrupted, so ends it."""
    child = None
    try:
        with undisturbed():  # a signal between the start and knowing the number would leave it running
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
        os.killpg(child.pid, signal.SIGKILL)  # it leads a session of its own
        child.wait()


@contextmanager
def undisturbed() -> Iterator[None]:
    """Hold the stop signals back for the length of a block: one that comes meanwhile is acted on at its end.

    Programs started in the block begin with them held back too.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())
    try:
        signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """One process at a time; the kernel frees the lock of one that dies. Raises EmbeddedError after a long wait."""
    with open_lock(path) as file:
        deadline = time.monotonic() + LOCK_SECONDS
        while not lock_alone(file):
            if time.monotonic() > deadline:
                raise EmbeddedError(
                    f"Another program has been starting or stopping PostgreSQL for too long; it holds {path}."
                )
            time.sleep(0.02)
        yield


def lock_alone(file: IO[str]) -> bool:
    """Take the file's exclusive lock if no other process holds any lock on it."""
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
    if not _exists(user):  # another start may have made it meanwhile
        raise EmbeddedError(
            f"PostgreSQL never runs as root, and making the system user {user} failed: make it, or set DATABASE_URL."
        )


def _exists(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True
