"""The pages of security settings: not for guests, and a change asks for the password or second factor again.

allauth stores in the session when it was last shown, and raises `ReauthenticationRequired` if that is too long ago.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final

from allauth.account.adapter import get_adapter
from allauth.core.exceptions import ReauthenticationRequired
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import urlencode

from accounts.actions import AccountChanged
from accounts.encryption import UnreadableSecret
from common.readers_language import say

NOT_FOR_GUESTS: Final = frozenset({
    "account_change_password",
    "account_email",
    "account_reauthenticate",
    "account_set_password",
    "me-token-create",
    "mfa_activate_totp",
    "mfa_add_webauthn",
    "mfa_deactivate_totp",
    "mfa_download_recovery_codes",
    "mfa_edit_webauthn",
    "mfa_generate_recovery_codes",
    "mfa_index",
    "mfa_list_webauthn",
    "mfa_reauthenticate",
    "mfa_reauthenticate_webauthn",
    "mfa_remove_webauthn",
    "mfa_view_recovery_codes",
    "openid_confirm",
    "openid_link",
    "openid_unlink",
    "socialaccount_connections",
})  # fmt: skip
"""The pages of security settings. A guest has only the session, and so nothing to change there."""


class SecurityPages(MiddlewareMixin):
    """Middleware that says who may use the pages of security settings and of the second factor, and what they lack."""

    def process_view(self, request: Any, *view: object) -> HttpResponse | None:
        """Redirect guests from the pages of `NOT_FOR_GUESTS` to the sign-up page."""
        user, match = request.user, request.resolver_match
        if match is None or not (user.is_authenticated and user.is_guest):
            return None
        if match.url_name == "mfa_authenticate":
            # A guest's browser is logging in to an account. allauth shows the page for that only to visitors.
            request.guest, request.user = user, AnonymousUser()
        if match.url_name not in NOT_FOR_GUESTS:
            return None
        sentence = say.text("message", "Guests have no password to protect this with. Sign up first.")
        messages.info(request, sentence)
        return redirect("account_signup")

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        """Answer a request that needs what the person has not shown yet, or that the site cannot decrypt."""
        if isinstance(error, UnreadableSecret):  # forms that ask for a code show the same sentence themselves
            context = {"sentence": error.message}
            return render(request, "mfa/unreadable.html", context, status=HTTPStatus.SERVICE_UNAVAILABLE)
        if isinstance(error, AccountChanged):  # the change was overtaken by a new password
            return _to(reverse("account_login"), request)
        return _confirm_first(request) if isinstance(error, ReauthenticationRequired) else None


def _confirm_first(request: HttpRequest) -> HttpResponse:
    """Redirect to the page that asks for the password or second factor, which leads back to this page.

    A form that was sent is dropped. allauth would store it in the session and run it after the confirmation, so a thief
    with a copy of the cookie could leave a form there for the owner to confirm without seeing it.
    """
    methods = get_adapter().get_reauthentication_methods(request.user)
    # A visitor gets no message, because storing it would make a session for each such request.
    if methods and request.method not in ("GET", "HEAD"):
        again = say.text("message", "Nothing was changed yet. Confirm that it’s you, then send the form again.")
        messages.info(request, again)
    if not methods and request.user.is_authenticated:  # the provider of the account is no longer that of the site
        ask = say.text("message", "Your account has no password to confirm this with. Ask for one by email.")
        messages.info(request, ask)
        return _to(reverse("account_reset_password"), request)
    return _to(methods[0]["url"] if methods else reverse("account_login"), request)


def _to(page: str, request: HttpRequest) -> HttpResponse:
    query = urlencode({REDIRECT_FIELD_NAME: request.get_full_path()})
    return HttpResponseRedirect(f"{page}?{query}", status=HTTPStatus.SEE_OTHER)
