"""Start the server for pages and the API, or the one for websockets.

    python -m nomercy.server pages|sockets [--bind 127.0.0.1:8000 | --bind unix:/run/nomercy/web.sock]

Pages are served by `WEB_CONCURRENCY` processes, websockets by one.
"""

import argparse
import gc
import logging.config
import multiprocessing
import os
import signal
import socket
import stat
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from django.conf import settings
from structlog import get_logger
from uvicorn import Config, Server
from uvicorn.config import STARTUP_FAILURE
from uvicorn.supervisors import Multiprocess

from nomercy.checks import HIGHEST_PORT, check_services_given, check_static_files
from nomercy.logs import log_start
from nomercy.server import listening
from nomercy.server.config import config
from nomercy.start import log_state_of_database

log = get_logger(__name__)
APPLICATION = "nomercy.server.command:application"


def main() -> None:
    """Serve until a stop signal."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "nomercy.settings")
    parser = argparse.ArgumentParser(prog="python -m nomercy.server")
    parser.add_argument("kind", choices=("pages", "sockets"))
    parser.add_argument("--bind", default="127.0.0.1:8000", help="host:port or unix:path")
    arguments = parser.parse_args()
    check_services_given(embedded=settings.EMBEDDED)  # without Redis it serves pages, which poll
    if arguments.kind == "pages":
        check_static_files(settings.STATIC_ROOT)
    if arguments.bind.startswith("unix:") and not settings.BEHIND_PROXY:
        raise SystemExit("No Mercy cannot tell clients of a Unix socket apart. Set BEHIND_PROXY=1, or use host:port.")
    listening.raise_file_limit()
    logging.config.dictConfig(settings.LOGGING)
    sockets = [bound_to(arguments.bind)]
    log_start(arguments.kind, address=arguments.bind)
    log_state_of_database()
    if arguments.kind == "sockets":
        Server(config(APPLICATION, stop_seconds=10, factory=True)).run(sockets)
    elif settings.WEB_CONCURRENCY == 1:
        Server(pages_config()).run(sockets)
    else:
        with shared_counts() if settings.METRICS_TOKEN else nullcontext():
            Multiprocess(pages_config(), sockets=sockets).run()


@contextmanager
def shared_counts() -> Iterator[None]:
    """Let the processes that are started in this block count together, in a folder that `prometheus_client` reads."""
    with tempfile.TemporaryDirectory(prefix="nomercy-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        yield


def pages_config() -> Config:
    """Return the configuration of the processes for pages."""
    return config(
        APPLICATION,
        factory=True,
        ws="none",
        stop_seconds=20,
        workers=settings.WEB_CONCURRENCY,
        timeout_worker_healthcheck=30,  # a process that does not answer for this many seconds is replaced
        callback_notify=end_with_parent,
        timeout_notify=1,
    )


def application() -> Any:
    """Return the ASGI app. If it cannot be loaded, log why and exit so that uvicorn does not restart the process."""
    gc.disable()  # nearly all objects that are made now stay
    try:
        return import_module("nomercy.asgi").application
    except Exception:
        log.exception("the site cannot be loaded")
        sys.exit(STARTUP_FAILURE)
    finally:
        gc.enable()


async def end_with_parent() -> None:
    """Stop this process if its parent was killed, or it would continue to serve old code at the same address."""
    parent = multiprocessing.parent_process()
    if parent is not None and not parent.is_alive():
        signal.raise_signal(signal.SIGTERM)


def bound_to(address: str) -> socket.socket:
    """Return a socket bound to `host:port`, `[IPv6]:port` or `unix:path`.

    :raises SystemExit: the address cannot be used.
    """
    try:
        if address.startswith("unix:"):
            return _at_path(Path(address.removeprefix("unix:")))
        host, _, port = address.rpartition(":")
        if port.isdecimal() and int(port) <= HIGHEST_PORT:
            return listening.listen(host.strip("[]"), int(port))
    except OSError as error:
        raise SystemExit(f"No Mercy cannot listen on {address}: {error.strerror}.") from None
    raise SystemExit(f"No Mercy cannot listen on {address}: it must look like 127.0.0.1:8000 or unix:/path/to/socket.")


def _at_path(path: Path) -> socket.socket:
    with suppress(FileNotFoundError):
        if stat.S_ISSOCK(path.stat().st_mode):
            path.unlink()  # left behind by a killed process
    bound = socket.socket(socket.AF_UNIX)
    try:
        bound.bind(os.fspath(path))
        path.chmod(0o666)  # the proxy is often another user; the folder limits access
    except OSError:
        bound.close()
        raise
    return bound
