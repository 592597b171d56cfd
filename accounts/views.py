"""The account page, and the pages that links in mails lead to."""

from collections.abc import Callable
from typing import Any, Final, cast

from allauth.account.decorators import reauthentication_required
from allauth.account.models import EmailConfirmationHMAC
from allauth.account.views import ConfirmEmailView, PasswordChangeView, PasswordResetFromKeyView, PasswordSetView
from allauth.mfa.recovery_codes.views import (
    DownloadRecoveryCodesView,
    GenerateRecoveryCodesView,
    ViewRecoveryCodesView,
)
from allauth.mfa.totp.views import ActivateTOTPView, DeactivateTOTPView
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.decorators import method_decorator
from django.views.decorators.http import require_http_methods, require_POST

from accounts import actions, confirmation_keys, invitations, mails, queries
from accounts.changes import AddsFactor, NotAfterEnd
from accounts.forms import InvitationForm, ProfileForm, TokenForm
from accounts.models import User
from accounts.names import after_mute
from accounts.passkeys import ShowsFactors
from accounts.second_factor import SecondFactorAdapter
from common.readers_language import say
from common.say import N_

SHOWN_INVITATIONS: Final = 100
MAY_NOT_INVITE: Final = N_("You can’t invite people to this site.")
JUST_CHANGED: Final = N_(
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
        messages.success(request, say.text("message", "Saved."))
        return redirect("me")
    return _page(request, user, form)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required(app="allauth.account")  # type: ignore[untyped-decorator]  # allauth ships no types
def create_token(request: HttpRequest) -> HttpResponse:
    """Ask what a new API token is for. POST creates it, shows it this once, and notifies the owner by mail."""
    user, now = cast("User", request.user), timezone.now()
    form, token = TokenForm(request.POST or None), None
    if request.method == "POST" and form.is_valid():
        try:
            with transaction.atomic():
                token = actions.create_token(user=user, now=now, **form.cleaned_data)
                mails.notify(kind=mails.TOKEN_MADE, user=user, now=now)
        except actions.TooManyTokens:
            form.add_error(
                None,
                say.plural(
                    "error",
                    "You have {n} token already. Revoke it first.",
                    "You have {n} tokens already. Revoke one first.",
                    actions.TOKENS_A_USER,
                ),
            )
    status = 422 if form.errors else 200
    return render(request, "accounts/token.html", {"form": form, "new_token": token}, status=status)


@login_required
@require_POST
def revoke_token(request: HttpRequest, token_id: int) -> HttpResponse:
    if not actions.revoke_token(user=cast("User", request.user), token_id=token_id):
        raise Http404
    messages.success(request, say.text("message", "The token no longer works."))
    return redirect("me")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def own_invitations(request: HttpRequest) -> HttpResponse:
    """List the person's invitations. POST makes one, and shows its link this once.

    :raises PermissionDenied: this person may not invite.
    """
    user, now = cast("User", request.user), timezone.now()
    if not invitations.may_invite(user, now):
        raise PermissionDenied(say.text("error", MAY_NOT_INVITE))
    form, link = InvitationForm(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        try:
            key = invitations.invite(user=user, now=now, **form.cleaned_data)
            link = settings.SITE_URL + reverse("account_invitation", args=[key])
        except invitations.TooManyInvitations as many:
            form.add_error(None, str(many))
    rows = [(row, row.state(now)) for row in invitations.of(user)[:SHOWN_INVITATIONS]]
    context = {"form": form, "link": link, "invitations": rows}
    return render(request, "accounts/invitations.html", context, status=422 if form.errors else 200)


@login_required
@require_POST
def revoke_invitation(request: HttpRequest, number: int) -> HttpResponse:
    if not invitations.revoke(user=cast("User", request.user), number=number, now=timezone.now()):
        raise Http404
    messages.success(request, say.text("message", "The invitation no longer works."))
    return redirect("invitations")


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


class _RefusesOutdatedForm(NotAfterEnd):
    """Refuses a form that sets a password if the password was changed after the request began.

    The form checks the old password, or the link, before the account is locked. Of several requests at once with the
    same one, the first sets its password and the others are refused.
    """

    def form_valid(self, form: Any) -> HttpResponse:
        try:
            return super().form_valid(form)
        except actions.AccountChanged:
            form.add_error(None, say.text("error", JUST_CHANGED))
            refused: HttpResponse = cast("Any", self).form_invalid(form)
            return refused


def _has_second_factor(request: HttpRequest) -> bool:
    return request.user.is_authenticated and queries.has_second_factor(request.user)


@method_decorator(reauthentication_required(app="allauth.account", enabled=_has_second_factor), name="dispatch")
class ChangeOwnPassword(_RefusesOutdatedForm, PasswordChangeView):  # type: ignore[misc]  # allauth ships no types
    """Changes the password of the person who is logged in. The form asks for the old one.

    With a second factor a code has to be given first.
    """


@method_decorator(login_required, name="dispatch")
@method_decorator(reauthentication_required(app="allauth.account"), name="dispatch")
class SetFirstPassword(_RefusesOutdatedForm, PasswordSetView):  # type: ignore[misc]  # allauth ships no types
    """Sets the password of a person who has none. What else they have to show is asked for first."""


class SetNewPassword(_RefusesOutdatedForm, _NoLogout, PasswordResetFromKeyView):  # type: ignore[misc]  # allauth ships no types
    """Sets a new password by the link sent to the account's address."""


class SetUpApp(ShowsFactors, AddsFactor, ActivateTOTPView):  # type: ignore[misc]  # allauth ships no types
    """Sets up an app as a second factor. A form that is sent twice leads to the page about second factors."""

    def form_invalid(self, form: Any) -> HttpResponse:
        if queries.totp_of(form.user):  # a double click: the first one has used the code
            return self.redirect_to_factors()
        refused: HttpResponse = super().form_invalid(form)
        return refused

    def make_change(self, form: Any) -> HttpResponse:
        if queries.totp_of(form.user):
            return self.redirect_to_factors()
        return super().make_change(form)


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


class TurnAppOff(ShowsFactors, NotAfterEnd, DeactivateTOTPView):  # type: ignore[misc]  # allauth ships no types
    """Turns the app off, once. Recovery codes are removed with the last second factor."""

    def make_change(self, form: Any) -> HttpResponse:
        if queries.totp_of(cast("User", self.request.user)) is None:
            return redirect("mfa_index")
        return super().make_change(form)


class MakeRecoveryCodes(NotAfterEnd, GenerateRecoveryCodesView):  # type: ignore[misc]  # allauth ships no types
    """Makes new recovery codes, which replace the old ones."""

    def make_change(self, form: Any) -> HttpResponse:
        # allauth checks it before the person is locked. Codes made while there is no factor would also work for one
        # that is added later.
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
        assert user.muted_until is not None  # that is why it was refused
        form.add_error("display_name", after_mute(user.muted_until))
    return not form.errors


def _page(request: HttpRequest, user: User, form: ProfileForm) -> HttpResponse:
    context = {"form": form, "tokens": queries.tokens_of(user), "now": timezone.now()}
    return render(request, "accounts/me.html", context, status=422 if form.errors else 200)
