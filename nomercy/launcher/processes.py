"""The processes of a site in production, as `docker/compose.yaml` and `script/stack` start them."""

from pathlib import Path
from typing import Final
from urllib.parse import quote

CLOCK: Final = "clock"
MAIL: Final = "mail"
WORK: Final = "work"
QUEUES: Final = {CLOCK: 2, WORK: 2, MAIL: 2}
"""The queues, and how many tasks of each run at once. Each has its own worker, so that neither a slow mail server nor
many bots delay the clocks. A worker without `--queues` takes tasks from all.
"""


def _worker(queue: str) -> tuple[str, ...]:
    own = ("--queues", queue, "--concurrency", str(QUEUES[queue]), "--hostname", f"{queue}@%h")
    return ("celery", "--quiet", "-A", "nomercy", "worker", *own)


COMMANDS: Final[dict[str, tuple[str, ...]]] = {
    "web": ("python", "-m", "nomercy.server", "pages"),
    "ws": ("python", "-m", "nomercy.server", "sockets"),
    "clock": _worker(CLOCK),
    "worker": _worker(WORK),
    "mail": _worker(MAIL),
    "beat": ("celery", "--quiet", "-A", "nomercy", "beat"),
}  # fmt: skip
"""The commands without the address to listen on. Run exactly one beat, and any number of the others."""


def redis_command(folder: Path) -> tuple[list[str], str]:
    """Return the command of a Redis in this private folder, and its URL.

    It listens only on a Unix socket in that folder. It keeps nothing on disk, because it holds only notifications of
    pages, hints to the workers, and counters.
    """
    socket = folder / "redis.sock"
    private = ["--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"]
    files = ["--dir", str(folder), "--logfile", "redis.log", "--save", "", "--appendonly", "no"]
    return ["redis-server", *private, *files], f"unix://{quote(str(socket))}?db=0"


STOP_SECONDS: Final = 30
"""How long each process may take to finish after SIGTERM before it is killed."""
