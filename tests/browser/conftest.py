"""Fixtures with a running site and Chromium: the embedded server with sockets and bots, on the test database.

With `NOMERCY_STACK=1` the site is `script/stack`: the two servers, worker, beat and Redis as processes of their own.
"""

from __future__ import annotations

import asyncio
import os
import socket
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, Protocol

import pytest
from channels import DEFAULT_CHANNEL_LAYER
from channels.layers import channel_layers
from django.conf import settings
from django.db import connection, connections
from django.db.backends.utils import CursorWrapper
from playwright.sync_api import Browser, ConsoleMessage, Page, ViewportSize, expect, sync_playwright
from pytest_django import DjangoDbBlocker

from accounts.models import User
from games import announce
from games.models import Game
from nomercy.launcher import embedded
from nomercy.layer import GroupLayer
from tests.browser.game_page import TableForTwo
from tests.browser.places import Cast
from tests.conftest import logged_in
from tests.support.database import emptied_afterwards
from tests.support.programs import CHROMIUM_FLAGS
from tests.support.stack import RunningStack, stack

expect.set_options(timeout=60_000)
QUIET_SECONDS = 10.0
DESKTOP: Final[ViewportSize] = {"width": 1280, "height": 720}
STACK = os.environ.get("NOMERCY_STACK") == "1"
REFUSALS = tuple(
    f"{report} {status}"
    for report in ("the server responded with a status of", "Response Status Error Code")
    for status in (400, 403, 404, 409, 410, 422)
)
"""Errors that Chromium and HTMX log for refusals, which are expected."""
LASTING = ("add_init_script", "expose_function", "route_web_socket")
"""Methods of a page whose effects stay with it. Those of `on` and `route` end with the test."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if item.nodeid.startswith("tests/browser/"):
            if not (item.get_closest_marker("firefox") or item.get_closest_marker("webkit")):
                item.add_marker(pytest.mark.browser)
            if not item.get_closest_marker("smoke"):
                item.add_marker(pytest.mark.long)
            if STACK:
                item.add_marker(pytest.mark.nginx)
                item.add_marker(pytest.mark.redis)
                if item.get_closest_marker("in_process"):
                    item.add_marker(pytest.mark.skip(reason="reaches into the server's process"))


class Server(Protocol):
    """A running site, which leaves the database alone from `hold` until `go_on`."""

    @property
    def url(self) -> str: ...

    def hold(self) -> None: ...

    def go_on(self) -> None: ...


@dataclass(frozen=True)
class Embedded:
    """The site in this process."""

    url: str

    def hold(self) -> None:
        Game.objects.update(status=Game.Status.VOID, wake_at=None, deadline=None)
        until = time.monotonic() + QUIET_SECONDS
        with connection.cursor() as cursor:
            while others := _others(cursor):
                assert time.monotonic() < until, f"The site is still busy with the database: {others}"
                cursor.execute("SELECT pg_sleep(0.02)")

    def go_on(self) -> None:
        """A game that a test starts wakes it."""


def _others(cursor: CursorWrapper) -> list[tuple[str, str]]:
    cursor.execute(
        "SELECT state, query FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )
    rows: list[tuple[str, str]] = cursor.fetchall()
    return rows


@pytest.fixture(scope="package")
def server(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[Server]:
    """A running site. It ends before tests outside of this package begin, so that nothing of it runs beside them."""
    with emptied_afterwards(django_db_blocker), _stack() if STACK else _embedded() as running:
        yield running


@contextmanager
def _stack() -> Iterator[RunningStack]:
    """Run `script/stack`. It hears what a test does in this process, as from any process of the site."""
    with stack(LOG_LEVEL="WARNING") as running, pytest.MonkeyPatch.context() as patch:
        layer = GroupLayer(hosts=[{"address": running.redis_url}])
        patch.setitem(channel_layers.backends, DEFAULT_CHANNEL_LAYER, layer)
        yield running
        # The connection belongs to the loop of the thread that publishes.
        asyncio.run_coroutine_threadsafe(layer.flush(), announce._publisher().loop).result(QUIET_SECONDS)


@contextmanager
def _embedded() -> Iterator[Embedded]:
    with pytest.MonkeyPatch.context() as patch:
        # A connection that outlived its request would keep the test database from being emptied and dropped.
        patch.setitem(connections.settings["default"], "CONN_MAX_AGE", 0)
        listening = socket.create_server(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        patch.setattr(settings, "SITE_URL", url)
        # Let browsers keep static files, which they ask for again on every page otherwise.
        patch.setattr(settings, "WHITENOISE_MAX_AGE", 3600)
        patch.setattr(settings, "WHITENOISE_AUTOREFRESH", False)
        ready = threading.Event()

        async def be_ready() -> None:
            ready.set()

        uvicorn = embedded.server(embedded.whole_site(), ready=be_ready)
        thread = threading.Thread(target=lambda: asyncio.run(embedded._run(uvicorn, listening)), name="site")
        with embedded.Workers():
            thread.start()
            try:
                assert ready.wait(QUIET_SECONDS)
                yield Embedded(url)
            finally:
                uvicorn.stop()
                thread.join()
                listening.close()


@pytest.fixture
def site(transactional_db: None, server: Server) -> Iterator[str]:
    """The address of the site for one test; afterwards it stops for a moment, so that the database can be emptied."""
    server.go_on()
    yield server.url
    server.hold()


@pytest.fixture(scope="package")
def browser(chromium: Path, django_db_setup: None) -> Iterator[Browser]:
    """Chromium. It ends with this package: Playwright runs a loop in this thread, where other tests start their own.

    Beside a loop Django opens other connections than without one: each kind is closed when the other's time begins.
    """
    connections.close_all()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")  # that loop never runs a query
        with sync_playwright() as playwright:
            launched = playwright.chromium.launch(executable_path=chromium, args=CHROMIUM_FLAGS)
            yield launched
            launched.close()
            connections.close_all()


class Visitors:
    """Opens pages for users and collects the errors that they log.

    A browser that a test has left is emptied and used again, unless the test changed it for good. That costs a third of
    a new one: its process runs, and it has the static files.
    """

    def __init__(self, browser: Browser, site: str) -> None:
        self.complaints: list[str] = []
        self._browser = browser
        self._site = site
        self._open: list[tuple[Page, str]] = []
        self._changed: list[Page] = []
        self._listeners: list[tuple[Page, Any, Callable[..., None]]] = []
        self._left: defaultdict[str, list[Page]] = defaultdict(list)

    def __call__(
        self,
        user: User | None = None,
        *,
        viewport: ViewportSize = DESKTOP,
        reduced_motion: Literal["reduce", "no-preference"] = "no-preference",
        script: str = "",
        **options: Any,
    ) -> Page:
        """Return a page in a browser of its own, logged in as this user.

        `script` runs first in each of its documents. `options` are those of a Playwright context.
        """
        key = repr((script, sorted(options.items())))
        page = self._left[key].pop() if self._left[key] else self._new_page(script, options)
        self._open.append((page, key))
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme="light", reduced_motion=reduced_motion)
        if user is not None:
            name = settings.SESSION_COOKIE_NAME
            page.context.add_cookies([{"name": name, "value": logged_in(user).cookies[name].value, "url": self._site}])
        return page

    def _new_page(self, script: str, options: dict[str, Any]) -> Page:
        # A page's routes do not see what a service worker fetches, and its caches would outlive the test.
        context = self._browser.new_context(**{"base_url": self._site, "service_workers": "block", **options})
        context.set_default_timeout(60_000)
        context.on("console", self._console)
        context.on("weberror", lambda error: self.complaints.append(f"{error.error}"))
        page = context.new_page()
        if script:
            # The empty page between two tests has no regions or cards to watch.
            page.add_init_script(f"if (location.href !== 'about:blank') {{ {script} }}")
        for owner, method in [*((page, method) for method in LASTING), (page.clock, "install")]:
            self._watch(owner, method, lambda *_: self._changed.append(page))
        self._watch(context, "new_cdp_session", lambda *_: self._changed.append(page))
        self._watch(page, "on", lambda event, listener: self._listeners.append((page, event, listener)))
        return page

    def _watch(self, owner: object, method: str, note: Callable[..., None]) -> None:
        """Note each call of this method."""
        original = getattr(owner, method)

        def call(*args: object, **kwargs: object) -> object:
            note(*args)
            return original(*args, **kwargs)

        setattr(owner, method, call)

    def _console(self, message: ConsoleMessage) -> None:
        # Violations of the content security policy are logged as errors too.
        if message.type == "error" and not any(refusal in message.text for refusal in REFUSALS):
            self.complaints.append(f"{message.location['url']}: {message.text}")

    def leave(self) -> list[str]:
        """Leave all pages, and return the errors that they logged."""
        pages, self._open = self._open, []
        for page, event, listener in self._listeners:
            page.remove_listener(event, listener)
        self._listeners.clear()
        for page, _ in pages:
            page.unroute_all(behavior="ignoreErrors")  # of a fetch that is under way
            if page.url.startswith(self._site):
                page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        complaints, self.complaints = self.complaints, []
        changed, self._changed = self._changed, []
        for page, key in pages:
            if page in changed:
                page.context.close()
            else:
                page.goto("about:blank")
                page.mouse.move(-1, -1)
                page.context.clear_cookies()
                self._left[key].append(page)
        return complaints


@pytest.fixture(scope="package")
def visitors(browser: Browser, server: Server) -> Visitors:
    return Visitors(browser, server.url)


@pytest.fixture
def new_page(visitors: Visitors, site: str) -> Iterator[Visitors]:
    """Open a page in a user's browser: `new_page(alice)`. The test fails if any browser logs an error."""
    yield visitors
    assert visitors.leave() == []


@pytest.fixture
def cast(alice: User, bob: User, charlie: User, mo: User) -> Cast:
    return Cast(alice, bob, charlie, mo)


@pytest.fixture
def open_table(new_page: Visitors, alice: User, bob: User) -> TableForTwo:
    return TableForTwo(new_page, (alice, bob))
