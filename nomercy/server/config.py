"""The configuration of uvicorn, for pages, for websockets, and for all in one process."""

from typing import Any, Final

from django.conf import settings
from uvicorn import Config

from nomercy.server.connections import Connection
from nomercy.server.limits import LIMITS
from nomercy.server.listening import BACKLOG
from nomercy.server.sockets import Socket

KEEP_ALIVE: Final = 5
KEEP_ALIVE_TO_PROXY: Final = 75
"""How many seconds an idle connection stays open. A proxy keeps it shorter, so that it closes it first."""


def config(application: Any, *, stop_seconds: int, ws: Any = Socket, **more: Any) -> Config:
    """Return uvicorn's configuration.

    Requests and sockets have `stop_seconds` to end when the process is stopped. `ws` is "none" for a process without
    websockets.
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
