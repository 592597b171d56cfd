"""URLs of API tokens, and of the allauth pages that this site changes. `games` has the account page itself."""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.contrib.sessions.backends.base import UpdateError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, re_path
from django.utils.cache import add_never_cache_headers
from django.views.generic import RedirectView

from accounts import passkeys, sign_up, views


def _with_provider(name: str) -> Callable[[HttpRequest], HttpResponse]:
    """Return a view that answers 404 without `OIDC_ISSUER`, and otherwise runs that view of `accounts.openid`."""

    def view(request: HttpRequest) -> HttpResponse:
        if not settings.OIDC_ISSUER:
            raise Http404
        from accounts import openid  # noqa: PLC0415  # takes megabytes, and most sites have no provider

        try:
            answer: HttpResponse = getattr(openid, name)(request)
        except UpdateError:  # allauth saves the session in the middle of a request, and it has just ended
            answer = redirect("account_login")
        add_never_cache_headers(answer)
        return answer

    return view


urlpatterns = [
    path("me/tokens/", views.create_token, name="me-token-create"),
    path("me/tokens/<int:token_id>/revoke/", views.revoke_token, name="me-token-revoke"),
    path("invitations/", views.own_invitations, name="invitations"),
    path("invitations/<int:number>/revoke/", views.revoke_invitation, name="invitation-revoke"),
    path("invitation/<str:key>/", sign_up.InvitedSignUp.as_view(), name="account_invitation"),
    path("email/again/", sign_up.confirm_again, name="confirm-again"),
    # The same URLs as in allauth.account.urls and allauth.mfa.urls, which are tried after these.
    path("email/", sign_up.Addresses.as_view(), name="account_email"),
    path("signup/", sign_up.SignUp.as_view(), name="account_signup"),
    path("confirm-email/", sign_up.ConfirmationSent.as_view(), name="account_email_verification_sent"),
    re_path(r"^confirm-email/(?P<key>[-:\w]+)/$", views.ConfirmAddress.as_view(), name="account_confirm_email"),
    path("password/change/", views.ChangeOwnPassword.as_view(), name="account_change_password"),
    path("password/set/", views.SetFirstPassword.as_view(), name="account_set_password"),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        views.SetNewPassword.as_view(),
        name="account_reset_password_from_key",
    ),
    path("oidc/", _with_provider("connections"), name="socialaccount_connections"),
    path("oidc/login/", _with_provider("log_in"), name="openid_login"),
    path("oidc/callback/", _with_provider("callback"), name="openid_callback"),
    path("oidc/signup/", _with_provider("sign_up"), name="socialaccount_signup"),
    path("oidc/confirm/", _with_provider("confirm"), name="openid_confirm"),
    path("oidc/link/", _with_provider("link"), name="openid_link"),
    path("oidc/unlink/", _with_provider("unlink"), name="openid_unlink"),
    path("2fa/totp/activate/", views.SetUpApp.as_view(), name="mfa_activate_totp"),
    path("2fa/totp/deactivate/", views.TurnAppOff.as_view(), name="mfa_deactivate_totp"),
    path("2fa/authenticate/", passkeys.EnterSecondFactor.as_view(), name="mfa_authenticate"),
    path("2fa/reauthenticate/", passkeys.ConfirmByCode.as_view(), name="mfa_reauthenticate"),
    path("2fa/webauthn/", RedirectView.as_view(pattern_name="mfa_index"), name="mfa_list_webauthn"),
    path("2fa/webauthn/add/", passkeys.AddPasskey.as_view(), name="mfa_add_webauthn"),
    path("2fa/webauthn/login/", passkeys.LogInByPasskey.as_view(), name="mfa_login_webauthn"),
    path("2fa/webauthn/reauthenticate/", passkeys.ConfirmByPasskey.as_view(), name="mfa_reauthenticate_webauthn"),
    path("2fa/webauthn/keys/<int:pk>/edit/", passkeys.RenamePasskey.as_view(), name="mfa_edit_webauthn"),
    path("2fa/webauthn/keys/<int:pk>/remove/", passkeys.RemovePasskey.as_view(), name="mfa_remove_webauthn"),
    path("2fa/recovery-codes/", views.ShowRecoveryCodes.as_view(), name="mfa_view_recovery_codes"),
    path("2fa/recovery-codes/download/", views.DownloadRecoveryCodes.as_view(), name="mfa_download_recovery_codes"),
    path("2fa/recovery-codes/generate/", views.MakeRecoveryCodes.as_view(), name="mfa_generate_recovery_codes"),
]
