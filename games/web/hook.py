"""The page of a person's webhook: where their notices are posted."""

from __future__ import annotations

from typing import Final, cast

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.core.validators import RegexValidator
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST

from accounts import tries
from accounts.models import User
from common import limits, outgoing
from common.outgoing import OutgoingError
from common.readers_language import say
from common.say import N_
from games.notices import inbox
from games.notices.messages import test_message
from games.notices.preferences import HELD
from games.web.http import SeeOther, form_status
from mail import hooks
from mail.channels.hook import send_test
from mail.models import Hook

REFUSED: Final = {
    "off": N_("This site sends nothing to addresses that people give."),
    "url": N_("This is not an address. Copy all of it, from https:// to its end."),
    "https": N_("The address must begin with https://."),
    "user": N_("Leave out the name and the password before the @."),
    "port": N_("The address can have no other port than 443 and 8443."),
    "name": N_("The address needs the name of a host, like hooks.example.org."),
    "host": N_("There is no such host."),
    "private": N_("The address is in a private network."),
}
"""What the form says about an address, by `OutgoingError.rule`."""


class HookForm(forms.Form):
    """Where notices are posted, and how. The address of a hook is a secret, so it is never shown again."""

    url = forms.CharField(
        label="Address",
        max_length=2048,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off", "inputmode": "url"}),
    )
    form = forms.ChoiceField(label="What is sent", choices=Hook.Form.choices, initial=Hook.Form.AUTO)
    mention = forms.CharField(
        label="Mention",
        max_length=40,
        required=False,
        help_text="Your member ID in Discord or Slack, or your username in Mattermost: letters and digits.",
        validators=[RegexValidator(r"\A[A-Za-z0-9]+\Z", "Use letters and digits only.")],
    )
    others = forms.BooleanField(
        label="Also tell of the others’ turns at tables that I open from now on",
        required=False,
        help_text="For the channel of a group. The table says so to everybody before they sit down.",
    )

    def __init__(self, data: QueryDict | None, hook: Hook | None) -> None:
        initial: dict[str, object] = {}
        if hook is not None:
            initial = {"form": hook.form, "mention": hook.mention, "others": hook.others_since is not None}
        super().__init__(data, initial=initial)
        url = self.fields["url"]
        url.required = hook is None
        url.help_text = "Leave it empty to keep the one you have." if hook else "From the settings of your channel."

    def clean_url(self) -> str:
        url = str(self.cleaned_data["url"])
        if url:
            try:
                outgoing.check(url)
            except OutgoingError as error:
                raise forms.ValidationError(say.text("error", REFUSED[error.rule])) from error
        return url


def _owner(request: HttpRequest) -> User:
    """Return the person, who must not be a guest."""
    user = cast("User", request.user)
    if user.is_guest:
        raise PermissionDenied
    return user


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def hook(request: HttpRequest) -> HttpResponse:
    """Show where this person's notices are posted, and whether they arrive. POST changes it."""
    user = _owner(request)
    form = HookForm(request.POST if request.method == "POST" else None, hooks.hook_of(user.pk))
    if form.is_valid():
        try:
            secret = hooks.store(user_id=user.pk, now=timezone.now(), **form.cleaned_data)
        except Hook.DoesNotExist:  # it was removed meanwhile
            raise Http404 from None
        if secret:
            return _page(request, user, secret=secret)
        messages.success(request, say.text("message", "Saved."))
        return SeeOther.to("hook")
    return _page(request, user, form=form)


def _page(request: HttpRequest, user: User, *, form: HookForm | None = None, secret: str = "") -> HttpResponse:
    found = hooks.hook_of(user.pk)
    form = form or HookForm(None, found)
    error = "" if found is None else found.last_error
    context = {
        "hook": found,
        "form": form,
        "secret": secret,
        "error": error and say.text("notice", hooks.ERRORS[error]),
        "outgoing": settings.OUTGOING,
    }
    return render(request, "games/hook.html", context, status=form_status(form))


@login_required
@require_POST
def test(request: HttpRequest) -> HttpResponse:
    """Post a test message, and say whether it arrived.

    :raises TooManyTries: too many today.
    """
    user, now = _owner(request), timezone.now()
    found = hooks.hook_of(user.pk)
    if found is None:
        raise Http404
    if inbox.mail_is_held():  # a restored copy must not write to real people
        messages.error(request, say.text("notice", HELD))
        return SeeOther.to("hook")
    tries.count([tries.Key.of(limits.HOOK_TESTS, user.pk)], now)
    error = send_test(found, test_message(user), now)
    if error:
        messages.error(request, say.text("notice", hooks.ERRORS[error]))
    else:
        messages.success(request, say.text("message", "The test message has arrived."))
    return SeeOther.to("hook")


@login_required
@require_POST
def renew_secret(request: HttpRequest) -> HttpResponse:
    """Give the webhook a new secret, and show it this once."""
    user = _owner(request)
    secret = hooks.renew_secret(user_id=user.pk)
    if not secret:
        raise Http404
    return _page(request, user, secret=secret)


@login_required
@require_POST
def try_again(request: HttpRequest) -> HttpResponse:
    """Post to a webhook again that has stopped."""
    if not hooks.try_again(user_id=_owner(request).pk):
        raise Http404
    messages.success(request, say.text("message", "We send to your webhook again."))
    return SeeOther.to("hook")


@login_required
@require_POST
def remove(request: HttpRequest) -> HttpResponse:
    """Remove the webhook. It is no error if there is none."""
    hooks.remove(user_id=_owner(request).pk)
    messages.success(request, say.text("message", "Your webhook is removed."))
    return SeeOther.to("hook")
