"""Keep many pages open on the production processes while some of these are killed.

    .venv/bin/python -m bench.sockets [--sockets 500] [--moves 40]

Starts `script/stack` on its own database and opens the sockets, four at each table of two people. Each does what an
open page does: it fetches the table when told of a newer revision, reconnects with jitter when its socket closes, and
polls while it is disconnected. Then Redis is killed, Redis hangs, and the servers for sockets and for pages are killed,
one after another, while people continue to move. For each fault it prints when the last socket was back (at most 30 s),
when every page showed the newest version (at most 15 s after the last move), how many pages then differ from a fresh
fetch (0), and how often a move had to be sent again (only when the server for pages was killed). Exits with 1 if a
bound is missed. Use `--sockets 2000` before a release.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import random
import secrets
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import httpx
from websockets.asyncio.client import connect
from websockets.exceptions import WebSocketException
from websockets.typing import Origin

from bench.load import seat_people
from bench.replica import bench_database

logging.getLogger("httpx").setLevel(logging.WARNING)

BACK_SECONDS: Final = 30.0
EQUAL_SECONDS: Final = 15.0
PATIENCE: Final = 90.0
POLL_SECONDS: Final = 10.0
TABS: Final = 2
FETCHES_AT_ONCE: Final = 16

Kill = Callable[[str, signal.Signals], None]
"""Sends a signal to the process that runs this program."""


@dataclass(frozen=True)
class Fault:
    """A fault and its process. `again` is True if moves may have to be sent again meanwhile."""

    name: str
    program: str
    begin: signal.Signals
    again: bool
    end: signal.Signals | None = None


FAULTS: Final = (
    Fault("Redis killed", "redis-server", signal.SIGKILL, again=False),
    Fault("Redis hangs", "redis-server", signal.SIGSTOP, again=False, end=signal.SIGCONT),
    Fault("sockets killed", "uvicorn", signal.SIGKILL, again=False),
    Fault("pages killed", "gunicorn", signal.SIGKILL, again=True),
)


@dataclass
class Found:
    """The figures of one fault. Times are in seconds."""

    name: str
    back: float
    equal: float
    differ: int
    again: int
    again_allowed: bool

    @property
    def good(self) -> bool:
        enough = self.back <= BACK_SECONDS and self.equal <= EQUAL_SECONDS
        return enough and not self.differ and (self.again_allowed or not self.again)

    def line(self) -> str:
        return (
            f"{self.name}: all sockets back after {self.back:.1f} s, all pages at the newest version {self.equal:.1f} s"
            f" after the last move, {self.differ} differ from a fresh fetch, {self.again} moves sent again"
        )


@dataclass
class Site:
    """The URL of the site, and one client for all fetches."""

    url: str
    client: httpx.AsyncClient
    fetches: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(FETCHES_AT_ONCE))

    async def view(self, code: str, session: str) -> dict[str, Any]:
        """Return the table as this person sees it.

        :raises httpx.HTTPError:
        """
        async with self.fetches:
            answer = await self.client.get(f"/api/v1/games/{code}", headers={"Cookie": f"session={session}"})
        view: dict[str, Any] = answer.raise_for_status().json()
        return view


@dataclass
class Page:
    """One open page that behaves like static/js/live.js."""

    site: Site
    code: str
    session: str
    rng: random.Random
    shown: dict[str, Any] = field(default_factory=lambda: {"version": -1})
    heard: int = -1
    fetched: int = -1
    connected: bool = False
    connected_at: float = 0.0

    async def live(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._listen())
            tasks.create_task(self._poll())

    async def _listen(self) -> None:
        attempts = 0
        address = f"ws://{urlsplit(self.site.url).netloc}/ws/games/{self.code}/"
        cookie = {"Cookie": f"session={self.session}"}
        while True:
            try:
                async with connect(address, origin=Origin(self.site.url), additional_headers=cookie) as socket:
                    async for frame in socket:
                        attempts = 0
                        if not self.connected:
                            self.connected, self.connected_at = True, time.monotonic()
                        self.heard = max(self.heard, json.loads(frame)["revision"])
                        await self._catch_up()
            except (OSError, WebSocketException):
                pass
            self.connected = False
            await asyncio.sleep(min(2.0**attempts, 30.0) * (0.5 + self.rng.random()))
            attempts += 1

    async def _poll(self) -> None:
        await asyncio.sleep(POLL_SECONDS * self.rng.random())
        while True:
            await asyncio.sleep(POLL_SECONDS)
            await self._catch_up(anyway=not self.connected)

    async def _catch_up(self, *, anyway: bool = False) -> None:
        """Fetch the table if its page has heard of a newer revision than its last fetch brought, or `anyway`."""
        heard = self.heard
        if anyway or heard > self.fetched:
            try:
                self.shown = await self.site.view(self.code, self.session)
            except httpx.HTTPError:
                return  # the poll tries again
            self.fetched = heard


class People:
    """People who move at one table after another. Each move is sent until it is answered."""

    def __init__(self, site: Site, tables: dict[str, list[str]], rng: random.Random) -> None:
        self.again = 0
        self.versions = dict.fromkeys(tables, 0)
        self._site, self._tables, self._rng = site, tables, rng

    async def move(self) -> None:
        code = self._rng.choice(list(self._tables))
        for session in self._tables[code]:
            view = await self._insist(partial(self._site.view, code, session))
            if view["legal"] and view["turn"] == view["you"] and view["status"] == "playing":
                turn_moves = [move for move in view["legal"] if move not in ("leave", "uno", "catch")]
                body = {"move": self._rng.choice(turn_moves), "version": view["version"], "token": secrets.token_hex(8)}
                after = await self._insist(partial(self._post, code, session, body))
                self.versions[code] = after["version"]
                return

    async def _post(self, code: str, session: str, body: dict[str, Any]) -> dict[str, Any]:
        csrf = secrets.token_hex(16)
        headers = {"Cookie": f"session={session}; csrf={csrf}", "X-CSRFToken": csrf, "Origin": self._site.url}
        answer = await self._site.client.post(f"/api/v1/games/{code}/moves", json=body, headers=headers)
        view: dict[str, Any] = answer.raise_for_status().json()
        return view

    async def _insist(self, ask: Callable[[], Awaitable[dict[str, Any]]]) -> dict[str, Any]:
        until = time.monotonic() + PATIENCE
        while True:
            try:
                view = await ask()
            except httpx.HTTPStatusError as error:
                if error.response.status_code < 500 or time.monotonic() > until:
                    raise
            except httpx.TransportError:
                if time.monotonic() > until:
                    raise
            else:
                return view
            self.again += 1
            await asyncio.sleep(0.2)


async def measure(
    url: str, seated: Sequence[tuple[str, str]], *, moves: int, kill: Kill, faults: Sequence[Fault] = FAULTS
) -> list[Found]:
    """Open the pages, cause each fault while people move, and return the figures of each."""
    limits = httpx.Limits(max_connections=2 * FETCHES_AT_ONCE)
    async with httpx.AsyncClient(base_url=url, timeout=30, limits=limits) as client:
        site = Site(url, client)
        tables: dict[str, list[str]] = {}
        for code, session in seated:
            tables.setdefault(code, []).append(session)
        pages = [Page(site, *seat, random.Random(n)) for n, seat in enumerate([*seated] * TABS)]
        lives = [asyncio.create_task(page.live()) for page in pages]
        people = People(site, tables, random.Random(moves))
        try:
            await _until("every page is open", lambda: all(page.connected for page in pages))
            return [await _one(fault, pages, people, moves=moves, kill=kill) for fault in (None, *faults)]
        finally:
            for life in lives:
                life.cancel()
            await asyncio.gather(*lives, return_exceptions=True)


async def _one(fault: Fault | None, pages: list[Page], people: People, *, moves: int, kill: Kill) -> Found:
    people.again, began = 0, time.monotonic()
    if fault:
        kill(fault.program, fault.begin)
    for _ in range(moves):
        await people.move()
    moved = time.monotonic()
    versions = people.versions
    await _until("every page shows the newest", lambda: all(p.shown["version"] >= versions[p.code] for p in pages))
    equal = time.monotonic() - moved
    await _until("every socket is back", lambda: all(page.connected for page in pages))
    back = max(0.0, max(page.connected_at for page in pages) - began)
    if fault and fault.end:
        kill(fault.program, fault.end)
    fresh = await asyncio.gather(*(page.site.view(page.code, page.session) for page in pages))
    differ = sum(page.shown != now for page, now in zip(pages, fresh, strict=True))
    name, again = (fault.name, fault.again) if fault else ("nothing killed", False)
    return Found(name, back, equal, differ, people.again, again)


async def _until(what: str, is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError(f"not within {PATIENCE} s: {what}")
        await asyncio.sleep(0.05)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sockets", type=int, default=500)
    parser.add_argument("--moves", type=int, default=40, help="moves during each fault")
    arguments = parser.parse_args()
    with bench_database(LOG_LEVEL="ERROR"):
        from tests.support.stack import stack

        with stack(LOG_LEVEL="ERROR", RATE_LIMITS="1000000") as running:
            seated = seat_people(-(-arguments.sockets // (2 * TABS)))
            found = asyncio.run(measure(running.url, seated, moves=arguments.moves, kill=running.kill))
    for one in found:
        print(one.line())
    return 0 if all(one.good for one in found) else 1


if __name__ == "__main__":
    sys.exit(main())
