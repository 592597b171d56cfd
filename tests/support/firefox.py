"""Drives Firefox through WebDriver BiDi, which it speaks itself."""

from __future__ import annotations

import json
import os
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from websockets.sync.client import ClientConnection, connect

from tests.browser.checks import COLLECT_ERRORS
from tests.support.programs import FIREFOX_NAMES, program
from tests.support.waiting import until

PATIENCE: Final = 60.0


class Firefox:
    """A running Firefox with one tab, which `leave` replaces by an empty one."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = count()
        self._tab = ""
        self._errors: list[str] = []
        self._ask("session.new", capabilities={})
        self._ask("session.subscribe", events=["log.entryAdded"])
        self._ask("script.addPreloadScript", functionDeclaration=f"() => ({COLLECT_ERRORS})(window)")
        self._open()

    def _open(self) -> None:
        self._user: str = self._ask("browser.createUserContext")["userContext"]
        self._tab = self._ask("browsingContext.create", type="tab", userContext=self._user)["context"]
        self._errors = []

    def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a command, and return its result. Keep the errors that the tab has logged up to then."""
        number = next(self._ids)
        self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while (message := json.loads(self._socket.recv(PATIENCE))).get("id") != number:
            entry = message["params"]
            if entry["level"] == "error" and entry["source"].get("context") == self._tab:
                self._errors.append(f"{entry['type']}: {entry['text']}")
        assert message["type"] == "success", message
        result: dict[str, Any] = message["result"]
        return result

    def visit(self, site: str, session: str | None = None) -> None:
        """Let `goto` open a page of this site, with this session."""
        self._site = site
        if session is not None:
            cookie = {"name": settings.SESSION_COOKIE_NAME, "value": {"type": "string", "value": session}}
            cookie["domain"] = urlsplit(site).hostname or ""
            self._ask("storage.setCookie", cookie=cookie, partition={"type": "storageKey", "userContext": self._user})

    def goto(self, url: str) -> None:
        """Open a page, and wait until it has loaded."""
        self._ask("browsingContext.navigate", context=self._tab, url=self._site + url, wait="complete")

    def resize(self, width: int, height: int) -> None:
        self._ask("browsingContext.setViewport", context=self._tab, viewport={"width": width, "height": height})

    def evaluate(self, function: str) -> Any:
        """Return what a JavaScript function returns in the page."""
        wrapped = f"() => JSON.stringify(({function})() ?? null)"
        target = {"context": self._tab}
        said = self._ask("script.callFunction", functionDeclaration=wrapped, target=target, awaitPromise=False)
        assert said["type"] == "success", said
        return json.loads(said["result"]["value"])

    def errors(self) -> list[str]:
        """Return the errors that Firefox has logged for the page, and those that `COLLECT_ERRORS` has found."""
        collected: list[str] = self.evaluate("() => loggedErrors")
        return self._errors + collected

    def screenshot(self, path: Path) -> None:
        said = self._ask("browsingContext.captureScreenshot", context=self._tab)
        path.write_bytes(b64decode(said["data"]))

    def leave(self) -> None:
        self._ask("browser.removeUserContext", userContext=self._user)
        self._open()


@contextmanager
def running_firefox() -> Iterator[Firefox]:
    """Run Firefox without a window, with an empty profile, until the end of the block."""
    path = program(FIREFOX_NAMES)
    assert path is not None
    # Processes of the browser that end after it may still write there.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        # Firefox writes here where it listens.
        place = Path(folder) / "WebDriverBiDiServer.json"
        command = [path, "--headless", "--no-remote", "--profile", folder, "--remote-debugging-port", "0"]
        with (Path(folder) / "log").open("w") as log:
            process = subprocess.Popen(command, env={**os.environ, "HOME": folder}, stdout=log, stderr=log)
        try:
            until("Firefox listening", lambda: place.exists() and place.read_text().endswith("}"), patience=PATIENCE)
            at = json.loads(place.read_text())
            with connect(f"ws://{at['ws_host']}:{at['ws_port']}/session", max_size=None) as socket:
                yield Firefox(socket)
        finally:
            process.terminate()
            process.wait(PATIENCE)
