"""Passkeys in Chromium, with a device that its developer tools simulate."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.conf import settings
from playwright.sync_api import Page, expect

from accounts import queries
from accounts.models import User
from tests.browser.conftest import STACK, Server
from tests.browser.game_page import NewPage
from tests.browser.test_layout import assert_fits

pytestmark = pytest.mark.skipif(STACK, reason="its processes have a SITE_URL of their own")

DEVICE = {
    "protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
    "isUserVerified": True, "automaticPresenceSimulation": True,
}  # fmt: skip


@pytest.fixture
def by_name(server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """The site under a host name, which passkeys need."""
    url = server.url.replace("127.0.0.1", "localhost")
    monkeypatch.setattr(settings, "SITE_URL", url)
    return url


@pytest.fixture
def page(new_page: NewPage, by_name: str) -> Page:
    return new_page(base_url=by_name)


@pytest.fixture
def device(page: Page) -> Iterator[Callable[..., None]]:
    """Give the browser a device with passkeys. Return a function that changes how the device answers."""
    cdp = page.context.new_cdp_session(page)
    cdp.send("WebAuthn.enable")
    name = cdp.send("WebAuthn.addVirtualAuthenticator", {"options": DEVICE})["authenticatorId"]

    def change(*, knows_owner: bool) -> None:
        cdp.send("WebAuthn.setUserVerified", {"authenticatorId": name, "isUserVerified": knows_owner})

    yield change
    cdp.send("WebAuthn.removeVirtualAuthenticator", {"authenticatorId": name})


def look(page: Page, name: str) -> None:
    """Wait until the browser has followed the last form, and assert that the page fits and axe finds nothing."""
    page.wait_for_load_state("networkidle")
    assert_fits(page, name)


def log_in(page: Page) -> None:
    page.goto("/accounts/login/")
    page.get_by_label("Username").fill("alice")
    page.get_by_label("Password").fill("alice")
    page.get_by_role("button", name="Log in", exact=True).click()
    expect(page.get_by_role("heading", name="Log in", exact=True)).to_have_count(0)


def log_out(page: Page) -> None:
    page.wait_for_load_state("networkidle")
    page.context.clear_cookies()
    page.goto("about:blank")


def test_a_passkey_from_the_first_to_the_last_use(page: Page, alice: User, device: Callable[..., None]) -> None:
    log_in(page)
    page.goto("/accounts/2fa/")
    look(page, "none")
    page.get_by_role("link", name="Add a passkey").click()
    page.get_by_label("Password").fill("alice")
    page.get_by_role("button", name="Confirm").click()
    look(page, "add")
    page.get_by_label("Name").fill("My phone")
    page.get_by_role("button", name="Add it").click()
    expect(page.get_by_role("heading", name="Recovery codes")).to_be_visible()
    page.goto("/accounts/2fa/")
    expect(page.get_by_text("My phone", exact=True)).to_be_visible()
    look(page, "one")

    log_out(page)
    page.goto("/accounts/login/?next=/about/")
    look(page, "log-in")
    page.get_by_role("button", name="Log in with a passkey").click()
    page.wait_for_url("**/about/")

    log_out(page)
    log_in(page)
    look(page, "second-factor")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("link", name="your account")).to_be_visible()

    page.goto("/accounts/me/tokens/")
    look(page, "confirm")
    page.get_by_role("button", name="Use a passkey").click()
    expect(page.get_by_role("heading", name="API token")).to_be_visible()

    page.goto("/accounts/2fa/")
    page.get_by_role("link", name="Rename").click()
    page.get_by_label("Name").fill("My old phone")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("My old phone", exact=True)).to_be_visible()
    page.get_by_role("link", name="Remove").click()
    look(page, "remove")
    page.get_by_role("button", name="Remove it").click()
    expect(page.get_by_text("The passkey is removed.")).to_be_visible()
    assert not queries.has_second_factor(alice)

    log_out(page)
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Log in with a passkey").click()  # the device still has it
    expect(page.get_by_text("This passkey was not accepted.")).to_be_visible()


def test_a_device_that_does_not_know_its_owner(page: Page, alice: User, device: Callable[..., None]) -> None:
    device(knows_owner=False)
    page.goto("/accounts/login/")
    page.get_by_role("button", name="Log in with a passkey").click()
    expect(page.get_by_role("alert").get_by_text("Your device gave no passkey.")).to_be_visible()


def test_where_none_are_possible(new_page: NewPage, alice: User) -> None:
    page = new_page(alice)
    page.goto("/accounts/2fa/")
    expect(page.get_by_role("heading", name="Passkeys")).to_have_count(0)
    page.goto("/accounts/login/")
    expect(page.get_by_role("button", name="passkey")).to_have_count(0)
