"""Measure how fast a player can move while an attacker tries to stop the site.

    .venv/bin/python -m bench.siege [--site run|stack|both] [--seconds 30] [--apart]

Starts `script/run` and then `script/stack` on their own databases, as real processes with all limits on. A player at
127.0.0.2 moves, first alone and then while an attacker at 127.0.0.3 sends 24 requests to `script/run` whose bodies do
not arrive, and does all of this at once to `script/stack`, from one process that is pinned to one core:

- 50 requests whose bodies do not arrive, sent again as soon as they are refused;
- 1,500 connections with half a request, opened again when they are closed;
- 40 websockets that are cut off right after they were accepted, or ask for a table by a code of 150 characters;
- 300 calls of the API a second, each with a new token that nobody has.

With `--apart` each of the four comes from its own address, so that none is refused because of the others. Prints the
times of the moves and their ratio, the answers to the attacker, and how much the site logged. Exits with 1 if 95 % of
the moves take a second or more.
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import secrets
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import httpx

from bench.replica import CSRF, Replica, bench_database, cookies_of, move_request, new_replica
from nomercy.launcher.file_limit import raise_file_limit
from nomercy.launcher.place import CHECKOUT

PLAYER: Final = "127.0.0.2"
ATTACKER: Final = "127.0.0.3"
APART: Final = {"slow body": ATTACKER, "half a request": "127.0.0.4", "socket": "127.0.0.5", "junk token": "127.0.0.6"}
TOGETHER: Final = dict.fromkeys(APART, ATTACKER)
SLOW_BODIES: Final = 50
FEW_SLOW_BODIES: Final = 24
IDLE: Final = 1_500
BROKEN_SOCKETS: Final = 40
JUNK_A_SECOND: Final = 300
WITHIN: Final = 1.0
"""95 % of the moves must be answered within this many seconds."""
PACE: Final = 0.1
"""Seconds between two moves of the player."""
PAUSE: Final = 1.0
"""Seconds until the attacker opens a connection again."""
SETTLE: Final = 5.0
"""Seconds of siege before the player's moves count."""
RUN: Final = "nomercy.launcher.embedded"
STACK: Final = "script.stack"


# The attacker, which is a separate process


class Attack:
    """All attacks at once, until it is stopped. `seen` counts the reactions of the site."""

    def __init__(self, host: str, port: int, origin: str, sources: Mapping[str, str], *, proxied: bool) -> None:
        """Attack from these addresses, by the kind of attack."""
        self._proxied = proxied
        self._host, self._port, self._origin, self._sources = host, port, origin, sources
        self.seen: Counter[str] = Counter()

    async def run(self, seconds: float) -> None:
        """Attack for this long. Without a proxy, only by slow bodies."""
        number = SLOW_BODIES if self._proxied else FEW_SLOW_BODIES
        tasks = [asyncio.create_task(self._again("slow body", self._slow_body)) for _ in range(number)]
        if self._proxied:
            tasks += self._more()
        await asyncio.sleep(seconds)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _more(self) -> list[asyncio.Task[None]]:
        tasks = [asyncio.create_task(self._again("half a request", self._half_a_request)) for _ in range(IDLE)]
        tasks += [asyncio.create_task(self._again("socket", self._broken_socket)) for _ in range(BROKEN_SOCKETS)]
        return [*tasks, asyncio.create_task(self._junk())]

    async def _again(self, name: str, attack: Any) -> None:
        while True:
            try:
                answer = await attack()
            except OSError:
                answer = "cut off"
            self.seen[f"{name}: {answer or 'closed'}"] += 1
            await asyncio.sleep(PAUSE)

    async def _say(self, kind: str, data: bytes) -> str:
        """Send this. Return the status of the answer, or "" if the connection was closed without one."""
        source = (self._sources[kind], 0)
        reader, writer = await asyncio.open_connection(self._host, self._port, local_addr=source)
        try:
            writer.write(data)
            first = await reader.readline()
            return first.split(b" ")[1].decode() if first else ""
        finally:
            writer.transport.abort()

    def _head(self, line: str, *headers: str) -> bytes:
        return "\r\n".join([f"{line} HTTP/1.1", f"Host: {urlsplit(self._origin).netloc}", *headers, "", ""]).encode()

    async def _slow_body(self) -> str:
        return await self._say("slow body", self._head("POST /accounts/login/", "Content-Length: 100") + b"ab")

    async def _half_a_request(self) -> str:
        return await self._say("half a request", self._head("GET /").removesuffix(b"\r\n"))

    async def _broken_socket(self) -> str:
        code = secrets.choice([secrets.token_hex(5), "x" * 150])
        upgrade = ("Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", f"Origin: {self._origin}")
        key = f"Sec-WebSocket-Key: {base64.b64encode(secrets.token_bytes(16)).decode()}"
        return await self._say("socket", self._head(f"GET /ws/games/{code}/", *upgrade, key))

    async def _junk(self) -> None:
        async with asyncio.TaskGroup() as calls:
            due = time.monotonic()
            while True:
                calls.create_task(self._junk_token())
                due += 1 / JUNK_A_SECOND
                await asyncio.sleep(max(0.0, due - time.monotonic()))

    async def _junk_token(self) -> None:
        token = f"Authorization: Bearer {secrets.token_urlsafe(24)}"
        try:
            answer = await self._say("junk token", self._head("GET /api/v1/me", token, "Connection: close"))
        except OSError:
            answer = "cut off"
        self.seen[f"junk token: {answer or 'closed'}"] += 1


