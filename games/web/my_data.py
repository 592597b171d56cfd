"""What people can do with what the site stores about them."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final, cast

from allauth.account.adapter import get_adapter
from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts import log_ins
from accounts.models import DELETION_DAYS, FREED_NAMES_HELD, LONGEST_DELETION_DAYS, User
from accounts.names import deleted_name
from accounts.queries import confirmed_addresses
from accounts.zones import formatted
from common import secret_pages
from common.readers_language import say
from common.say import N_
from games.actions import data_copies, deletion
from games.queries import my_data
from games.web.guests import left_guest
from games.web.http import SeeOther

LOG_IN_FIRST: Final = N_(
    "Your account has no password to ask for. Log out and in again, then come back within five minutes."
)
FILE_NAME: Final = "my-data.json"


def _can_confirm(request: HttpRequest) -> bool:
    """Return True if the user has a password or a second factor. Guests have neither, and some people."""
    return bool(get_adapter().get_reauthentication_methods(request.user))


def _is_sure(request: HttpRequest) -> bool:
    """Return True if nothing more can be asked for, because the user is a guest, has confirmed, or has just logged in.

    Use it where `_confirmed` has asked for a password or a code, if there is one.
    """
    user = cast("User", request.user)
    return user.is_guest or _can_confirm(request) or log_ins.is_recent(request, timezone.now())


_confirmed = reauthentication_required(app="allauth.account", enabled=_can_confirm)


def delete_account(request: HttpRequest) -> HttpResponse:
    """Say what a deletion deletes. POST asks for it, and logs a person out everywhere.

    A second click finds nobody logged in. It leads to the plain log-in page: the usual one would say that nothing was
    done, and that the form can be sent again after a log-in, which would cancel the deletion.
    """
    if request.method == "POST" and not request.user.is_authenticated:
        return SeeOther.to("account_login")
    answer: HttpResponse = _delete_account(request)
    return answer


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@_confirmed  # type: ignore[untyped-decorator]  # allauth ships no types
def _delete_account(request: HttpRequest) -> HttpResponse:
    user, now = cast("User", request.user), timezone.now()
    guest = left_guest(request)
    if guest is not None and not guest.suspended(now):  # the log-out would lose them
        messages.info(
            request, say.text("message", "Decide first what happens to the games of {name}.", name=guest.name)
        )
        return SeeOther.to("move-seats")
    refusal = deletion.objection_to_deletion(user, now)
    if not _is_sure(request):
        refusal = refusal or say.text("message", LOG_IN_FIRST)
    if request.method != "POST" or refusal:
        return _page(request, user, refusal)
    try:
        when = deletion.ask(user=user, now=now)
    except deletion.NotNow as objection:
        return _page(request, user, str(objection))
    on = formatted(when, N_("j F Y, H:i e"))
    deleted = say.text(
        "message",
        "Your account will be deleted within {days} days, but not before {time}.",
        days=LONGEST_DELETION_DAYS,
        time=on,
    )
    if user.is_guest:
        messages.success(request, " ".join([deleted, say.text("message", "Until then you can keep it here.")]))
        return SeeOther.to("me")
    logout(request)
    keep = N_("You are logged out. To keep your account, log in before then.")
    messages.success(request, " ".join([deleted, say.text("message", keep)]))
    return SeeOther.to("home")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@_confirmed  # type: ignore[untyped-decorator]  # allauth ships no types
def data(request: HttpRequest) -> HttpResponse:
    """Say what there is of a copy of the user's data. POST asks for one, which the worker makes."""
    user, now = cast("User", request.user), timezone.now()
    if not _is_sure(request):
        messages.info(request, say.text("message", LOG_IN_FIRST))
        return SeeOther.to("me")
    if request.method == "POST":
        data_copies.ask(user=user, now=now)
        return SeeOther.to("my-data")
    copy = my_data.copy_of(user, now)
    context = {
        "copy": copy,
        "days": data_copies.KEPT.days,
        "left_out": my_data.left_out(),
        "mailed": confirmed_addresses(user),
    }
    return render(request, "accounts/data.html", context)


@login_required
@require_safe
@_confirmed  # type: ignore[untyped-decorator]  # allauth ships no types
def download(request: HttpRequest) -> HttpResponse:
    """Send the copy of the user's data as a file.

    :raises Http404: there is none yet, or none any more.
    """
    if not _is_sure(request):
        messages.info(request, say.text("message", LOG_IN_FIRST))
        return SeeOther.to("me")
    content = my_data.content_of(cast("User", request.user), timezone.now())
    if content is None:
        raise Http404(say.text("error", "Your copy is not here any more. Ask for a new one in your account."))
    secret_pages.mark_secret(request)  # it repeats what others have written, like the names of tables
    headers = {"Content-Disposition": f'attachment; filename="{FILE_NAME}"'}
    return HttpResponse(content, content_type="application/json", headers=headers)


def _page(request: HttpRequest, user: User, refusal: str) -> HttpResponse:
    context = {
        "refusal": refusal,
        "days": DELETION_DAYS,
        "most_days": LONGEST_DELETION_DAYS,
        "held": FREED_NAMES_HELD.days,
        "called": deleted_name(user.pk),
    }
    status = HTTPStatus.CONFLICT if refusal and request.method == "POST" else HTTPStatus.OK
    return render(request, "accounts/delete.html", context, status=status)


@login_required
@require_POST
def keep_account(request: HttpRequest) -> HttpResponse:
    """Cancel the deletion of the account. A person does that by logging in, a guest here."""
    if deletion.keep(user=cast("User", request.user)):
        messages.success(request, say.text("message", "Your account will not be deleted."))
    else:
        stays = say.text("message", "Nobody has asked for the deletion of your account, so it stays.")
        messages.info(request, stays)
    return SeeOther.to("me")
