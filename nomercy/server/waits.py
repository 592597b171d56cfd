"""Wait for news in place of the waiting calls of the API (games/api/waits.py), without a thread for each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, NamedTuple

from asgiref.typing import ASGIReceiveCallable
from channels.layers import get_channel_layer

from games.api.waits import HEADER
from games.live.polling import LAYER_ERRORS, POLL_SECONDS, poller
from nomercy.server.bridge import Answer

WAIT_SECONDS: Final = 24.0
"""After so long a call is answered anyway, so that it takes less than 25 seconds."""

LONGEST_BREAK: Final = 5.0
"""The most seconds between two looks of a call that was told of changes and found nothing new."""

Ask = Callable[[str | None, asyncio.Future[Any]], Coroutine[Any, Any, Answer]]
"""Runs the view, unless the client has hung up when it gets a thread (the future is done): then it raises `GoneError`.

Its first argument is the mark of what it has answered before, or None if it must answer now.
"""


class GoneError(Exception):
    """The client hung up."""


class Wait(NamedTuple):
    """The answer of a view that has nothing new: its mark, and the groups of the channel layer to listen to.

    The first group is that of the person who asks.
    """

    mark: str
    groups: Sequence[str]


def wait_of(answer: Answer) -> Wait | None:
    """Return what the view waits for, or None if the answer is for the client."""
    value = dict(answer.headers).get(HEADER.lower().encode())
    if value is None:
        return None
    mark, *groups = value.decode().split()
    return Wait(mark, groups)


async def first_news(wait: Wait, ask: Ask, receive: ASGIReceiveCallable, *ends: asyncio.Event) -> Answer:
    """Return the first answer with news, or the last one when the time is over or one of these events is set.

    :raises GoneError: the client hung up.
    """
    loop = asyncio.get_running_loop()
    end, pause = loop.time() + WAIT_SECONDS, 0.0
    gone, ended = asyncio.ensure_future(receive()), [asyncio.ensure_future(end.wait()) for end in ends]
    try:
        async with _listening() as listener:
            while True:
                if await listener.join(wait.groups):
                    await asyncio.wait({gone, *ended}, timeout=pause, return_when=asyncio.FIRST_COMPLETED)
                    # Changes that are nothing new, such as pauses, could be made faster than the view finds that.
                    pause = min(2 * pause + 0.25, LONGEST_BREAK)
                    await listener.wait(end - loop.time(), gone, *ended)
                # After it has joined a group, the view runs again: something may have changed before.
                is_over = any(event.is_set() for event in ends) or loop.time() >= end
                answer = await ask(None if is_over else wait.mark, gone)
                following = wait_of(answer)
                if following is None:
                    return answer
                wait = following
    finally:
        for future in (gone, *ended):
            future.cancel()


class _Listener:
    """A channel of the channel layer that only says that there was a message in one of its groups."""

    def __init__(self) -> None:
        self.layer: Any = get_channel_layer()
        self.channel = ""
        self.joined: set[str] = set()
        self.heard = asyncio.Event()
        self.is_deaf = False

    async def listen(self) -> None:
        while True:
            await self.layer.receive(self.channel)
            self.heard.set()

    async def join(self, groups: Sequence[str]) -> bool:
        """Join these groups. Return True if it had joined all before, or the layer is down."""
        missing = [group for group in groups if group not in self.joined]
        self.is_deaf = bool(missing) and poller().layer_is_down
        if self.is_deaf:
            return True
        try:
            for group in missing:
                await self.layer.group_add(group, self.channel)
                self.joined.add(group)
        except LAYER_ERRORS as error:
            poller().layer_failed(error)
            self.is_deaf = True
        return self.is_deaf or not missing

    async def wait(self, seconds: float, *others: asyncio.Future[Any]) -> None:
        """Wait for a message, for one of the futures, or until the time is over."""
        heard = asyncio.ensure_future(self.heard.wait())
        try:
            # Without the layer, the view runs again and again.
            timeout = max(0.0, min(seconds, POLL_SECONDS) if self.is_deaf else seconds)
            await asyncio.wait({heard, *others}, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            heard.cancel()
        self.heard.clear()


@asynccontextmanager
async def _listening() -> AsyncIterator[_Listener]:
    listener = _Listener()
    listener.channel = await listener.layer.new_channel()
    task = asyncio.ensure_future(listener.listen())
    await asyncio.sleep(0)  # the layer makes the channel's queue when somebody receives from it
    try:
        yield listener
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        try:
            for group in listener.joined:
                await listener.layer.group_discard(group, listener.channel)
        except LAYER_ERRORS as error:
            poller().layer_failed(error)
        listener.layer.forget(listener.channel)
