"""Measure what a player's browser gets: the bytes of a first visit and of moves as they are sent, and the time until
the largest element of the game page is shown (LCP).

    .venv/bin/python -m bench.page_bytes [--url http://127.0.0.1:8000] [--moves 12] [--visits 5]

Starts `script/run` unless an address is given, and plays as a guest against bots in Chromium. Bytes include the headers
of answers. A first visit has an empty cache. A move is the answer to the form; what a page fetches after the moves of
others is printed beside it. LCP is the median of the visits, each with an empty cache, a CPU four times slower, and
Lighthouse's slow 4G: 1.6 Mbit/s down, 750 kbit/s up, 150 ms a round trip. A busy machine makes it longer. Exits with 1
if a limit is missed.
"""

from __future__ import annotations

import argparse
import os
import signal
import statistics
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, sync_playwright
from playwright.sync_api import TimeoutError as PlaywrightTimeout

from bench.start import wait_for_answer
from nomercy.launcher.place import CHECKOUT
from tests.support.ports import free_port
from tests.support.programs import CHROMIUM_FLAGS, CHROMIUM_NAMES, program

VISIT_BYTES: Final = 105_000
MOVE_BYTES: Final = 6_700  # with 700 of headers
LCP_SECONDS: Final = 1.8
SLOW_CPU: Final = 4
SLOW_4G: Final = {
    "offline": False, "latency": 150, "downloadThroughput": 1_600_000 / 8, "uploadThroughput": 750_000 / 8,
}  # fmt: skip
QUIET_MS: Final = 1500
"""After this time without a request a page has loaded what it needs."""
WATCH_LCP: Final = """
    new PerformanceObserver((list) => { window.shownAt = list.getEntries().at(-1).startTime; })
        .observe({type: "largest-contentful-paint", buffered: true});
"""
TURN: Final = "#move button"
CHOICES: Final = ("#chooser .swatch", "#hand-cards .card:not([aria-disabled])", "#play-drawn", "#draw")


@dataclass
class Traffic:
    """The answers that a page has got: method, path and bytes."""

    answers: list[tuple[str, str, int]] = field(default_factory=list)
    _asked: dict[str, tuple[str, str]] = field(default_factory=dict)

    def watch(self, page: Page) -> None:
        """Note the answers of this page from now on, beginning with an empty cache."""
        client = page.context.new_cdp_session(page)
        client.on("Network.requestWillBeSent", self._sent)
        client.on("Network.loadingFinished", self._finished)
        client.send("Network.enable")
        client.send("Network.clearBrowserCache")

    def take(self) -> list[tuple[str, str, int]]:
        """Return the answers since the last call."""
        taken, self.answers = self.answers, []
        return taken

    def _sent(self, event: dict[str, Any]) -> None:
        request = event["request"]
        self._asked[event["requestId"]] = (request["method"], urlsplit(request["url"]).path)

    def _finished(self, event: dict[str, Any]) -> None:
        method, path = self._asked.get(event["requestId"], ("", "?"))
        self.answers.append((method, path, round(event["encodedDataLength"])))


@dataclass(frozen=True)
class Guest:
    """A player in a game against bots."""

    browser: Browser
    game: str
    cookies: list[Any]

    def new_page(self, *, slow: bool = False) -> Page:
        """Return a page of a browser with an empty cache."""
        context = self.browser.new_context()
        context.add_cookies(self.cookies)
        page = context.new_page()
        if slow:
            client = context.new_cdp_session(page)
            client.send("Network.enable")
            client.send("Network.emulateNetworkConditions", SLOW_4G)
            client.send("Emulation.setCPUThrottlingRate", {"rate": SLOW_CPU})
        return page


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", help="the address of a running site")
    parser.add_argument("--moves", type=int, default=12)
    parser.add_argument("--visits", type=int, default=5, help="for the LCP")
    arguments = parser.parse_args()
    chromium = program(CHROMIUM_NAMES)
    with nullcontext(arguments.url) if arguments.url else site() as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
        guest = seated(browser, url)
        page, traffic = guest.new_page(), Traffic()
        traffic.watch(page)
        page.goto(guest.game, wait_until="networkidle")
        page.wait_for_timeout(QUIET_MS)
        results = [visit_fits(traffic.take()), lcp_fits([lcp_of(guest) for _ in range(arguments.visits)])]
        results.append(moves_fit(page, traffic, arguments.moves))
        browser.close()
    return 0 if all(results) else 1


