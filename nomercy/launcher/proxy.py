"""The one address of `script/stack`: `/ws/` goes to the server for websockets, everything else to the one for pages.

As little of a reverse proxy as that takes, for plain HTTP on this machine; docs/operations.md names real ones. Each
connection carries one request, so its headers decide where all of it goes, and the rest is passed on unread. Bodies and
open requests are limited by the servers; what is limited here is what they do not see.
"""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from accounts.origin import address_of_peer
from nomercy.server.limits import LIMITS, Limits
from nomercy.server.listening import Acceptor, cut_off, listen
from nomercy.server.waiting import Waiting

WEBSOCKETS: Final = b"/ws/"
CHUNK: Final = 64 * 1024
OURS: Final = (b"connection", b"keep-alive", b"upgrade", b"x-forwarded-for", b"x-forwarded-proto")
SENTENCES: Final = {
    "400 Bad Request": "This is not a request in HTTP/1.1.",
    "408 Request Timeout": "The request did not arrive in time. Send it again.",
    "431 Request Header Fields Too Large": "The headers are too long. Send less, or delete this site's cookies.",
    "502 Bad Gateway": "The site is starting. Try again in a few seconds.",
}


@dataclass(eq=False)
class Client:
    """A client's connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @property
    def peer(self) -> tuple[str, int]:
        peer: tuple[str, int] | None = self.writer.get_extra_info("peername")
        return peer or ("", 0)  # it hung up at once

    @property
    def address(self) -> str:
        return address_of_peer(self.peer)

    def evict(self) -> None:
        cut_off(self.writer.transport)


@dataclass(frozen=True)
class Proxy:
    """Where the two servers listen: Unix sockets. `waiting` has the connections that are not being answered."""

    web: Path
    ws: Path
    waiting: Waiting
    limits: Limits = LIMITS
    _serving: set[asyncio.Task[None]] = field(default_factory=set)
    """A reference to each connection's task. Without it a task whose client has hung up could be garbage collected
    while it waits for a server, because asyncio's streams then forget it."""

    def listen(self, host: str, port: int) -> Acceptor:
        """Accept clients there. Raises OSError when the address cannot be had."""
        return Acceptor(listen(host, port), self._protocol, lambda peer: self.waiting.has_room(address_of_peer(peer)))

    def _protocol(self) -> asyncio.StreamReaderProtocol:
        return asyncio.StreamReaderProtocol(asyncio.StreamReader(limit=self.limits.head_bytes), self._connected)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._serving.add(task)
        task.add_done_callback(self._serving.discard)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        client = Client(reader, writer)
        self.waiting.add(client.address, client)
        try:
            answer = await self._pass_on(client)
            if answer:
                writer.write(plain_answer(answer))
            if not writer.is_closing():
                self.waiting.add(client.address, client)  # until the client has read it all
            writer.close()
            async with asyncio.timeout(self.limits.write_seconds):
                await writer.wait_closed()
        except (OSError, asyncio.CancelledError):
            # The client went away or does not read, a server was stopped in the middle, or all is being stopped.
            cut_off(writer.transport)
        finally:
            self.waiting.remove(client.address, client)

    async def _pass_on(self, client: Client) -> str | None:
        """Carry one request and its answer; gives the status line to answer instead where that is not possible."""
        head = b""
        try:
            async with asyncio.timeout(self.limits.head_seconds):
                head = await client.reader.read(1)
                head += await client.reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return "431 Request Header Fields Too Large"
        except asyncio.IncompleteReadError:
            return None
        except TimeoutError:
            return "408 Request Timeout" if head else None  # most often a connection opened on suspicion
        if has_bare_line_ends(head):
            return "400 Bad Request"
        if head.count(b"\n") > self.limits.head_lines:
            return "431 Request Header Fields Too Large"
        try:
            there = await asyncio.open_unix_connection(self.ws if target_of(head).startswith(WEBSOCKETS) else self.web)
        except OSError:
            return "502 Bad Gateway"
        there[1].write(rewritten(head, client=client.peer[0]))
        asking = asyncio.create_task(_ask(client.reader, there[1]))
        try:
            answer = await _read(there[0])
            if not answer:  # the server was stopped before it had said anything, or the client is gone
                return None if client.reader.at_eof() else "502 Bad Gateway"
            self.waiting.remove(client.address, client)  # until then the client may still be sending its body
            await _write(client.writer, answer, self.limits.write_seconds)
            await _carry(there[0], client.writer, self.limits.write_seconds)
        finally:
            there[1].close()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        return None


def has_bare_line_ends(head: bytes) -> bool:
    """Return True if a line ends in anything but CR LF. The servers might then read other headers than we do."""
    rest = head.replace(b"\r\n", b"")
    return b"\n" in rest or b"\r" in rest


def target_of(head: bytes) -> bytes:
    """Return the target that a request asks for, as it is written there."""
    words = head.split(b"\r\n", 1)[0].split(b" ")
    return words[1] if len(words) > 1 else b""


def rewritten(head: bytes, *, client: str) -> bytes:
    """Return the head of a request as it goes on: one request a connection, and our word on who asks."""
    request, *headers = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    fields = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(b":") for line in headers)]
    kept = [line for line, (name, _) in zip(headers, fields, strict=True) if name not in OURS]
    # A server that does not upgrade a connection which we keep open for that would take more requests on it, and those
    # would come to it as the client wrote them. This upgrade it always makes, or closes the connection.
    asked = [value.lower() for name, value in fields if name == b"upgrade"]
    if target_of(head).startswith(WEBSOCKETS) and b"websocket" in asked:
        kept += [b"Connection: Upgrade", b"Upgrade: websocket"]
    else:
        kept.append(b"Connection: close")
    kept += [b"X-Forwarded-For: " + client.encode(), b"X-Forwarded-Proto: http"]
    return b"\r\n".join([request, *kept]) + b"\r\n\r\n"


def plain_answer(status: str) -> bytes:
    """Return an answer of our own, with a sentence that says what to do."""
    body = SENTENCES[status].encode()
    headers = (
        f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\nConnection: close\r\nRetry-After: 2"
    )
    return f"HTTP/1.1 {status}\r\n{headers}\r\n\r\n".encode() + body


async def _ask(reader: asyncio.StreamReader, server: asyncio.StreamWriter) -> None:
    """Carry on what the client says; when it has said all or is gone, the server is told."""
    try:
        await _carry(reader, server)
        server.write_eof()
    except OSError:
        server.close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, patience: float | None = None) -> None:
    """Carry bytes until their source has said all or is gone.

    :raises TimeoutError: the reader of `writer` took none for `patience` seconds.
    """
    while data := await _read(reader):
        await _write(writer, data, patience)


async def _write(writer: asyncio.StreamWriter, data: bytes, patience: float | None) -> None:
    writer.write(data)
    async with asyncio.timeout(patience):
        await writer.drain()


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(CHUNK)
    except OSError:  # it did not even say goodbye
        return b""
