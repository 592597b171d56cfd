"""URLs of API tokens, and of the allauth pages that this site changes. `games` has the account page itself."""

from django.urls import path, re_path

from accounts import sign_up, views

urlpatterns = [
    path("me/tokens/", views.create_token, name="me-token-create"),
    path("me/tokens/<int:token_id>/revoke/", views.revoke_token, name="me-token-revoke"),
    path("email/again/", sign_up.confirm_again, name="confirm-again"),
    # The same URLs as in allauth.account.urls and allauth.mfa.urls, which are tried after these.
    path("email/", sign_up.Addresses.as_view(), name="account_email"),
    path("signup/", sign_up.SignUp.as_view(), name="account_signup"),
    re_path(r"^confirm-email/(?P<key>[-:\w]+)/$", views.ConfirmAddress.as_view(), name="account_confirm_email"),
    path("password/change/", views.ChangeOwnPassword.as_view(), name="account_change_password"),
    re_path(
        r"^password/reset/key/(?P<uidb36>[0-9A-Za-z]+)-(?P<key>.+)/$",
        views.SetNewPassword.as_view(),
        name="account_reset_password_from_key",
    ),
    path("2fa/totp/activate/", views.SetUpApp.as_view(), name="mfa_activate_totp"),
    path("2fa/totp/deactivate/", views.TurnAppOff.as_view(), name="mfa_deactivate_totp"),
    path("2fa/recovery-codes/", views.ShowRecoveryCodes.as_view(), name="mfa_view_recovery_codes"),
    path("2fa/recovery-codes/download/", views.DownloadRecoveryCodes.as_view(), name="mfa_download_recovery_codes"),
    path("2fa/recovery-codes/generate/", views.MakeRecoveryCodes.as_view(), name="mfa_generate_recovery_codes"),
]
