"""The installed app in a browser: its manifest, its service worker, the offline page and the badge."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from django.conf import settings
from django.contrib.staticfiles import finders
from playwright.sync_api import Browser, BrowserContext, Page, expect

from accounts.models import User
from games.web.installed_app import OF_OFFLINE_PAGE, _address
from tests.browser.checks import TOO_WIDE
from tests.browser.game_page import LEFT_EDGE, open_game, shows
from tests.browser.places import MANY, Cast
from tests.browser.test_axe import violations
from tests.browser.test_layout import PHONE
from tests.conftest import logged_in
from tests.support.waiting import until

STORED: Final = """async () => {
    const found = [];
    for (const name of await caches.keys()) {
        const requests = await (await caches.open(name)).keys();
        found.push(...requests.map(({ url }) => [name, url.slice(location.origin.length)]));
    }
    return found;
}"""
IS_HASHED: Final = re.compile(r"/static/\S+(\.[0-9a-f]{12}\.\w+|\?[0-9a-f]{12})")
CONTROLLED: Final = "Boolean(navigator.serviceWorker.controller)"
BADGES: Final = """
    window.badges = [];
    navigator.setAppBadge = async (count) => { window.badges.push(count); };
    navigator.clearAppBadge = async () => { window.badges.push(0); };
"""


@pytest.fixture
def app(browser: Browser, site: str, alice: User) -> Iterator[BrowserContext]:
    """Alice's browser, which may have a service worker."""
    context = browser.new_context(base_url=site, viewport=PHONE)
    context.set_default_timeout(60_000)
    name = settings.SESSION_COOKIE_NAME
    context.add_cookies([{"name": name, "value": logged_in(alice).cookies[name].value, "url": site}])
    yield context
    context.close()


def installed(app: BrowserContext) -> Page:
    """Return a page that the worker serves."""
    page = app.new_page()
    page.goto("/")
    until("controlled", lambda: page.evaluate(CONTROLLED))
    return page


def stored(page: Page) -> list[tuple[str, str]]:
    """Return the name of the cache and the address of everything that a worker of this site stores."""
    return [(name, address) for name, address in page.evaluate(STORED)]


def test_a_browser_can_install_the_site(app: BrowserContext) -> None:
    page = installed(app)
    client = app.new_cdp_session(page)
    manifest: dict[str, Any] = client.send("Page.getAppManifest")
    assert manifest["url"].endswith("/manifest.webmanifest")
    assert manifest["errors"] == []
    # Chromium does not offer to install anything in a private window, and Playwright's contexts are such.
    errors = {error["errorId"] for error in client.send("Page.getInstallabilityErrors")["installabilityErrors"]}
    assert errors <= {"in-incognito"}
    assert page.evaluate("navigator.serviceWorker.ready.then(({ scope }) => new URL(scope).pathname)") == "/"


def test_without_a_connection_a_page_says_so_and_comes_back_by_itself(app: BrowserContext, cast: Cast) -> None:
    page = installed(app)
    app.set_offline(True)
    page.goto("/rules/")
    expect(page.get_by_role("heading", level=1)).to_have_text("No connection")
    expect(page.get_by_text("This page retries automatically.")).to_be_visible()
    assert page.evaluate("document.fonts.load('700 1rem \"Bricolage Grotesque\"').then((fonts) => fonts.length)") == 1
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert background == "rgb(244, 240, 230)"  # that of tokens.css
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate(TOO_WIDE) == {"page": 0, "parts": []}
        assert violations(page) == []
    app.set_offline(False)
    expect(page.get_by_role("heading", level=1)).to_have_text("The No Mercy rules")
    assert page.url.endswith("/rules/")


def test_only_the_offline_page_and_static_files_with_a_hash_are_stored(app: BrowserContext, cast: Cast) -> None:
    table = cast.table(MANY)
    page = installed(app)
    open_game(page, table.game)
    page.get_by_role("button", name="Red 3").click(position=LEFT_EDGE)
    shows(page, table.game.version + 1)
    for address in ("/accounts/me/", "/notices/settings/", "/notices/", f"/games/{table.game.code}/log/"):
        page.goto(address)
    with page.expect_download() as download:
        page.evaluate("""() => {
            const link = document.createElement("a");
            Object.assign(link, { href: "/api/v1/openapi.json", download: "openapi.json" });
            link.click();
        }""")
    assert download.value.failure() is None
    page.goto("/accounts/logout/")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("button", name="Play now")).to_be_visible()
    addresses = sorted(address for _, address in stored(page))
    assert [address for address in addresses if not IS_HASHED.fullmatch(address)] == ["/offline/"]
    assert len(addresses) == len(OF_OFFLINE_PAGE) + 1
    offline = page.evaluate("async () => (await caches.match('/offline/')).text()")
    assert "No connection" in offline
    assert "alice" not in offline


def test_an_update_deletes_what_the_former_worker_stored(
    app: BrowserContext, monkeypatch: pytest.MonkeyPatch, cast: Cast
) -> None:
    page = installed(app)
    (before,) = {name for name, _ in stored(page)}
    page.evaluate("caches.open('of another script')")
    fewer = OF_OFFLINE_PAGE[:4]
    monkeypatch.setattr("games.web.installed_app.OF_OFFLINE_PAGE", fewer)
    page.evaluate("navigator.serviceWorker.ready.then((registration) => registration.update())")
    until("updated", lambda: len(names := page.evaluate("caches.keys()")) == 1 and names != [before])
    assert [address for _, address in stored(page)][1:] == [_address(name) for name in fewer]


def test_the_files_of_the_offline_page_are_all_that_it_needs(app: BrowserContext, cast: Cast) -> None:
    page = app.new_page()
    asked: set[str] = set()
    page.on("request", lambda request: asked.add(request.url.partition("/static/")[2]))
    page.goto("/offline/", wait_until="networkidle")
    assert asked - {""} <= set(OF_OFFLINE_PAGE)
    assert all(finders.find(name) for name in OF_OFFLINE_PAGE)


def test_the_icon_has_the_number_of_games_that_wait(app: BrowserContext, cast: Cast) -> None:
    first, _ = cast.table(MANY), cast.table(MANY)
    page = app.new_page()
    page.add_init_script(BADGES)
    open_game(page, first.game)
    assert page.evaluate("window.badges") == [2]
    page.get_by_role("button", name="Red 3").click(position=LEFT_EDGE)
    shows(page, first.game.version + 1)
    page.wait_for_function("() => window.badges.at(-1) === 1")
    page.goto("/accounts/logout/")
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("button", name="Play now")).to_be_visible()
    page.wait_for_function("() => window.badges.length")
    assert page.evaluate("window.badges") == [0]
