"""The bytes that a game page sends to a browser, as bench/page_bytes.py counts them."""

from __future__ import annotations

from playwright.sync_api import expect

from bench.page_bytes import MOVE_BYTES, VISIT_BYTES, Traffic
from tests.browser.game_page import NewPage
from tests.browser.places import MANY, Cast
from tests.conftest import Figure


def test_a_first_visit_and_a_move_are_small(new_page: NewPage, cast: Cast, figure: Figure) -> None:
    page, traffic = new_page(cast.alice), Traffic()
    traffic.watch(page)
    page.goto(cast.table(MANY).game.get_absolute_url(), wait_until="networkidle")
    visit = traffic.take()
    assert {"/static/css/game.css", "/static/vendor/htmx-2.0.11.min.js"} < {path for _, path, _ in visit}
    with page.expect_response(lambda answer: answer.request.method == "POST") as answered:
        page.get_by_role("button", name="Red 3").click()
    answered.value.finished()
    expect(page.locator("#move")).to_have_count(0)
    moves = [size for method, path, size in traffic.take() if method == "POST" and path.endswith("/move/")]
    total = sum(size for _, _, size in visit)
    figure(f"first visit: {total:,} bytes, a move: {moves}")
    assert total <= VISIT_BYTES
    assert len(moves) == 1
    assert moves[0] <= MOVE_BYTES
