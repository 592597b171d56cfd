"""The page of notices, their settings, and the targets of links in mails. A GET of such a link changes nothing."""

from __future__ import annotations

from http import HTTPStatus
from typing import cast

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import User
from accounts.queries import name_of
from common.readers_language import say
from games.notices import devices, inbox, mail_links, preferences
from games.notices.kinds import KINDS, row_title
from games.notices.mail_links import BadLink
from games.notices.render import mail_state_of, notices_page, why_away
from games.refusals import Denied
from games.web.http import SeeOther, form_status
from games.web.notice_form import NoticeForm
from games.web.viewer import number, person
from mail.channels.email import mail_addresses


@login_required
@require_safe
def notices(request: HttpRequest) -> HttpResponse:
    """List the notices that were sent, and those that were not, with the reason. `?all=1` adds those not needed."""
    user, now = cast("User", request.user), timezone.now()
    page = notices_page(
        inbox.entries_for(user),
        everything=request.GET.get("all") == "1",
        held=inbox.mail_is_held() is not None,
        now=now,
    )
    return render(request, "games/notices.html", {"page": page})


@login_required
@require_POST
def read_all(request: HttpRequest) -> HttpResponse:
    """Mark all notices up to the newest that was listed as read."""
    up_to = number(request.POST.get("up_to"), digits=18)
    if up_to is None:
        raise Http404
    preferences.mark_read(user=cast("User", request.user), now=timezone.now(), up_to=up_to)
    return SeeOther.to("notices")


@login_required
@require_POST
def open_one(request: HttpRequest, number: int) -> HttpResponse:
    """Mark a notice as read and redirect to its game, or to the page of its kind."""
    notice = preferences.open_notice(user=cast("User", request.user), number=number, now=timezone.now())
    if notice is None:
        raise Http404
    if notice.game:
        return SeeOther(notice.game.get_absolute_url())
    kind = KINDS.get(notice.kind)  # unknown if a newer release wrote it before a downgrade
    path = kind.path(notice.occasion) if kind else ""
    return SeeOther(path) if path else SeeOther.to("notices")


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def settings(request: HttpRequest) -> HttpResponse:
    """Show and save the notice settings."""
    user, now = cast("User", request.user), timezone.now()
    chosen = inbox.settings_of(user)
    form = NoticeForm(request.POST if request.method == "POST" else None, chosen=chosen, user=user)
    if form.is_valid():
        preferences.choose(user=user, choices=form.choices(), digest_hour=form.digest_hour(), now=now)
        messages.success(request, say.text("message", "Saved."))
        return SeeOther.to("notice-settings")
    address = mail_addresses([user.pk]).get(user.pk)
    mail = mail_state_of(user, address, chosen, held=inbox.mail_is_held() is not None)
    context = {
        "form": form,
        "mail": mail,
        "away": why_away(user, now),
        "devices": devices.page_for(user, here=request.session.session_key),
    }
    return render(request, "games/notice_settings.html", context, status=form_status(form))


@login_required
@require_POST
def ask_whether_it_works(request: HttpRequest) -> HttpResponse:
    """Send a test mail to an address from which mails came back. Its link shows that it arrives.

    :raises TooManyTries: the person has asked too often.
    """
    try:
        preferences.ask_whether_it_works(user=cast("User", request.user), now=timezone.now())
    except Denied as denied:
        messages.error(request, denied.words)
    else:
        sent = say.text("message", "We’ve sent a test email. Open its link to get the emails that are waiting.")
        messages.success(request, sent)
    return SeeOther.to("notice-settings")


@require_safe
def mail_open(request: HttpRequest, token: str) -> HttpResponse:
    """Redirect the recipient of a mail to its game. Other visitors are asked to log in."""
    try:
        link = mail_links.read(mail_links.OPEN, token)
    except BadLink as bad:
        return _bad_link(request, bad)
    user, game = person(request), reverse("game", args=[link.target])
    if user is not None and user.pk == link.user_id:
        return redirect(game)
    return render(request, "games/mail_open.html", {"name": name_of(link.user_id), "game": game})


@csrf_exempt  # the token in the address authorises the request: no cookie is read, and mail programs send none
@require_http_methods(["GET", "HEAD", "POST"])
def mail_stop(request: HttpRequest, token: str) -> HttpResponse:
    """Stop mails of one kind, or all. POST stops them at once (RFC 8058); GET shows a button."""
    try:
        if request.method == "POST":
            everything = request.POST.get("what") == "everything"
            link = preferences.stop(token=token, everything=everything)
            if everything:
                stopped = say.text(
                    "mail", "You will no longer get emails about games. What staff decide about you still comes."
                )
            else:
                stopped = say.text("mail", "“{row}” is off by email now.", row=row_title(link.target))
            context = {"stopped": stopped}
        else:
            context = {"row": row_title(preferences.check_stop(token).target)}
    except BadLink as bad:
        return _bad_link(request, bad)
    return render(request, "games/mail_stop.html", context)


@csrf_exempt  # as for `mail_stop`
@require_http_methods(["GET", "HEAD", "POST"])
def mail_works(request: HttpRequest, token: str) -> HttpResponse:
    """Mark an address from which mails came back as working. POST does it; GET shows a button."""
    try:
        if request.method == "POST":
            link = preferences.works_again(token=token, now=timezone.now())
        else:
            link = mail_links.read(mail_links.WORKS, token)
    except BadLink as bad:
        return _bad_link(request, bad)
    return render(request, "games/mail_works.html", {"address": link.target, "done": request.method == "POST"})


def _bad_link(request: HttpRequest, bad: BadLink) -> HttpResponse:
    """Return the page for a link in a mail that is invalid (404) or expired (410)."""
    status = HTTPStatus.GONE if bad.expired else HTTPStatus.NOT_FOUND
    return render(request, "games/mail_bad_link.html", {"expired": bad.expired}, status=status)
