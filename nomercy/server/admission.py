"""The ASGI app for pages and the API. It reads each request completely, within limits, before it takes a thread.

Requests are counted by address (`accounts.origin`), so that no address can use up what others need. An address with too
many open requests is refused. Only a few of its requests are in threads at once, and the others wait. Networks take
turns with the threads (`nomercy.server.turns`).
"""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import structlog
from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, HTTPScope

from accounts.limits import crowded
from accounts.origin import address_of_scope, neighbours_of
from common import counts
from games.api.waits import KNOWN
from nomercy.server.bridge import Answer, Bridge
from nomercy.server.connections import ENDED, connections
from nomercy.server.limits import LIMITS, Limits, widened
from nomercy.server.refusals import refusal
from nomercy.server.turns import Turns
from nomercy.server.waits import GoneError, first_news, wait_of
from nomercy.storms import warn

log = structlog.get_logger(__name__)

PIECE: Final = 65_536
"""How many bytes of an answer are handed over at once. uvicorn waits with the next ones while so many are unread."""


@dataclass
class Address:
    """What one address has open: a semaphore for threads, the number of requests, and the bytes of their bodies.

    `neighbours` is the network around it. `waits` is the number of waiting calls, which do not count for `requests`.
    `sending` has the lengths of the answers that are being sent.
    """

    neighbours: str
    threads: asyncio.Semaphore | None
    requests: int = 0
    waits: int = 0
    held: int = 0
    sending: list[int] = field(default_factory=list)


class RefusedError(Exception):
    """The request is over a limit. `status` is the HTTP status to answer."""

    def __init__(self, status: int) -> None:
        self.status = status


