"""Drives WebKitGTK's small browser, which has Safari's engine, through Selenium on a display of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from django.conf import settings
from selenium.webdriver import Remote, WebKitGTKOptions
from selenium.webdriver.remote.client_config import ClientConfig
from selenium.webdriver.remote.remote_connection import RemoteConnection
from selenium.webdriver.webkitgtk.service import Service

from tests.browser.checks import COLLECT_ERRORS
from tests.support.programs import DISPLAY_NAMES, WEBKIT_NAMES, program
from tests.support.waiting import until

OPEN: Final = f"""
const opened = open(arguments[0], "_blank", "popup,width=390,height=844");
({COLLECT_ERRORS})(opened);
"""
"""Opens a page in a second window. Until it has loaded, that window shows an empty page, whose global object the site's
page takes over together with what has been set there: so errors are collected from the start. A second window is also
without the tool bar, which is wider than a phone."""
LOADED: Final = "return location.href !== 'about:blank' && document.readyState === 'complete'"


class WebKit:
    """A running browser with one window, and a second one for the page that `goto` opened."""

    def __init__(self, driver: Remote) -> None:
        self._driver = driver
        self._first = driver.current_window_handle

    def visit(self, site: str, session: str | None = None) -> None:
        """Let `goto` open a page of this site, with this session."""
        self._driver.get(f"{site}/healthz")  # a short page of the same origin
        if session is not None:
            self._driver.add_cookie({"name": settings.SESSION_COOKIE_NAME, "value": session})

    def goto(self, url: str) -> None:
        """Open a page in the second window, and wait until it has loaded."""
        self._driver.execute_script(OPEN, url)
        (second,) = set(self._driver.window_handles) - {self._first}
        self._driver.switch_to.window(second)
        until("loaded", lambda: self._driver.execute_script(LOADED))

    def resize(self, width: int, height: int) -> None:
        self._driver.set_window_rect(0, 0, width, height)
        until("resized", lambda: self.evaluate("() => [innerWidth, innerHeight]") == [width, height], patience=10)

    def evaluate(self, function: str) -> Any:
        """Return what a JavaScript function returns in the page."""
        return self._driver.execute_script(f"return ({function})()")

    def errors(self) -> list[str]:
        """Return the errors that `COLLECT_ERRORS` has found. The driver does not show the browser's own messages."""
        errors: list[str] = self.evaluate("() => loggedErrors")
        return errors

    def screenshot(self, path: Path) -> None:
        self._driver.save_screenshot(str(path))

    def leave(self) -> None:
        if self._driver.current_window_handle != self._first:
            self._driver.close()
            self._driver.switch_to.window(self._first)
        self._driver.delete_all_cookies()


@contextmanager
def running_webkit() -> Iterator[WebKit]:
    """Run the browser, with an empty profile, until the end of the block."""
    options = WebKitGTKOptions()
    for argument in ("--automation", "--javascript-can-open-windows-automatically=true"):
        options.add_argument(argument)
    # Processes of the browser that end after it may still write there.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder, _display() as display:
        environment = {**os.environ, "HOME": folder, "DISPLAY": display}
        service = Service(program(WEBKIT_NAMES), env=environment)
        service.start()
        try:
            connection = RemoteConnection(client_config=ClientConfig(service.service_url))
            with Remote(connection, options=options) as driver:
                yield WebKit(driver)
        finally:
            service.stop()


@contextmanager
def _display() -> Iterator[str]:
    """Run an X server without a screen. Yield the name of its display, a free one."""
    path = program(DISPLAY_NAMES)
    assert path is not None
    read, write = os.pipe()
    # The pointer is in the middle, beside the window: a card below it would come out over the next one.
    command = [path, "-displayfd", str(write), "-screen", "0", "2700x1800x24", "-nolisten", "tcp"]
    process = subprocess.Popen(command, pass_fds=(write,))
    os.close(write)
    try:
        with os.fdopen(read) as numbers:
            yield f":{int(numbers.readline())}"
    finally:
        process.terminate()
        process.wait()
