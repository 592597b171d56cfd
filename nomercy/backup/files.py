"""New files that only their owner can read, and that are complete or not there at all."""

import os
import stat
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from nomercy.backup.archive import BackupError

PREFIX: Final = ".nomercy-"
"""How the name of an unfinished file begins."""
LEFT_SECONDS: Final = 3600
"""An unfinished file that nobody has written to for so long was left by a killed process."""


@contextmanager
def new_file(path: Path) -> Iterator[IO[bytes]]:
    """Yield a private file that is named `path` at the end of the block, or removed if that fails.

    What killed processes have left in its folder is removed first.

    :raises BackupError: `path` exists or is empty.
    :raises OSError: the file cannot be written. The error has `path`, not the unfinished name that nobody has given.
    """
    if path == Path():
        raise BackupError("The name of the new file is empty.")
    if path.exists():
        raise BackupError(f"{path} exists already. Choose another name.")
    try:
        for left in path.parent.glob(f"{PREFIX}*"):
            found = left.lstat()
            own = stat.S_ISREG(found.st_mode) and found.st_uid == os.geteuid()
            if own and found.st_mtime < time.time() - LEFT_SECONDS:
                left.unlink(missing_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=PREFIX)  # its mode is 0600
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            Path(unfinished).rename(path)
        except BaseException:
            Path(unfinished).unlink(missing_ok=True)
            raise
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from error
