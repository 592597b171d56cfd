"""The processes of a site in production, as `docker/compose.yaml` and `script/stack` start them."""

import os
import shutil
from pathlib import Path
from typing import Final
from urllib.parse import quote

from nomercy.launcher.place import CHECKOUT

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
    "web": ("script/serve", "web"),
    "ws": ("script/serve", "ws"),
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


NGINX: Final = """\
{user}
worker_processes 2;
pid {folder}/nginx.pid;
lock_file {folder}/nginx.lock;
# Other levels name addresses.
error_log stderr emerg;
events {{
    worker_connections 6144;
}}
http {{
    client_body_temp_path {folder}/client_body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    upstream web {{ server unix:{folder}/web.sock; }}
    upstream ws {{ server unix:{folder}/ws.sock; }}
    map "" $pages {{ default web; }}
    map "" $sockets {{ default ws; }}
    map "" $files {{ default {checkout}/docker; }}
    include {folder}/proxy_maps.conf;
    server {{
        listen {host}:{port};
        include {checkout}/docker/nginx/proxy.conf;
    }}
}}
"""
"""The configuration of nginx in front of `script/stack`, with the files of docker/nginx for all but TLS."""


def nginx_program() -> str | None:
    """Return the path of nginx. Debian keeps it where only root looks for programs."""
    return shutil.which("nginx", path=f"{os.environ.get('PATH', os.defpath)}:/usr/local/sbin:/usr/sbin")


def nginx_command(folder: Path, *, host: str, port: int, per_cent: int) -> list[str]:
    """Write the configuration of nginx into this private folder, where the servers' sockets are. Return its command.

    :param per_cent: `RATE_LIMITS`. With 0 or more than 100, nginx limits no address.
    """
    maps = (CHECKOUT / "docker" / "nginx" / "proxy_maps.conf").read_text()
    if not 0 < per_cent <= 100:
        maps = maps.replace("default $binary_remote_addr;", 'default "";')
    (folder / "proxy_maps.conf").write_text(maps)
    user = "" if os.geteuid() else "user root;"  # or its workers could not open the folder
    host = f"[{host}]" if ":" in host else host
    text = NGINX.format(user=user, folder=folder, checkout=CHECKOUT, host=host, port=port)
    (folder / "nginx.conf").write_text(text)
    options = ["-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", "stderr", "-g", "daemon off;"]
    return [nginx_program() or "nginx", *options]


STOP_SECONDS: Final = 30
"""How long each process may take to finish after SIGTERM before it is killed."""