@dataclass
class Admission:
    """Passes complete requests to the bridge, and answers 400, 408, 413 or 429 to the others."""

    bridge: Bridge
    limits: Limits = LIMITS
    addresses: dict[str, Address] = field(default_factory=dict)
    waits: Counter[str] = field(default_factory=Counter)
    """The number of waiting calls of each person."""
    open: Counter[str] = field(default_factory=Counter)
    """The number of requests of each network (`Address.neighbours`), counted as in `Address`."""
    held: Counter[str] = field(default_factory=Counter)
    """The bytes of the bodies of each network."""
    unsent: Counter[str] = field(default_factory=Counter)
    """The bytes of the answers of each network that are being sent."""
    turns: Turns = field(init=False)

    def __post_init__(self) -> None:
        self.turns = Turns(self.bridge.threads, most=widened(self.limits.in_threads_of_neighbours))

    async def __call__(self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        name = address_of_scope(scope)
        address = self.addresses.get(name)
        if address is None:
            semaphore = _semaphore(widened(self.limits.in_threads))
            address = self.addresses[name] = Address(neighbours_of(name), semaphore)
        self._open(address, 1)
        try:
            await self._serve(scope, receive, send, address)
        finally:
            self._open(address, -1)
            if not address.requests and not address.waits:
                del self.addresses[name]

    async def _serve(
        self, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable, address: Address
    ) -> None:
        parts: list[bytes] = []
        try:
            self._check_requests(address)
            await self._read(scope, receive, address, parts)
            body = b"".join(parts)
            parts[:] = [body]  # or the body would be in memory twice
            ask = partial(self._run, scope, body, address)
            answer = await ask("")
            wait = wait_of(answer)
            if wait is not None:
                with self._waiting(address, person=wait.groups[0]):
                    answer = await first_news(wait, ask, receive, *_ends(scope, self.limits))
            await self._send(send, answer, address)
        except RefusedError as refused:
            await self._refuse(refused.status, scope, receive, send)
        except GoneError:
            pass
        finally:
            self._hold(address, -sum(map(len, parts)))

    async def _run(
        self,
        scope: HTTPScope,
        body: bytes,
        address: Address,
        known: str | None,
        gone: asyncio.Future[Any] | None = None,
    ) -> Answer:
        """Return the app's answer. `known` is as in `games.api.waits`, or None for an answer at once.

        :raises GoneError: the client had hung up (`gone` is done) when there was a thread for it.
        :raises RefusedError: the address has not read enough of its answers by then.
        """
        async with address.threads or nullcontext(), self.turns.place(address.neighbours):
            if gone is not None and gone.done():
                raise GoneError
            self._check_unsent(address)
            return await self.bridge.answer(scope, body, {} if known is None else {KNOWN: known})

    @contextmanager
    def _waiting(self, address: Address, *, person: str) -> Iterator[None]:
        """Count a request as a waiting call during a block.

        :raises RefusedError: its address or the person has too many.
        """
        _check(address.waits + 1, self.limits.waiting_calls)
        _check(self.waits[person] + 1, self.limits.waiting_calls_of_one)
        self._open(address, -1)
        address.waits += 1
        counts.add(self.waits, person, 1)
        try:
            yield
        finally:
            address.waits -= 1
            self._open(address, 1)
            counts.add(self.waits, person, -1)

    async def _read(self, scope: HTTPScope, receive: ASGIReceiveCallable, address: Address, parts: list[bytes]) -> None:
        """Read the body into `parts`.

        :raises RefusedError: the request is over a limit.
        :raises GoneError: the client hung up.
        """
        if scope["method"] == "CONNECT":  # asks for a tunnel, and has no path
            raise RefusedError(400)
        left = self.limits.body_bytes
        if _declared(scope) > left:
            raise RefusedError(413)
        try:
            async with asyncio.timeout(self.limits.body_seconds):
                more = True
                while more:
                    message = await receive()
                    if message["type"] != "http.request":
                        raise GoneError
                    part, more = message.get("body", b""), message.get("more_body", False)
                    parts.append(part)
                    self._hold(address, len(part))
                    left -= len(part)
                    if left < 0:
                        raise RefusedError(413)
                    self._check_bytes(address)
        except TimeoutError:
            raise RefusedError(408) from None

    def _check_requests(self, address: Address) -> None:
        limits, of_network = self.limits, self.open[address.neighbours]
        _check(address.requests, limits.open_requests)
        _check_network(of_network, limits.open_requests_of_neighbours, own=address.requests, few=limits.few_requests)

    def _check_bytes(self, address: Address) -> None:
        limits, of_network = self.limits, self.held[address.neighbours]
        _check(address.held, limits.held_bytes)
        _check_network(of_network, limits.held_bytes_of_neighbours, own=address.held, few=limits.few_bytes)

    def _check_unsent(self, address: Address, more: int = 0) -> None:
        """Check the bytes of the answers that are being sent, and `more`.

        The longest answer of the address does not count for the address.

        :raises RefusedError: the address has not read enough of its answers.
        """
        sending, of_network = [*address.sending, more], self.unsent[address.neighbours] + more
        own = sum(sending) - max(sending)
        limits = self.limits
        _check(own, limits.unsent_bytes)
        most, few = limits.unsent_bytes_of_neighbours, limits.few_unsent_bytes
        _check_network(of_network, most, own=own, few=few)

    async def _send(self, send: ASGISendCallable, answer: Answer, address: Address) -> None:
        """Send an answer as fast as its client reads it. Its bytes count for the address until then.

        :raises RefusedError: it is long, and the address has not read enough of its other answers.
        """
        size = len(answer.body)
        if size > self.limits.few_unsent_bytes:
            # Answers that were made at the same time could be too many together.
            self._check_unsent(address, size)
        address.sending.append(size)
        counts.add(self.unsent, address.neighbours, size)
        try:
            await _start(send, answer)
            last = max(0, size - 1) // PIECE * PIECE
            for start in range(0, last, PIECE):
                body = answer.body[start : start + PIECE]
                await send({"type": "http.response.body", "body": body, "more_body": True})
            await send({"type": "http.response.body", "body": answer.body[last:], "more_body": False})
        finally:
            address.sending.remove(size)
            counts.add(self.unsent, address.neighbours, -size)

    def _open(self, address: Address, number: int) -> None:
        """Count this many more open requests."""
        address.requests += number
        counts.add(self.open, address.neighbours, number)

    def _hold(self, address: Address, number: int) -> None:
        """Count this many more bytes of bodies."""
        address.held += number
        counts.add(self.held, address.neighbours, number)

    async def _refuse(
        self, status: int, scope: HTTPScope, receive: ASGIReceiveCallable, send: ASGISendCallable
    ) -> None:
        warn(log, "request refused", status=status)
        answer = refusal(status, path=scope["path"])
        await _start(send, answer)
        if status == 413:
            # A client that is still sending would lose the answer if the connection was closed now.
            await send({"type": "http.response.body", "body": answer.body, "more_body": True})
            answer = answer._replace(body=b"")
            with suppress(TimeoutError):
                async with asyncio.timeout(self.limits.body_seconds):
                    await _discard(receive, self.limits.held_bytes)
        await send({"type": "http.response.body", "body": answer.body, "more_body": False})


def _semaphore(most: int | None) -> asyncio.Semaphore | None:
    return None if most is None else asyncio.Semaphore(most)


def _check(count: int, limit: int) -> None:
    """Check a count of one address against its limit.

    :raises RefusedError: it is over the limit.
    """
    most = widened(limit)
    if most is not None and count > most:
        raise RefusedError(429)


def _check_network(count: int, limit: int, *, own: int, few: int) -> None:
    """Check a count of a network, of which an address has `own`.

    :raises RefusedError: it is over the limit (`crowded`).
    """
    most = widened(limit)
    if most is not None and crowded(count, most, own=own, few=few):
        raise RefusedError(429)


def _ends(scope: HTTPScope, limits: Limits) -> list[asyncio.Event]:
    """Return the events after which a waiting call is answered: the server stops, or the client has ended its side."""
    ended = scope.get("state", {}).get(ENDED)
    stopping = connections(limits).stopping
    return [stopping] if ended is None else [stopping, ended]


def _declared(scope: HTTPScope) -> int:
    """Return the `Content-Length`, or 0. The server has checked that it is a number."""
    return int(dict(scope["headers"]).get(b"content-length", 0))


async def _discard(receive: ASGIReceiveCallable, most: int) -> None:
    """Read on until the end of the body, the end of the connection, or `most` bytes."""
    while most > 0:
        message = await receive()
        if message["type"] != "http.request" or not message.get("more_body", False):
            return
        most -= len(message.get("body", b""))


async def _start(send: ASGISendCallable, answer: Answer) -> None:
    await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers, "trailers": False})
