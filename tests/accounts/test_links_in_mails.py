"""The links in mails that confirm an address and set a new password."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from allauth.account.models import EmailAddress
from django.test import Client

from accounts.models import User
from tests.conftest import logged_in
from tests.support import account_pages as pages
from tests.support.account_pages import claim, who

pytestmark = pytest.mark.django_db


def confirmation_link(user: User) -> str:
    """Return the path of the link in the mail that asks this person to confirm an address."""
    return pages.confirmation_link(claim(user, "new@example.org"))


@pytest.mark.parametrize("link_to", [confirmation_link, pages.reset_link])
def test_opening_a_link_of_another_account_does_not_log_out(
    link_to: Callable[[User], str], alice: User, bob: User
) -> None:
    browser = logged_in(alice)
    shown = browser.get(link_to(bob), follow=True)
    assert shown.status_code == 200
    assert who(browser) == "alice"
    page = shown.redirect_chain[-1][0] if shown.redirect_chain else shown.request["PATH_INFO"]
    assert browser.post(page, pages.NEW_PASSWORD).status_code in (200, 302)
    assert who(browser) == "alice"


def test_a_confirmation_needs_a_click_on_the_linked_page(bob: User) -> None:
    link = confirmation_link(bob)
    visitor = Client()
    assert b"new@example.org" in visitor.get(link).content
    assert not EmailAddress.objects.get(email="new@example.org").verified
    visitor.post(link)
    assert EmailAddress.objects.get(email="new@example.org").verified
    assert who(visitor) == ""


def test_a_closed_account_confirms_no_address(bob: User) -> None:
    link = confirmation_link(bob)
    User.objects.filter(pk=bob.pk).update(is_active=False)
    assert b"new@example.org" not in Client().get(link).content
    assert Client().post(link).status_code == 404
    assert not EmailAddress.objects.get(email="new@example.org").verified


def test_a_reset_sets_the_password_and_does_not_log_in(alice: User, bob: User) -> None:
    visitor = Client()
    page = visitor.get(pages.reset_link(bob), follow=True).redirect_chain[-1][0]
    visitor.post(page, pages.NEW_PASSWORD)
    bob.refresh_from_db()
    alice.refresh_from_db()
    assert (bob.check_password(pages.PASSWORD), alice.check_password("alice")) == (True, True)
    assert who(visitor) == ""
