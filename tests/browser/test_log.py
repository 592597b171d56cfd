"""The pages of a long log."""

from __future__ import annotations

from playwright.sync_api import expect

from accounts.models import User
from games.web.log import LINES
from tests.browser.game_page import NewPage
from tests.support.tables import table_after


def test_old_links_to_a_move_find_its_page(site: str, new_page: NewPage, alice: User, bob: User) -> None:
    table = table_after([alice, bob, "careful"], 10_000, seed=3, earlier=1)
    assert table.game.version > LINES
    page, log = new_page(alice), f"/games/{table.game.code}/log/"
    page.goto(f"{log}#m3")
    expect(page.locator("#m3")).to_be_in_viewport()
    page.goto(log)
    expect(page.locator("#m3")).to_have_count(0)
    page.get_by_role("link", name="Earlier moves").click()
    expect(page.locator("#m3")).to_have_count(1)
    page.get_by_role("link", name="Later moves").click()
    expect(page.locator(f"#m{table.game.version}")).to_be_visible()


def test_a_move_and_its_time_stand_apart(site: str, new_page: NewPage, alice: User, bob: User) -> None:
    table = table_after([alice, bob], 3, seed=3)
    page = new_page(alice)
    page.goto(f"/games/{table.game.code}/log/")
    gap = page.locator(".when:has(time)").first.evaluate("""(link) => {
        const words = document.createRange();
        words.selectNode(link.firstChild);
        return link.querySelector("time").getBoundingClientRect().left - words.getBoundingClientRect().right;
    }""")
    assert gap > 2
