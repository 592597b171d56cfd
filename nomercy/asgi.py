"""The ASGI application: websockets and the waiting calls of the API, and in `script/run` pages too."""

import asyncio
import gc
import signal
from concurrent.futures import ThreadPoolExecutor
from types import FrameType
from typing import Any

from nomercy.wsgi import application as wsgi_application  # sets up Django, before consumers import models

from channels.routing import URLRouter  # isort: skip
from django.conf import settings  # isort: skip
from games.api.waits import PATH  # isort: skip
from games.live.handshake import HandshakeChecks  # isort: skip
from games.live.routing import websocket_urlpatterns  # isort: skip
from nomercy.checks import check_services_given  # isort: skip
from nomercy.logs import log_start  # isort: skip
from nomercy.start import log_state_of_database  # isort: skip
from nomercy.waiting_calls import WaitingCalls  # isort: skip

websockets = URLRouter(websocket_urlpatterns)  # type: ignore[arg-type]  # the stub wants a private pattern class


class Application:
    """Passes websockets, waiting calls and, if there is an app for them, pages to their apps.

    Without that app, `waiting_calls` answers all requests. nginx passes on none but waiting calls.
    """

    def __init__(self, pages: Any = None) -> None:
        self.waiting_calls = WaitingCalls(wsgi_application)
        self._pages = pages or self.waiting_calls

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        app: Any = self._pages
        if scope["type"] == "lifespan":
            app = self._lifespan
        elif scope["type"] == "websocket":
            app = HandshakeChecks(websockets)
        elif scope["path"].startswith(PATH):
            app = self.waiting_calls
        await app(scope, receive, send)

    async def _lifespan(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        """Have the waiting calls answered when a signal stops uvicorn, which tells of its end only after that."""
        loop = asyncio.get_running_loop()
        await receive()
        for number in (signal.SIGINT, signal.SIGTERM):
            _call_first(number, lambda: loop.call_soon_threadsafe(self.waiting_calls.stopping.set))
        await send({"type": "lifespan.startup.complete"})
        await receive()
        await send({"type": "lifespan.shutdown.complete"})


def _call_first(number: signal.Signals, call: Any) -> None:
    """Call this before the handler of a signal. uvicorn restores the handlers when it has stopped."""
    following: Any = signal.getsignal(number)

    def handle(number: int, frame: FrameType | None) -> None:
        call()
        following(number, frame)

    signal.signal(number, handle)


def sockets() -> Application:
    """Check and log the start of the server for websockets, and return its application (`uvicorn --factory`)."""
    check_services_given(embedded=settings.EMBEDDED)  # without Redis pages poll
    log_start("sockets")
    with ThreadPoolExecutor(1) as thread:
        thread.submit(log_state_of_database).result()  # uvicorn's loop runs already, and Django refuses to query there
    return Application()


# What is loaded now is never freed. Checking it at each garbage collection would stop the process for 0.1 s.
gc.freeze()
