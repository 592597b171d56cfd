"""What a page says while it gets no answer, and where it says that a press had none."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, ViewportSize, WebSocketRoute, expect

from games.live import consumer
from games.models import Game
from games.queries import Table
from tests.browser.conftest import Visitors
from tests.browser.game_page import NewPage, load_game, open_game, play, shows
from tests.browser.places import MANY, Cast
from tests.browser.test_axe import violations
from tests.browser.test_layout import PHONE
from tests.support.waiting import until

DESK: Final[ViewportSize] = {"width": 1280, "height": 800}
SAID: Final = """
    window.said = [];
    new MutationObserver((changes) => {
        for (const { target } of changes) {
            const region = target.closest?.("[role=status], [role=alert]");
            if (region?.textContent) window.said.push(region.textContent);
        }
    }).observe(document, { childList: true, subtree: true });
"""
"""Notes what the live regions say."""
WAITING: Final = {**MANY, "turn": 1}


def chip(page: Page) -> Locator:
    return page.locator("#connection")


def message(table: Table) -> dict[str, Any]:
    """Return what the socket of this table says first."""
    return {"game": table.game.code, "version": table.game.version, "revision": table.game.revision}


def meanwhile(page: Page) -> bool:
    """Let Playwright tell of what has happened on this page."""
    return bool(page.evaluate("true"))


def leave_offline(visitors: Visitors) -> None:
    """End a test that went offline: Chromium has logged each request that failed."""
    assert [line for line in visitors.leave() if "net::ERR_" not in line and "htmx:" not in line] == []


def seconds(page: Page, since: str) -> float:
    return float(page.evaluate(f"(performance.now() - {since}) / 1000"))


def test_a_player_who_waits_is_told_of_a_lost_connection_after_three_seconds(
    visitors: Visitors, site: str, cast: Cast
) -> None:
    table = cast.table(WAITING)
    page = visitors(cast.alice, viewport=PHONE, script=SAID)
    load_game(page, table.game)
    page.evaluate("window.addEventListener('offline', () => { window.left = performance.now(); })")
    page.context.set_offline(True)
    expect(chip(page)).to_have_text("Reconnecting…")
    assert 2.9 < seconds(page, "window.left") < 6
    assert violations(page) == []
    page.context.set_offline(False)
    expect(chip(page)).to_be_empty()
    assert page.evaluate("window.said").count("Reconnecting…") == 1
    play(table, cast.bob, "play r1")
    shows(page, table.game.version + 1)
    leave_offline(visitors)


def test_a_short_gap_shows_nothing(new_page: NewPage, cast: Cast) -> None:
    page = new_page(cast.alice, script=SAID)
    load_game(page, cast.table(WAITING).game)
    page.evaluate("window.dispatchEvent(new Event('offline'))")
    page.evaluate("window.dispatchEvent(new Event('online'))")  # the page asks the server, which answers
    page.wait_for_timeout(3_500)
    expect(chip(page)).to_be_empty()
    assert "Reconnecting…" not in page.evaluate("window.said")


def test_a_socket_that_falls_silent_is_given_up(new_page: NewPage, cast: Cast) -> None:
    """Nothing closes the socket here, and no event says that the device is offline."""
    opened: list[WebSocketRoute] = []

    def first_answer_only(route: WebSocketRoute) -> None:
        opened.append(route)
        if len(opened) == 1:
            route.send(json.dumps(message(table)))

    table = cast.table(WAITING)
    page = new_page(cast.alice)
    page.clock.install()
    page.route_web_socket("**/ws/**", first_answer_only)
    page.route("**/games/**since=**", lambda route: None)  # no answer either
    open_game(page, table.game)
    until("opened", lambda: meanwhile(page) and opened)
    page.clock.run_for(11_000)
    expect(chip(page)).to_be_empty()
    page.clock.run_for(5_000)
    expect(chip(page)).to_have_text("Reconnecting…")
    assert len(opened) == 2
    opened[1].send(json.dumps(message(table)))
    expect(chip(page)).to_be_empty()


@pytest.mark.in_process
def test_a_quiet_socket_gets_a_sign_of_life(new_page: NewPage, cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumer, "BEAT_SECONDS", 0.2)
    page = new_page(cast.alice)
    frames: list[Any] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: frames.append(json.loads(frame))))
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url) if "since=" in request.url else None)
    table = cast.table(WAITING)
    open_game(page, table.game)
    until("beating", lambda: meanwhile(page) and len(frames) > 4)
    first, *beats = frames
    assert first == message(table)
    assert beats == [{**first, "beat": True}] * len(beats)
    assert fetched == []


def test_a_table_that_waits_for_players_says_it_too(visitors: Visitors, site: str, cast: Cast) -> None:
    page = visitors(cast.alice)
    page.goto("/tables/new/?way=anyone")
    page.get_by_role("button", name="Create table").click()
    page.wait_for_url("**/games/*/")
    page.wait_for_load_state("networkidle")
    page.context.set_offline(True)
    expect(chip(page)).to_have_text("Reconnecting…")
    page.context.set_offline(False)
    expect(chip(page)).to_be_empty()
    leave_offline(visitors)


def test_each_of_these_messages_makes_one_fetch(new_page: NewPage, cast: Cast) -> None:
    """A revision that is none, or one that the game does not have, hides no later one."""
    sockets: list[WebSocketRoute] = []

    def connect(route: WebSocketRoute) -> None:
        sockets.append(route)
        route.connect_to_server()

    table = cast.table(WAITING)
    page = new_page(cast.alice)
    page.route_web_socket("**/ws/**", connect)
    load_game(page, table.game)
    fetched: list[str] = []
    page.on("request", lambda request: fetched.append(request.url) if "since=" in request.url else None)
    told: list[dict[str, Any]] = [{"news": True}, *({"revision": value} for value in (-1, "x", None, 10**9))]
    for more in told:
        with page.expect_response(lambda answer: "since=" in answer.url):
            sockets[0].send(json.dumps(message(table) | more))
    sockets[0].send(json.dumps(message(table)))  # which the page shows already
    play(table, cast.bob, "play r1")
    shows(page, table.game.version + 1)
    assert len(fetched) == len(told) + 1


def test_a_page_loads_again_after_its_site_was_restored(new_page: NewPage, cast: Cast) -> None:
    table = cast.table(WAITING)
    row = Game.objects.filter(pk=table.game.pk)
    row.update(revision=1000)
    page = new_page(cast.alice)
    load_game(page, table.game)
    row.update(revision=table.game.revision)
    with page.expect_event("load"):
        page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(page.locator("#main")).to_have_attribute("data-revision", str(table.game.revision))
