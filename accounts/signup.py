"""The sign-up form as allauth's view uses it (ACCOUNT_FORMS); `accounts.forms.SignUpForm` is what it asks besides."""

from __future__ import annotations

from allauth.account.adapter import get_adapter
from allauth.account.forms import SignupForm


class SignUpWithAnyAddress(SignupForm):  # type: ignore[misc]  # allauth ships no types
    """Takes a mail address whosever it is, so that neither the page nor its work nor what follows tells.

    Whose it is settles who confirms it: see `AccountAdapter.send_confirmation_mail` and `accounts.backends`.
    """

    def validate_unique_email(self, value: str) -> str:
        taken: str = get_adapter().validate_unique_email(value)
        return taken
