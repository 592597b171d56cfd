"""A site that is closed to strangers, in a browser: invitations, what visitors see, and an announcement."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect

from accounts import invitations
from accounts.models import SignUpInvitation, User
from games.models import AuditEntry
from tests.browser.checks import TOO_WIDE
from tests.browser.game_page import NewPage
from tests.browser.test_axe import violations
from tests.browser.test_layout import PHONE
from tests.browser.test_staff import staff

__all__ = ["staff"]  # a fixture of that module

STACK = os.environ.get("NOMERCY_STACK") == "1"
pytestmark = [pytest.mark.more, pytest.mark.skipif(STACK, reason="its processes have settings of their own")]

TEXT = "The site rests on Sunday from 9 to 10 UTC, because its disk is replaced. Clocks stop meanwhile."


@pytest.fixture
def closed(settings: Any) -> None:
    settings.REGISTRATION, settings.INVITATIONS = "invite", "members"
    settings.GUESTS, settings.LOGIN_REQUIRED = False, True


def look(page: Page, name: str) -> None:
    """See that a page fits a phone and a desk, and that axe finds nothing."""
    for width in (390, 1280):
        page.set_viewport_size({"width": width, "height": 900})
        assert page.evaluate(TOO_WIDE) == {"page": 0, "parts": []}, f"{name} at {width} px"
        if folder := os.environ.get("NOMERCY_SCREENSHOTS"):
            page.screenshot(path=f"{folder}/access-{name}-{width}.png", full_page=True)
        assert violations(page) == [], name
    page.set_viewport_size(PHONE)


def test_a_member_invites_somebody_who_signs_up(new_page: NewPage, alice: User, closed: None) -> None:
    page = new_page(alice, viewport=PHONE)
    page.goto("/accounts/me/")
    page.get_by_role("link", name="Your invitations").click()
    page.get_by_label("Who it is for").fill("Dora from the chess club, who plays at night")
    page.get_by_role("button", name="Make the link").click()
    link = page.get_by_label("Copy the link now").input_value()
    look(page, "new-invitation")

    now = timezone.now()
    invitations.invite(user=alice, note="An old one", days=1, now=now - timedelta(days=2))
    visitor = new_page(viewport=PHONE)
    visitor.goto("/")
    expect(visitor.get_by_role("heading", name="Log in")).to_be_visible()
    look(visitor, "log-in")
    visitor.goto(link)
    look(visitor, "invited")
    visitor.get_by_label("Username").fill("dora")
    for field in ("#id_password1", "#id_password2"):
        visitor.locator(field).fill("four green reverses")
    visitor.get_by_role("button", name="Sign up").click()
    expect(visitor.get_by_text("You are logged in as dora.")).to_be_visible()

    second = new_page(viewport=PHONE)
    second.goto(link)
    expect(second.get_by_text("This invitation has been used.")).to_be_visible()
    look(second, "used")
    second.goto("/accounts/signup/")
    look(second, "sign-up-refused")

    page.goto("/accounts/invitations/")
    page.get_by_label("Who it is for").fill("Nobody")
    page.get_by_role("button", name="Make the link").click()
    page.goto("/accounts/invitations/")
    expect(page.get_by_text("Used by dora")).to_be_visible()
    expect(page.get_by_text("Expired; made")).to_be_visible()
    look(page, "invitations")
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("The invitation no longer works.")).to_be_visible()
    assert SignUpInvitation.objects.exclude(revoked_at=None).get().note == "Nobody"


def test_an_admin_announces_something(staff: Page, new_page: NewPage, alice: User) -> None:
    staff.goto("/admin/")
    staff.get_by_role("link", name="Announcement", exact=True).click()
    staff.get_by_role("link", name="Announce", exact=True).click()
    staff.get_by_label("Text").fill(TEXT)
    staff.get_by_label("End").fill("2099-12-31T10:00")
    staff.get_by_role("button", name="Announce").click()
    expect(staff.get_by_text("The announcement is shown.")).to_be_visible()
    expect(staff.get_by_text("until 2099-12-31 10:00")).to_be_visible()
    for person in (None, alice):
        page = new_page(person, viewport=PHONE)
        page.goto("/rules/" if person is None else "/")
        expect(page.get_by_role("region", name="Announcement")).to_contain_text(TEXT)
        look(page, f"announced-{person}")

    staff.get_by_role("link", name="End the announcement").click()
    staff.get_by_role("button", name="End the announcement").click()
    expect(staff.get_by_text("No announcement is shown.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("region", name="Announcement")).to_have_count(0)
    assert list(AuditEntry.objects.order_by("pk").values_list("act", flat=True)) == ["announce", "end_announcement"]
