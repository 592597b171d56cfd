"""The bell and the notice settings in a browser, with JavaScript and without."""

from __future__ import annotations

import pytest
from django.core.cache import cache
from django.utils import timezone
from playwright.sync_api import expect

from games import presence
from games.models import NoticeSettings
from games.notices import outbox, player_notices
from tests.browser.game_page import NewPage
from tests.browser.places import MANY, Cast


def news(cast: Cast, text: str) -> str:
    """Give Alice a notice about a table, and return the table's code."""
    table = cast.table({**MANY, "turn": 1})
    player_notices.write(table.game, [player_notices.NewNotice(cast.alice.pk, "caught", text)], now=timezone.now())
    outbox.deliver(clock=timezone.now)
    return table.game.code


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_the_bell_leads_to_notices_and_their_games(new_page: NewPage, cast: Cast, scripts: bool) -> None:
    cache.clear()
    code = news(cast, "Bob catches you not calling UNO.")
    news(cast, "Charlie catches you not calling UNO.")
    page = new_page(cast.alice, java_script_enabled=scripts)
    page.goto("/")
    page.get_by_role("link", name="Notices, 2 new").click()
    page.get_by_role("button", name="Bob catches you not calling UNO.").click()
    page.wait_for_url(f"**/games/{code}/")
    page.get_by_role("link", name="Notices, 1 new").click()
    page.get_by_role("button", name="Mark all as read").click()
    expect(page.get_by_role("link", name="Notices", exact=True)).to_be_visible()
    expect(page.get_by_text("new", exact=True)).to_have_count(0)


def test_notice_settings_are_saved_without_scripts(new_page: NewPage, cast: Cast) -> None:
    page = new_page(cast.alice, java_script_enabled=False)
    page.goto("/accounts/me/")
    page.get_by_role("link", name="Notice settings").click()
    page.get_by_role("checkbox", name="Your turn, by email").uncheck()
    page.get_by_role("checkbox", name="You were caught, by email").check()
    page.get_by_label("Daily summary by email at").select_option("07:00")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    expect(page.get_by_role("checkbox", name="Your turn, by email")).not_to_be_checked()
    expect(page.get_by_role("checkbox", name="Your turn, on this site")).to_be_checked()
    chosen = NoticeSettings.objects.get(user=cast.alice)
    assert (chosen.choices, chosen.digest_hour) == ({"turn.email": False, "caught.email": True}, 7)


@pytest.mark.in_process
def test_an_open_page_updates_the_bell_and_marks_its_reader_as_viewing(new_page: NewPage, cast: Cast) -> None:
    cache.clear()
    table = cast.table({**MANY, "turn": 1})
    page = new_page(cast.alice)
    page.goto(f"/games/{table.game.code}/")
    pair = (table.game.pk, cast.alice.pk)
    assert presence.viewing([pair]) == {pair}
    news(cast, "Bob catches you not calling UNO.")
    expect(page.get_by_role("link", name="Notices, 1 new")).to_be_visible()
