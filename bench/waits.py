"""Compare how fast a page is without and with 100 waiting calls and 500 open websockets.

    .venv/bin/python -m bench.waits [--calls 100] [--sockets 500] [--rounds 6] [--pages 150]

Starts `script/stack` on its own database. In turns it asks for game pages, one after another, while nothing else is
open and while people wait: each call waits for a change of a table, and is made again when it is answered. Prints the
median and the 95th percentile of both, and their ratios. Exits with 1 if the second ratio is above 1.2.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from statistics import quantiles
from typing import Final
from urllib.parse import urlsplit

import httpx
from websockets.asyncio.client import connect
from websockets.typing import Origin

from bench.load import seat_people
from bench.sockets import own_database

MOST: Final = 1.2

Seat = tuple[str, str]
"""The code of a table and the session of a person who sits there."""


async def pages(url: str, seated: Sequence[Seat], number: int) -> list[float]:
    """Return the seconds that each of so many game pages took."""
    taken = []
    async with httpx.AsyncClient(base_url=url, timeout=30) as client:
        for code, session in (list(seated) * number)[:number]:
            before = time.perf_counter()
            answer = await client.get(f"/games/{code}/", headers={"Cookie": f"session={session}"})
            answer.raise_for_status()
            taken.append(time.perf_counter() - before)
    return taken


@asynccontextmanager
async def waiting(url: str, seated: Sequence[Seat], *, calls: int, sockets: int) -> AsyncIterator[None]:
    """Keep so many websockets open and so many calls waiting during a block."""
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    async with AsyncExitStack() as stack:
        client = await stack.enter_async_context(httpx.AsyncClient(base_url=url, timeout=30, limits=limits))

        async def wait(code: str, session: str) -> None:
            while True:
                path = f"/api/v1/wait/games/{code}"
                (await client.get(path, headers={"Cookie": f"session={session}"})).raise_for_status()

        for code, session in (list(seated) * sockets)[:sockets]:
            address = f"ws://{urlsplit(url).netloc}/ws/games/{code}/"
            cookie = {"Cookie": f"session={session}"}
            await stack.enter_async_context(connect(address, origin=Origin(url), additional_headers=cookie))
        tasks = [asyncio.create_task(wait(*seat)) for seat in (list(seated) * calls)[:calls]]
        try:
            await asyncio.sleep(3)  # until all of them wait
            yield
        finally:
            for task in tasks:
                task.cancel()
            ended = await asyncio.gather(*tasks, return_exceptions=True)
        failed = [error for error in ended if not isinstance(error, asyncio.CancelledError)]
        if failed:
            raise SystemExit(f"{len(failed)} waiting calls failed, the first with {failed[0]!r}")


async def measure(url: str, seated: Sequence[Seat], arguments: argparse.Namespace) -> tuple[list[float], list[float]]:
    """Return the seconds of pages without and with what waits."""
    await pages(url, seated, arguments.pages)  # everything is loaded
    without, beside = list[float](), list[float]()
    for _ in range(arguments.rounds):
        without += await pages(url, seated, arguments.pages)
        async with waiting(url, seated, calls=arguments.calls, sockets=arguments.sockets):
            beside += await pages(url, seated, arguments.pages)
        await asyncio.sleep(1)
    return without, beside


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=100)
    parser.add_argument("--sockets", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--pages", type=int, default=150, help="pages of each round")
    arguments = parser.parse_args()
    with own_database():
        from tests.support.stack import stack

        with stack(LOG_LEVEL="ERROR", RATE_LIMITS="1000000") as running:
            seated = seat_people(-(-arguments.calls // 2))
            without, beside = asyncio.run(measure(running.url, seated, arguments))
    ratios = []
    for name, at in (("median", 49), ("95 %", 94)):
        before, after = (quantiles(taken, n=100)[at] for taken in (without, beside))
        ratios.append(after / before)
        print(f"{name}: {before * 1000:.1f} ms without, {after * 1000:.1f} ms beside what waits: {after / before:.2f}")
    return 0 if ratios[1] <= MOST else 1


if __name__ == "__main__":
    sys.exit(main())