def attack(url: str, seconds: float, sources: Mapping[str, str], *, proxied: bool) -> None:
    """Run the attacker (`--attack`). Print what was seen as JSON."""
    raise_file_limit()
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    address = urlsplit(url)
    found = Attack(address.hostname or "", address.port or 80, url, sources, proxied=proxied)
    asyncio.run(found.run(seconds))
    print(json.dumps(found.seen))


# The site, the player, the figures


@dataclass
class Site:
    """A running site."""

    url: str
    log: Path

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or 80


@contextmanager
def running_site(module: str) -> Iterator[Site]:
    """Run what `script/run` or `script/stack` starts, with its output in a file."""
    from tests.support.ports import free_port

    port = free_port()
    environment = os.environ | {"PORT": str(port), "SITE_URL": f"http://127.0.0.1:{port}"}
    with tempfile.NamedTemporaryFile("w", suffix=".log") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", module], cwd=CHECKOUT, env=environment, stdout=said, stderr=said
        )
        log = Path(said.name)
        try:
            while "Ctrl-C stops everything" not in log.read_text():
                if process.poll() is not None:
                    raise SystemExit(log.read_text())
                time.sleep(0.1)
            yield Site(environment["SITE_URL"], log)
        finally:
            process.terminate()
            process.wait()


class Player:
    """Moves for both people of a table, and then of the next table."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._client = httpx.Client(
            transport=httpx.HTTPTransport(local_address=PLAYER, limits=httpx.Limits(max_keepalive_connections=0)),
            timeout=60,
        )
        self._tables = 0
        self._sit_down()

    def play(self, seconds: float) -> list[float]:
        """Move for this many seconds. Return the seconds of each move, from the connection to the end of the answer."""
        taken: list[float] = []
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            started = time.monotonic()
            self._move()
            taken.append(time.monotonic() - started)
            if not self._replica.catch_up():
                self._sit_down()
            time.sleep(PACE)
        return taken

    def _sit_down(self) -> None:
        self._tables += 1
        self._replica: Replica = new_replica(secrets.randbelow(10**9))
        self._cookies = {user.pk: cookies_of(user) for user in self._replica.users}

    def _move(self) -> None:
        user, move, version = self._replica.next_move()
        path, fields = move_request(self._replica.code, move, version)
        headers = {"Cookie": self._cookies[user.pk], "X-CSRFToken": CSRF, "HX-Request": "true"}
        answer = self._client.post(self._site.url + path, data=fields, headers=headers)
        if answer.status_code != httpx.codes.OK:
            raise SystemExit(f"the site answered {answer.status_code} {answer.text[:300]!r} to {move}")


def besiege(module: str, seconds: float, *more: str) -> bool:
    """Print the times of the player without and with the attacker. Return True if they are good enough."""
    with running_site(module) as site:
        player = Player(site)
        player.play(3)  # everything is loaded
        alone = player.play(seconds)
        logged = site.log.stat().st_size
        attacker = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "bench.siege",
                "--attack",
                site.url,
                "--site",
                "run" if module == RUN else "stack",
                "--seconds",
                str(seconds + 2 * SETTLE),
                *more,
            ],
            cwd=CHECKOUT,
            stdout=subprocess.PIPE,
            text=True,
        )
        time.sleep(SETTLE)
        under_siege = player.play(seconds)
        seen = json.loads(attacker.communicate()[0])
        logged = site.log.stat().st_size - logged
    before, now = _p95(alone), _p95(under_siege)
    name = "script/run" if module == RUN else "script/stack"
    print(f"{name}: a move takes p50 {_ms(statistics.median(alone))}, p95 {_ms(before)} alone ({len(alone)} moves);")
    print(f"  under siege p50 {_ms(statistics.median(under_siege))}, p95 {_ms(now)} ({len(under_siege)} moves),")
    print(f"  ratio of the p95: {now / before:.1f}; logged meanwhile: {logged / 1000:.0f} kB")
    for what, number in sorted(seen.items()):
        print(f"  {what}: {number}")
    return now < WITHIN


def _p95(times: list[float]) -> float:
    return statistics.quantiles(times, n=100)[94]


def _ms(seconds: float) -> str:
    return f"{1000 * seconds:.0f} ms"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--site", choices=("run", "stack", "both"), default="both")
    parser.add_argument("--seconds", type=float, default=30, help="of each measurement")
    parser.add_argument("--apart", action="store_true", help="each kind of attack from an address of its own")
    parser.add_argument("--attack", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.attack:
        sources = APART if arguments.apart else TOGETHER
        attack(arguments.attack, arguments.seconds, sources, proxied=arguments.site == "stack")
        return 0
    raise_file_limit()
    with bench_database(RATE_LIMITS="100"):
        modules = [RUN] if arguments.site == "run" else [STACK] if arguments.site == "stack" else [RUN, STACK]
        more = ["--apart"] if arguments.apart else []
        good = [besiege(module, arguments.seconds, *more) for module in modules]
        from django.db import connection

        connection.close()
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
