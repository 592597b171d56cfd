"""The page on which people say that a program plays for their account."""

from __future__ import annotations

from http import HTTPStatus
from typing import cast

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from accounts.models import User
from common.readers_language import say
from games.actions.programs import declare_program
from games.refusals import Denied
from games.web.http import SeeOther

# Otherwise a thief with a copy of the cookie could give the sign to the account for good.
_confirmed = reauthentication_required(app="allauth.account", enabled=lambda request: request.method == "POST")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@_confirmed  # type: ignore[untyped-decorator]  # allauth ships no types
def program(request: HttpRequest) -> HttpResponse:
    """Say what the sign “program” means. POST gives it to the account.

    POST needs a confirmation by the password or a code in the last five minutes.
    """
    user, refusal = cast("User", request.user), ""
    if request.method == "POST":
        try:
            declare_program(user=user)
        except Denied as denied:
            refusal = denied.words
        else:
            messages.success(request, say.text("message", "Everybody now sees that a program plays for this account."))
            return SeeOther.to("me")
    status = HTTPStatus.FORBIDDEN if refusal else HTTPStatus.OK
    return render(request, "accounts/program.html", {"refusal": refusal}, status=status)
