"""A minimal browser for benches, so that they measure the site and not the client.

HTTP/1.1 over one kept-alive connection, uncompressed, and only answers with a `Content-Length`, as this site sends.
httpx took 5 ms of CPU a request here, about as much as the site itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Self
from urllib.parse import urlencode, urlsplit

LIMIT = 1 << 20
"""The longest head of an answer that is read, in bytes."""


@dataclass(frozen=True)
class Answer:
    status: int
    text: str


@dataclass
class Browser:
    """One person's browser. `async with` opens its connection, from the network address `source` if one is given.

    Its requests raise `OSError` or `EOFError` if the site hangs up, and `TimeoutError` after `patience` seconds.
    """

    url: str
    headers: Mapping[str, str]
    patience: float = 30.0
    source: str = ""
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = field(default=None, init=False)

    async def __aenter__(self) -> Self:
        self._streams = await self._connected()
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._streams
        self._streams[1].close()

    async def get(self, path: str) -> Answer:
        return await self._ask("GET", path, b"")

    async def post(self, path: str, form: Mapping[str, str]) -> Answer:
        return await self._ask("POST", path, urlencode(form).encode(), "application/x-www-form-urlencoded")

    async def _connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        address = urlsplit(self.url)
        source = (self.source, 0) if self.source else None
        return await asyncio.open_connection(address.hostname, address.port, limit=LIMIT, local_addr=source)

    async def _ask(self, method: str, path: str, body: bytes, kind: str = "") -> Answer:
        assert self._streams
        reader, writer = self._streams
        lines = [f"{method} {path} HTTP/1.1", f"Host: {urlsplit(self.url).netloc}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        lines += [f"Content-Type: {kind}"] if kind else []
        writer.write("\r\n".join([*lines, f"Content-Length: {len(body)}", "", ""]).encode() + body)
        async with asyncio.timeout(self.patience):
            head = await reader.readuntil(b"\r\n\r\n")
            status, headers = _read_head(head)
            answer = Answer(status, (await reader.readexactly(int(headers["content-length"]))).decode())
        if headers.get("connection", "").lower() == "close":
            writer.close()
            self._streams = await self._connected()
        return answer


def _read_head(head: bytes) -> tuple[int, dict[str, str]]:
    first, *rest = head.decode("latin-1").split("\r\n")
    pairs = (line.partition(":") for line in rest if line)
    return int(first.split()[1]), {name.lower(): value.strip() for name, _, value in pairs}
