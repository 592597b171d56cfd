"""Processes by their numbers, which PostgreSQL writes down and which become other programs' after a crash."""

import os
import shutil
import subprocess
from pathlib import Path


def recorded_pid(file: Path) -> int | None:
    """The number in the first line of one of PostgreSQL's two files about itself."""
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
    """Whether there is a process of this number, be it a dead one that nobody has collected."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
