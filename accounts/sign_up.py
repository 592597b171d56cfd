"""Views to sign up, to manage addresses, and to send a confirmation again."""

from __future__ import annotations

from typing import Any, Final, cast

from allauth.account.adapter import get_adapter
from allauth.account.internal.flows.email_verification import (
    add_email_verification_sent_message,
    get_address_for_user,
)
from allauth.account.internal.stagekit import LOGIN_SESSION_KEY
from allauth.account.stages import EmailVerificationStage, LoginStageController
from allauth.account.views import EmailView, SignupView
from django.contrib.auth import logout
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from accounts import actions, queries
from accounts.adapter import BEGUN_WITH, HELD
from accounts.models import User

JUST_TAKEN: Final = (
    "Somebody has just taken this name, or one that looks like it. If that was you, in another tab or by a double"
    " click, log in with it. Otherwise choose another."
)
HAS_ACCOUNT: Final = (
    "You have just created an account for this guest, in another tab or by a double click. Log in with the username and"
    " the password you chose there."
)


class SignUp(SignupView):  # type: ignore[misc]  # allauth ships no types
    """Creates an account. Of simultaneous requests for one name or by one guest, only one succeeds."""

    def form_valid(self, form: Any) -> HttpResponse:
        username = form.cleaned_data["username"]
        try:
            answer: HttpResponse = super().form_valid(form)
        except actions.NoGuest:
            form.add_error(None, HAS_ACCOUNT)
        except IntegrityError:
            if not queries.name_clash(username, except_for=get_adapter().new_user(self.request)):
                raise
            form.add_error("username", JUST_TAKEN)
        else:
            self._end_session_of_guest()
            return answer
        refused: HttpResponse = self.form_invalid(form)
        return refused

    def _end_session_of_guest(self) -> None:
        """Log out a guest who has signed up and must confirm the address, but keep what `confirm_again` needs."""
        # The session would end with the next request anyway, because the account has a password now.
        session = self.request.session
        if LOGIN_SESSION_KEY in session and self.request.user.is_authenticated:
            pending = session[LOGIN_SESSION_KEY]
            kept = {key: session[key] for key in (BEGUN_WITH, HELD) if key in session}
            logout(self.request)
            session[LOGIN_SESSION_KEY] = pending
            session.update(kept)


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


@require_POST
def confirm_again(request: HttpRequest) -> HttpResponse:
    """Queue the confirmation mail again, for the person who is logged in or has just signed up in this session.

    :raises TooManyTries: this network or the person has asked for too many.
    """
    user = request.user if request.user.is_authenticated else _signing_up(request)
    address = get_address_for_user(user) if user is not None else None
    if address is None or address.verified:
        return redirect("account_email" if request.user.is_authenticated else "account_login")
    get_adapter().queue_confirmation(request, address)
    add_email_verification_sent_message(request, address.email, signup=False)
    return redirect("account_email" if request.user.is_authenticated else "account_email_verification_sent")


def _signing_up(request: HttpRequest) -> User | None:
    """Return the person who has signed up in this session and must confirm the address to log in, or None."""
    stage = LoginStageController.enter(request, EmailVerificationStage.key)
    user: User | None = stage.login.user if stage is not None else None
    return user
