"""What pages that change security settings share: they lock the person, and check that the session is still valid."""

from __future__ import annotations

from typing import Any, Final, cast

from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from accounts import actions, known_browsers, log_ins, queries
from common.readers_language import say
from common.say import N_

ELSEWHERE: Final = N_("You are logged out everywhere else.")


def end_elsewhere(request: HttpRequest) -> None:
    """Log out everywhere else. The caller is in a transaction.

    :raises AccountChanged: the session of the request has ended meanwhile.
    """
    if not log_ins.end_elsewhere(request):
        raise actions.AccountChanged


class NotAfterEnd:
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

    def change_and_end_elsewhere(self, form: Any) -> HttpResponse:
        """Make the change, and log out everywhere else. This browser stays a known one."""
        request = cast("Any", self).request
        end_elsewhere(request)
        answer = NotAfterEnd.make_change(self, form)
        messages.info(request, say.text("message", ELSEWHERE))
        known_browsers.remember(request, answer, request.user)
        return answer


class AddsFactor(NotAfterEnd):
    """Adds a second factor. The first one logs out everywhere else, and makes new recovery codes.

    Revokes the API tokens if that is ticked.
    """

    def form_valid(self, form: Any) -> HttpResponse:
        try:
            return super().form_valid(form)
        except actions.AccountChanged:
            if not queries.has_second_factor(form.user):
                raise
            return self.redirect_to_factors()  # another request has set up the first factor

    def make_change(self, form: Any) -> HttpResponse:
        first = not queries.has_second_factor(form.user)
        if form.cleaned_data.get("revoke_tokens"):
            actions.revoke_tokens(user=form.user)
        if not first:
            return super().make_change(form)
        actions.drop_recovery_codes(user=form.user)  # allauth would keep them, and show none
        # Somebody else who knows the password may have logged in before there was a factor, and confirmed their
        # identity a moment ago.
        return self.change_and_end_elsewhere(form)

    def redirect_to_factors(self) -> HttpResponse:
        """Redirect to the page about second factors."""
        # Saving this session, which the first factor has ended, would replace the cookie of the one that continues it.
        cast("Any", self).request.session.modified = False
        return redirect("mfa_index")
