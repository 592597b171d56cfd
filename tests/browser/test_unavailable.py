"""The 503 page in browsers: it reloads once the site is back, and never sends a form again."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest
from django.db import OperationalError
from playwright.sync_api import Page, expect

from accounts.models import User
from tests.browser.conftest import Visitors

pytestmark = pytest.mark.in_process


class Away:
    """A database that can go away, for the list of open tables and for new tables."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self._patches = monkeypatch

    def goes(self) -> None:
        for where in ("games.queries.front_page.open_tables", "games.web.idempotent_forms.create_table_once"):
            self._patches.setattr(where, self._fails)

    def comes_back(self) -> None:
        self._patches.undo()

    def _fails(self, *_: object, **__: object) -> None:
        raise OperationalError("gone") from psycopg.OperationalError()


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch) -> Away:
    return Away(monkeypatch)


@pytest.fixture
def page(visitors: Visitors, site: str, alice: User) -> Iterator[Page]:
    """Alice's page, on which a 503 is not an error."""
    yield visitors(alice)
    assert [complaint for complaint in visitors.leave() if "status of 503" not in complaint] == []


def test_the_page_reloads_once_the_site_is_back(page: Page, away: Away) -> None:
    well = [False]
    page.route("**/healthz", lambda route: route.continue_() if well[0] else route.fulfill(status=503))
    away.goes()
    page.goto("/")
    expect(page.get_by_role("heading", level=1)).to_have_text("One moment")
    expect(page.get_by_text("This page retries automatically.")).to_be_visible()
    loads: list[str] = []
    page.on("request", lambda asked: loads.append(asked.url) if asked.is_navigation_request() else None)
    with page.expect_request("**/healthz"):
        pass
    assert loads == []
    away.comes_back()
    well[0] = True
    expect(page.get_by_role("heading", level=1)).not_to_have_text("One moment")
    assert len(loads) == 1


WAITS = """
const later = window.setTimeout;
Math.random = () => 0.5;
window.setTimeout = (what, wait, ...rest) => {
  if (wait < 2000) return later(what, wait, ...rest);
  window.waited(wait);
  return later(what, 50, ...rest);
};
"""


def test_a_page_that_stays_busy_retries_less_and_less_often(page: Page, away: Away) -> None:
    page.route("**/healthz", lambda route: route.fulfill(status=200))
    page.add_init_script(WAITS)
    waits: list[int] = []
    page.expose_function("waited", lambda wait: waits.append(wait))  # noqa: PLW0108  # Playwright marks it
    away.goes()
    with page.expect_request(lambda one: one.url.endswith("/healthz") and len(waits) >= 5):
        page.goto("/")
    assert waits[:5] == [2_000, 8_000, 30_000, 30_000, 30_000]
    away.comes_back()
    expect(page.get_by_role("heading", level=1)).not_to_have_text("One moment")


def test_a_sent_form_is_never_sent_again(page: Page, away: Away) -> None:
    page.goto("/tables/new/")
    away.goes()
    asked: list[tuple[str, str]] = []
    page.on("request", lambda one: asked.append((one.method, urlsplit(one.url).path)))
    page.get_by_role("button", name="Create table").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("One moment")
    expect(page.locator("#main .lead")).to_contain_text("We don’t know yet if your changes were saved")
    expect(page.get_by_text("This page retries automatically.")).to_have_count(0)
    assert [one for one in asked if one[0] == "POST"] == [("POST", "/tables/new/")]
    assert not any(path.endswith(("/healthz", "/again.js")) for _, path in asked)
