"""A site that is closed to strangers, in a browser: invitations, and what visitors see."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from playwright.sync_api import expect

from accounts import invitations
from accounts.models import SignUpInvitation, User
from tests.browser.game_page import NewPage
from tests.browser.test_layout import PHONE, assert_fits

STACK = os.environ.get("NOMERCY_STACK") == "1"
pytestmark = pytest.mark.skipif(STACK, reason="its processes have settings of their own")


@pytest.fixture
def closed(settings: Any) -> None:
    settings.REGISTRATION, settings.INVITATIONS = "invite", "members"
    settings.GUESTS, settings.LOGIN_REQUIRED = False, True


def test_a_member_invites_somebody_who_signs_up(new_page: NewPage, alice: User, closed: None) -> None:
    page = new_page(alice, viewport=PHONE)
    page.goto("/accounts/me/")
    page.get_by_role("link", name="Your invitations").click()
    page.get_by_label("Who it is for").fill("Dora from the chess club, who plays at night")
    page.get_by_role("button", name="Make the link").click()
    link = page.get_by_label("Copy the link now").input_value()
    assert_fits(page, "new-invitation")

    now = timezone.now()
    invitations.invite(user=alice, note="An old one", days=1, now=now - timedelta(days=2))
    visitor = new_page(viewport=PHONE)
    visitor.goto("/")
    expect(visitor.get_by_role("heading", name="Log in")).to_be_visible()
    visitor.goto(link)
    assert_fits(visitor, "invited")
    visitor.get_by_label("Username").fill("dora")
    for field in ("#id_password1", "#id_password2"):
        visitor.locator(field).fill("four green reverses")
    visitor.get_by_role("button", name="Sign up").click()
    expect(visitor.get_by_text("You are logged in as dora.")).to_be_visible()

    second = new_page(viewport=PHONE)
    second.goto(link)
    expect(second.get_by_text("This invitation has been used.")).to_be_visible()
    assert_fits(second, "used")
    second.goto("/accounts/signup/")
    assert_fits(second, "sign-up-refused")

    page.goto("/accounts/invitations/")
    page.get_by_label("Who it is for").fill("Nobody")
    page.get_by_role("button", name="Make the link").click()
    page.goto("/accounts/invitations/")
    expect(page.get_by_text("Used by dora")).to_be_visible()
    expect(page.get_by_text("Expired; made")).to_be_visible()
    assert_fits(page, "invitations")
    page.get_by_role("button", name="Revoke").click()
    expect(page.get_by_text("The invitation no longer works.")).to_be_visible()
    assert SignUpInvitation.objects.exclude(revoked_at=None).get().note == "Nobody"
