"""Load the production processes with many games at once, in which everybody moves as fast as possible.

    .venv/bin/python -m bench.load [--games 100] [--seconds 20] [--limit | --against /path/to/other/checkout]

Starts `script/stack` on its own database and seats two people at each table. Each does what an open page does: hold a
socket, fetch the fragment when told of a newer version, and post a move when it is their turn. Each has its own network
address, because the limits of the site are on. Prints moves a second, the time of a move (from the post to the page
after it) and of a notification (from the post to the opponent's frame), the errors, and the CPU use of the machine and
of these browsers, which share it. With `--limit` it then finds the largest number of games, to a tenth, with no error
and 95 % of moves within a second. `--against` measures another checkout in turn, and prints the ratio of the moves a
second. Exits with 1 if there was an error.
"""

from __future__ import annotations

import argparse
import asyncio
import html
import json
import os
import random
import re
import secrets
import statistics
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from bench.browser import Answer, Browser
from bench.compare import compare
from bench.replica import bench_database

WITHIN = 1.0
"""A number of games is carried if 95 % of its moves are answered within this many seconds."""
BUTTON = re.compile(r'<button[^>]*? name="move" value="([^"]+)"([^>]*)>')
HIDDEN = re.compile(r'name="(version|token)" value="([^"]*)"')
VERSION = re.compile(r'data-version="(\d+)"')


@dataclass
class Figures:
    """The figures for one number of games. Times are in seconds."""

    games: int
    seconds: float = 0.0
    moves: list[float] = field(default_factory=list)
    messages: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    machine: float = 0.0
    browsers: float = 0.0

    @property
    def carried(self) -> bool:
        return not self.errors and bool(self.moves) and _percentile(self.moves, 95) <= WITHIN

    def line(self) -> str:
        told = ", ".join(
            f"{name} " + "/".join(f"{1000 * _percentile(times, n):.0f}" for n in (50, 95, 99)) + " ms"
            for name, times in (("move", self.moves), ("message", self.messages))
        )
        speed = len(self.moves) / self.seconds
        return (
            f"{self.games} games: {speed:.0f} moves/s; p50/p95/p99 {told}; "
            f"{len(self.errors)} errors; CPU: machine {self.machine:.0%}, of it these browsers {self.browsers:.0%}"
        )


def _percentile(times: list[float], n: int) -> float:
    return statistics.quantiles(times, n=100)[n - 1] if len(times) > 1 else float("nan")


@dataclass
class Person:
    """A browser at one table. Like live.js it fetches only versions newer than the one it shows."""

    url: str
    code: str
    session: str
    source: str
    figures: Figures
    sent: dict[tuple[str, int], tuple[float, Person]]
    rng: random.Random
    csrf: str = field(default_factory=lambda: secrets.token_hex(16))
    shown: int = -1
    newest: int = 0
    message_came: asyncio.Event = field(default_factory=asyncio.Event)

    async def play(self, until: float) -> None:
        cookie = {"Cookie": f"session={self.session}; csrf={self.csrf}"}
        headers = {"HX-Request": "true", "X-CSRFToken": self.csrf, "Origin": self.url, "Referer": self.url + "/"}
        address = f"ws://{urlsplit(self.url).netloc}/ws/games/{self.code}/"
        async with (
            Browser(self.url, headers | cookie, source=self.source) as browser,
            connect(
                address,
                origin=Origin(self.url),
                additional_headers=cookie,
                compression=None,
                local_addr=(self.source, 0),
            ) as socket,
            asyncio.TaskGroup() as tasks,
        ):
            listening = tasks.create_task(self._listen(socket))
            while (left := until - time.monotonic()) > 0:
                if self.newest > self.shown:
                    await self._look_and_move(browser, until)
                else:
                    self.message_came.clear()
                    with suppress(TimeoutError):
                        await asyncio.wait_for(self.message_came.wait(), left)
            listening.cancel()

    async def _listen(self, socket: ClientConnection) -> None:
        async for frame in socket:
            version = json.loads(frame)["version"]
            started, mover = self.sent.get((self.code, version), (0.0, self))
            if mover is not self:
                self.figures.messages.append(time.monotonic() - started)
            self.newest = max(self.newest, version)
            self.message_came.set()

    async def _look_and_move(self, browser: Browser, until: float) -> None:
        page = await browser.get(f"/games/{self.code}/")
        if page.status != 200:
            self.figures.errors.append(f"page {page.status}: {page.text[:200]}")
            return
        while (body := self._move_on(page.text)) and time.monotonic() < until:
            page = await self._post(browser, body)

    def _move_on(self, page: str) -> dict[str, str] | None:
        """Show this page. Return the form of a move, or None if its reader cannot move."""
        if shown := VERSION.search(page):
            self.shown = max(self.shown, int(shown[1]))
        buttons = [(html.unescape(move), rest) for move, rest in BUTTON.findall(page) if "aria-disabled" not in rest]
        choices = [move for move, rest in buttons if 'id="choose-' in rest]
        moves = choices or [move for move, _ in buttons if move != "leave"]
        return {**dict(HIDDEN.findall(page)), "move": self.rng.choice(moves)} if moves else None

    async def _post(self, browser: Browser, body: dict[str, str]) -> Answer:
        started = time.monotonic()
        self.sent[self.code, int(body["version"]) + 1] = started, self
        page = await browser.post(f"/games/{self.code}/move/", body)
        if page.status == 200:
            self.figures.moves.append(time.monotonic() - started)
        elif page.status not in (409, 422):  # the opponent was faster; the page is as it is now
            self.figures.errors.append(f"move {page.status}: {page.text[:200]}")
        return page


