"""The links in mails that confirm an address and set a new password."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from allauth.account.models import EmailAddress
from allauth.account.utils import user_pk_to_url_str
from django.contrib.auth import get_user
from django.test import Client
from django.urls import reverse

from accounts import confirmation_keys
from accounts.models import User
from accounts.reset_tokens import ResetTokens
from tests.conftest import logged_in

NEW: dict[str, str] = {"password1": "an-unused-phrase-7", "password2": "an-unused-phrase-7"}


def confirmation_link(user: User) -> str:
    """Return the path of the link in the mail that asks this person to confirm an address."""
    address = EmailAddress.objects.create(user=user, email="new@example.org", verified=False, primary=False)
    path: str = reverse("account_confirm_email", args=[confirmation_keys.key_of(address)])
    return path


def reset_link(user: User) -> str:
    """Return the path of the link in the mail that lets this person choose a new password."""
    path: str = reverse(
        "account_reset_password_from_key", args=[user_pk_to_url_str(user), ResetTokens(user.email).make_token(user)]
    )
    return path


@pytest.mark.django_db
@pytest.mark.parametrize("link_to", [confirmation_link, reset_link])
def test_opening_a_link_of_another_account_does_not_log_out(
    link_to: Callable[[User], str], alice: User, bob: User
) -> None:
    browser = logged_in(alice)
    shown = browser.get(link_to(bob), follow=True)
    assert shown.status_code == 200
    assert get_user(browser) == alice
    page = shown.redirect_chain[-1][0] if shown.redirect_chain else shown.request["PATH_INFO"]
    assert browser.post(page, NEW).status_code in (200, 302)
    assert get_user(browser) == alice


@pytest.mark.django_db
def test_a_confirmation_needs_a_click_on_the_linked_page(bob: User) -> None:
    link = confirmation_link(bob)
    visitor = Client()
    assert b"new@example.org" in visitor.get(link).content
    assert not EmailAddress.objects.get(email="new@example.org").verified
    visitor.post(link)
    assert EmailAddress.objects.get(email="new@example.org").verified
    assert not get_user(visitor).is_authenticated


@pytest.mark.django_db
def test_a_closed_account_confirms_no_address(bob: User) -> None:
    link = confirmation_link(bob)
    User.objects.filter(pk=bob.pk).update(is_active=False)
    assert b"new@example.org" not in Client().get(link).content
    assert Client().post(link).status_code == 404
    assert not EmailAddress.objects.get(email="new@example.org").verified


@pytest.mark.django_db
def test_a_reset_sets_the_password_and_does_not_log_in(alice: User, bob: User) -> None:
    visitor = Client()
    page = visitor.get(reset_link(bob), follow=True).redirect_chain[-1][0]
    visitor.post(page, NEW)
    bob.refresh_from_db()
    alice.refresh_from_db()
    assert (bob.check_password(NEW["password1"]), alice.check_password("alice")) == (True, True)
    assert not get_user(visitor).is_authenticated
