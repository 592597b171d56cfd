"""Somebody logs in with the OpenID provider of the site, in a browser, and every page of it fits and can be read."""

from __future__ import annotations

from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from accounts.models import User
from tests.browser.conftest import STACK, Visitors
from tests.browser.game_page import NewPage
from tests.browser.test_layout import assert_fits
from tests.support.openid import NAME, Provider, text

pytestmark = pytest.mark.skipif(STACK, reason="its processes have settings of their own")

BUTTON: Final = f"Log in with {NAME}"


@pytest.fixture
def village(provider: Provider) -> Provider:
    """A provider that shows a page."""
    provider.with_page = True
    return provider


def by_the_village(page: Page) -> None:
    """Log in at the provider, whose page the site has led to."""
    expect(page).to_have_title("Village")
    page.get_by_role("link", name="I am Dora").click()


def test_somebody_signs_up_links_and_confirms(new_page: NewPage, village: Provider, alice: User) -> None:
    page = new_page()
    page.goto("/accounts/login/?next=/rules/")
    page.get_by_role("button", name=BUTTON).press("Enter")
    by_the_village(page)
    expect(page.get_by_label("Username")).to_have_value("dora")
    assert_fits(page, "sign-up")
    page.get_by_role("button", name="Sign up").click()
    page.wait_for_url("**/rules/")
    dora = User.objects.get(username="dora")
    assert not dora.has_usable_password()

    page.goto("/accounts/me/")
    page.get_by_role("link", name=BUTTON).click()
    expect(page.get_by_text("It is your only way to log in.")).to_be_visible()
    assert_fits(page, "only-way")
    page.get_by_role("link", name="Set a password").click()
    expect(page.get_by_role("heading", name="Confirm that it’s you")).to_be_visible()
    page.get_by_role("button", name=f"Confirm with {NAME}").click()
    by_the_village(page)
    expect(page.get_by_role("heading", name="Set a password")).to_be_visible()
    for field in ("#id_password1", "#id_password2"):
        page.locator(field).fill("four green reverses")
    page.get_by_role("button", name="Set the password").click()
    page.goto("/accounts/oidc/")
    assert_fits(page, "linked")
    page.get_by_role("button", name=f"Unlink {NAME}").click()
    expect(page.get_by_role("heading", name="Not linked")).to_be_visible()
    assert_fits(page, "not-linked")
    page.get_by_role("button", name=f"Link {NAME}").click()
    by_the_village(page)
    expect(page.get_by_text("From now on you can log in with Village Login.")).to_be_visible()

    other = new_page(alice)
    other.goto("/accounts/oidc/")
    other.get_by_role("link", name="Confirm that it’s you").click()
    other.locator("#id_password").fill("alice")
    other.get_by_role("button", name="Confirm").click()
    other.get_by_role("button", name=f"Link {NAME}").click()
    by_the_village(other)
    expect(other.get_by_role("alert").filter(has_text="Another account here is linked")).to_be_visible()


def test_what_does_not_work_is_said(new_page: NewPage, village: Provider, settings: Any) -> None:
    page = new_page()
    page.goto("/accounts/oidc/callback/?state=x&code=y")
    expect(page.get_by_role("heading", name="That did not work")).to_be_visible()
    assert_fits(page, "refused")

    village.discovery = {
        "authorization_endpoint": f"{village.url.replace('127.0.0.1', 'localhost')}/authorize?tenant=village"
    }
    page.goto("/accounts/login/")
    page.get_by_role("button", name=BUTTON).click()
    settings.REGISTRATION, settings.GUESTS = "closed", False
    by_the_village(page)
    expect(page.get_by_role("heading", name="You have no account here")).to_be_visible()
    assert_fits(page, "no-account")


def test_a_provider_that_is_down_is_said(visitors: Visitors, site: str, village: Provider) -> None:
    village.faults["/.well-known/openid-configuration"] = text(404, "{}")
    page = visitors()
    with page.expect_response("**/accounts/oidc/login/") as found:
        page.goto("/accounts/login/")
        page.get_by_role("button", name=BUTTON).click()
    assert found.value.status == 502
    expect(page.get_by_role("heading", name=f"{NAME} is not available")).to_be_visible()
    assert_fits(page, "failed")
    assert [complaint for complaint in visitors.leave() if "status of 502" not in complaint] == []
