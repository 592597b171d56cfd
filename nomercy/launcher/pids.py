"""Look up processes by PID. PostgreSQL writes its own to files; after a crash another program may have it."""

import os
import shutil
import subprocess
from pathlib import Path


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
