"""Views to sign up, to manage addresses, and to send a confirmation again."""

from __future__ import annotations

import time
from http import HTTPStatus
from typing import Any, Final, cast

from allauth.account import app_settings
from allauth.account.adapter import get_adapter
from allauth.account.stages import EmailVerificationStage, LoginStageController
from allauth.account.utils import get_next_redirect_url
from allauth.account.views import EmailView, SignupView
from django.conf import settings
from django.contrib.auth import logout
from django.db import IntegrityError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse_lazy
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_POST
from django.views.generic import FormView

from accounts import actions, invitations, queries
from accounts.adapter import AFTER_CONFIRMATION, BEGUN_WITH, HELD
from accounts.address_forms import CorrectAddressForm
from accounts.allauth_internals import LOGIN_SESSION_KEY, add_email_verification_sent_message, get_address_for_user
from accounts.changes import NotAfterEnd
from accounts.models import User
from accounts.tokens import digest_of
from common import secret_pages
from common.readers_language import say
from common.say import N_

JUST_TAKEN: Final = N_(
    "Somebody has just taken this name, or one that looks like it. If that was you, in another tab or by a double"
    " click, log in with it. Otherwise choose another."
)
HAS_ACCOUNT: Final = N_(
    "You have just created an account for this guest, in another tab or by a double click. Log in with the username and"
    " the password you chose there."
)


def invitation_ended(request: HttpRequest, why: invitations.UnusableInvitation) -> HttpResponse:
    """Say why an invitation does not work any more."""
    return render(request, "account/invitation_ended.html", {"sentence": str(why)}, status=HTTPStatus.GONE)


class OneSignUp:
    """Creates an account. Of simultaneous requests for one name or by one guest, only one succeeds."""

    request: HttpRequest

    def closed(self) -> HttpResponse:
        """Say that nobody can sign up here."""
        return render(self.request, "account/signup_closed.html", status=HTTPStatus.FORBIDDEN)

    def form_valid(self, form: Any) -> HttpResponse:
        username = form.cleaned_data["username"]
        try:
            answer = self.create(form)
        except actions.NoGuest:
            form.add_error(None, say.text("error", HAS_ACCOUNT))
        except IntegrityError:
            if not queries.name_clash(username, except_for=get_adapter().new_user(self.request)):
                raise
            form.add_error("username", say.text("error", JUST_TAKEN))
        else:
            self._end_session_of_guest()
            return answer
        refused: HttpResponse = cast("Any", self).form_invalid(form)
        return refused

    def create(self, form: Any) -> HttpResponse:
        """Create the account of a valid form, and log in."""
        answer: HttpResponse = cast("Any", super()).form_valid(form)
        return answer

    def _end_session_of_guest(self) -> None:
        """Log out a guest who has signed up and must confirm the address, but keep what `confirm_again` needs.

        Also note where somebody who must confirm the address came from.
        """
        # The session would end with the next request anyway, because the account has another password now.
        session = self.request.session
        if LOGIN_SESSION_KEY in session and (page := get_next_redirect_url(self.request)):
            session[AFTER_CONFIRMATION] = page
        if LOGIN_SESSION_KEY in session and self.request.user.is_authenticated:
            pending = session[LOGIN_SESSION_KEY]
            kept = {key: session[key] for key in (BEGUN_WITH, HELD, AFTER_CONFIRMATION) if key in session}
            logout(self.request)
            session[LOGIN_SESSION_KEY] = pending
            session.update(kept)


class SignUp(OneSignUp, SignupView):  # type: ignore[misc]  # allauth ships no types
    """The page to sign up with a username and a password."""


class InvitedSignUp(SignUp):
    """The page of an invitation, where it is possible to sign up. Opening it changes nothing."""

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        secret_pages.mark_secret(request)
        if settings.REGISTRATION == "open":
            return redirect("account_signup")
        try:
            # Where registration is closed, none works: `invitations.may_invite` is False for everybody.
            if invitations.find(kwargs["key"], timezone.now()) is None:
                raise Http404
            cast("Any", request).invitation = digest_of(kwargs["key"])
            answer: HttpResponse = super().dispatch(request, *args, **kwargs)
        except invitations.UnusableInvitation as why:
            answer = invitation_ended(request, why)
        add_never_cache_headers(answer)
        return answer


class Addresses(EmailView):  # type: ignore[misc]  # allauth ships no types
    """The page where people manage their mail addresses. It locks the person, so changes are made one at a time.

    :raises AccountChanged: the password was changed, or the account closed, after the request began.
    """

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        with transaction.atomic():
            user = cast("User", request.user)
            actions.lock_unchanged(user)
            answer: HttpResponse = super().post(request, *args, **kwargs)
        return answer


class ConfirmationSent(NotAfterEnd, FormView):  # type: ignore[type-arg]  # generic only in its stubs
    """The page for people who must confirm their address to log in, who can correct it there.

    Logging in leads there again. allauth changes an address there only if a code confirms it.
    """

    form_class = CorrectAddressForm
    template_name = "account/verification_sent.html"
    success_url = reverse_lazy("account_email_verification_sent")

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        self.user = _who_may_correct(request)
        if self.user is None and request.method == "POST":
            return redirect("account_login")
        return super().dispatch(request, *args, **kwargs)

    def get_form_kwargs(self) -> dict[str, Any]:
        return {**super().get_form_kwargs(), "user": self.user}

    def get_context_data(self, **more: Any) -> dict[str, Any]:
        return super().get_context_data(**more, address=get_address_for_user(self.user) if self.user else None)

    def make_change(self, form: Any) -> HttpResponse:
        old = get_address_for_user(form.user)
        if old is None or not old.verified:  # it can have been confirmed while this request waited for the lock
            address = actions.replace_unconfirmed(user=form.user, old=old, address=form.cleaned_data["email"])
            get_adapter().queue_confirmation(self.request, address)
            add_email_verification_sent_message(self.request, address.email, signup=False)
        return super().make_change(form)


def _who_may_correct(request: HttpRequest) -> User | None:
    """Return the person who has signed up or begun to log in in this session, if they may correct the address.

    Not if they have a second factor, which they have not shown here yet, or a newer password than the session. People
    without a password cannot be asked for it: they must have come from the OpenID provider a moment ago.
    """
    login = _unfinished_log_in(request)
    user: User | None = login and login.user
    if user is None or not user.is_active or queries.confirmed_addresses(user) or queries.has_second_factor(user):
        return None
    just_now = login.initiated_at > time.time() - app_settings.REAUTHENTICATION_TIMEOUT
    newest = constant_time_compare(str(request.session.get(BEGUN_WITH, "")), user.get_session_auth_hash())
    return user if newest and (just_now or user.has_usable_password()) else None


@require_POST
def confirm_again(request: HttpRequest) -> HttpResponse:
    """Queue the confirmation mail again, for the person who is logged in or has just signed up in this session.

    :raises TooManyTries: this network or the person has asked for too many.
    """
    user = request.user if request.user.is_authenticated else getattr(_unfinished_log_in(request), "user", None)
    address = get_address_for_user(user) if user is not None else None
    if address is None or address.verified:
        return redirect("account_email" if request.user.is_authenticated else "account_login")
    get_adapter().queue_confirmation(request, address)
    add_email_verification_sent_message(request, address.email, signup=False)
    return redirect("account_email" if request.user.is_authenticated else "account_email_verification_sent")


def _unfinished_log_in(request: HttpRequest) -> Any:
    """Return allauth's log-in of who has signed up in this session and must confirm the address first, or None."""
    stage = LoginStageController.enter(request, EmailVerificationStage.key)
    return stage and stage.login
