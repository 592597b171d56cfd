"""The account page, and the pages that links in mails lead to."""

from collections.abc import Callable
from typing import Any, Final, cast

from allauth.account.decorators import reauthentication_required
from allauth.account.models import EmailConfirmationHMAC
from allauth.account.views import ConfirmEmailView, PasswordChangeView, PasswordResetFromKeyView
from allauth.mfa.recovery_codes.views import (
    DownloadRecoveryCodesView,
    GenerateRecoveryCodesView,
    ViewRecoveryCodesView,
)
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.utils.formats import date_format
from django.views.decorators.http import require_http_methods, require_POST

from accounts import actions, confirmation_keys, known_browsers, log_ins, mails, queries
from accounts.forms import ProfileForm, TokenForm
from accounts.models import User
from accounts.second_factor import SecondFactorAdapter

JUST_CHANGED: Final = (
    "This password was changed a moment ago, in another tab or browser or by a double click. Log in with the new"
    " one. If that wasn’t you, ask for a new password by email."
)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def me(request: HttpRequest, *, on_new_zone: Callable[[int], object]) -> HttpResponse:
    """Show the name, the time zone and the API tokens. POST saves the name and the time zone.

    `on_new_zone` is called with the person's number after a new time zone is saved.
    """
    user = cast("User", request.user)
    form = ProfileForm(request.POST or None, user=user)
    if request.method == "POST" and form.is_valid() and _save_profile(user.pk, form, on_new_zone):
        messages.success(request, "Saved.")
        return redirect("me")
    return _page(request, user, form)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required(app="allauth.account")  # type: ignore[untyped-decorator]  # allauth ships no types
def create_token(request: HttpRequest) -> HttpResponse:
    """Ask for the name of a new API token. POST creates it, shows it this once, and notifies the owner by mail."""
    user, now = cast("User", request.user), timezone.now()
    form, token = TokenForm(request.POST or None), None
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                token = actions.create_token(user=user, name=form.cleaned_data["name"], now=now)
                mails.notify(kind=mails.TOKEN_MADE, user=user, now=now)
        except actions.TooManyTokens:
            form.add_error(None, f"You have {actions.TOKENS_A_USER} tokens already. Revoke one first.")
    status = 422 if form.errors else 200
    return render(request, "accounts/token.html", {"form": form, "new_token": token}, status=status)


@login_required
@require_POST
def revoke_token(request: HttpRequest, token_id: int) -> HttpResponse:
    if not actions.revoke_token(user=cast("User", request.user), token_id=token_id):
        raise Http404
    messages.success(request, "The token no longer works.")
    return redirect("me")


class _NoLogout:
    """Keeps a browser logged in when it opens a link for another account. allauth would log it out.

    Anybody can make an account and send its link to somebody else. Opening a link must change nothing, and a guest who
    is logged out would lose all games (docs/decisions/0070-opening-a-link-changes-nothing.md).
    """

    def logout(self) -> None:
        """Do nothing."""


class ConfirmAddress(_NoLogout, ConfirmEmailView):  # type: ignore[misc]  # allauth ships no types
    """Confirms a mail address by the link sent to it. The links of a closed account do not work."""

    def get_object(self, queryset: Any = None) -> Any:
        claim = confirmation_keys.claim_of(cast("Any", self).kwargs["key"])
        if claim is None:
            raise Http404
        return EmailConfirmationHMAC(claim)


class _NotAfterEnd:
    """Lets a form make its change only while the account is open and the session that the request read is valid.

    :raises AccountChanged: after the request began, the sessions of the account were ended or it was closed.
    """

    def form_valid(self, form: Any) -> HttpResponse:
        # A link in a mail sets the password of its own account, not of the one that is logged in.
        user = getattr(form, "user", cast("Any", self).request.user)
        with transaction.atomic():
            actions.lock_unchanged(user)
            return self.make_change(form)

    def make_change(self, form: Any) -> HttpResponse:
        """Make the change of a valid form. The person is locked."""
        answer: HttpResponse = cast("Any", super()).form_valid(form)
        return answer


class _RefusesOutdatedForm(_NotAfterEnd):
    """Refuses a form that sets a password if the password was changed after the request began.

    The form checks the old password, or the link, before the account is locked. Of several requests at once with the
    same one, the first sets its password and the others are refused.
    """

    def form_valid(self, form: Any) -> HttpResponse:
        try:
            return super().form_valid(form)
        except actions.AccountChanged:
            form.add_error(None, JUST_CHANGED)
            refused: HttpResponse = cast("Any", self).form_invalid(form)
            return refused


def _has_second_factor(request: HttpRequest) -> bool:
    return request.user.is_authenticated and queries.has_second_factor(request.user)


