"""The reverse proxy of `script/stack`: `/ws/` goes to the server for websockets, all else to the one for pages.

It does only that, for plain HTTP on this machine. docs/operations.md names real proxies. Each connection carries one
request: its headers decide where it goes, and the rest is passed on unread. The servers limit bodies and open requests;
this limits what they do not see.
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
        return peer or ("", 0)  # None if it hung up at once

    @property
    def address(self) -> str:
        return address_of_peer(self.peer)

    def evict(self) -> None:
        cut_off(self.writer.transport)


@dataclass(frozen=True)
class Proxy:
    """Passes requests to the Unix sockets of the two servers. `waiting` counts connections without an answer."""

    web: Path
    ws: Path
    waiting: Waiting
    limits: Limits = LIMITS
    _serving: set[asyncio.Task[None]] = field(default_factory=set)
    """A reference to the task of each connection. Without it a task whose client has hung up could be garbage collected
    while it waits for a server, because asyncio drops its own reference."""

    def listen(self, host: str, port: int) -> Acceptor:
        """Accept clients there.

        :raises OSError: the address cannot be used.
        """
        return Acceptor(listen(host, port), self._protocol, lambda peer: self.waiting.admits(address_of_peer(peer)))

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
        """Pass on one request and its answer. If that fails, return the status to answer, or None to just close."""
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
            return "408 Request Timeout" if head else None  # nothing sent: browsers open spare connections
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
            if not answer:  # the server stopped before it answered, or the client is gone
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
    """Return True if a line does not end in CR LF. The servers might then read other headers than we do."""
    rest = head.replace(b"\r\n", b"")
    return b"\n" in rest or b"\r" in rest


def target_of(head: bytes) -> bytes:
    """Return the request target as written in the request line."""
    words = head.split(b"\r\n", 1)[0].split(b" ")
    return words[1] if len(words) > 1 else b""


def rewritten(head: bytes, *, client: str) -> bytes:
    """Return the head to pass on: for one request a connection, and with the address of the client."""
    request, *headers = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    fields = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(b":") for line in headers)]
    kept = [line for line, (name, _) in zip(headers, fields, strict=True) if name not in OURS]
    # The connection stays open only for an upgrade. If the server did not upgrade it, the client could send more
    # requests with headers of its own. The server always makes this upgrade, or closes the connection.
    asked = [value.lower() for name, value in fields if name == b"upgrade"]
    if target_of(head).startswith(WEBSOCKETS) and b"websocket" in asked:
        kept += [b"Connection: Upgrade", b"Upgrade: websocket"]
    else:
        kept.append(b"Connection: close")
    kept += [b"X-Forwarded-For: " + client.encode(), b"X-Forwarded-Proto: http"]
    return b"\r\n".join([request, *kept]) + b"\r\n\r\n"


def plain_answer(status: str) -> bytes:
    """Return an answer of the proxy itself, with the sentence for this status."""
    body = SENTENCES[status].encode()
    headers = (
        f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\nConnection: close\r\nRetry-After: 2"
    )
    return f"HTTP/1.1 {status}\r\n{headers}\r\n\r\n".encode() + body


async def _ask(reader: asyncio.StreamReader, server: asyncio.StreamWriter) -> None:
    """Pass on what the client sends, and then end the stream to the server."""
    try:
        await _carry(reader, server)
        server.write_eof()
    except OSError:
        server.close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, patience: float | None = None) -> None:
    """Pass on bytes until the reader ends.

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
    except OSError:  # the connection was reset
        return b""
