"""So many live games at once on the production processes, everybody moving as fast as the table allows.

    .venv/bin/python -m bench.load [--games 25,50,100,200] [--seconds 30]

Starts `script/stack` on a database of its own, seats two people at each table, and lets each of them do what an open
page does: hold a socket, fetch the fragment when poked, post a move when it is their turn. For each number of games it
prints moves a second, the time of a move (from the post to the page after it) and of a poke (from the post to the
opponent's frame), and the errors; the limit is the largest number of games with no error and 95 % of moves within a
second. Exits 1 if there was an error at 100 games or fewer.
"""

from __future__ import annotations

import argparse
import asyncio
import html
import os
import random
import re
import secrets
import statistics
import sys
import time
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import httpx
from websockets.asyncio.client import connect
from websockets.typing import Origin

from bench.moves import bench_database
from nomercy.place import place_for, secret_key

WITHIN = 1.0
"""Seconds within which 95 % of the moves must be answered for a number of games to count as carried."""
BUTTON = re.compile(r'<button[^>]*? name="move" value="([^"]+)"([^>]*)>')
HIDDEN = re.compile(r'name="(version|token)" value="([^"]*)"')


@dataclass
class Figures:
    """What was measured with one number of games; times in seconds."""

    games: int
    seconds: float = 0.0
    moves: list[float] = field(default_factory=list)
    pokes: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    @property
    def carried(self) -> bool:
        return not self.errors and bool(self.moves) and _percentile(self.moves, 95) <= WITHIN

    def line(self) -> str:
        told = ", ".join(
            f"{name} " + "/".join(f"{1000 * _percentile(times, n):.0f}" for n in (50, 95, 99)) + " ms"
            for name, times in (("move", self.moves), ("poke", self.pokes))
        )
        speed = len(self.moves) / self.seconds
        return f"{self.games} games: {speed:.0f} moves/s; p50/p95/p99 {told}; {len(self.errors)} errors"


def _percentile(times: list[float], n: int) -> float:
    return statistics.quantiles(times, n=100)[n - 1] if len(times) > 1 else float("nan")


@dataclass
class Person:
    """A browser at one table."""

    url: str
    code: str
    session: str
    figures: Figures
    sent: dict[tuple[str, int], float]
    rng: random.Random
    csrf: str = field(default_factory=lambda: secrets.token_hex(16))

    async def play(self, until: float) -> None:
        cookies = {"session": self.session, "csrf": self.csrf}
        headers = {"HX-Request": "true", "X-CSRFToken": self.csrf, "Origin": self.url, "Referer": self.url + "/"}
        address = urlsplit(self.url)
        cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
        async with (
            httpx.AsyncClient(base_url=self.url, cookies=cookies, headers=headers, timeout=30) as browser,
            connect(
                f"ws://{address.netloc}/ws/games/{self.code}/",
                origin=Origin(self.url),
                additional_headers={"Cookie": cookie},
            ) as poked,
        ):
            while time.monotonic() < until:
                page = await browser.get(f"/games/{self.code}/")
                if page.status_code != 200:
                    self.figures.errors.append(f"page {page.status_code}: {page.text[:200]}")
                while (body := self._move_on(page.text)) and time.monotonic() < until:
                    page = await self._post(browser, body)
                try:
                    async with asyncio.timeout(min(15.0, max(0.1, until - time.monotonic()))):
                        frame = await poked.recv()
                except TimeoutError:
                    continue
                self._note(str(frame))

    def _move_on(self, page: str) -> dict[str, str] | None:
        """A form to send from this page, if it lets its reader move."""
        buttons = [(html.unescape(move), rest) for move, rest in BUTTON.findall(page) if "aria-disabled" not in rest]
        choices = [move for move, rest in buttons if 'id="choose-' in rest]
        moves = choices or [move for move, _ in buttons if move != "leave"]
        return {**dict(HIDDEN.findall(page)), "move": self.rng.choice(moves)} if moves else None

    async def _post(self, browser: httpx.AsyncClient, body: dict[str, str]) -> httpx.Response:
        started = time.monotonic()
        self.sent[self.code, int(body["version"]) + 1] = started
        page = await browser.post(f"/games/{self.code}/move/", data=body)
        if page.status_code == 200:
            self.figures.moves.append(time.monotonic() - started)
        elif page.status_code not in (409, 422):  # the opponent was faster; the page is as it is now
            self.figures.errors.append(f"move {page.status_code}: {page.text[:200]}")
        return page

    def _note(self, frame: str) -> None:
        version = int(re.findall(r'"version": ?(\d+)', frame)[0])
        started = self.sent.pop((self.code, version), None)
        if started is not None:
            self.figures.pokes.append(time.monotonic() - started)


def seat_people(games: int) -> list[tuple[str, str]]:
    """So many tables of two people; gives the table and the session of each person."""
    from django.conf import settings  # Django is set up by then
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.utils import timezone

    from accounts.models import User
    from games.actions import lobby
    from nomercy.sessions import SessionStore

    seated = []
    for _ in range(games):
        people = [
            User.objects.create_user(username=f"load-{secrets.token_hex(6)}", password=secrets.token_hex(8))
            for _ in range(2)
        ]
        options = lobby.TableOptions(players=2, target=5000)
        table = lobby.create_table(user=people[0], options=options, now=timezone.now())
        lobby.join(code=table.game.code, user=people[1], now=timezone.now())
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
    figures, sent = Figures(games), dict[tuple[str, int], float]()
    people = [Person(url, code, session, figures, sent, random.Random(n)) for n, (code, session) in enumerate(seated)]
    started = time.monotonic()
    for ended in await asyncio.gather(*(person.play(started + seconds) for person in people), return_exceptions=True):
        if ended is not None:
            figures.errors.append(repr(ended))
    figures.seconds = time.monotonic() - started
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", default="25,50,100,200", help="numbers of games, one after another")
    parser.add_argument("--seconds", type=float, default=30)
    arguments = parser.parse_args()
    found: list[Figures] = []
    with bench_database() as database:
        os.environ |= {"DATABASE_URL": database, "DJANGO_SETTINGS_MODULE": "nomercy.settings", "LOG_LEVEL": "WARNING"}
        os.environ["SECRET_KEY"] = secret_key(place_for())
        import django

        django.setup()
        from tests.support.stack import stack

        with stack(LOG_LEVEL="WARNING") as running:
            for games in map(int, arguments.games.split(",")):
                found.append(asyncio.run(measure(running.url, seat_people(games), games, arguments.seconds)))
                print(found[-1].line(), flush=True)
                for error in sorted(set(found[-1].errors))[:5]:
                    print(f"  {error}")
    carried = [figures.games for figures in found if figures.carried]
    print(f"carried: {max(carried, default=0)} games (95 % of moves within {WITHIN:.0f} s, no error)")
    return 1 if any(figures.errors for figures in found if figures.games <= 100) else 0


if __name__ == "__main__":
    sys.exit(main())
