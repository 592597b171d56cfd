"""The copy of one's data and the deletion of the account in a browser, with a worker."""

from __future__ import annotations

import json
from pathlib import Path

from playwright.sync_api import Page, expect

from accounts.models import User
from tests.browser.game_page import NewPage


def confirm(page: Page) -> None:
    """Give the password that the page asks for. It is the name of the person."""
    page.get_by_label("Password").fill("alice")
    page.get_by_role("button", name="Confirm").click()


def test_a_copy_is_made_and_downloaded(new_page: NewPage, alice: User) -> None:
    page = new_page(alice)
    page.goto("/accounts/me/")
    page.get_by_role("link", name="Copy of your data").click()
    confirm(page)
    page.get_by_role("button", name="Make a copy").click()
    ready = page.get_by_role("link", name="Download the copy")
    for _ in range(60):
        if ready.is_visible():
            break
        page.wait_for_timeout(500)
        page.reload()
    with page.expect_download() as download:
        ready.click()
    assert download.value.suggested_filename == "my-data.json"
    assert json.loads(Path(download.value.path()).read_text())["account"]["username"] == "alice"


def test_an_account_is_deleted_and_kept_by_logging_in(new_page: NewPage, alice: User) -> None:
    page = new_page(alice)
    page.goto("/accounts/me/")
    page.get_by_role("link", name="Delete the account").click()
    confirm(page)
    page.get_by_role("button", name="Delete alice in 14 to 30 days").click()
    expect(page.get_by_text("You are logged out, and your account will be deleted within 30 days")).to_be_visible()
    alice.refresh_from_db()
    assert alice.deletes_at is not None
    page.goto("/accounts/login/")
    page.get_by_label("Username or email").fill("alice")
    page.get_by_label("Password").fill("alice")
    page.get_by_role("button", name="Log in").click()
    expect(page.get_by_text("By logging in you have cancelled the deletion of your account.")).to_be_visible()
    alice.refresh_from_db()
    assert alice.deletes_at is None
