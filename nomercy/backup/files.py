"""New files that only their owner can read, and that are complete or not there at all."""

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Final

from nomercy.backup.encryption import BackupError
from nomercy.launcher.place import lock_alone, open_lock

PREFIX: Final = ".nomercy-"
"""How the name of an unfinished file begins. Its process holds a lock on it."""


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a private file that is named `path` at the end of the block, or removed if that fails.

    Unfinished files of killed processes are removed from its folder first.

    :raises BackupError: `path` exists.
    :raises OSError: the file cannot be written. The error has `path`, not the unfinished name that nobody has given.
    """
    if path == Path():
        raise BackupError("The name of the new file is empty.")
    if path.exists():
        raise BackupError(f"{path} exists already. Choose another name.")
    try:
        _remove_unfinished(path.parent)
        handle, unfinished = _locked_file(path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
                unfinished.rename(path)
        except BaseException:
            with suppress(FileNotFoundError):
                unfinished.unlink()
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error


def _locked_file(folder: Path) -> tuple[int, Path]:
    """Return a new file that is open and locked, and its name."""
    while True:
        handle, name = tempfile.mkstemp(dir=folder, prefix=PREFIX)  # its mode is 0600
        fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle, Path(name)
        os.close(handle)  # another process took it for one of a killed process before it was locked


def _remove_unfinished(folder: Path) -> None:
    for path in folder.glob(f"{PREFIX}*"):
        with suppress(FileNotFoundError):  # another process removes them, too
            found = path.lstat()
            if stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid():
                with open_lock(path) as file:
                    if lock_alone(file):
                        path.unlink()
