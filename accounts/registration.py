"""The mail that asks to confirm the address given when signing up."""

from __future__ import annotations

from typing import cast

from allauth.account.internal.flows.email_verification import (
    add_email_verification_sent_message,
    get_address_for_user,
)
from allauth.account.stages import EmailVerificationStage, LoginStageController
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_POST

from accounts import mails
from accounts.models import User


@require_POST
def confirm_again(request: HttpRequest) -> HttpResponse:
    """Queue the mail that asks to confirm an address again, for the person logged in or the one who just signed up.

    :raises TooManyTries:
    """
    user = request.user if request.user.is_authenticated else _signing_up(request)
    address = get_address_for_user(user) if user is not None else None
    if address is None or address.verified:
        return redirect("account_email" if request.user.is_authenticated else "account_login")
    mails.queue(kind=mails.CONFIRM, address=address.email, user=cast("User", user), now=timezone.now())
    add_email_verification_sent_message(request, address.email, signup=False)
    return redirect("account_email" if request.user.is_authenticated else "account_email_verification_sent")


def _signing_up(request: HttpRequest) -> User | None:
    """The person who has signed up in this session and cannot log in before the address is confirmed."""
    stage = LoginStageController.enter(request, EmailVerificationStage.key)
    user: User | None = stage.login.user if stage is not None else None
    return user
