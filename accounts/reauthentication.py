"""Ask for the password or second factor again before a change to security settings.

allauth stores in the session when it was last shown, and raises `ReauthenticationRequired` if that is too long ago.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final

from allauth.account.adapter import get_adapter
from allauth.core.exceptions import ReauthenticationRequired
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode

from accounts.actions import AccountChanged
from accounts.middleware import Handler

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


class RedirectGuestsToSignUp:
    """Redirects guests from the pages about passwords, addresses and tokens to the sign-up page."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *view: object) -> HttpResponse | None:
        user, match = request.user, request.resolver_match
        if match is None or match.url_name not in NOT_FOR_GUESTS or not (user.is_authenticated and user.is_guest):
            return None
        messages.info(request, "Guests have no password to protect this with. Sign up first.")
        return redirect("account_signup")


class RedirectToReauthentication:
    """Redirects to the page that asks for the password or second factor, which leads back to this page.

    A form that was sent is dropped. allauth would store it in the session and run it after the confirmation, so a thief
    with a copy of the cookie could leave a form there for the owner to confirm without seeing it.

    A change that was overtaken by a new password leads to the log-in page.
    """

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if isinstance(error, AccountChanged):
            return self._to(reverse("account_login"), request)
        if not isinstance(error, ReauthenticationRequired):
            return None
        methods = get_adapter().get_reauthentication_methods(request.user)
        # A visitor gets no message, because storing it would make a session for each such request.
        if methods and request.method not in ("GET", "HEAD"):
            messages.info(request, "Nothing was changed yet. Confirm that it’s you, then send the form again.")
        if not methods and request.user.is_authenticated:  # the provider of the account is no longer that of the site
            messages.info(request, "Your account has no password to confirm this with. Ask for one by email.")
            return self._to(reverse("account_reset_password"), request)
        return self._to(methods[0]["url"] if methods else reverse("account_login"), request)

    @staticmethod
    def _to(page: str, request: HttpRequest) -> HttpResponse:
        query = urlencode({REDIRECT_FIELD_NAME: request.get_full_path()})
        return HttpResponseRedirect(f"{page}?{query}", status=HTTPStatus.SEE_OTHER)
