"""Look up processes by PID. PostgreSQL writes its own to files; after a crash another program may have it."""

import errno
import os
import select
import shutil
import subprocess
from pathlib import Path
from typing import Final

LOOK_SECONDS: Final = 0.2
"""How often a process is looked at where the system does not tell of its end."""
LONGEST_WAIT_SECONDS: Final = 30.0
"""How long a wait takes at most. The number may have become another process's before the wait began."""


def recorded_pid(file: Path) -> int | None:
    """Return the PID in the first line of a pid or lock file of PostgreSQL, or None."""
    try:
        return int(file.read_text().split("\n", 1)[0])
    except (FileNotFoundError, ValueError):
        return None


def command_line(pid: int) -> list[str]:
    if Path("/proc/self/cmdline").exists():
        try:
            words = Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
        except (FileNotFoundError, ProcessLookupError):
            return []
        return [word for word in words if word]
    ps = shutil.which("ps") or "/bin/ps"
    return subprocess.run(
        [ps, "-ww", "-o", "args=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.split()


def taken(pid: int) -> bool:
    """Return True if a process has this PID, also if it has ended and its parent has not collected it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


class EndWatch:
    """Waits for the end of processes in one thread, until another thread stops it."""

    def __init__(self) -> None:
        self._told, self._tell = os.pipe()

    def stop(self) -> None:
        """End the wait that is going on and all later ones. May be called once, in any thread."""
        os.close(self._tell)

    def close(self) -> None:
        """Free what is left when nobody waits any more."""
        os.close(self._told)

    def pause(self, seconds: float) -> bool:
        """Wait. Return True at once when `stop` is called."""
        return self._wait_for(self._told, seconds=seconds)

    def wait_for_end(self, pid: int) -> bool:
        """Wait for the end of a process, but look again now and then. Return True at once when `stop` is called.

        :raises OSError: there is no file descriptor left.
        """
        try:
            process = os.pidfd_open(pid)
        except ProcessLookupError:
            return self.pause(0)
        except AttributeError:  # not Linux
            return self.pause(LOOK_SECONDS)
        except OSError as error:
            if error.errno not in (errno.ENOSYS, errno.EPERM):  # an old kernel, or a container that forbids it
                raise
            return self.pause(LOOK_SECONDS)
        try:
            return self._wait_for(self._told, process, seconds=LONGEST_WAIT_SECONDS)
        finally:
            os.close(process)

    def _wait_for(self, *files: int, seconds: float) -> bool:
        poll = select.poll()
        for file in files:
            poll.register(file, select.POLLIN)
        return self._told in (file for file, _ in poll.poll(seconds * 1000))