def seat_people(games: int) -> list[tuple[str, str]]:
    """Create tables of two people. Return the table and the session of each person."""
    from django.conf import settings  # Django is set up by then
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.utils import timezone

    from accounts.models import User
    from games.actions import lobby
    from games.queries import Viewer
    from nomercy.sessions import SessionStore

    seated = []
    for _ in range(games):
        people = [
            User.objects.create_user(username=f"load-{secrets.token_hex(6)}", password=secrets.token_hex(8))
            for _ in range(2)
        ]
        choices = lobby.TableChoices(players=2, target=5000)
        table = lobby.create_table(user=people[0], choices=choices, now=timezone.now())
        lobby.join(code=table.game.code, viewer=Viewer(people[1]), now=timezone.now())
        for person in people:
            session = SessionStore()
            session[SESSION_KEY] = str(person.pk)
            session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
            session[HASH_SESSION_KEY] = person.get_session_auth_hash()
            session.save()
            assert session.session_key
            seated.append((table.game.code, session.session_key))
    return seated


async def measure(url: str, seated: list[tuple[str, str]], games: int, seconds: float) -> Figures:
    figures, sent = Figures(games), dict[tuple[str, int], tuple[float, Person]]()
    people = [
        Person(url, code, session, _address(n), figures, sent, random.Random(n))
        for n, (code, session) in enumerate(seated)
    ]
    started, busy, total, own = time.monotonic(), *_machine_seconds(), time.process_time()
    for ended in await asyncio.gather(*(person.play(started + seconds) for person in people), return_exceptions=True):
        if ended is not None:
            figures.errors.append(repr(ended))
    figures.seconds = time.monotonic() - started
    busy_now, total_now = _machine_seconds()
    figures.machine = (busy_now - busy) / (total_now - total)
    figures.browsers = (time.process_time() - own) / (total_now - total)
    return figures


def _address(number: int) -> str:
    """Return a network address for each person: all of 127.0.0.0/8 is this machine."""
    return f"127.1.{number // 250}.{1 + number % 250}"


def _machine_seconds() -> tuple[float, float]:
    """Return the busy and the total CPU seconds of all cores since boot (/proc/stat of Linux)."""
    first = Path("/proc/stat").read_text().partition("\n")[0]
    ticks = [int(number) for number in first.split()[1:9]]
    second = os.sysconf("SC_CLK_TCK")
    return (sum(ticks) - ticks[3] - ticks[4]) / second, sum(ticks) / second


def find_limit(carries: Callable[[int], bool], first: int) -> int:
    """Return the largest number of games that is carried, to a tenth. 0 if not even one is."""
    good, bad = 0, first
    while carries(bad):
        good, bad = bad, 2 * bad
    while bad - good > max(1, good // 10):
        middle = (good + bad) // 2
        good, bad = (middle, bad) if carries(middle) else (good, middle)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--games", type=int, default=100, help="live games at once that must be played without an error"
    )
    parser.add_argument("--seconds", type=float, default=20, help="of each measurement")
    parser.add_argument("--limit", action="store_true", help="then look for the limit")
    parser.add_argument("--against", type=Path, help="another checkout, measured in turn with this one")
    arguments = parser.parse_args()
    if arguments.against:
        settings = ["--games", str(arguments.games), "--seconds", str(arguments.seconds)]
        compare("bench.load", settings, arguments.against, figure=r"(\d+) moves/s")
        return 0
    found: list[Figures] = []
    with bench_database():
        from tests.support.stack import stack

        with stack(LOG_LEVEL="WARNING") as running:

            def carries(games: int) -> bool:
                figures = asyncio.run(measure(running.url, seat_people(games), games, arguments.seconds))
                found.append(figures)
                print(figures.line(), flush=True)
                for error in sorted(set(figures.errors))[:5]:
                    print(f"  {error}")
                return figures.carried

            carries(arguments.games)
            if arguments.limit:
                most = find_limit(carries, first=10)
                print(f"limit: {most} games (95 % of moves within {WITHIN:.0f} s, no error)")
    return 1 if found[0].errors or not found[0].moves else 0


if __name__ == "__main__":
    sys.exit(main())
