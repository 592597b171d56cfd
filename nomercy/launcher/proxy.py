"""The one address of `script/stack`: `/ws/` goes to uvicorn, everything else to gunicorn.

As little of a reverse proxy as that takes, for plain HTTP on this machine; docs/operations.md names real ones. Each
connection carries one request, so its first lines decide where all of it goes, and the rest is passed on unread.
"""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Final

HEAD_BYTES: Final = 32 * 1024
HEAD_SECONDS: Final = 15
CHUNK: Final = 64 * 1024
OURS: Final = (b"connection", b"keep-alive", b"x-forwarded-for", b"x-forwarded-proto")


@dataclass(frozen=True)
class Proxy:
    """Where the two servers listen: Unix sockets."""

    web: Path
    ws: Path

    async def listen(self, host: str, port: int) -> asyncio.Server:
        """Raises OSError when the address cannot be had."""
        return await asyncio.start_server(self._serve, host, port, limit=HEAD_BYTES)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            answer = await self._pass_on(reader, writer)
            if answer:
                writer.write(plain_answer(answer))
                await writer.drain()
        except OSError:
            pass  # a browser that went away, or a server that was stopped in the middle
        finally:
            writer.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> str | None:
        """Carry one request and its answer; gives the status line to answer instead where that is not possible."""
        try:
            async with asyncio.timeout(HEAD_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return "431 Request Header Fields Too Large"
        except (asyncio.IncompleteReadError, TimeoutError):
            return None  # most often a connection opened on suspicion
        upstream = self.ws if target_of(head).startswith(b"/ws/") else self.web
        try:
            there = await asyncio.open_unix_connection(upstream)
        except OSError:
            return "502 Bad Gateway"
        there[1].write(rewritten(head, client=writer.get_extra_info("peername")[0]))
        asking = asyncio.create_task(_ask(reader, there[1]))
        try:
            if not await _carry(there[0], writer) and not reader.at_eof():
                return "502 Bad Gateway"  # it was stopped before it had said anything
        finally:
            there[1].close()
            asking.cancel()
            await asyncio.gather(asking, return_exceptions=True)
        return None


def target_of(head: bytes) -> bytes:
    """The path a request asks for, as it is written there."""
    words = head.split(b"\r\n", 1)[0].split(b" ")
    return words[1] if len(words) > 1 else b""


def rewritten(head: bytes, *, client: str) -> bytes:
    """The first lines of a request as they go on: one request a connection, and our word on who asks."""
    request, *headers = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    names = [header.split(b":", 1)[0].strip().lower() for header in headers]
    kept = [header for header, name in zip(headers, names, strict=True) if name not in OURS]
    kept.append(b"Connection: " + (b"Upgrade" if b"upgrade" in names else b"close"))
    kept += [b"X-Forwarded-For: " + client.encode(), b"X-Forwarded-Proto: http"]
    return b"\r\n".join([request, *kept]) + b"\r\n\r\n"


def plain_answer(status: str) -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\nRetry-After: 2\r\n\r\n".encode()


async def _ask(reader: asyncio.StreamReader, server: asyncio.StreamWriter) -> None:
    """Carry on what the client says; when it has said all or is gone, the server is told."""
    try:
        await _carry(reader, server)
        server.write_eof()
    except OSError:
        server.close()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
    """Carry bytes until their source has said all or is gone; gives whether there were any."""
    anything = False
    while data := await _read(reader):
        anything = True
        writer.write(data)
        await writer.drain()
    return anything


async def _read(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(CHUNK)
    except OSError:  # it did not even say goodbye
        return b""
