"""How uvicorn is set up, wherever it runs: in one process with everything, for pages, and for websockets."""

from typing import Any, Final

from django.conf import settings
from uvicorn import Config

from nomercy.server.connections import Connection
from nomercy.server.limits import LIMITS
from nomercy.server.listening import BACKLOG
from nomercy.server.sockets import Socket

KEEP_ALIVE: Final = 5
KEEP_ALIVE_TO_PROXY: Final = 75
"""Seconds an idle connection stays open: longer than a proxy keeps it, so that the proxy closes it first."""


def config(application: Any, *, stop_seconds: int, ws: Any = Socket, **more: Any) -> Config:
    """Return uvicorn's configuration. Requests and sockets get `stop_seconds` to end when the process is stopped.

    `ws` is "none" for a process without websockets.
    """
    return Config(
        application,
        http=Connection,
        loop="asyncio",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # accounts/origin.py reads them
        server_header=False,
        ws=ws,
        ws_max_size=LIMITS.socket_bytes,
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE_TO_PROXY if settings.BEHIND_PROXY else KEEP_ALIVE,
        timeout_graceful_shutdown=stop_seconds,
        **more,
    )
