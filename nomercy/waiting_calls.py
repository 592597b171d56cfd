"""The waiting calls of the API (games/api/waits.py): an ASGI app that holds no thread while a call waits.

It runs the same WSGI application as all other requests, so tokens, limits and suspensions count here too.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from typing import Any, Final
from weakref import WeakValueDictionary

from a2wsgi import WSGIMiddleware
from channels.layers import get_channel_layer

from accounts.origin import address_of_scope
from common import counts
from common.limits import scaled
from games.api.waits import HEADER, KNOWN
from games.live.polling import LAYER_ERRORS, POLL_SECONDS, poller
from games.refusals import Denied
from nomercy.answers import error_object

THREADS: Final = 4
THREADS_OF_ONE: Final = 2
"""How many of them one address may use, so that calls that are answered at once leave some to others."""
WAIT_SECONDS: Final = 24.0
"""After so long a call is answered anyway, so that it takes less than 25 seconds."""
LONGEST_BREAK: Final = 5.0
"""The most seconds between two looks of a call that was told of changes and found nothing new."""
MOST_OF_ONE: Final = 20
"""How many calls of one person wait at once."""
RETRY_SECONDS: Final = 5


class WaitingCalls:
    """Answers a call when its view has something new, its time is over, or `stopping` is set."""

    def __init__(self, wsgi: Callable[..., Iterable[bytes]]) -> None:
        def application(environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
            known = environ["asgi.scope"][KNOWN]
            return wsgi(environ if known is None else {**environ, KNOWN: known}, start_response)

        # The queue has no limit, so that no thread waits for a client.
        self._view: Any = WSGIMiddleware(application, workers=THREADS, send_queue_size=0)  # type: ignore[arg-type]  # its types are narrower than PEP 3333
        self.waiting: Counter[str] = Counter()
        """The number of waiting calls of each person."""
        self.stopping = asyncio.Event()
        self._turns: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def __call__(self, scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Any) -> None:
        # WSGI cannot tell an underscore from a hyphen: a client could fake the `X-Forwarded-For` of a proxy.
        scope = {**scope, "headers": [header for header in scope["headers"] if b"_" not in header[0]]}
        answer = await self._ask(scope, known="")
        if wait := _wait_of(answer):
            gone, stop = asyncio.ensure_future(_hang_up(receive)), asyncio.ensure_future(self.stopping.wait())
            try:
                answer = await self._first_news(scope, wait, gone, stop)
            finally:
                gone.cancel()
                stop.cancel()
        for message in answer:
            await send(message)

    async def _ask(self, scope: dict[str, Any], *, known: str | None) -> list[Any]:
        """Return the messages of the view's answer. `known` is as in `games.api.waits`; None asks for one at once."""
        answer: list[Any] = []

        async def keep(message: Any) -> None:
            answer.append(message)

        async with self._turns.setdefault(address_of_scope(scope), asyncio.Semaphore(THREADS_OF_ONE)):
            await self._view({**scope, KNOWN: known}, _no_body, keep)
        return answer

    async def _first_news(self, scope: Any, wait: list[str], gone: "asyncio.Future[Any]", stop: Any) -> list[Any]:
        """Return the first answer with news, or the last one. Nothing if the client has hung up (`gone`)."""
        most, person, loop = scaled(MOST_OF_ONE), wait[1], asyncio.get_running_loop()
        if most is not None and self.waiting[person] >= max(most, MOST_OF_ONE):
            return _too_many()
        end, pause, answer = loop.time() + WAIT_SECONDS, 0.0, list[Any]()
        counts.add(self.waiting, person, 1)
        try:
            async with _listening() as (join, heard):
                while wait and not gone.done():
                    if seconds := await join(wait[1:]):
                        await asyncio.wait({gone, stop}, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
                        # Changes that are nothing new, such as pauses, could be made faster than the view finds that.
                        pause = min(2 * pause + 0.25, LONGEST_BREAK)
                        await _first(heard, gone, stop, seconds=min(seconds, end - loop.time()))
                    # After it has joined a group, the view runs again: something may have changed before.
                    is_over = stop.done() or loop.time() >= end
                    answer = [] if gone.done() else await self._ask(scope, known=None if is_over else wait[0])
                    wait = _wait_of(answer)
                return answer
        finally:
            counts.add(self.waiting, person, -1)


@asynccontextmanager
async def _listening() -> AsyncIterator[tuple[Callable[[list[str]], Awaitable[float]], asyncio.Event]]:
    """Yield a function that joins groups of the channel layer, and an event that is set after a message to one.

    The function returns for how many seconds to wait for a message: 0 when it has joined a group, and a few without the
    layer, so that the view runs again and again.
    """
    layer: Any = get_channel_layer()
    channel, heard, joined = await layer.new_channel(), asyncio.Event(), list[str]()

    async def listen() -> None:
        while True:
            await layer.receive(channel)
            heard.set()

    async def join(groups: list[str]) -> float:
        missing = [group for group in groups if group not in joined]
        if not missing:
            return WAIT_SECONDS
        if poller().layer_is_down:
            return POLL_SECONDS
        try:
            for group in missing:
                await layer.group_add(group, channel)
                joined.append(group)
        except LAYER_ERRORS as error:
            poller().layer_failed(error)
            return POLL_SECONDS
        return 0

    task = asyncio.ensure_future(listen())
    await asyncio.sleep(0)  # the layer makes the channel's queue when somebody receives from it
    try:
        yield join, heard
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        try:
            for group in joined:
                await layer.group_discard(group, channel)
        except LAYER_ERRORS as error:
            poller().layer_failed(error)
        layer.forget(channel)


async def _first(heard: asyncio.Event, *others: "asyncio.Future[Any]", seconds: float) -> None:
    """Wait for the event or one of the futures, and clear the event."""
    hearing = asyncio.ensure_future(heard.wait())
    try:
        await asyncio.wait({hearing, *others}, timeout=max(0.0, seconds), return_when=asyncio.FIRST_COMPLETED)
    finally:
        hearing.cancel()
    heard.clear()


def _wait_of(answer: list[Any]) -> list[str]:
    """Return the mark of what a view has told and the groups to listen to, or nothing if it answers the client."""
    told: bytes = dict(answer[0]["headers"]).get(HEADER.lower().encode(), b"") if answer else b""
    return told.decode().split()


async def _hang_up(receive: Callable[[], Awaitable[Any]]) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _no_body() -> dict[str, Any]:
    return {"type": "http.request", "body": b"", "more_body": False}


def _too_many() -> list[Any]:
    sentence = "Your account has {calls} waiting calls open: try again in {seconds} seconds."
    response = error_object(Denied("too_many_requests", sentence, calls=MOST_OF_ONE, seconds=RETRY_SECONDS))
    headers = {**response.headers, "Retry-After": str(RETRY_SECONDS), "Cache-Control": "no-store"}
    encoded = [(name.lower().encode(), value.encode()) for name, value in headers.items()]
    start = {"type": "http.response.start", "status": response.status_code, "headers": encoded}
    return [start, {"type": "http.response.body", "body": response.content}]