@method_decorator(reauthentication_required(app="allauth.account", enabled=_has_second_factor), name="dispatch")
class ChangeOwnPassword(_RefusesOutdatedForm, PasswordChangeView):  # type: ignore[misc]  # allauth ships no types
    """Changes the password of the person who is logged in. The form asks for the old one.

    With a second factor a code has to be given first.
    """


class SetNewPassword(_RefusesOutdatedForm, _NoLogout, PasswordResetFromKeyView):  # type: ignore[misc]  # allauth ships no types
    """Sets a new password by the link sent to the account's address."""


class SetUpApp(_NotAfterEnd, ActivateTOTPView):  # type: ignore[misc]  # allauth ships no types
    """Sets up an app as the second factor, logs out everywhere else, and revokes the API tokens if that is ticked.

    If another request has set up an app first, redirects to the page about the second factor.
    """

    def form_valid(self, form: Any) -> HttpResponse:
        try:
            return super().form_valid(form)
        except actions.AccountChanged:
            if not queries.has_second_factor(form.user):
                raise
            return self._redirect_to_second_factor()

    def form_invalid(self, form: Any) -> HttpResponse:
        if queries.has_second_factor(form.user):  # a double click: the first one has used the code
            return self._redirect_to_second_factor()
        refused: HttpResponse = super().form_invalid(form)
        return refused

    def _redirect_to_second_factor(self) -> HttpResponse:
        # Saving this session, which the set-up has ended, would replace the cookie of the one that continues it.
        self.request.session.modified = False
        return redirect("mfa_index")

    def make_change(self, form: Any) -> HttpResponse:
        # Somebody else who knows the password may have logged in before there was an app, and confirmed their identity
        # a moment ago.
        if not log_ins.end_elsewhere(self.request):
            raise actions.AccountChanged
        actions.drop_recovery_codes(user=form.user)  # allauth would keep them, and show none
        if form.cleaned_data.get("revoke_tokens"):
            actions.revoke_tokens(user=form.user)
        answer = super().make_change(form)
        known_browsers.remember(self.request, answer, form.user)
        return answer


@method_decorator(login_required, name="dispatch")
class _ReadsCodes:
    """Reads recovery codes with the person locked, so that no other request replaces or removes them meanwhile.

    :raises AccountChanged: after the request began, the sessions of the account were ended or it was closed.
    """

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with transaction.atomic():
            actions.lock_unchanged(cast("User", request.user))
            answer: HttpResponse = cast("Any", super()).dispatch(request, *args, **kwargs)
        return answer


class ShowRecoveryCodes(_ReadsCodes, ViewRecoveryCodesView):  # type: ignore[misc]  # allauth ships no types
    """Shows the unused recovery codes."""


class DownloadRecoveryCodes(_ReadsCodes, DownloadRecoveryCodesView):  # type: ignore[misc]  # allauth ships no types
    """Sends the unused recovery codes as a file."""


class TurnAppOff(_NotAfterEnd, DeactivateTOTPView):  # type: ignore[misc]  # allauth ships no types
    """Turns the second factor off, once."""

    def make_change(self, form: Any) -> HttpResponse:
        if not queries.has_second_factor(cast("User", self.request.user)):
            return redirect("mfa_index")
        return super().make_change(form)


class MakeRecoveryCodes(_NotAfterEnd, GenerateRecoveryCodesView):  # type: ignore[misc]  # allauth ships no types
    """Makes new recovery codes, which replace the old ones."""

    def make_change(self, form: Any) -> HttpResponse:
        # allauth checks it before the person is locked. Codes made while no app is set up would also work for one that
        # is set up later.
        if not queries.has_second_factor(form.user):
            form.add_error(None, SecondFactorAdapter().validation_error("cannot_generate_recovery_codes"))
            refused: HttpResponse = cast("Any", self).form_invalid(form)
            return refused
        return super().make_change(form)


def _save_profile(user_id: int, form: ProfileForm, on_new_zone: Callable[[int], object]) -> bool:
    # A copy, so that the page's header does not show a refused name.
    user = queries.reread_user(user_id)
    try:
        if actions.update_profile(user=user, **form.cleaned_data, now=timezone.now()):
            on_new_zone(user_id)
    except ValidationError as error:
        form.add_error(None, error)
    except actions.NameTaken as taken:
        form.add_error("display_name", str(taken))
    except actions.Muted:
        until = date_format(timezone.localtime(user.muted_until), "j F Y")
        form.add_error("display_name", f"You can choose a name again from {until}, when your mute ends.")
    return not form.errors


def _page(request: HttpRequest, user: User, form: ProfileForm) -> HttpResponse:
    context = {"form": form, "tokens": queries.tokens_of(user)}
    return render(request, "accounts/me.html", context, status=422 if form.errors else 200)