@contextmanager
def site() -> Iterator[str]:
    """Run `script/run` inside a `with` block; yield its address."""
    port = free_port()
    environment = os.environ | {"PORT": str(port), "LOG_LEVEL": "WARNING"}
    process = subprocess.Popen(
        [CHECKOUT / "script/run"], cwd=CHECKOUT, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
    )
    try:
        wait_for_answer(process, port)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def seated(browser: Browser, url: str) -> Guest:
    """Start a game as a new guest, and wait for the first turn."""
    page = browser.new_page()
    page.goto(url)
    page.get_by_role("button", name="Play now").click()
    page.wait_for_url("**/games/*/")
    page.locator(TURN).first.wait_for()  # until then the page also fetches the moves of bots
    guest = Guest(browser, page.url, list(page.context.cookies()))
    page.context.close()
    return guest


def visit_fits(answers: list[tuple[str, str, int]]) -> bool:
    total = sum(size for _, _, size in answers)
    print(f"first visit: {total / 1000:.1f} kB in {len(answers)} requests (at most {VISIT_BYTES / 1000:.0f})")
    for _, path, size in sorted(answers, key=lambda answer: -answer[2]):
        print(f"  {size:7,}  {path}")
    return total <= VISIT_BYTES


def moves_fit(page: Page, traffic: Traffic, moves: int) -> bool:
    """Play this many moves, or to the end of the round. Print the bytes of the answers."""
    posts, fetches = list[int](), list[int]()
    while len(posts) < moves and play(page):
        page.wait_for_timeout(QUIET_MS)
        for method, path, size in traffic.take():
            if path.startswith("/games/"):
                (posts if method == "POST" else fetches).append(size)
    print(f"a move: {max(posts) / 1000:.1f} kB at most, {statistics.median(posts) / 1000:.1f} at the median", end=" ")
    print(f"of {len(posts)} (at most {MOVE_BYTES / 1000:.0f})")
    if fetches:
        print(f"a fetch after the move of another: {max(fetches) / 1000:.1f} kB at most, of {len(fetches)}")
    return max(posts) <= MOVE_BYTES


def play(page: Page) -> bool:
    """Wait for the turn and press what is offered first. Return whether the round goes on."""
    for _ in range(60):
        if page.locator("#over").count():
            return False
        for choice in CHOICES:
            offered = page.locator(choice)
            if offered.count() and offered.first.is_visible() and page.locator(TURN).count():
                try:
                    offered.first.click(timeout=2_000)
                except PlaywrightTimeout:
                    break  # the page was updated meanwhile
                return True
        page.wait_for_timeout(500)
    return False


def lcp_of(guest: Guest) -> float:
    """Return the seconds until the largest element of the game page is shown, on a slow device."""
    page = guest.new_page(slow=True)
    page.add_init_script(WATCH_LCP)
    page.goto(guest.game, wait_until="networkidle")
    page.wait_for_timeout(QUIET_MS)
    shown = float(page.evaluate("window.shownAt")) / 1000
    page.context.close()
    return shown


def lcp_fits(seconds: list[float]) -> bool:
    median = statistics.median(seconds)
    print(f"LCP at {SLOW_CPU}x CPU and slow 4G: {median:.2f} s (best {min(seconds):.2f}, at most {LCP_SECONDS})")
    return median <= LCP_SECONDS


if __name__ == "__main__":
    sys.exit(main())
