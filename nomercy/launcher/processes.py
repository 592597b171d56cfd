"""The processes of a site in production, as `docker/compose.yaml` and `script/stack` start them."""

from pathlib import Path
from typing import Final
from urllib.parse import quote

CLOCK: Final = "clock"
MAIL: Final = "mail"
WORK: Final = "work"
QUEUES: Final = {CLOCK: 2, WORK: 2, MAIL: 2}
"""The queues and how many tasks of each run at once. Each has a worker of its own: no mail server and no number of bots
may ever keep the clocks from acting. A worker that is told of no queue takes from all.
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
"""What to run, without the address to listen on. Exactly one beat; as many of the others as one likes."""


def redis_command(folder: Path) -> tuple[list[str], str]:
    """Return the command of a Redis for this machine's user alone, in a private folder, and its address.

    It listens on no network, only on a Unix socket in that folder. Nothing durable lives there: pokes, hints to the
    worker, and counters.
    """
    socket = folder / "redis.sock"
    private = ["--port", "0", "--unixsocket", str(socket), "--unixsocketperm", "700"]
    files = ["--dir", str(folder), "--logfile", "redis.log", "--save", "", "--appendonly", "no"]
    return ["redis-server", *private, *files], f"unix://{quote(str(socket))}?db=0"


STOP_SECONDS: Final = 30
"""How long each may take to finish what it does after SIGTERM, before it is killed."""
