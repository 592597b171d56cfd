"""The browsers in which a person is logged in, and logging out in others."""

from __future__ import annotations

from typing import cast

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from accounts import known_browsers, log_ins
from accounts.models import User
from common.readers_language import say
from games import announce
from games.web.http import SeeOther

EVERYWHERE_ELSE = "others"

# Otherwise a thief with a copy of the cookie could log the owner out again and again, faster than the owner can react.
# Guests have no password, so nothing is asked of them.
_confirmed = reauthentication_required(app="allauth.account", enabled=lambda request: request.method == "POST")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@_confirmed  # type: ignore[untyped-decorator]  # allauth ships no types
def sessions(request: HttpRequest) -> HttpResponse:
    """List the browsers. POST logs out in one of them (`end` is its handle), or in all others (`end=others`).

    POST needs a confirmation by the password or a code in the last five minutes.
    """
    user, here = cast("User", request.user), str(request.session.session_key)
    if request.method != "POST":
        found = log_ins.list_for(user, here=here, now=timezone.now())
        return render(request, "accounts/sessions.html", {"log_ins": found, "everywhere_else": EVERYWHERE_ELSE})
    handle, answer = request.POST.get("end", ""), SeeOther.to("sessions")
    if handle == EVERYWHERE_ELSE:
        if not log_ins.end_elsewhere(request):
            request.session.flush()  # another request has just ended this session
            return SeeOther.to("account_login")
        known_browsers.remember(request, answer, user)
        messages.success(request, say.text("message", "You are logged out everywhere else."))
    elif log_ins.end(user_id=user.pk, handle=handle, here=here):
        messages.success(request, say.text("message", "That browser is logged out."))
    else:
        messages.info(request, say.text("message", "That browser was logged out already."))
    announce.close_sockets(user.pk)  # after the sessions have ended, so that a page that reconnects finds none
    return answer
