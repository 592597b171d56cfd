"""The files and folders of a checkout's PostgreSQL: where they are, who owns them, and locks on them.

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
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

CHECKOUT = Path(__file__).resolve().parents[2]
ROOT_HOME = Path("/var/lib/nomercy")
ROOT_USER = "nomercy"
ROLE = DATABASE = "nomercy"
PORT = 5432  # part of the socket's name; nothing listens on it
LONGEST_SOCKET_FOLDER = 80  # bytes: the kernel allows 107 for folder and socket together
LOCK_SECONDS = 180
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class EmbeddedError(Exception):
    """The site or its PostgreSQL cannot start. The message is a sentence for the person at the terminal."""


@dataclass(frozen=True)
class Place:
    """The paths of one checkout's server. `user` is the system user that runs it, None for the current one.

    `others` is the `base` of other users: for root that of an ordinary user, and the other way round.

    `sockets` is the folder of its Unix socket. All other paths begin with `base`. `folders` lists the data.
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


def folders(place: Place) -> dict[str, Path]:
    """Return the folders of `place` that hold data, by the major version that made it. No other version can read it."""
    # Earlier releases had one folder without a number. It comes last, so it wins if both have the same version.
    found = (*_numbered(place.base), place.base)
    return {version: folder for folder in found if (version := version_of(folder))}


def folders_of_others(place: Place) -> list[Path]:
    """Return the folders in which a start by other users has made data. The current user may not be able to read it."""
    return [] if place.others is None else list(filter(Path.is_dir, (*_numbered(place.others), place.others)))


def folder_for(place: Place, major: int) -> Path:
    """Return the data folder for a major version. It may not exist yet."""
    return folders(place).get(str(major)) or place.base.with_name(f"{place.base.name}-{major}")


def version_of(folder: Path) -> str:
    """Return the major version of the data in a folder, or "" if there is no data."""
    try:
        return (folder / "PG_VERSION").read_text().strip()
    except (FileNotFoundError, NotADirectoryError):
        return ""


def _numbered(base: Path) -> list[Path]:
    found = base.parent.glob(f"{base.name}-*")
    return sorted(folder for folder in found if folder.name.rpartition("-")[2].isdecimal())


def secret_key(place: Place, *, create: bool = True) -> str:
    """Return the stored `SECRET_KEY`. It is created at the first call, in a file that only the owner can read.

    Without `create`, a key that is not there is made for this process alone and not stored.
    """
    path = place.beside("secret_key")
    if not path.exists():
        key = secrets.token_urlsafe(48)
        if not create:
            return key
        make_home(place)
        with exclusive(place.beside("lock")):
            if not path.exists():
                store_secret_key(place, key)
    return path.read_text()


def store_secret_key(place: Place, key: str) -> None:
    """Store this `SECRET_KEY` in place of the one that is there, as after a restore."""
    unfinished = place.beside("secret_key.new")
    with open(unfinished, "w", opener=private_file) as file:
        file.write(key)
    unfinished.rename(place.beside("secret_key"))


def kept_secret_key(place: Place) -> str:
    """Return the stored `SECRET_KEY`. It is made before the data; a later one would not be that of the data.

    :raises EmbeddedError: there is data, but no key.
    """
    found = folders(place)  # read first, because another start may be making both
    path = place.beside("secret_key")
    if found and not path.exists():
        raise EmbeddedError(
            f"The secret key of the data in {' and '.join(map(str, found.values()))} is lost: there is no {path}, and"
            " SECRET_KEY is not set. With another key everybody is logged out, links in sent mails are invalid, and"
            " second factors cannot be read. Put the file back, or get SECRET_KEY out of a backup: manage.py"
            " verify_backup FILE --write-settings NEW_FILE. To start with another key all the same, set SECRET_KEY to"
            " a long random text."
        )
    return secret_key(place)


def make_home(place: Place) -> None:
    """Create the parent folder of the data, and the system user if the current user is root."""
    if place.user is not None:
        _make_system_user(place.user)
    home = place.base.parent
    if not home.exists():
        home.mkdir(exist_ok=True)
        # The umask may be too narrow for the system user, or so wide that others could write there.
        home.chmod(0o755)


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


def lock_alone(file: IO[str]) -> bool:
    """Take the exclusive lock of this file. Return False if another process holds any lock on it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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


@contextmanager
def undisturbed() -> Iterator[None]:
    """Block the stop signals during a block. They are handled at its end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


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
