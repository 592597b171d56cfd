"""The pages that players use most, in Firefox and in Safari's engine, WebKit.

`NOMERCY_SCREENSHOTS=folder` stores screenshots. `NOMERCY_ALL_WIDTHS=1` opens more pages.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final, Protocol

import pytest
from django.conf import settings

from tests.browser.checks import ALL_WIDTHS, COVERED_CONTROLS, STRETCHED_PICTURES, TOO_WIDE
from tests.browser.places import IN_EVERY_BROWSER, Cast
from tests.conftest import logged_in
from tests.support.firefox import running_firefox
from tests.support.webkit import running_webkit

SCREENSHOTS = os.environ.get("NOMERCY_SCREENSHOTS")
SIZES = ((390, 844), (1280, 800))
PAGES: Final = tuple(IN_EVERY_BROWSER) if ALL_WIDTHS else ("game",)
FAULTY: Final = """<!DOCTYPE html>
<meta http-equiv="Content-Security-Policy" content="script-src 'self' 'unsafe-inline'; img-src 'self'">
<script>console.error("told"); Promise.reject(new Error("rejected")); missing();</script>
<script src="gone.js"></script>
<main style="width: 120vw">
<button style="position: absolute; top: 60px">Under</button>
<p style="position: absolute; top: 40px; width: 100%; height: 100px">Over</p>
<img class="avatar" style="width: 20px; height: 200px" src="https://other.example/tall.svg" alt="">
</main>
"""


class Window(Protocol):
    """A window of a browser. `visit` says which site and session, `goto` opens one page, and `leave` forgets both."""

    def visit(self, site: str, session: str | None = None) -> None: ...

    def goto(self, url: str) -> None: ...

    def resize(self, width: int, height: int) -> None: ...

    def evaluate(self, function: str) -> Any: ...

    def errors(self) -> list[str]: ...

    def screenshot(self, path: Path) -> None: ...

    def leave(self) -> None: ...


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(running_firefox, marks=pytest.mark.firefox, id="firefox"),
        pytest.param(running_webkit, marks=pytest.mark.webkit, id="webkit"),
    ],
)
def running(request: pytest.FixtureRequest) -> Iterator[Window]:
    """Each of the browsers, for all tests of this module."""
    with request.param() as window:
        yield window


@pytest.fixture
def window(running: Window) -> Iterator[Window]:
    yield running
    running.leave()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_fits_its_window_without_covered_controls_or_errors(
    window: Window, site: str, cast: Cast, name: str, request: pytest.FixtureRequest
) -> None:
    window.visit(site, logged_in(cast.alice).cookies[settings.SESSION_COOKIE_NAME].value)
    IN_EVERY_BROWSER[name](window, cast)
    for width, height in SIZES:
        window.resize(width, height)
        if SCREENSHOTS:
            Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
            window.screenshot(Path(SCREENSHOTS) / f"{request.node.callspec.id}-{width}.png")
        assert window.evaluate("() => [innerWidth, innerHeight]") == [width, height]
        assert window.evaluate(STRETCHED_PICTURES) == [], f"at {width} px"
        assert window.evaluate(TOO_WIDE) == {"page": 0, "parts": []}, f"at {width} px"
        assert window.evaluate(COVERED_CONTROLS) == [], f"at {width} px"
    assert window.errors() == []


@pytest.fixture
def faulty_site(tmp_path: Path) -> Iterator[str]:
    """The address of a site whose page has a fault for every check."""
    (tmp_path / "faulty.html").write_text(FAULTY)
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(SimpleHTTPRequestHandler, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_the_checks_find_seeded_faults(window: Window, faulty_site: str) -> None:
    window.visit(faulty_site)
    window.goto("/faulty.html")
    window.resize(*SIZES[0])
    assert len(window.evaluate(STRETCHED_PICTURES)) == 1
    assert window.evaluate(TOO_WIDE)["page"] > 0
    assert [fault.split(" ")[0] for fault in window.evaluate(COVERED_CONTROLS)] == ["<button"]
    errors = "\n".join(window.errors())
    assert [part for part in ("told", "rejected", "missing", "gone.js", "img-src") if part not in errors] == [], errors
